"""One GuideLLM benchmark, of any version, as a level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Latency, Level, Run, TextWork
from tonnage.formats.reading.assemble import Point, arrival_of
from tonnage.formats.reading.fields import Fields, product, ratio
from tonnage.formats.reading.names import epoch_s, iso_date, model_name
from tonnage.formats.reading.notes import TIME_ZONE_NOT_STATED, note
from tonnage.formats.reading.statistics import latency
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from datetime import datetime

    from tonnage.domain.finding import Finding
    from tonnage.formats.base import ToolFormat

_RATED: Final = frozenset({"constant", "poisson", "async"})


def point_of(
    benchmark: Fields,
    place: str,
    reader: type[ToolFormat],
    *,
    tool_version: str | None = None,
    model: str | None = None,
) -> Point:
    """Return the level of one benchmark; throughputs are computed, since the file's own count gaps."""
    level = _level(benchmark, place)
    measured_at, zone_findings = _date(benchmark)
    model = benchmark.dig("config.backend").text("model") or benchmark.fields("worker").text("backend_model") or model
    header = Run(
        tool=reader.name,
        metric_definitions=reader.metric_definitions,
        levels=(),
        tool_version=tool_version,
        configuration=Configuration(model=model_name(model)),
        arrival_kind=arrival_of(level.concurrency, level.offered_requests_per_s),
        findings=zone_findings,
    )
    return Point(header, level, measured_at)


def _level(benchmark: Fields, place: str) -> Level:
    metrics = benchmark.fields("metrics")
    totals = metrics.fields("request_totals") if "request_totals" in metrics else benchmark.fields("request_totals")
    completed, duration_s = totals.count("successful"), benchmark.number("duration")
    inputs, outputs = (_successful(metrics, f"{name}_token_count").number("mean") for name in ("prompt", "output"))
    requests_per_s = ratio(completed, duration_s)
    concurrency, offered = _load(_strategy(benchmark))
    total = inputs + outputs if inputs is not None and outputs is not None else None
    return Level(
        work=TextWork(input_tokens_mean=inputs, output_tokens_mean=outputs),
        concurrency=concurrency,
        offered_requests_per_s=offered,
        requests_per_s=requests_per_s,
        output_tokens_per_s=product(requests_per_s, outputs),
        total_tokens_per_s=product(requests_per_s, total),
        reported_requests_per_s=_successful(metrics, "requests_per_second").number("mean"),
        duration_s=duration_s,
        completed_count=completed,
        failed_count=totals.count("errored"),
        ttft=_latency(metrics, "time_to_first_token_ms"),
        tpot=_latency(metrics, "inter_token_latency_ms"),
        e2e=_latency(metrics, "request_latency", MS_PER_S),
        location=place,
        findings=_incomplete(totals),
    )


def _strategy(benchmark: Fields) -> Fields:
    holder = benchmark.fields("config") if "config" in benchmark else benchmark.fields("args")
    return holder.fields("strategy")


def _load(strategy: Fields) -> tuple[float | None, float | None]:
    """Return cap and rate: streams of a concurrent run, the limiter of an unlimited one, the rate of a paced one."""
    kind = strategy.text("type_", "kind")
    if kind == "synchronous":
        return 1.0, None
    if kind in _RATED:
        return None, strategy.rate("rate")
    return strategy.rate("streams", "max_concurrency"), None


def _successful(metrics: Fields, name: str) -> Fields:
    """Return the block over successful requests; one that counts none holds zeros, not values."""
    block = metrics.fields(name).fields("successful")
    return Fields({}, block.path) if block.number("count") == 0 else block


def _latency(metrics: Fields, name: str, to_ms: float = 1.0) -> Latency:
    """Return one latency; p001 and p999 are 0.1 % and 99.9 %, and early versions have a median and no p50."""
    block = _successful(metrics, name)
    percentiles = block.fields("percentiles")

    def pick(statistic: str) -> float | None:
        if statistic == "mean":
            return block.number("mean")
        value = percentiles.number(statistic)
        return block.number("median") if value is None and statistic == "p50" else value

    return latency(pick, to_ms)


def _incomplete(totals: Fields) -> tuple[Finding, ...]:
    count = totals.count("incomplete")
    if not count:
        return ()
    message = f"{count} requests were cut off when the level ended; they count neither as completed nor as failed"
    return (note("REQUESTS_CUT_OFF", message, path="completed_count"),)


def _date(benchmark: Fields) -> tuple[datetime | None, tuple[Finding, ...]]:
    start = benchmark.raw("start_time")
    if isinstance(start, str) and (found := iso_date(start)) is not None:
        return found, (TIME_ZONE_NOT_STATED,)
    return epoch_s(benchmark.number("start_time")), ()
