"""Runs, to the wire and back; also the door to the pairs of what a run holds."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from google.protobuf import timestamp_pb2

from tonnage import access, checks
from tonnage.domain.finding import Origin
from tonnage.domain.measurement import ArrivalKind, Level, Run
from tonnage.errors import InvalidInput, at
from tonnage.rpc.codec.configuration import (
    decode_conditions,
    decode_configuration,
    encode_conditions,
    encode_configuration,
)
from tonnage.rpc.codec.enums import ARRIVAL_KIND, ORIGIN, TEST_STATE
from tonnage.rpc.codec.finding import decode_findings, encode_findings
from tonnage.rpc.codec.level import decode_latency, decode_level, encode_latency, encode_level
from tonnage.rpc.codec.work import decode_work, encode_work
from tonnage.v1 import run_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.domain.configuration import Configuration

LARGEST_LEVEL_COUNT: Final = 10_000
_TEXTS: Final = ("tool_version", "sample_set", "sweep_id", "ingested_by", "ci_job", "source")
_RUN_NAME: Final = re.compile(r"namespaces/([^/]+)/runs/([^/]+)")


def encode_arrival_kind(kind: ArrivalKind | None) -> pb.ArrivalKind.ValueType:
    """Return how requests arrived; None is unspecified."""
    number: pb.ArrivalKind.ValueType = ARRIVAL_KIND.encode(kind)
    return number


def encode_timestamp(moment: datetime | None) -> timestamp_pb2.Timestamp | None:
    """Return a moment; None stays absent."""
    if moment is None:
        return None
    message = timestamp_pb2.Timestamp()
    message.FromDatetime(moment)
    return message


def decode_timestamp(message: timestamp_pb2.Timestamp, path: str) -> datetime:
    """Return a moment in UTC; raise ``InvalidInput`` when it is outside the calendar."""
    try:
        return message.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidInput.field(path, f"{message.seconds} s", "is no moment of the calendar", "check it") from error


def run_name_parts(name: str, path: str) -> tuple[str, str]:
    """Return namespace and run id of a run name; raise ``InvalidInput`` when it is none."""
    checks.required(path, name)
    checks.name(path, name)
    found = _RUN_NAME.fullmatch(name)
    if found is None:
        raise InvalidInput.field(path, name, "is no run name", "write namespaces/{namespace}/runs/{run}")
    access.require(found[1])
    return found[1], found[2]


def encode_run(run: Run, *, with_levels: bool = True) -> pb.Run:
    """Return a run with what a plan lacks; a run without an id has no name yet."""
    return pb.Run(
        name=run.name if run.run_id else "",
        report_id=run.report_id,
        sweep_id=run.sweep_id or "",
        tool=run.tool,
        tool_version=run.tool_version or "",
        metric_definitions=run.metric_definitions,
        configuration=encode_configuration(run.configuration),
        conditions=encode_conditions(run.conditions),
        replicas_under_test=run.replicas_under_test,
        arrival_kind=ARRIVAL_KIND.encode(run.arrival_kind),
        state=TEST_STATE.encode(run.state),
        state_origin=ORIGIN.encode(run.state_origin),
        sample_set=run.sample_set or "",
        measured_at=encode_timestamp(run.measured_at),
        ingested_at=encode_timestamp(run.ingested_at),
        filename=run.filename,
        ingested_by=run.ingested_by or "",
        ci_job=run.ci_job or "",
        levels=[encode_level(level) for level in run.levels] if with_levels else (),
        findings=encode_findings(run.findings),
        source=run.source or "",
        missing_for_plan=run.missing_for_plan(),
    )


def decode_run(message: pb.Run) -> Run:
    """Return a run that was pushed; output-only fields are left aside.

    Raises ``InvalidInput`` with the path of the first field that holds what it may not hold.
    """
    for key in ("tool", "metric_definitions"):
        checks.required(key, getattr(message, key))
        checks.name(key, getattr(message, key))
    for key in ("filename", *_TEXTS):
        checks.name(key, getattr(message, key))
    replicas = message.replicas_under_test if message.HasField("replicas_under_test") else None
    checks.count("replicas_under_test", replicas)
    state = TEST_STATE.decode(message.state, "state")
    texts: dict[str, Any] = {key: getattr(message, key) or None for key in _TEXTS}
    with at("conditions"):
        conditions = decode_conditions(message.conditions)
    return Run(
        tool=message.tool,
        metric_definitions=message.metric_definitions,
        levels=_levels(message.levels),
        configuration=_identity(message.configuration),
        conditions=conditions,
        replicas_under_test=replicas,
        arrival_kind=ARRIVAL_KIND.decode(message.arrival_kind, "arrival_kind"),
        state=state,
        state_origin=_state_origin(message, is_stated=state is not None),
        measured_at=_measured_at(message),
        findings=decode_findings(message.findings),
        filename=message.filename,
        **texts,
    )


def _identity(message: pb.Configuration) -> Configuration:
    with at("configuration"):
        configuration, fingerprint = decode_configuration(message)
        if fingerprint not in (None, configuration.fingerprint):
            cure = "state the fields; a fingerprint alone only selects"
            raise InvalidInput.field("fingerprint", fingerprint, "describes no configuration", cure)
    return configuration


def _state_origin(message: pb.Run, *, is_stated: bool) -> Origin | None:
    origin = ORIGIN.decode(message.state_origin, "state_origin")
    if not is_stated:
        return None
    return Origin.DECLARED if origin is None else origin


def _measured_at(message: pb.Run) -> datetime | None:
    return decode_timestamp(message.measured_at, "measured_at") if message.HasField("measured_at") else None


def _levels(messages: Iterable[pb.Level]) -> tuple[Level, ...]:
    levels = []
    for position, message in enumerate(messages):
        with at(f"levels[{position}]"):
            levels.append(decode_level(message, position))
    checks.not_empty("levels", levels)
    if len(levels) > LARGEST_LEVEL_COUNT:
        cure = f"split it, at most {LARGEST_LEVEL_COUNT} a run"
        raise InvalidInput.field("levels", len(levels), "holds too many entries", cure)
    return tuple(levels)


__all__ = [
    "decode_conditions",
    "decode_configuration",
    "decode_latency",
    "decode_level",
    "decode_run",
    "decode_timestamp",
    "decode_work",
    "encode_arrival_kind",
    "encode_conditions",
    "encode_configuration",
    "encode_latency",
    "encode_level",
    "encode_run",
    "encode_timestamp",
    "encode_work",
    "run_name_parts",
]
