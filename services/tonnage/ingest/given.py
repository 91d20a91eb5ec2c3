"""Labels given beside a file: read by name and type, normalised, and put in one canonical order."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Final

from tonnage import catalog, checks
from tonnage.domain.configuration import FIELD_NAMES, Conditions, Configuration
from tonnage.domain.measurement import ArrivalKind, TestState
from tonnage.domain.versions import split_version
from tonnage.errors import AmbiguousName, InvalidInput, at
from tonnage.ingest.names import given_accelerator

LABEL_PREFIX: Final = "label."
LARGEST_GIVEN_COUNT: Final = 200
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_WHOLE: Final = re.compile(r"[+-]?\d{1,18}")
_TRUTH: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_CONDITION_TEXTS: Final = tuple(item.name for item in fields(Conditions) if item.name != "labels")


@dataclass(frozen=True, slots=True)
class Moment:
    """A time that was given; a bare date stands for any time of that day in UTC."""

    at: datetime
    is_date: bool = False

    def agrees_with(self, other: datetime) -> bool:
        """Tell whether a file's own time is no contradiction."""
        return self.at.date() == other.astimezone(UTC).date() if self.is_date else self.at == other


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Labels by where they belong, typed and in normal names; ``canonical`` is what makes the key of a run."""

    configuration: Mapping[str, Any] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)
    work: Mapping[str, float] = field(default_factory=dict)
    level: Mapping[str, Any] = field(default_factory=dict)
    accelerator_count: int | None = None

    @property
    def canonical(self) -> tuple[tuple[str, str], ...]:
        """Return the labels as sorted text pairs; two spellings of one meaning give the same pairs."""
        flat: dict[str, Any] = {**self.configuration, **self.conditions, **self.run, **self.work, **self.level}
        flat |= {LABEL_PREFIX + key: value for key, value in self.labels.items()}
        if self.accelerator_count is not None:
            flat["accelerator_count"] = self.accelerator_count
        return tuple(sorted((key, _canonical_text(value)) for key, value in flat.items()))


def _canonical_text(value: object) -> str:
    if isinstance(value, Moment):
        return value.at.date().isoformat() if value.is_date else value.at.isoformat()
    return value if isinstance(value, str) else json.dumps(value)


def parse_given(raw: Mapping[str, str]) -> Given:
    """Return labels that were given as text.

    Raises ``InvalidInput`` naming ``given["key"]`` for a name nobody knows (with near ones) and for a
    value of the wrong type or range, ``AmbiguousName`` for an accelerator that means several cards.
    """
    if len(raw) > LARGEST_GIVEN_COUNT:
        raise InvalidInput.field("given", len(raw), "holds too many labels", f"give at most {LARGEST_GIVEN_COUNT}")
    parts: dict[str, dict[str, Any]] = {place: {} for place in (*_PLACES, "labels")}
    for key, text in raw.items():
        place, name, value = _parsed(key, text)
        parts[place][name] = value
    counts = parts.pop("count")
    _split_engine_version(parts["configuration"], parts["conditions"])
    return Given(**parts, accelerator_count=counts.get("accelerator_count"))


def path_of(key: str) -> str:
    """Return the path of a label in the request's metadata."""
    return f'given["{key}"]'


def _parsed(key: str, text: str) -> tuple[str, str, Any]:
    checks.required("given", key)
    checks.name("given", key)
    path = path_of(key)
    if not text.strip():
        raise InvalidInput.field(path, None, "is empty", "give a value, or leave the label out")
    checks.name(path, text)
    if key.startswith(LABEL_PREFIX):
        checks.required(path, key.removeprefix(LABEL_PREFIX))
        return "labels", key.removeprefix(LABEL_PREFIX), text.strip()
    place = next((place for place, readers in _PLACES.items() if key in readers), None)
    if place is None:
        raise _unknown(key, text)
    return place, key, _PLACES[place][key](path, text.strip())


