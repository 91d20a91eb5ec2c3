"""fortio: the JSON result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Latency, Level, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.fields import Fields, as_count, ratio, scaled
from tonnage.formats.reading.http import http_point
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.names import iso_date
from tonnage.formats.reading.statistics import latency
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run

_S_PER_NS: Final = 1e-9
_UNLIMITED: Final = "max"


class Fortio(ToolFormat):
    """Reads one run; a percentile that its list lacks stays absent."""

    name = "fortio"
    title = "fortio (JSON)"
    recognised_by = "DurationHistogram"
    metric_definitions = "fortio-1"
    expects = (("DurationHistogram", "RetCodes", "ActualQPS", "NumThreads"),)
    definitions = (
        Definition("e2e", "DurationHistogram", "request sent to answer, failures too; seconds"),
        Definition("requests_per_s", "", "RetCodes 200 / ActualDuration; ActualQPS counts all"),
        Definition("concurrency", "NumThreads", "one request in flight on each"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the histogram."""
        return Match(score=100, why="DurationHistogram") if "DurationHistogram" in head.keys else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of a run."""
        report = Fields(whole_document(source))
        codes = report.fields("RetCodes")
        counts = {code: as_count(value, f"RetCodes.{code}") or 0 for code, value in codes.data.items()}
        # gRPC runs write SERVING for success.
        completed = sum(count for code, count in counts.items() if code.startswith("2") or code == "SERVING")
        duration_s = scaled(report.number("ActualDuration"), _S_PER_NS)
        level = Level(
            work=TextWork(),
            concurrency=report.rate("NumThreads"),
            offered_requests_per_s=None if report.text("RequestedQPS") == _UNLIMITED else report.rate("RequestedQPS"),
            requests_per_s=ratio(completed, duration_s),
            reported_requests_per_s=report.number("ActualQPS"),
            duration_s=duration_s,
            completed_count=completed,
            failed_count=sum(counts.values()) - completed,
            e2e=_latency(report.fields("DurationHistogram")),
        )
        yield from grouped(
            [
                http_point(
                    type(self),
                    level,
                    tool_version=report.text("Version"),
                    measured_at=iso_date(report.raw("StartTime")),
                    with_failures=True,
                )
            ]
        )


def _latency(histogram: Fields) -> Latency:
    ranks = {item.number("Percentile"): item.number("Value") for item in histogram.items("Percentiles")}
    return latency(
        lambda name: histogram.number("Avg") if name == "mean" else ranks.get(float(name.removeprefix("p"))), MS_PER_S
    )


FORMAT: Final = Fortio()
