"""Workload messages: reserve, failover, server and the whole."""

from __future__ import annotations

from typing import Final

from tonnage import checks
from tonnage.domain.workload import Failover, Money, RequestClass, Reserve, ReservePart, ServerShape, Workload
from tonnage.errors import InvalidInput, at
from tonnage.planning.codec import enums
from tonnage.planning.codec.demand import decode_buckets, decode_demand, encode_buckets, encode_demand
from tonnage.planning.codec.limits import decode_slo, encode_slo
from tonnage.planning.codec.presence import LARGEST_RATE, LARGEST_RATIO, at_most, chosen, day, member, needed, optional
from tonnage.v1 import workload_pb2

_MOST_ZONES: Final = 1000
_PARTS: Final = ("growth", "burst", "drift", "colocation")
_RESERVE_CURE: Final = 'state whole or parts with their sources; "none" says that no reserve is wanted'


def decode_workload(message: workload_pb2.Workload) -> Workload:
    """Return what has to be served; raise ``InvalidInput`` with the path inside the workload."""
    checks.required("model", message.model)
    with at("demand"):
        demand = decode_demand(message.demand)
    with at("slo"):
        slo = decode_slo(message.slo)
    with at("reserve"):
        reserve = decode_reserve(message.reserve)
    with at("server"):
        server = decode_server(message.server)
    return Workload(
        model=message.model,
        request_class=decode_request_class(message.request_class),
        demand=demand,
        buckets=decode_buckets(message.buckets),
        slo=slo,
        reserve=reserve,
        failover=decode_failover(message.failover) if message.HasField("failover") else None,
        server=server,
    )


def decode_request_class(number: int) -> RequestClass:
    """Return the class; unstated is taken as interactive."""
    if number == workload_pb2.REQUEST_CLASS_UNSPECIFIED:
        return RequestClass.INTERACTIVE
    return member(enums.REQUEST_CLASS, number, "request_class")


def decode_reserve(message: workload_pb2.Reserve) -> Reserve:
    """Return R; raise ``InvalidInput`` when neither a reserve nor "none" is stated."""
    kind = chosen(message, "kind", "", _RESERVE_CURE)
    if kind == "none":
        return Reserve()
    with at(kind):
        if kind == "whole":
            return Reserve(whole=_part(message.whole))
        parts = {}
        for name in _PARTS:
            if message.parts.HasField(name):
                with at(name):
                    parts[name] = _part(getattr(message.parts, name))
        if not parts:
            raise InvalidInput.field("", None, "holds no part", _RESERVE_CURE)
        return Reserve(**parts, from_parts=True)


def _part(message: workload_pb2.ReservePart) -> ReservePart:
    ratio = needed(message, "ratio")
    at_most("ratio", ratio, LARGEST_RATIO)
    return ReservePart(ratio=ratio, source=message.source)


def encode_reserve(reserve: Reserve) -> workload_pb2.Reserve:
    """Return R as a message."""
    if reserve.whole is not None:
        return workload_pb2.Reserve(whole=_encode_part(reserve.whole))
    if not reserve.from_parts:
        return workload_pb2.Reserve(none=workload_pb2.NoReserve())
    stated = {name: _encode_part(part) for name, part in reserve.parts()}
    return workload_pb2.Reserve(parts=workload_pb2.ReserveParts(**stated))


def _encode_part(part: ReservePart) -> workload_pb2.ReservePart:
    return workload_pb2.ReservePart(ratio=part.ratio, source=part.source)


def decode_failover(message: workload_pb2.Failover) -> Failover:
    """Return the loss to survive; raise ``InvalidInput`` when no kind is set."""
    with at("failover"):
        kind = chosen(
            message, "kind", "", "state lost_replica_count, lost_server_count or zones, or leave failover out"
        )
        if kind == "zones":
            at_most("zones.zone_count", message.zones.zone_count, _MOST_ZONES)
            if message.zones.lost_zone_count > message.zones.zone_count:
                raise InvalidInput.field(
                    "zones.lost_zone_count", message.zones.lost_zone_count, "is above zone_count", "lose fewer zones"
                )
            return Failover(zone_count=message.zones.zone_count, lost_zone_count=message.zones.lost_zone_count)
        if kind == "lost_server_count":
            return Failover(lost_server_count=message.lost_server_count)
        return Failover(lost_replica_count=message.lost_replica_count)


def encode_failover(failover: Failover | None) -> workload_pb2.Failover | None:
    """Return the loss to survive as a message, None for None."""
    if failover is None:
        return None
    if failover.zone_count is not None:
        zones = workload_pb2.ZoneLoss(zone_count=failover.zone_count, lost_zone_count=failover.lost_zone_count or 0)
        return workload_pb2.Failover(zones=zones)
    if failover.lost_server_count is not None:
        return workload_pb2.Failover(lost_server_count=failover.lost_server_count)
    return workload_pb2.Failover(lost_replica_count=failover.lost_replica_count or 0)


def decode_server(message: workload_pb2.ServerShape) -> ServerShape:
    """Return the host; raise ``InvalidInput`` for a price without amount, currency, source or date."""
    price = None
    if message.HasField("price_per_hour"):
        with at("price_per_hour"):
            price = decode_money(message.price_per_hour)
    return ServerShape(accelerators_per_server=optional(message, "accelerators_per_server"), price_per_hour=price)


def decode_money(message: workload_pb2.Money) -> Money:
    """Return an amount of money; raise ``InvalidInput`` for one that cannot be compared later."""
    amount = needed(message, "amount", "state it; 0 is free")
    at_most("amount", amount, LARGEST_RATE)
    checks.required("currency", message.currency)
    if not (len(message.currency) == len("USD") and message.currency.isascii() and message.currency.isupper()):
        raise InvalidInput.field("currency", message.currency, "is not a currency code", "give ISO 4217, such as USD")
    checks.required("as_of_date", message.as_of_date)
    return Money(
        currency=message.currency,
        amount=amount,
        source=message.source,
        as_of_date=day("as_of_date", message.as_of_date),
    )


def encode_money(money: Money | None) -> workload_pb2.Money | None:
    """Return an amount of money as a message, None for None."""
    if money is None:
        return None
    return workload_pb2.Money(
        currency=money.currency, amount=money.amount, source=money.source, as_of_date=money.as_of_date
    )


def encode_workload(workload: Workload) -> workload_pb2.Workload:
    """Return what has to be served as a message, defaults filled in."""
    server = workload.server
    return workload_pb2.Workload(
        model=workload.model,
        request_class=enums.REQUEST_CLASS_NUMBER[workload.request_class],
        demand=encode_demand(workload.demand),
        buckets=encode_buckets(workload.buckets),
        slo=encode_slo(workload.slo),
        reserve=encode_reserve(workload.reserve),
        failover=encode_failover(workload.failover),
        server=workload_pb2.ServerShape(
            accelerators_per_server=server.accelerators_per_server, price_per_hour=encode_money(server.price_per_hour)
        ),
    )
