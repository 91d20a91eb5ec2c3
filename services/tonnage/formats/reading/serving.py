"""The result object that vLLM's ``bench serve`` made and that SGLang and many forks share in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import AudioWork, EmbeddingWork, Latency, Level, TextWork, Work
from tonnage.formats.reading.fields import Fields, ratio
from tonnage.formats.reading.notes import hidden_failures, warning
from tonnage.formats.reading.statistics import latency
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.domain.finding import Finding

_PREFIXES: Final = {
    "mean": ("mean",),
    "p50": ("p50", "median"),
    "p90": ("p90",),
    "p95": ("p95",),
    "p99": ("p99",),
}
_E2E: Final = ("e2el", "e2e_latency")


def serving_level(result: Fields, location: str, *, sent_count: int | None = None) -> Level:
    """Return the level of one result object; ``sent_count`` is the number of requests asked for, where known."""
    completed = result.count("completed")
    failed = result.count("failed")
    if failed is None and completed is not None and sent_count is not None and sent_count >= completed:
        failed = sent_count - completed
    duration_s = result.number("duration")
    input_count, output_count = result.number("total_input_tokens"), result.number("total_output_tokens")
    total_per_s = result.number("total_token_throughput", "total_throughput")
    if total_per_s is None and input_count is not None and output_count is not None:
        total_per_s = ratio(input_count + output_count, duration_s)
    requests_per_s = result.number("request_throughput")
    return Level(
        work=_work(result, completed, duration_s),
        concurrency=result.rate("max_concurrency"),
        offered_requests_per_s=result.rate("request_rate"),
        requests_per_s=requests_per_s if requests_per_s is not None else ratio(completed, duration_s),
        output_tokens_per_s=result.number("output_throughput"),
        total_tokens_per_s=total_per_s,
        reported_requests_per_s=requests_per_s,
        duration_s=duration_s,
        completed_count=completed,
        failed_count=failed,
        ttft=metric(result, ("ttft",)),
        tpot=metric(result, ("tpot",)),
        itl=metric(result, ("itl",)),
        e2e=metric(result, _E2E),
        location=location,
        findings=(*_ramp(result), *hidden_failures(sent_count, completed, failed)),
        usable=result.raw("ramp_up_strategy") is None,
    )


def metric(result: Fields, names: Sequence[str]) -> Latency:
    """Return one latency: keys end in ``_ms``; where a fork leaves the unit out, the values are seconds."""
    for name in names:
        for suffix, to_ms in ((f"_{name}_ms", 1.0), (f"_{name}", MS_PER_S)):
            found = latency(lambda statistic, s=suffix: result.number(*(p + s for p in _PREFIXES[statistic])), to_ms)  # type: ignore[misc]
            if found != Latency():
                return found
    return Latency()


def _work(result: Fields, completed: int | None, duration_s: float | None) -> Work:
    inputs = ratio(result.number("total_input_tokens"), completed)
    kind = f"{result.text('endpoint_type') or ''} {result.text('backend') or ''}".lower()
    if "embed" in kind or "rerank" in kind:
        return EmbeddingWork(input_tokens_mean=inputs)
    real_time_factor = result.number("rtfx")
    if real_time_factor is not None and real_time_factor > 0 and duration_s is not None:
        return AudioWork(audio_s=ratio(real_time_factor * duration_s, completed))
    return TextWork(input_tokens_mean=inputs, output_tokens_mean=ratio(result.number("total_output_tokens"), completed))


def _ramp(result: Fields) -> list[Finding]:
    if result.raw("ramp_up_strategy") is None:
        return []
    start, end = result.text("ramp_up_start_rps"), result.text("ramp_up_end_rps")
    return [
        warning(
            "RAMPED_LOAD",
            f"the offered rate was raised from {start} to {end} requests/s during the level",
            path="offered_requests_per_s",
            remedy="measure each rate on its own",
        )
    ]
