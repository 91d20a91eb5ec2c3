"""AIPerf's aggregates over trials: each combination of a sweep is one level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Run
from tonnage.formats.aiperf.summary import metrics_level
from tonnage.formats.reading.assemble import Point, arrival_of
from tonnage.formats.reading.blocks import mean_of
from tonnage.formats.reading.fields import Fields, as_count, as_rate
from tonnage.formats.reading.names import model_name
from tonnage.formats.reading.notes import note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.formats.base import ToolFormat

_OVER_TRIALS = note("MEANS_OVER_TRIALS", "statistics are means over the trials of each load, not one run's")


def sweep_points(report: Fields, reader: type[ToolFormat]) -> Iterator[Point]:
    """Yield one level for each combination of parameters, or the one that an aggregate holds."""
    metadata = report.fields("metadata")
    if "per_combination_metrics" in report:
        for index, combination in enumerate(report.items("per_combination_metrics")):
            yield _point(
                combination.fields("parameters"),
                combination.fields("metrics"),
                f"per_combination_metrics[{index}]",
                report,
                reader,
            )
        return
    yield _point(metadata.fields("variation_values"), _regrouped(report.fields("metrics")), "metrics", report, reader)


def _point(parameters: Fields, metrics: Fields, place: str, report: Fields, reader: type[ToolFormat]) -> Point:
    concurrency, rate = _parameter(parameters, "concurrency"), _parameter(parameters, "rate")
    failed = as_count(mean_of(metrics, "error_request_count"), "error_request_count")
    level = metrics_level(metrics, failed=failed, concurrency=concurrency, rate=rate, location=place)
    header = Run(
        tool=reader.name,
        metric_definitions=reader.metric_definitions,
        levels=(),
        tool_version=report.text("aiperf_version"),
        configuration=Configuration(model=model_name(report.fields("metadata").text("model"))),
        arrival_kind=arrival_of(concurrency, rate),
        findings=(_OVER_TRIALS,),
    )
    return Point(header, level)


def _parameter(parameters: Fields, name: str) -> float | None:
    """Return a parameter by the last part of its dotted name ("phases.profiling.concurrency")."""
    for key, value in parameters.data.items():
        if key.rsplit(".", 1)[-1] in {name, f"request_{name}"}:
            return as_rate(value, f"{parameters.path}.{key}")
    return None


def _regrouped(metrics: Fields) -> Fields:
    """Return blocks by metric from keys that join metric and statistic ("time_to_first_token_p99": {mean: …})."""
    found: dict[str, dict[str, object]] = {}
    for key in metrics.data:
        metric, _, statistic = key.rpartition("_")
        trials = metrics.fields(key)
        block = found.setdefault(metric, {"unit": trials.text("unit")})
        block[statistic] = trials.number("mean")
    return Fields(found, metrics.path)
