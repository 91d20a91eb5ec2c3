"""Stored runs as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage_ui import numbers
from tonnage_ui.messages import count_of, enum_word, number_of, pb
from tonnage_ui.presenters import configuration as configurations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.protobuf.timestamp_pb2 import Timestamp

    from tonnage_ui.words import Words


def run_rows(runs: Iterable[pb.Run], words: Words) -> list[dict[str, str]]:
    """Return one row a run: where it comes from and what it holds."""
    return [
        {
            words("column.file"): numbers.text(run.filename),
            words("column.tool"): numbers.text(" ".join(part for part in (run.tool, run.tool_version) if part)),
            words("column.state"): words.known("state", enum_word(run, "state")),
            words("column.arrival"): words.known("arrival", enum_word(run, "arrival_kind")),
            words("column.replicas_under_test"): numbers.count(count_of(run, "replicas_under_test")),
            words("column.measured_at"): _date(run.measured_at) if run.HasField("measured_at") else numbers.DASH,
            words("column.ingested_at"): _date(run.ingested_at) if run.HasField("ingested_at") else numbers.DASH,
            words("column.sweep"): numbers.text(run.sweep_id),
            words("column.source"): numbers.text(run.source),
            words("column.missing_for_plan"): numbers.text(", ".join(run.missing_for_plan)),
            words("column.run"): numbers.text(run.name),
        }
        for run in runs
    ]


def preview_rows(runs: Iterable[pb.Run], words: Words) -> list[dict[str, str]]:
    """Return one row a load of a file that was read but not stored."""
    return [
        {
            words("column.load"): _load(level),
            words("column.system_rate"): numbers.number(
                number_of(level, "requests_per_s"), words("unit.requests_per_s")
            ),
            words("column.system_output_rate"): numbers.number(
                number_of(level, "output_tokens_per_s"), words("unit.tokens_per_s")
            ),
            f"{words('metric.ttft')} p50": numbers.number(number_of(level.ttft, "p50_ms"), words("unit.ms")),
            f"{words('metric.tpot')} p50": numbers.number(number_of(level.tpot, "p50_ms"), words("unit.ms")),
            f"{words('metric.e2e')} p50": numbers.number(number_of(level.e2e, "p50_ms"), words("unit.ms")),
            words("column.size"): configurations.size(level.work),
            words("column.completed"): numbers.count(count_of(level, "completed_count")),
            words("column.failed"): numbers.count(count_of(level, "failed_count")),
            words("column.location"): numbers.text(level.location),
        }
        for run in runs
        for level in run.levels
    ]


def _load(level: pb.Level) -> str:
    if level.HasField("concurrency"):
        return f"c = {numbers.number(level.concurrency)}"
    return numbers.number(number_of(level, "offered_requests_per_s"), "req/s")


def _date(when: Timestamp) -> str:
    return str(when.ToDatetime().strftime("%Y-%m-%d %H:%M"))
