"""Hypothesis strategies for runs that the store must keep as they are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from tonnage.domain.configuration import Conditions, Configuration
from tonnage.domain.finding import Evidence, Finding, Origin, Severity
from tonnage.domain.measurement import (
    ArrivalKind,
    AudioWork,
    EmbeddingWork,
    ImageWork,
    Latency,
    Level,
    Quality,
    Run,
    Telemetry,
    TestState,
    TextWork,
    VideoWork,
)

NUMBERS = st.none() | st.floats(allow_nan=False)
COUNTS = st.none() | st.integers(0, 2**53)
TEXTS = st.text(max_size=12)
# Configurations hold no control characters.
NAMES = st.none() | st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)
FLAGS = st.none() | st.booleans()
# Bounds are naive by Hypothesis' rule.
TIMES = st.datetimes(
    datetime(1990, 1, 1),  # noqa: DTZ001 -- see above
    datetime(2200, 1, 1),  # noqa: DTZ001 -- see above
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=8))]),
)

_BY_TYPE = {
    "str": TEXTS,
    "str | None": NAMES,
    "float | None": NUMBERS,
    "int | None": COUNTS,
    "bool | None": FLAGS,
    "int": st.integers(0, 1000),
    "bool": st.booleans(),
}


def _of(kind: type, **stated: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return instances with every field drawn by its annotation, those stated apart."""
    fields: dict[str, Any] = kind.__dataclass_fields__  # type: ignore[attr-defined]  # a dataclass
    drawn = {name: stated[name] if name in stated else _BY_TYPE[field.type] for name, field in fields.items()}
    return st.builds(kind, **drawn)


POSITIVE = st.none() | st.integers(1, 2**53)
CONFIGURATIONS = _of(
    Configuration,
    **{
        name: POSITIVE
        for name, field in Configuration.__dataclass_fields__.items()
        if field.type == "int | None" and name != "lora_adapter_count"
    },
)
CONDITIONS = _of(Conditions, labels=st.lists(st.tuples(TEXTS, TEXTS), max_size=2).map(tuple))
EVIDENCE = _of(Evidence, origin=st.sampled_from(Origin))
FINDINGS = st.lists(
    _of(Finding, severity=st.sampled_from(Severity), evidence=st.lists(EVIDENCE, max_size=2).map(tuple)), max_size=2
).map(tuple)
WORKS = [_of(kind) for kind in (TextWork, ImageWork, AudioWork, VideoWork, EmbeddingWork)]
LATENCIES = _of(Latency)


def levels(work: st.SearchStrategy[Any], *, tenants: bool = True) -> st.SearchStrategy[Level]:
    """Return levels of one modality, with levels of tenants inside."""
    inner = (
        st.lists(st.tuples(TEXTS, levels(st.one_of(WORKS), tenants=False)), max_size=2).map(tuple)
        if tenants
        else st.just(())
    )
    return _of(
        Level,
        work=work,
        ttft=LATENCIES,
        tpot=LATENCIES,
        itl=LATENCIES,
        e2e=LATENCIES,
        queue=LATENCIES,
        telemetry=st.none() | _of(Telemetry),
        quality=st.none() | _of(Quality),
        tenants=inner,
        findings=FINDINGS,
    )


def _runs(work: st.SearchStrategy[Any]) -> st.SearchStrategy[Run]:
    return _of(
        Run,
        levels=st.lists(levels(work), max_size=3).map(tuple),
        configuration=CONFIGURATIONS,
        conditions=CONDITIONS,
        arrival_kind=st.none() | st.sampled_from(ArrivalKind),
        state=st.none() | st.sampled_from(TestState),
        state_origin=st.none() | st.sampled_from(Origin),
        measured_at=st.none() | TIMES,
        findings=FINDINGS,
        namespace=st.just("default"),
        run_id=st.uuids().map(str),
        report_id=st.integers(0, 2**256 - 1).map(lambda number: f"{number:064x}"),
        ingested_at=st.none() | TIMES,
    )


RUNS = st.one_of([_runs(work) for work in WORKS])