def _unknown(key: str, text: str) -> InvalidInput:
    known = [name for readers in _PLACES.values() for name in readers]
    near = difflib.get_close_matches(key.lower().replace("-", "_"), known, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else f"use one of {', '.join(sorted(known))}"
    return InvalidInput.field(
        path_of(key), text, "is no label we know", f"{hint} Free labels begin with {LABEL_PREFIX}"
    )


def _split_engine_version(configuration: dict[str, Any], conditions: dict[str, Any]) -> None:
    if "engine_version" not in configuration:
        return
    configuration["engine_version"], patch = split_version(configuration["engine_version"])
    if patch is not None and conditions.setdefault("engine_patch_version", patch) != patch:
        problem = f"contradicts {path_of('engine_version')}, which says {patch}"
        found = conditions["engine_patch_version"]
        raise InvalidInput.field(path_of("engine_patch_version"), found, problem, "give one of them")


Read = Callable[[str, str], Any]


def _text(_path: str, text: str) -> str:
    return text


def _whole(path: str, text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise InvalidInput.field(path, text, "is not a whole number", "write digits alone")
    return int(text)


def _count(path: str, text: str) -> int:
    value = _whole(path, text)
    checks.count(path, value)
    return value


def _count_or_zero(path: str, text: str) -> int:
    value = _whole(path, text)
    checks.count(path, value, least=0)
    return value


def _number(path: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise InvalidInput.field(path, text, "is not a number", "write it with a decimal point and no unit") from error
    if not math.isfinite(value):
        raise InvalidInput.field(path, text, "is not a finite number", "leave the label out when it is not known")
    return value


def _positive(path: str, text: str) -> float:
    value = _number(path, text)
    checks.positive(path, value)
    return value


def _not_negative(path: str, text: str) -> float:
    value = _number(path, text)
    checks.not_negative(path, value)
    return value


def _ratio(path: str, text: str) -> float:
    value = _number(path, text)
    checks.ratio(path, value)
    return value


def _truth(path: str, text: str) -> bool:
    value = _TRUTH.get(text.lower())
    if value is None:
        raise InvalidInput.field(path, text, "is neither true nor false", "write true or false")
    return value


def _state(path: str, text: str) -> TestState:
    checks.one_of(path, text.lower(), [item.value for item in TestState])
    return TestState(text.lower())


def _arrival_kind(path: str, text: str) -> ArrivalKind:
    checks.one_of(path, text.lower(), [item.value for item in ArrivalKind])
    return ArrivalKind(text.lower())


def _moment(path: str, text: str) -> Moment:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        cure = "write 2026-11-30 or 2026-11-30T08:00:00Z"
        raise InvalidInput.field(path, text, "is no date or time", cure) from error
    if _DATE.fullmatch(text):
        return Moment(moment.replace(tzinfo=UTC), is_date=True)
    if moment.tzinfo is None:
        raise InvalidInput.field(path, text, "has no time zone", "end it with Z or an offset such as +02:00")
    try:
        return Moment(moment.astimezone(UTC))
    except OverflowError as error:
        raise InvalidInput.field(path, text, "is outside the calendar", "check the year") from error


def _accelerator(path: str, text: str) -> str:
    try:
        return given_accelerator(text)
    except AmbiguousName as error:
        cure = f"name one of {error.context.get('candidates', 'the catalog')}"
        raise AmbiguousName.field(path, text, "means several cards", cure) from error


def _by_catalog(normal: Callable[[str], str]) -> Read:
    return lambda _path, text: normal(text)


_CONFIGURATION_READERS: Final[dict[str, Read]] = {
    "model": _by_catalog(catalog.normalize_model),
    "engine": _by_catalog(catalog.normalize_engine),
    "weight_precision": _by_catalog(catalog.normalize_precision),
    "kv_cache_type": _by_catalog(catalog.normalize_precision),
    "accelerator": _accelerator,
    "prefix_caching": _truth,
    "chunked_prefill": _truth,
    "lora_adapter_count": _count_or_zero,
    **dict.fromkeys(("model_revision", "engine_version", "speculative_decoding", "serving_mode"), _text),
}
# Where each label belongs, and how its text is read.
_PLACES: Final[dict[str, dict[str, Read]]] = {
    "configuration": {key: _CONFIGURATION_READERS.get(key, _count) for key in FIELD_NAMES},
    "conditions": dict.fromkeys(_CONDITION_TEXTS, _text),
    "run": {
        "replicas_under_test": _count,
        "state": _state,
        "arrival_kind": _arrival_kind,
        "measured_at": _moment,
        **dict.fromkeys(("sample_set", "sweep_id", "tool_version", "source"), _text),
    },
    "work": {
        "input_tokens_mean": _not_negative,
        "output_tokens_mean": _not_negative,
        "prefix_cache_hit_ratio": _ratio,
    },
    "level": {
        "concurrency": _positive,
        "offered_requests_per_s": _positive,
        "duration_s": _positive,
        "completed_count": _count_or_zero,
        "failed_count": _count_or_zero,
    },
    "count": {"accelerator_count": _count},
}
KNOWN_LABELS: Final = tuple(sorted(name for readers in _PLACES.values() for name in readers))


def check_configuration(given: Given) -> None:
    """Refuse labels that are no configuration together; raise ``InvalidInput``."""
    with at("given"):
        Configuration(**given.configuration)
