"""Builders of curves, limits and plan requests that ask only for what matters to a test."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from builders import a_level, a_run

from tonnage.capacity.curves import Curve, curve_of
from tonnage.capacity.planner import CandidateCurves, SweepCurve
from tonnage.domain.configuration import Configuration
from tonnage.domain.finding import Finding, Severity
from tonnage.domain.measurement import ArrivalKind, Latency, Level, Metric, StatisticName, TextWork
from tonnage.domain.plan import PlanRequest
from tonnage.domain.workload import DemandBucket, LatencyLimit, PeakRate, Reserve, ReservePart, Slo, Workload

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from tonnage.domain.measurement import Run

MODEL = "meta-llama/Llama-3.1-8B-Instruct"
# Concurrency, requests/s, TTFT p95 in ms: rises, bends at 16, falls behind 32.
LADDER = ((1, 1.0, 50.0), (2, 1.9, 60.0), (4, 3.5, 80.0), (8, 6.0, 120.0), (16, 9.0, 300.0), (32, 10.0, 900.0))


def levels(rungs: Iterable[tuple[float, float, float]] = LADDER) -> tuple[Level, ...]:
    """Return closed-loop levels from (concurrency, requests/s, TTFT p95 ms)."""
    return tuple(
        a_level(load, rate, index=index, ttft=Latency(p95_ms=ttft)) for index, (load, rate, ttft) in enumerate(rungs)
    )


def a_curve(*rungs: tuple[float, float, float], **changes: object) -> Curve:
    """Return the curve of one run over (concurrency, requests/s, TTFT p95 ms); the whole ladder when none is given."""
    return curve_of([a_run(*levels(rungs or LADDER), **changes)])


def an_open_run(*rungs: tuple[float, float, float], **changes: object) -> Run:
    """Return an open-loop run from (offered requests/s, completed requests/s, TTFT p95 ms)."""
    made = (
        replace(
            a_level(1, done, index=index, ttft=Latency(p95_ms=ttft)), concurrency=None, offered_requests_per_s=offered
        )
        for index, (offered, done, ttft) in enumerate(rungs)
    )
    return a_run(*made, arrival_kind=ArrivalKind.OPEN, **changes)


def an_slo(changes: dict[str, object] | None = None, /, **limits: float) -> Slo:
    """Return limits by name: ``an_slo(ttft_p95=500)``; other fields of the SLO come in ``changes``."""
    return Slo(latency_limits=tuple(_limit(name, limit) for name, limit in limits.items()), **(changes or {}))  # type: ignore[arg-type]  # fields by name


def _limit(name: str, max_ms: float) -> LatencyLimit:
    metric, statistic = name.split("_")
    found_metric: Metric = next(item for item in get_args(Metric) if item == metric)
    found_statistic: StatisticName = next(item for item in get_args(StatisticName) if item == statistic)
    return LatencyLimit(metric=found_metric, statistic=found_statistic, max_ms=max_ms)


def text(given: float = 1000.0, out: float = 100.0, hit: float | None = None) -> TextWork:
    """Return a text request size."""
    return TextWork(input_tokens_mean=given, output_tokens_mean=out, prefix_cache_hit_ratio=hit)


def a_bucket(given: float = 1000.0, out: float = 100.0, share: float = 1.0) -> DemandBucket:
    """Return a bucket of text requests."""
    return DemandBucket(work=text(given, out), share=share)


def whole(ratio: float) -> Reserve:
    """Return R given whole."""
    return Reserve(whole=ReservePart(ratio=ratio, source="test"))


def a_request(**changes: object) -> PlanRequest:
    """Return a request for 10 requests/s of 1,000 in and 100 out, TTFT p95 within 500 ms, R = 0.2.

    Fields of the workload and of the request are changed by name.
    """
    workload: dict[str, object] = {
        "model": MODEL,
        "demand": PeakRate(peak_requests_per_s=10.0),
        "buckets": (a_bucket(),),
        "slo": an_slo(ttft_p95=500.0),
        "reserve": whole(0.2),
    }
    request: dict[str, object] = {"namespace": "default", "configuration": Configuration(), "as_of_date": "2026-01-01"}
    for name, value in changes.items():
        (workload if name in Workload.__dataclass_fields__ else request)[name] = value
    return PlanRequest(**{**request, "workload": Workload(**workload)})  # type: ignore[arg-type]  # fields by name


def a_candidate(*curves: Curve, newest: datetime | None = None) -> CandidateCurves:
    """Return the configuration of the first curve with one sweep a curve; the first is the newest."""
    sweeps = tuple(
        SweepCurve(curve=item, work=item.work, sweep_id=f"sweep-{place}", newest=newest)
        for place, item in enumerate(curves, start=1)
    )
    return CandidateCurves(configuration=curves[0].configuration, sweeps=sweeps)


def marked(level: Level, code: str, path: str, severity: Severity = Severity.WARNING) -> Level:
    """Return a level with one more finding of the lint."""
    finding = Finding(code=code, severity=severity, message=f"{path} is marked", path=path)
    return replace(level, findings=(*level.findings, finding))


def codes(findings: Iterable[Finding]) -> list[str]:
    """Return the codes of findings, in their order."""
    return [finding.code for finding in findings]
