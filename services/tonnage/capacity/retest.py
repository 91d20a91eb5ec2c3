"""What has to be measured again: changes since the measurement, its age, and the states nobody measured.

The rules are data: each names a field, how grave a change of it is, why it moves capacity, and which states to run
again. Nothing is scaled across accelerators: a change of their number is a new measurement.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tonnage.capacity import notes
from tonnage.capacity.curves import evidence_of
from tonnage.capacity.states import CHECKED_STATES, StateCoverage, coverage, recency
from tonnage.domain.configuration import FIELD_NAMES, Conditions, Configuration
from tonnage.domain.measurement import TestState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from tonnage.capacity.curves import Curve
    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run

DEFAULT_MAX_AGE_DAYS: Final = 180
"""Two or three engine releases; older rates are worth a second look."""

_ALL: Final = CHECKED_STATES
_LOAD: Final = (TestState.TYPICAL, TestState.PEAK)
_LONG: Final = (TestState.TYPICAL, TestState.PEAK, TestState.SOAK)
_EDGES: Final = (TestState.PEAK, TestState.BURST)


class RetestVerdict(StrEnum):
    """How much a measurement still carries."""

    STANDS = "stands"
    ADVISED = "advised"
    REQUIRED = "required"


_RANK: Final = {RetestVerdict.STANDS: 0, RetestVerdict.ADVISED: 1, RetestVerdict.REQUIRED: 2}


@dataclass(frozen=True, slots=True)
class Rule:
    """What follows from a change of one field."""

    verdict: RetestVerdict
    reason: str
    states: tuple[TestState, ...]


_REQUIRED: Final = RetestVerdict.REQUIRED
_ADVISED: Final = RetestVerdict.ADVISED

RULES: Final[dict[str, Rule]] = {
    "model": Rule(_REQUIRED, "another model has another cost per token", _ALL),
    "model_revision": Rule(_ADVISED, "new weights may answer at other lengths", _LOAD),
    "weight_precision": Rule(_REQUIRED, "precision changes bytes moved and kernels used", _ALL),
    "kv_cache_type": Rule(_REQUIRED, "the cache type changes how many requests fit at once", _LONG),
    "engine": Rule(_REQUIRED, "another engine schedules and batches otherwise", _ALL),
    "engine_version": Rule(_REQUIRED, "a minor release changes kernels, defaults and scheduling", _LOAD),
    "accelerator": Rule(_REQUIRED, "rates never follow from a card's name", _ALL),
    "accelerators_per_replica": Rule(_REQUIRED, "several accelerators are never assumed to scale evenly", _ALL),
    "tensor_parallel": Rule(_REQUIRED, "another split has other communication", _ALL),
    "pipeline_parallel": Rule(_REQUIRED, "another split has other communication", _ALL),
    "expert_parallel": Rule(_REQUIRED, "another split has other communication", _ALL),
    "data_parallel": Rule(_REQUIRED, "another split has other communication", _ALL),
    "speculative_decoding": Rule(_REQUIRED, "gains depend on acceptance and shrink under load", _LOAD),
    "serving_mode": Rule(_REQUIRED, "prefill and decode apart bind elsewhere", _ALL),
    "max_model_len": Rule(_REQUIRED, "the limit changes what is reserved a request", _LOAD),
    "max_num_seqs": Rule(_REQUIRED, "the limit caps the batch", _EDGES),
    "max_num_batched_tokens": Rule(_REQUIRED, "the limit trades prefill against decode", _LOAD),
    "prefix_caching": Rule(_REQUIRED, "cached prompts cost no prefill", _LOAD),
    "chunked_prefill": Rule(_REQUIRED, "long prompts wait or interrupt otherwise", _LOAD),
    "lora_adapter_count": Rule(_REQUIRED, "adapters take memory and split batches", _LOAD),
    "driver_version": Rule(_ADVISED, "drivers change kernels and clocks", _LONG),
    "runtime_version": Rule(_ADVISED, "runtimes change kernels and libraries", _LONG),
    "engine_patch_version": Rule(_ADVISED, "patches repair and break scheduling", (TestState.TYPICAL,)),
    "host": Rule(_ADVISED, "another machine may differ in CPU, memory and links", (TestState.TYPICAL,)),
    "image": Rule(_ADVISED, "another image may hold other libraries", (TestState.TYPICAL,)),
    "topology": Rule(_ADVISED, "links between accelerators set the cost of a split", _LOAD),
    "provider": Rule(_ADVISED, "shared hosts and networks differ", _LONG),
    "sample_set": Rule(_ADVISED, "rates of unlike requests do not compare", _LOAD),
}
_AGED: Final = Rule(_ADVISED, "engines, drivers and prompts move on", _LOAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What is planned or runs now; what is not stated is not compared."""

    configuration: Configuration
    conditions: Conditions
    sample_set: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """A field that differs; empty text is not stated."""

    field: str
    measured: str
    planned: str
    verdict: RetestVerdict
    reason: str
    states: tuple[TestState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetestItem:
    """One configuration that was measured, against what is planned; ``age_days`` is None without a date."""

    configuration: Configuration
    verdict: RetestVerdict
    changes: tuple[FieldChange, ...]
    states: tuple[StateCoverage, ...]
    states_to_run: tuple[TestState, ...]
    age_days: int | None
    findings: tuple[Finding, ...]


def identity_changes(measured: Configuration, planned: Configuration) -> tuple[FieldChange, ...]:
    """Return the identity fields the plan states otherwise, in order of name."""
    return tuple(
        _change(name, getattr(measured, name), value)
        for name in FIELD_NAMES
        if (value := getattr(planned, name)) is not None and getattr(measured, name) != value
    )


def nearness(measured: Configuration, planned: Configuration) -> tuple[int, int]:
    """Return (grave changes, all changes): smaller is nearer."""
    changes = identity_changes(measured, planned)
    return sum(item.verdict is RetestVerdict.REQUIRED for item in changes), len(changes)


def check(
    measured: Configuration,
    sweeps: Sequence[tuple[Curve, Sequence[Run]]],
    planned: Planned,
    as_of: date,
    max_age_days: int = DEFAULT_MAX_AGE_DAYS,
) -> RetestItem:
    """Return what speaks against a measurement, and which states to run.

    ``sweeps`` are the live runs of the configuration with their curves. Conditions are those of the newest run.
    The verdict is the gravest of its parts; age and states without a run advise, changes may require.
    """
    runs = [run for _, found in sweeps for run in found]
    newest = max(runs, key=recency) if runs else None
    changes = (*identity_changes(measured, planned.configuration), *_condition_changes(newest, planned))
    states = coverage(sweeps)
    age_days = _age_days(runs, as_of)
    aged = age_days is not None and age_days > max_age_days
    missing = tuple(item.state for item in states if not item.covered)
    to_run = {state for change in changes for state in change.states} | set(missing) | set(_AGED.states if aged else ())
    verdicts = [change.verdict for change in changes]
    if aged or missing:
        verdicts.append(RetestVerdict.ADVISED)
    return RetestItem(
        configuration=measured,
        verdict=max(verdicts, key=_RANK.__getitem__, default=RetestVerdict.STANDS),
        changes=changes,
        states=states,
        states_to_run=tuple(state for state in CHECKED_STATES if state in to_run),
        age_days=age_days,
        findings=notes.ordered(_findings(newest, age_days, max_age_days, missing)),
    )


def _change(name: str, measured: object, planned: object) -> FieldChange:
    rule = RULES[name]
    return FieldChange(
        field=name,
        measured=_text(measured),
        planned=_text(planned),
        verdict=rule.verdict,
        reason=rule.reason if measured is not None else f"the runs do not state it, and {rule.reason}",
        states=rule.states,
    )


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _condition_changes(newest: Run | None, planned: Planned) -> Iterable[FieldChange]:
    """Yield conditions that differ; one that the run does not state is no known change."""
    if newest is None:
        return
    pairs = [
        (item.name, getattr(newest.conditions, item.name), getattr(planned.conditions, item.name))
        for item in fields(Conditions)
        if item.name != "labels"
    ]
    for name, measured, wanted in (*pairs, ("sample_set", newest.sample_set, planned.sample_set)):
        if measured is not None and wanted is not None and measured != wanted:
            yield _change(name, measured, wanted)


def _age_days(runs: Iterable[Run], as_of: date) -> int | None:
    dates = [run.measured_at.date() for run in runs if run.measured_at is not None]
    return (as_of - max(dates)).days if dates else None


def _findings(
    newest: Run | None, age_days: int | None, max_age_days: int, missing: Sequence[TestState]
) -> Iterable[Finding]:
    evidence = () if newest is None else (evidence_of(newest),)
    if age_days is None:
        yield notes.warning(
            "AGE_NOT_KNOWN",
            "no run of it says when it was measured, so its age is not known",
            remedy="upload with measured_at",
            evidence=evidence,
        )
    elif age_days > max_age_days:
        yield notes.warning(
            "MEASUREMENT_OLD",
            f"the newest run is {age_days} days old, over the {max_age_days} asked for: {_AGED.reason}",
            remedy="measure typical and peak load again",
            evidence=evidence,
        )
    elif age_days < 0:
        yield notes.warning(
            "MEASURED_AFTER_AS_OF",
            f"the newest run was measured {-age_days} days after the date of the question",
            path="as_of_date",
            evidence=evidence,
        )
    if missing:
        yield notes.info(
            "STATES_NOT_MEASURED",
            f"no run covers {', '.join(missing)}",
            remedy="run those states, or upload with their state stated",
        )
