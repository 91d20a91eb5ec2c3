"""oha: the JSON of ``--output-format json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Level, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import grouped
from tonnage.formats.reading.fields import Fields, as_count, ratio
from tonnage.formats.reading.http import http_point
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.statistics import latency
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run


class Oha(ToolFormat):
    """Reads one run; requests aborted at the deadline are failures here."""

    name = "oha"
    title = "oha (JSON)"
    recognised_by = "latencyPercentiles and summary.requestsPerSec"
    metric_definitions = "oha-1"
    expects = (("summary", "latencyPercentiles", "statusCodeDistribution", "errorDistribution"),)
    definitions = (
        Definition("e2e", "latencyPercentiles, summary.average", "request sent to last byte; seconds"),
        Definition("requests_per_s", "", "2xx / total; requestsPerSec counts aborted ones, rps.* tiny windows"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the two blocks."""
        summary = head.first.get("summary")
        is_ours = "latencyPercentiles" in head.keys and isinstance(summary, dict) and "requestsPerSec" in summary
        return Match(score=100, why="latencyPercentiles and summary.requestsPerSec") if is_ours else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of a run."""
        report = Fields(whole_document(source))
        summary, percentiles = report.fields("summary"), report.fields("latencyPercentiles")
        answers, errors = _counts(report.fields("statusCodeDistribution")), _counts(report.fields("errorDistribution"))
        completed = sum(count for code, count in answers.items() if code.startswith("2"))
        duration_s = summary.number("total")
        level = Level(
            work=TextWork(),
            requests_per_s=ratio(completed, duration_s),
            reported_requests_per_s=summary.number("requestsPerSec"),
            duration_s=duration_s,
            completed_count=completed,
            failed_count=sum(answers.values()) - completed + sum(errors.values()),
            e2e=latency(
                lambda name: summary.number("average") if name == "mean" else percentiles.number(name), MS_PER_S
            ),
        )
        yield from grouped([http_point(type(self), level, with_failures=bool(sum(answers.values()) - completed))])


def _counts(distribution: Fields) -> dict[str, int]:
    return {key: as_count(value, f"{distribution.path}.{key}") or 0 for key, value in distribution.data.items()}


FORMAT: Final = Oha()
