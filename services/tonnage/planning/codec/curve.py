"""Curves: what is asked of one, and its points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage import checks
from tonnage.errors import at
from tonnage.planning.codec.capacity import encode_capacity
from tonnage.planning.codec.demand import needed_work
from tonnage.planning.codec.limits import decode_slo
from tonnage.planning.codec.plan import decode_policy
from tonnage.planning.codec.presence import namespace, text
from tonnage.planning.usecase.curve import CurveAsked
from tonnage.rpc.codec.configuration import decode_configuration, encode_configuration
from tonnage.rpc.codec.enums import ARRIVAL_KIND
from tonnage.rpc.codec.finding import encode_evidence, encode_finding
from tonnage.rpc.codec.level import encode_level
from tonnage.rpc.codec.work import encode_work
from tonnage.v1 import benchmark_service_pb2 as pb

if TYPE_CHECKING:
    from tonnage.planning.usecase.curve import CurveAnswer, Point


def decode_curve(message: pb.GetCurveRequest) -> CurveAsked:
    """Return which curve is asked; raise ``InvalidInput``."""
    with at("configuration"):
        configuration, fingerprint = decode_configuration(message.configuration)
    work = slo = None
    if message.HasField("work"):
        with at("work"):
            work = needed_work(message.work)
    if message.HasField("slo"):
        with at("slo"):
            slo = decode_slo(message.slo)
    checks.name("sweep_id", message.sweep_id)
    return CurveAsked(
        namespace=namespace(message.namespace),
        configuration=configuration,
        fingerprint=fingerprint,
        work=work,
        slo=slo,
        policy=decode_policy(message.policy),
        sweep_id=text(message.sweep_id),
    )


def encode_curve(answer: CurveAnswer) -> pb.GetCurveResponse:
    """Return a curve as an answer."""
    curve = answer.curve
    return pb.GetCurveResponse(
        configuration=encode_configuration(curve.configuration),
        sweep_id=answer.sweep_id,
        measured_work=encode_work(answer.work),
        arrival_kind=ARRIVAL_KIND.encode(curve.arrival_kind),
        points=[_point(item) for item in answer.points],
        capacity=None if answer.capacity is None else encode_capacity(answer.capacity),
        knee_offered_load=curve.knee_offered_load,
        saturation_requests_per_s=curve.saturation_requests_per_s,
        findings=[encode_finding(item) for item in answer.findings],
        other_sweep_ids=answer.other_sweep_ids,
        data_version=answer.data_version,
    )


def _point(point: Point) -> pb.CurvePoint:
    return pb.CurvePoint(
        level=encode_level(point.level),
        offered_load=point.offered_load,
        requests_per_s_per_replica=point.requests_per_s,
        output_tokens_per_s_per_replica=point.output_tokens_per_s,
        admissible=point.admissible,
        miss=point.miss,
        evidence=encode_evidence(point.evidence),
    )
