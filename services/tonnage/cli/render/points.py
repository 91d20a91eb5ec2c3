"""Runs as flat points: the names of our own table, so that what is printed can be ingested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tonnage.cli.output import as_dict, field, word
from tonnage.client import messages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.message import Message

_RATES: Final = (
    "concurrency", "offered_requests_per_s", "requests_per_s", "output_tokens_per_s", "total_tokens_per_s",
    "reported_requests_per_s", "duration_s", "completed_count", "failed_count",
)  # fmt: skip
_WORK: Final = {
    "text": {name: name for name in ("input_tokens_mean", "output_tokens_mean", "prefix_cache_hit_ratio")},
    "image": {
        "megapixels": "image_megapixels",
        "step_count": "image_step_count",
        "images_per_request": "images_per_request",
    },
    "audio": {"audio_s": "audio_s"},
    "video": {"frame_count": "video_frame_count", "megapixels": "video_megapixels"},
    "embedding": {
        "input_tokens_mean": "embedding_input_tokens_mean",
        "items_per_request": "embedding_items_per_request",
    },
}
_RUN: Final = ("tool", "tool_version", "metric_definitions", "sample_set", "sweep_id", "source")


def points(answer: messages.ConvertReportResponse) -> Iterator[dict[str, Any]]:
    """Yield one flat point a level; what the file does not say is absent."""
    for run in answer.runs:
        head = dict(_of_run(run))
        for level in run.levels:
            yield dict(_of_level(level)) | head


def _of_level(level: messages.Level) -> Iterator[tuple[str, Any]]:
    for name in _RATES:
        if level.HasField(name):
            yield name, getattr(level, name)
    kind = level.work.WhichOneof("work")
    if kind is not None:
        yield from _named(getattr(level.work, kind), _WORK[kind])
        yield "modality", kind
    for metric in ("ttft", "tpot", "itl", "e2e", "queue"):
        yield from ((f"{metric}_{item.name}", value) for item, value in getattr(level, metric).ListFields())
    if level.HasField("telemetry"):
        yield from ((item.name, value) for item, value in level.telemetry.ListFields())
    if level.HasField("quality"):
        yield from ((f"quality_{item.name}", value) for item, value in level.quality.ListFields())


def _named(message: Message, names: dict[str, str]) -> Iterator[tuple[str, Any]]:
    return ((names[item.name], value) for item, value in message.ListFields())


def _of_run(run: messages.Run) -> Iterator[tuple[str, Any]]:
    yield from ((name, getattr(run, name)) for name in _RUN if getattr(run, name))
    if (replicas := field(run, "replicas_under_test")) is not None:
        yield "replicas_under_test", replicas
    if run.arrival_kind:
        yield "arrival_kind", word(messages.ArrivalKind, run.arrival_kind)
    if run.state:
        yield "state", word(messages.TestState, run.state)
    if run.HasField("measured_at"):
        yield "measured_at", run.measured_at.ToJsonString()
    yield from ((item.name, value) for item, value in run.configuration.ListFields() if item.name != "fingerprint")
    yield from ((item.name, value) for item, value in run.conditions.ListFields() if item.name != "labels")
    yield from ((f"label_{key}", value) for key, value in run.conditions.labels.items())


def findings(answer: messages.ConvertReportResponse) -> Iterator[dict[str, Any]]:
    """Yield every finding with where it stands: the run and the level, from 0, and the place in the file."""
    yield from (as_dict(item) for item in answer.findings)
    for run_index, run in enumerate(answer.runs):
        yield from (as_dict(item) | {"run": run_index} for item in run.findings)
        for level in run.levels:
            where = {"run": run_index, "level": level.index, "location": level.location}
            yield from (as_dict(item) | where for item in level.findings)


def document(answer: messages.ConvertReportResponse) -> dict[str, Any]:
    """Return what ``tonnage convert --json`` prints."""
    return {"points": list(points(answer)), "findings": list(findings(answer))}
