"""PlanningService."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal

from tonnage.capacity.demand import summarize
from tonnage.errors import at
from tonnage.planning.codec import comparison
from tonnage.planning.codec import explore as explore_codec
from tonnage.planning.codec import memory as memory_codec
from tonnage.planning.codec import plan as plan_codec
from tonnage.planning.codec import replay as replay_codec
from tonnage.planning.codec import simulation as simulation_codec
from tonnage.planning.codec import sizing as sizing_codec
from tonnage.planning.codec.presence import chosen, optional
from tonnage.planning.usecase import explore, fit, plan, replay, servers, simulate, utilization
from tonnage.rpc.codec.run import encode_run
from tonnage.v1 import planning_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator, Iterator

    import grpc.aio

    from tonnage.domain.simulation import Simulation
    from tonnage.planning.codec.evidence import RunMessages
    from tonnage.planning.desk import Desk
    from tonnage.planning.usecase.explore import Point
    from tonnage.planning.usecase.plan import Prepared
    from tonnage.planning.usecase.simulate import Subject
    from tonnage.store.base import Snapshot
    from tonnage.v1 import plan_pb2

    Context = grpc.aio.ServicerContext[Any, Any]

REPEATED: Final = ("PlanCapacity", "FitVram", "EstimateTokenDemand", "ComputeUtilization", "EstimateServerCount")
_POINTS_AT_ONCE: Final = 8


class PlanningServicer:
    """Answers how many servers a workload needs."""

    def __init__(self, desk: Desk, runs: RunMessages) -> None:
        self._desk = desk
        self._runs = runs
        self._simulations = simulate.Seats()

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
            asked = memory_codec.decode_question(request.question)
            answer = pb.FitVramResponse(fit=memory_codec.encode_fit(fit.fit(asked)))
        if request.HasField("map"):
            with at("map"):
                axes = memory_codec.decode_axes(request.map)
            found = fit.memory_map(asked, *axes)
            answer.map.CopyFrom(memory_codec.encode_map(found))
        return answer

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

    async def ExplorePlans(  # noqa: N802 -- the name in the proto
        self, request: pb.ExplorePlansRequest, context: Context
    ) -> AsyncIterator[pb.ExplorePlansResponse]:
        """Plan at each point of some ranges; a caller that goes away stops it within a few points."""
        with at("base"):
            asked = plan_codec.decode_plan_request(request.base, self._desk.today())
        axes = explore_codec.decode_axes(request.axes)
        snapshot = await self._desk.snapshot(optional(request.base, "min_data_version"), context)
        with at("base"):
            prepared = plan.prepare(asked, snapshot, self._desk.book)
        varied = await self._desk.run(partial(explore.requests, prepared.request, axes))
        points = explore.points(prepared, varied, snapshot, self._desk.book, self._desk.release)
        while batch := await self._desk.run(partial(_next_points, points)):
            for message in batch:
                yield message

    async def SimulatePlan(  # noqa: N802 -- the name in the proto
        self, request: pb.SimulatePlanRequest, context: Context
    ) -> AsyncIterator[pb.SimulatePlanResponse]:
        """Simulate a planned count; a caller that goes away stops it within some milliseconds."""
        kind = chosen(request, "subject", "request", "give request or plan")
        asked = simulation_codec.decode_simulation(request)
        with self._simulations:
            subject = await (self._planned_now(request, context) if kind == "request" else self._kept_plan(request))
            steps = simulate.steps(subject, asked)
            while True:
                share, found = await self._desk.run(partial(_next_step, steps))
                if share is None:
                    yield simulation_codec.encode_result(subject, found)
                    return
                yield simulation_codec.encode_progress(share)

    async def _planned_now(self, request: pb.SimulatePlanRequest, context: Context) -> Subject:
        with at("request"):
            asked = plan_codec.decode_plan_request(request.request, self._desk.today())
            snapshot = await self._desk.snapshot(optional(request.request, "min_data_version"), context)
            prepared = plan.prepare(asked, snapshot, self._desk.book)
        book, release = self._desk.book, self._desk.release
        return await self._desk.run(
            partial(simulate.of_request, prepared, snapshot, book, release, request.fingerprint)
        )

    async def _kept_plan(self, request: pb.SimulatePlanRequest) -> Subject:
        def found() -> Subject:
            whole = comparison.kept_plan(request.plan, "plan")
            with at("plan"):
                kept = replay_codec.decode_kept(whole)
            return simulate.of_kept(kept, self._desk.release, request.fingerprint)

        return await self._desk.run(found)

    async def ComparePlans(self, request: pb.ComparePlansRequest, context: Context) -> pb.ComparePlansResponse:  # noqa: N802 -- the name in the proto
        """Say what differs between two plans."""
        chosen(request, "before", "before_request", "give before_plan or before_request")
        chosen(request, "after", "after_request", "give after_plan or after_request")
        before = await self._side(request, "before", context)
        after = await self._side(request, "after", context)
        found = await self._desk.run(partial(comparison.compare, before, after))
        if request.HasField("before_request"):
            found.before.CopyFrom(before)
        if request.HasField("after_request"):
            found.after.CopyFrom(after)
        return found

    async def _side(
        self, request: pb.ComparePlansRequest, side: Literal["before", "after"], context: Context
    ) -> plan_pb2.Plan:
        if request.WhichOneof(side) == f"{side}_plan":
            return comparison.kept_plan(getattr(request, f"{side}_plan"), f"{side}_plan")
        with at(f"{side}_request"):
            return (await self.PlanCapacity(getattr(request, f"{side}_request"), context)).plan

    async def ReplayPlan(self, request: pb.ReplayPlanRequest, _context: Context) -> pb.ReplayPlanResponse:  # noqa: N802 -- the name in the proto
        """Compute a kept plan again from what it holds."""
        return await self._desk.run(partial(self._replayed, request))

    def _replayed(self, request: pb.ReplayPlanRequest) -> pb.ReplayPlanResponse:
        kept = replay_codec.decode_kept(comparison.kept_plan(request.plan, "plan"))
        planned = replay.replay(kept, self._desk.release)
        again = plan_codec.encode_plan(planned.plan, [encode_run(run) for run in planned.evidence_runs])
        return replay_codec.encode_replay(request.plan, again, kept)


def _next_step(steps: Generator[float, None, Simulation | None]) -> tuple[float | None, Simulation | None]:
    """Return the share done after the next step, or what was found."""
    try:
        return next(steps), None
    except StopIteration as end:
        return None, end.value


def _next_points(points: Iterator[Point]) -> list[pb.ExplorePlansResponse]:
    return [explore_codec.encode_point(point) for point in islice(points, _POINTS_AT_ONCE)]
