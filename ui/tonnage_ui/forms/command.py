"""Requests as the command line a user would type; every field of the form has its flag."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from tonnage_ui.forms.explore import name_of
from tonnage_ui.messages import enum_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from google.protobuf.message import Message

    from tonnage_ui.messages import pb

Flag = tuple[str, str]

_DEMAND_FLAGS: Final = {
    "base_requests_per_s": "rps",
    "peak_requests_per_s": "peak-rps",
    "source": "demand-source",
}
_FAILOVER_FLAGS: Final = {"lost_replica_count": "failover-replicas", "lost_server_count": "failover-servers"}
_VRAM_FLAGS: Final = {
    "memory_utilization_ratio": "memory-utilization",
    "accelerator_count": "accelerators",
    "graph": "graphs-memory",
}
_SWITCHES: Final = {
    ("chunked_prefill", True): "chunked-prefill",
    ("chunked_prefill", False): "no-chunked-prefill",
    ("eager", True): "eager",
    ("eager", False): "graphs",
}


def plan_command(request: pb.PlanCapacityRequest) -> str:
    """Return the ``tonnage plan`` line that asks the same."""
    return _line("plan", _plan_flags(request))


def explore_command(request: pb.ExplorePlansRequest) -> str:
    """Return the ``tonnage explore`` line that asks the same."""
    axes = [("vary", f"{name_of(axis)}={_range(axis)}") for axis in request.axes]
    return _line("explore", [*axes, *_plan_flags(request.base)])


def retest_command(request: pb.CheckRetestRequest) -> str:
    """Return the ``tonnage retest`` line that asks the same of every configuration."""
    age = [("max-age-days", str(request.max_age_days))] if request.HasField("max_age_days") else []
    return _line("retest", [*_plain(request.planned), *age, ("limit", "0")])


def _range(axis: pb.ExploreAxis) -> str:
    if axis.HasField("values"):
        return ",".join(_shown(value) for value in axis.values.values)
    span = axis.span
    ending = ":geometric" if span.geometric else ""
    return f"{_shown(span.low)}:{_shown(span.high)}:{span.count}{ending}"


def _plan_flags(request: pb.PlanCapacityRequest) -> list[Flag]:
    workload = request.workload
    return [
        ("model", workload.model),
        *_enum_flag(workload, "request_class", "request-class"),
        *_demand(workload.demand),
        *_buckets(workload.buckets),
        *_slo(workload.slo),
        *_reserve(workload.reserve),
        *_failover(workload.failover),
        *_server(workload.server),
        *_plain(request.configuration),
        *_enum_flag(request, "policy", "policy"),
        *_text("as-of", request.as_of_date),
    ]


def curve_command(request: pb.GetCurveRequest) -> str:
    """Return the ``tonnage curve`` line that asks the same."""
    text = request.work.text
    flags = [
        *_plain(request.configuration),
        *(_plain_work(text) if request.work.HasField("text") else ()),
        *_slo(request.slo),
        *_enum_flag(request, "policy", "policy"),
    ]
    return _line("curve", flags)


def vram_command(question: pb.MemoryQuestion) -> str:
    """Return the ``tonnage vram`` line that asks the same; a dropped file stands there as config.json."""
    flags: list[Flag] = [("config", "config.json")] if question.HasField("config_json") else []
    for descriptor, value in question.ListFields():
        if descriptor.name == "parallelism":
            flags += [(f"{part.name}-parallel", str(size)) for part, size in value.ListFields()]
        elif descriptor.name == "declared":
            flags += [(_vram_flag(part.name.removesuffix("_bytes")), _shown(size)) for part, size in value.ListFields()]
        elif isinstance(value, bool):
            flags.append((_SWITCHES[descriptor.name, value], ""))
        elif descriptor.name != "config_json":
            flags.append((_vram_flag(descriptor.name), _shown(value)))
    return _line("vram", flags)


def _vram_flag(name: str) -> str:
    return _VRAM_FLAGS.get(name, _dashed(name))


def _line(command: str, flags: Iterable[Flag]) -> str:
    parts = [f"tonnage {command}"]
    parts += [f"--{name} {shlex.quote(value)}" if value else f"--{name}" for name, value in flags]
    return " ".join(parts)


def _demand(demand: pb.Demand) -> Iterator[Flag]:
    kind = demand.WhichOneof("kind")
    if kind is not None:
        for descriptor, value in getattr(demand, kind).ListFields():
            yield _DEMAND_FLAGS.get(descriptor.name, _dashed(descriptor.name)), _shown(value)


def _buckets(buckets: Iterable[pb.DemandBucket]) -> Iterator[Flag]:
    listed = list(buckets)
    if len(listed) == 1:
        yield from _plain_work(listed[0].work.text)
        return
    for bucket in listed:
        text = bucket.work.text
        parts = [f"share={bucket.share:g}", f"input={text.input_tokens_mean:g}", f"output={text.output_tokens_mean:g}"]
        if text.HasField("prefix_cache_hit_ratio"):
            parts.append(f"text.prefix_cache_hit_ratio={text.prefix_cache_hit_ratio:g}")
        yield "bucket", ",".join(parts)


def _plain_work(text: pb.TextWork) -> Iterator[Flag]:
    for descriptor, value in text.ListFields():
        yield _dashed(descriptor.name.removesuffix("_mean")), _shown(value)


def _slo(slo: pb.Slo) -> Iterator[Flag]:
    for limit in slo.latency_limits:
        yield "slo", f"{enum_word(limit, 'metric')}_{enum_word(limit, 'statistic')}_ms={_shown(limit.max_ms)}"
    if slo.HasField("max_failure_ratio"):
        yield "slo", f"failure_ratio={_shown(slo.max_failure_ratio)}"
    if slo.HasField("min_output_tokens_per_s_per_user"):
        yield "slo", f"output_tokens_per_s_per_user={_shown(slo.min_output_tokens_per_s_per_user)}"
    if slo.allow_statistic_substitution:
        yield "allow-statistic-substitution", ""


def _reserve(reserve: pb.Reserve) -> Iterator[Flag]:
    match reserve.WhichOneof("kind"):
        case "none":
            yield "no-reserve", ""
        case "whole":
            yield from _part("reserve", reserve.whole)
        case "parts":
            for descriptor, part in reserve.parts.ListFields():
                yield from _part(descriptor.name, part)


def _part(name: str, part: pb.ReservePart) -> Iterator[Flag]:
    if part.HasField("ratio"):
        yield name, _shown(part.ratio)
    yield from _text(f"{name}-source", part.source)


def _failover(failover: pb.Failover) -> Iterator[Flag]:
    kind = failover.WhichOneof("kind")
    if kind == "zones":
        yield "zones", str(failover.zones.zone_count)
        yield "lost-zones", str(failover.zones.lost_zone_count)
    elif kind is not None:
        yield _FAILOVER_FLAGS[kind], str(getattr(failover, kind))


def _server(server: pb.ServerShape) -> Iterator[Flag]:
    if server.HasField("accelerators_per_server"):
        yield "accelerators-per-server", str(server.accelerators_per_server)
    if server.HasField("price_per_hour"):
        price = server.price_per_hour
        yield "price-per-hour", _shown(price.amount)
        yield from _text("price-currency", price.currency)
        yield from _text("price-source", price.source)
        yield from _text("price-as-of", price.as_of_date)


def _plain(message: Message) -> Iterator[Flag]:
    for descriptor, value in message.ListFields():
        if isinstance(value, bool):
            yield _dashed(descriptor.name) if value else f"no-{_dashed(descriptor.name)}", ""
        else:
            yield _dashed(descriptor.name), _shown(value)


def _enum_flag(message: Message, field: str, flag: str) -> Iterator[Flag]:
    if getattr(message, field):
        yield flag, _dashed(enum_word(message, field))


def _text(flag: str, value: str) -> Iterator[Flag]:
    if value:
        yield flag, value


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _shown(value: object) -> str:
    """Return a number so that reading it gives the same number back."""
    return repr(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
