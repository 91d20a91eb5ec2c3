"""A curve as a picture's marks and as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage_ui import numbers
from tonnage_ui.messages import count_of, enum_word, number_of
from tonnage_ui.presenters import configuration as configurations

if TYPE_CHECKING:
    from tonnage_ui.messages import pb
    from tonnage_ui.words import Words

STATISTICS: Final = ("mean", "p50", "p90", "p95", "p99")
METRICS: Final = ("ttft", "tpot", "itl", "e2e", "queue")


@dataclass(frozen=True, slots=True)
class Mark:
    """One measured load; ``state`` is inside, outside, open (no SLO asked) or barred (not used for capacity)."""

    requests_per_s: float
    latency_ms: float
    load: str
    state: str
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CurvePicture:
    """What the latency-throughput picture draws; every number stands in a reply."""

    metric: str
    statistic: str
    marks: tuple[Mark, ...]
    not_drawn_count: int
    limit_ms: float | None = None
    q_slo_requests_per_s: float | None = None
    crossing_requests_per_s: float | None = None
    at_least: bool = False
    knee_requests_per_s: float | None = None
    name: str = ""

    @property
    def has_marks(self) -> bool:
        """Tell whether anything can be drawn."""
        return bool(self.marks)


def picture(
    curve: pb.GetCurveResponse,
    metric: str,
    statistic: str,
    words: Words,
    *,
    slo: pb.Slo | None = None,
    name: str = "",
) -> CurvePicture:
    """Return the marks of one latency over the throughput of one replica."""
    drawn = [(point, mark) for point in curve.points if (mark := _mark(point, metric, statistic, words)) is not None]
    found = curve.capacity if curve.HasField("capacity") else None
    return CurvePicture(
        metric=metric,
        statistic=statistic,
        marks=tuple(mark for _, mark in drawn),
        not_drawn_count=len(curve.points) - len(drawn),
        limit_ms=_limit(slo, metric, statistic),
        q_slo_requests_per_s=None if found is None else number_of(found, "q_slo_requests_per_s"),
        crossing_requests_per_s=None if found is None else number_of(found, "crossing_requests_per_s"),
        at_least=found is not None and enum_word(found, "bound") == "at_least",
        knee_requests_per_s=_knee(curve, [(point, mark) for point, mark in drawn]),
        name=name,
    )


def measured_statistics(curve: pb.GetCurveResponse) -> list[tuple[str, str]]:
    """Return the latencies and statistics that at least one load of the curve has."""
    return [
        (metric, statistic)
        for metric in METRICS
        for statistic in STATISTICS
        if any(_latency(point.level, metric, statistic) is not None for point in curve.points)
    ]


def load_label(point: pb.CurvePoint, arrival: str, words: Words) -> str:
    """Return the offered load as people say it: "8 at once" or "2.5 req/s offered"."""
    shown = numbers.number(point.offered_load)
    return words(f"load.{arrival}", load=shown) if words.has(f"load.{arrival}") else shown


def point_rows(curve: pb.GetCurveResponse, words: Words) -> list[dict[str, str]]:
    """Return one row a load with every latency that was measured, and why a load is out."""
    shown = measured_statistics(curve)
    arrival = enum_word(curve, "arrival_kind")
    return [_point_row(point, shown, arrival, words) for point in curve.points]


def _point_row(point: pb.CurvePoint, shown: list[tuple[str, str]], arrival: str, words: Words) -> dict[str, str]:
    level = point.level
    row = {
        words("column.load"): load_label(point, arrival, words),
        words("column.rate"): numbers.number(
            number_of(point, "requests_per_s_per_replica"), words("unit.requests_per_s")
        ),
        words("column.output_rate"): numbers.number(
            number_of(point, "output_tokens_per_s_per_replica"), words("unit.tokens_per_s")
        ),
    }
    for metric, statistic in shown:
        heading = latency_name(metric, statistic, words)
        row[heading] = numbers.number(_latency(level, metric, statistic), words("unit.ms"))
    row[words("column.size")] = configurations.size(level.work)
    row[words("column.completed")] = numbers.count(count_of(level, "completed_count"))
    row[words("column.failed")] = numbers.count(count_of(level, "failed_count"))
    row[words("column.verdict")] = words(f"mark.{_state(point)}")
    row[words("column.why")] = numbers.text(point.miss or "; ".join(finding.message for finding in level.findings))
    row[words("column.file")] = numbers.text(point.evidence.source)
    row[words("column.location")] = numbers.text(level.location)
    row[words("column.run")] = numbers.text(point.evidence.run)
    return row


def latency_name(metric: str, statistic: str, words: Words) -> str:
    """Return "TTFT p90"."""
    return f"{words(f'metric.{metric}')} {words(f'statistic.{statistic}')}"


def capacity_text(found: pb.SloCapacity, words: Words) -> str:
    """Return what a curve carries inside an SLO, in one line."""
    shown = numbers.number(number_of(found, "q_slo_requests_per_s"), words("unit.requests_per_s"))
    bound = enum_word(found, "bound")
    return words(f"capacity.{bound}", rate=shown, reason=found.reason or words("capacity.no_reason"))


def _mark(point: pb.CurvePoint, metric: str, statistic: str, words: Words) -> Mark | None:
    rate = number_of(point, "requests_per_s_per_replica")
    latency = _latency(point.level, metric, statistic)
    if rate is None or latency is None:
        return None
    unit = words("unit.requests_per_s")
    details = [
        f"{numbers.number(rate, unit)} · {numbers.number(latency, words('unit.ms'))}",
        words("mark_detail.tokens", rate=numbers.number(number_of(point, "output_tokens_per_s_per_replica"))),
        words("mark_detail.requests", completed=numbers.count(count_of(point.level, "completed_count"))),
        point.miss or words(f"mark.{_state(point)}"),
        point.evidence.source,
    ]
    return Mark(rate, latency, numbers.number(point.offered_load), _state(point), tuple(details))


def _state(point: pb.CurvePoint) -> str:
    if point.level.HasField("usable") and not point.level.usable:
        return "barred"
    if not point.HasField("admissible"):
        return "open"
    return "inside" if point.admissible else "outside"


def _latency(level: pb.Level, metric: str, statistic: str) -> float | None:
    return number_of(getattr(level, metric), f"{statistic}_ms")


def _limit(slo: pb.Slo | None, metric: str, statistic: str) -> float | None:
    if slo is None:
        return None
    for limit in slo.latency_limits:
        if (enum_word(limit, "metric"), enum_word(limit, "statistic")) == (metric, statistic):
            return float(limit.max_ms)
    return None


def _knee(curve: pb.GetCurveResponse, drawn: list[tuple[pb.CurvePoint, Mark]]) -> float | None:
    load = number_of(curve, "knee_offered_load")
    if load is None:
        return None
    return next((mark.requests_per_s for point, mark in drawn if point.offered_load == load), None)


def first_shown(offered: list[tuple[str, str]], slo: pb.Slo | None) -> tuple[str, str]:
    """Return the latency to draw first: the first one that the SLO limits, else the first measured one."""
    limited = (
        []
        if slo is None
        else [(enum_word(item, "metric"), enum_word(item, "statistic")) for item in slo.latency_limits]
    )
    return next((pair for pair in limited if pair in offered), offered[0])


def alt(shown: CurvePicture, words: Words) -> str:
    """Return the picture in a sentence, for people who cannot see it."""
    return words(
        "curve.alt",
        name=latency_name(shown.metric, shown.statistic, words),
        count=len(shown.marks),
        q_slo=numbers.number(shown.q_slo_requests_per_s, words("unit.requests_per_s")),
        limit=numbers.number(shown.limit_ms, words("unit.ms")),
    )
