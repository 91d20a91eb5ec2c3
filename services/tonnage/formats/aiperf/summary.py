"""AIPerf's profile export as one level."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Conditions, Configuration
from tonnage.domain.measurement import Level, Run
from tonnage.formats.reading.assemble import Point, arrival_of
from tonnage.formats.reading.blocks import latency_of, lengths_of, mean_of
from tonnage.formats.reading.fields import Fields, as_count, product
from tonnage.formats.reading.names import iso_date, model_name
from tonnage.formats.reading.notes import TIME_ZONE_NOT_STATED, note, warning

if TYPE_CHECKING:
    from tonnage.domain.finding import Finding
    from tonnage.formats.base import ToolFormat

# Above its cap by this much, the load was not capped at it: sessions of agents open requests of their own.
_ABOVE_CAP: Final = 1.05


def summary_point(report: Fields, reader: type[ToolFormat]) -> Point:
    """Return the level of a profile export of any version."""
    metrics = report.fields("records") if "records" in report else report
    given = report.fields("input_config")
    concurrency, rate = _load(given)
    findings: list[Finding] = []
    effective = metrics.fields("effective_concurrency").number("max")
    if concurrency is not None and effective is not None and effective > concurrency * _ABOVE_CAP:
        findings.append(_sessions(concurrency, effective))
        concurrency = None
    if report.raw("was_cancelled") is True:
        findings.append(warning("RUN_CANCELLED", "the run was cancelled before its end", remedy="run it again"))
    level = metrics_level(metrics, failed=_failed(report, metrics), concurrency=concurrency, rate=rate)
    header = Run(
        tool=reader.name,
        metric_definitions=reader.metric_definitions,
        levels=(),
        tool_version=report.text("aiperf_version"),
        configuration=Configuration(model=model_name(_model(given))),
        conditions=_conditions(report),
        arrival_kind=arrival_of(concurrency, rate),
        findings=(TIME_ZONE_NOT_STATED,) if "start_time" in report else (),
    )
    return Point(header, replace(level, findings=tuple(findings)), iso_date(report.raw("start_time")))


def metrics_level(
    metrics: Fields,
    *,
    failed: int | None,
    concurrency: float | None = None,
    rate: float | None = None,
    location: str = "",
) -> Level:
    """Return the level of metric blocks, wherever they come from."""
    work = lengths_of(metrics)
    requests_per_s = mean_of(metrics, "request_throughput")
    total = mean_of(metrics, "total_token_throughput")
    if total is None and work.input_tokens_mean is not None and work.output_tokens_mean is not None:
        total = product(requests_per_s, work.input_tokens_mean + work.output_tokens_mean)
    first_token = "time_to_first_token" if "time_to_first_token" in metrics else "ttft"
    return Level(
        work=work,
        concurrency=concurrency,
        offered_requests_per_s=rate,
        requests_per_s=requests_per_s,
        output_tokens_per_s=mean_of(metrics, "output_token_throughput"),
        total_tokens_per_s=total,
        reported_requests_per_s=requests_per_s,
        duration_s=mean_of(metrics, "benchmark_duration"),
        completed_count=as_count(mean_of(metrics, "request_count"), "request_count"),
        failed_count=failed,
        ttft=latency_of(metrics, first_token),
        tpot=latency_of(metrics, "inter_token_latency"),
        itl=latency_of(metrics, "inter_chunk_latency"),
        e2e=latency_of(metrics, "request_latency"),
        location=location,
    )


def _failed(report: Fields, metrics: Fields) -> int:
    """Return the failures: the tool leaves the count out when there are none."""
    counted = as_count(mean_of(metrics, "error_request_count"), "error_request_count")
    if counted is not None:
        return counted
    return sum(item.count("count") or 0 for item in report.items("error_summary"))


def _load(given: Fields) -> tuple[float | None, float | None]:
    """Return cap and rate of the profiling phase."""
    for phase in given.items("phases"):
        if phase.text("kind", "name") != "warmup" and phase.raw("exclude_from_results") is not True:
            return phase.rate("concurrency"), phase.rate("rate", "request_rate")
    load = given.fields("loadgen")
    return load.rate("concurrency"), load.rate("request_rate")


def _model(given: Fields) -> str | None:
    for item in given.fields("models").items("items"):
        return item.text("name")
    names = given.fields("endpoint").raw("model_names")
    return str(names[0]) if isinstance(names, list) and names else None


def _conditions(report: Fields) -> Conditions:
    """Keep the tool's own id of the run, by which several files of one run are known to be one."""
    benchmark_id = report.text("benchmark_id")
    return Conditions(labels=(("aiperf_benchmark_id", benchmark_id),) if benchmark_id else ())


def _sessions(cap: float, effective: float) -> Finding:
    return note(
        "SESSIONS_NOT_REQUESTS",
        f"{cap:g} sessions had up to {effective:g} requests in flight, so the cap on requests is not known",
        path="concurrency",
        remedy="give concurrency if requests in flight were capped otherwise",
    )
