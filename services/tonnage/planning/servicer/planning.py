"""PlanningService."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tonnage.capacity.demand import summarize
from tonnage.errors import at
from tonnage.planning.codec import memory as memory_codec
from tonnage.planning.codec import plan as plan_codec
from tonnage.planning.codec import sizing as sizing_codec
from tonnage.planning.codec.presence import optional
from tonnage.planning.usecase import fit, plan, servers, utilization
from tonnage.v1 import planning_service_pb2 as pb

if TYPE_CHECKING:
    import grpc.aio

    from tonnage.planning.codec.evidence import RunMessages
    from tonnage.planning.desk import Desk
    from tonnage.planning.usecase.plan import Prepared
    from tonnage.store.base import Snapshot

    Context = grpc.aio.ServicerContext[Any, Any]

REPEATED: Final = ("PlanCapacity", "FitVram", "EstimateTokenDemand", "ComputeUtilization", "EstimateServerCount")


class PlanningServicer:
    """Answers how many servers a workload needs."""

    def __init__(self, desk: Desk, runs: RunMessages) -> None:
        self._desk = desk
        self._runs = runs

    async def PlanCapacity(self, request: pb.PlanCapacityRequest, context: Context) -> pb.PlanCapacityResponse:  # noqa: N802 -- the name in the proto
        """Size one workload."""
        asked = plan_codec.decode_plan_request(request, self._desk.today())
        if request.validate_only:
            return pb.PlanCapacityResponse(plan=plan_codec.encode_validated(plan.normalize(asked)))
        snapshot = await self._desk.snapshot(optional(request, "min_data_version"), context)
        prepared = plan.prepare(asked, snapshot, self._desk.book)
        return await self._desk.run(partial(self._planned, prepared, snapshot), light=prepared.light)

    def _planned(self, prepared: Prepared, snapshot: Snapshot) -> pb.PlanCapacityResponse:
        planned = plan.plan(prepared, snapshot, self._desk.book, self._desk.release)
        return pb.PlanCapacityResponse(plan=plan_codec.encode_plan(planned.plan, self._runs.of(planned.evidence_runs)))

    def FitVram(self, request: pb.FitVramRequest, _context: Context) -> pb.FitVramResponse:  # noqa: N802 -- the name in the proto
        """Say whether a model fits."""
        with at("question"):
            answer = fit.fit(memory_codec.decode_question(request.question))
        return pb.FitVramResponse(fit=memory_codec.encode_fit(answer))

    def EstimateTokenDemand(  # noqa: N802 -- the name in the proto
        self, request: pb.EstimateTokenDemandRequest, _context: Context
    ) -> pb.EstimateTokenDemandResponse:
        """Turn demand into tokens/s."""
        demand, buckets = sizing_codec.decode_token_demand(request)
        return sizing_codec.encode_token_demand_answer(*summarize(demand, buckets))

    async def ComputeUtilization(  # noqa: N802 -- the name in the proto
        self, request: pb.ComputeUtilizationRequest, context: Context
    ) -> pb.ComputeUtilizationResponse:
        """Add up what tenants take of the same replicas."""
        asked = sizing_codec.decode_utilization(request)
        snapshot = await self._desk.snapshot(
            optional(request, "min_data_version"), context, needs_store=asked.needs_store
        )
        return sizing_codec.encode_utilization(utilization.compute(asked, snapshot, self._desk.book))

    def EstimateServerCount(  # noqa: N802 -- the name in the proto
        self, request: pb.EstimateServerCountRequest, _context: Context
    ) -> pb.EstimateServerCountResponse:
        """Count servers from stated demand and capacity."""
        return sizing_codec.encode_servers(*servers.count(sizing_codec.decode_servers(request)))
