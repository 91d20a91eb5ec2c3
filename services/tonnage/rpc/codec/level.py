"""Operating points, to the wire and back."""

from __future__ import annotations

from typing import Any, Final

from tonnage import checks
from tonnage.domain.measurement import (
    LEVEL_COUNTS,
    LEVEL_NUMBERS,
    METRICS,
    NOT_MEASURED,
    STATISTICS,
    Latency,
    Level,
    Quality,
    Telemetry,
    TextWork,
)
from tonnage.errors import InvalidInput, at
from tonnage.rpc.codec.configuration import present
from tonnage.rpc.codec.finding import decode_findings, encode_findings
from tonnage.rpc.codec.numbers import magnitude
from tonnage.rpc.codec.work import decode_work, encode_work
from tonnage.v1 import run_pb2 as pb

LARGEST_TENANT_COUNT: Final = 100
_STATISTIC_FIELDS: Final = tuple(f"{statistic}_ms" for statistic in STATISTICS)
_TELEMETRY_FIELDS: Final = tuple(Telemetry.__dataclass_fields__)


def encode_latency(latency: Latency) -> pb.LatencyStatistics | None:
    """Return the statistics of one latency; None when nothing was measured."""
    if latency == NOT_MEASURED:
        return None
    return pb.LatencyStatistics(**{key: getattr(latency, key) for key in _STATISTIC_FIELDS})


def decode_latency(message: pb.LatencyStatistics) -> Latency:
    """Return the statistics of one latency; raise ``InvalidInput`` with the field's path."""
    values = {key: present(message, key) for key in _STATISTIC_FIELDS}
    for key, value in values.items():
        magnitude(key, value)
    return Latency(**values)


def encode_telemetry(telemetry: Telemetry) -> pb.Telemetry:
    """Return what the machines said."""
    return pb.Telemetry(**{key: getattr(telemetry, key) for key in _TELEMETRY_FIELDS})


def decode_telemetry(message: pb.Telemetry) -> Telemetry:
    """Return what the machines said; raise ``InvalidInput`` with the field's path."""
    values = {key: present(message, key) for key in _TELEMETRY_FIELDS}
    for key, value in values.items():
        if key.endswith("_ratio"):
            checks.ratio(key, value)
        elif key.endswith("_bytes"):
            checks.count(key, value, least=0)
        else:
            magnitude(key, value)
    return Telemetry(**values)


def encode_quality(quality: Quality) -> pb.Quality:
    """Return a quality score."""
    return pb.Quality(suite=quality.suite, suite_version=quality.suite_version or "", score=quality.score)


def decode_quality(message: pb.Quality) -> Quality:
    """Return a quality score; raise ``InvalidInput`` with the field's path."""
    checks.required("suite", message.suite)
    for key in ("suite", "suite_version"):
        checks.name(key, getattr(message, key))
    score = present(message, "score")
    checks.finite("score", score)
    magnitude("score", None if score is None else abs(score))
    return Quality(suite=message.suite, suite_version=message.suite_version or None, score=score)


def encode_level(level: Level) -> pb.Level:
    """Return one operating point."""
    latencies: dict[str, Any] = {metric: encode_latency(level.latency(metric)) for metric in METRICS}
    return pb.Level(
        index=level.index,
        work=encode_work(level.work),
        **{key: getattr(level, key) for key in LEVEL_NUMBERS + LEVEL_COUNTS},
        **latencies,
        telemetry=None if level.telemetry is None else encode_telemetry(level.telemetry),
        quality=None if level.quality is None else encode_quality(level.quality),
        tenants=[pb.TenantLevel(tenant=tenant, level=encode_level(part)) for tenant, part in level.tenants],
        location=level.location,
        findings=encode_findings(level.findings),
        usable=level.usable,
    )


def decode_level(message: pb.Level, index: int, *, is_part: bool = False) -> Level:
    """Return the operating point at position ``index``; raise ``InvalidInput`` with the field's path.

    An ``index`` in the message must be that position or 0; parts of a mixed level hold no parts.
    """
    if message.index not in (0, index):
        raise InvalidInput.field("index", message.index, "is not the position in the list", f"give {index} or 0")
    numbers = {key: present(message, key) for key in LEVEL_NUMBERS + LEVEL_COUNTS}
    for key in LEVEL_NUMBERS:
        magnitude(key, numbers[key])
    for key in LEVEL_COUNTS:
        checks.count(key, numbers[key], least=0)
    checks.name("location", message.location)
    with at("work"):
        work = decode_work(message.work)
    return Level(
        index=index,
        work=TextWork() if work is None else work,
        **numbers,
        **_latencies(message),
        telemetry=_telemetry(message),
        quality=_quality(message),
        tenants=_tenants(message, is_part=is_part),
        location=message.location,
        findings=decode_findings(message.findings),
        usable=message.usable if message.HasField("usable") else True,
    )


def _latencies(message: pb.Level) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for metric in METRICS:
        with at(metric):
            found[metric] = decode_latency(getattr(message, metric)) if message.HasField(metric) else NOT_MEASURED
    return found


def _telemetry(message: pb.Level) -> Telemetry | None:
    if not message.HasField("telemetry"):
        return None
    with at("telemetry"):
        return decode_telemetry(message.telemetry)


def _quality(message: pb.Level) -> Quality | None:
    if not message.HasField("quality"):
        return None
    with at("quality"):
        return decode_quality(message.quality)


def _tenants(message: pb.Level, *, is_part: bool) -> tuple[tuple[str, Level], ...]:
    if is_part and message.tenants:
        raise InvalidInput.field("tenants", None, "is set inside a tenant's part", "list tenants on the mixed level")
    if len(message.tenants) > LARGEST_TENANT_COUNT:
        cure = f"give at most {LARGEST_TENANT_COUNT}"
        raise InvalidInput.field("tenants", len(message.tenants), "holds too many entries", cure)
    found: list[tuple[str, Level]] = []
    for position, item in enumerate(message.tenants):
        with at(f"tenants[{position}]"):
            checks.required("tenant", item.tenant)
            checks.name("tenant", item.tenant)
            if item.tenant in dict(found):
                raise InvalidInput.field("tenant", item.tenant, "is there twice", "give each tenant one part")
            with at("level"):
                found.append((item.tenant, decode_level(item.level, item.level.index, is_part=True)))
    return tuple(found)
