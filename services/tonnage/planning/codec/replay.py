"""A kept plan, back to what it was computed from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage import checks
from tonnage.errors import InvalidInput, at
from tonnage.planning.codec.comparison import MOST_DIFFERENCES, differences, same_answer
from tonnage.planning.codec.plan import decode_normalized
from tonnage.planning.usecase.replay import KeptPlan, findings
from tonnage.rpc.codec.finding import encode_findings
from tonnage.rpc.codec.run import decode_run, decode_timestamp, run_name_parts
from tonnage.v1 import planning_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.domain.measurement import Run
    from tonnage.v1 import plan_pb2, run_pb2

# Said over all candidates, of which a plan keeps the best.
_OVER_ALL_CANDIDATES: Final = frozenset({"CANDIDATES_CUT", "ONE_PRICE_FOR_UNLIKE_SERVERS"})


def decode_kept(plan: plan_pb2.Plan) -> KeptPlan:
    """Return request and runs of a kept plan; raise ``InvalidInput`` with the path inside it."""
    with at("request"):
        request = decode_normalized(plan.request)
    checks.name("release", plan.release)
    return KeptPlan(
        plan_id=plan.plan_id,
        data_version=plan.data_version,
        release=plan.release,
        request=request,
        runs=_runs(plan.evidence_runs, request.namespace),
    )


def _runs(messages: Iterable[run_pb2.Run], namespace: str) -> tuple[Run, ...]:
    found: dict[str, Run] = {}
    for place, message in enumerate(messages):
        with at(f"evidence_runs[{place}]"):
            run = _run(message)
            if run.namespace != namespace:
                raise InvalidInput.field("name", run.name, "is of another namespace", f"give runs of {namespace}")
            if run.name in found:
                raise InvalidInput.field("name", run.name, "is there twice", "give each run once")
            found[run.name] = run
    return tuple(found.values())


def _run(message: run_pb2.Run) -> Run:
    """Return a run as the store held it, ids and all."""
    owner, run_id = run_name_parts(message.name, "name")
    checks.name("report_id", message.report_id)
    if not message.HasField("ingested_at"):
        raise InvalidInput.field("ingested_at", None, "is required and absent", "give the plan whole")
    run = decode_run(message)
    if len({type(level.work) for level in run.levels}) > 1:
        raise InvalidInput.field("levels", None, "are of several modalities", "give the plan whole")
    return replace(
        run,
        namespace=owner,
        run_id=run_id,
        report_id=message.report_id,
        ingested_at=decode_timestamp(message.ingested_at, "ingested_at"),
    )


def encode_replay(kept: plan_pb2.Plan, again: plan_pb2.Plan, asked: KeptPlan) -> pb.ReplayPlanResponse:
    """Return the plan as it is computed now, with what differs from the kept one.

    Of a plan with candidates the rejections are left out of the comparison, since their runs are not kept.
    """
    cut = bool(kept.candidates) and bool(kept.rejections)
    before = _comparable(kept, again)
    found = differences(before, again)
    same = same_answer(found)
    return pb.ReplayPlanResponse(
        plan=again,
        same_answer=same,
        differences=found[:MOST_DIFFERENCES],
        findings=encode_findings(findings(asked, again.release, same_answer=same, cut=cut)),
    )


def _comparable(kept: plan_pb2.Plan, again: plan_pb2.Plan) -> plan_pb2.Plan:
    """Return the part of a kept plan that its runs can answer for."""
    before = type(kept)()
    before.CopyFrom(kept)
    replayed = {item.configuration.fingerprint for item in again.rejections}
    rejections = [item for item in kept.rejections if item.configuration.fingerprint in replayed]
    before.ClearField("rejections")
    before.rejections.extend(rejections)
    if kept.candidates:
        stated = [item for item in kept.findings if item.code not in _OVER_ALL_CANDIDATES]
        before.ClearField("findings")
        before.findings.extend(stated)
    return before
