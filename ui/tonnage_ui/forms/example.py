"""A first workload made from what is stored: measured lengths and a limit one measured load keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage_ui.messages import number_of, pb
from tonnage_ui.presenters.curve import measured_statistics

if TYPE_CHECKING:
    from collections.abc import Sequence

# A made-up demand: the page says so, and the source that goes with the request too.
_BASE_REQUESTS_PER_S: Final = 5.0
_PEAK_FACTOR: Final = 2.0


def complete(summaries: Sequence[pb.ConfigurationSummary]) -> pb.ConfigurationSummary | None:
    """Return the text configuration with the most loads a size, among those that lack nothing a plan needs."""
    usable = [
        summary
        for summary in summaries
        if not summary.missing_for_plan and any(work.HasField("text") for work in summary.measured_work)
    ]
    return max(usable, key=_loads_per_size, default=None)


def _loads_per_size(summary: pb.ConfigurationSummary) -> tuple[float, str]:
    return summary.level_count / len(summary.measured_work), summary.configuration.fingerprint


def question_of(summary: pb.ConfigurationSummary) -> pb.GetCurveRequest:
    """Return the question for the curve an example stands on."""
    work = next(work for work in summary.measured_work if work.HasField("text"))
    return pb.GetCurveRequest(configuration=pb.Configuration(fingerprint=summary.configuration.fingerprint), work=work)


def example_values(summary: pb.ConfigurationSummary, curve: pb.GetCurveResponse, source: str) -> dict[str, object]:
    """Return widget values for a first plan: the limit lies between two loads in the middle of the curve."""
    text = curve.measured_work.text
    values: dict[str, object] = {
        "model": summary.configuration.model,
        "fingerprint": summary.configuration.fingerprint,
        "size_count": 1,
        "input_tokens": round(text.input_tokens_mean, 1),
        "output_tokens": round(text.output_tokens_mean, 1),
        "demand_kind": "base_and_peak",
        "base_requests_per_s": _BASE_REQUESTS_PER_S,
        "peak_factor": _PEAK_FACTOR,
        "peak_factor_source": source,
        "reserve_kind": "none",
    }
    offered = measured_statistics(curve)
    if offered:
        metric, statistic = ("ttft", "p50") if ("ttft", "p50") in offered else offered[0]
        latencies = [
            value
            for point in curve.points
            if (value := number_of(getattr(point.level, metric), f"{statistic}_ms")) is not None
        ]
        values["limits"] = [f"{metric}_{statistic}"]
        values[f"{metric}_{statistic}_ms"] = _between(sorted(latencies))
    return values


def _between(latencies: list[float]) -> float:
    middle = len(latencies) // 2
    return float(round((latencies[middle] + latencies[min(middle + 1, len(latencies) - 1)]) / 2))
