"""The planning server's client for asyncio; its calls are those of ``tonnage.client.planning``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tonnage.client.channel import DEFAULT_TIMEOUT_S
from tonnage.client.connection import AsyncConnection
from tonnage.client.paging import apages
from tonnage.v1.benchmark_service_pb2_grpc import BenchmarkServiceStub
from tonnage.v1.catalog_service_pb2_grpc import CatalogServiceStub
from tonnage.v1.planning_service_pb2_grpc import PlanningServiceStub

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator

    from tonnage.client import messages


class PlanningAsyncClient(AsyncConnection):
    """The same calls for asyncio; made inside a running loop."""

    variable: ClassVar[str] = "TONNAGE_PLANNING"

    def __init__(
        self,
        target: str | None = None,
        *,
        token: str | None = None,
        tls_ca: str | os.PathLike[str] | None = None,
        timeout_s: float | None = DEFAULT_TIMEOUT_S,
    ) -> None:
        super().__init__(target, token=token, tls_ca=tls_ca, timeout_s=timeout_s)
        self._planning = PlanningServiceStub(self._channel)
        self._benchmark = BenchmarkServiceStub(self._channel)
        self._catalog = CatalogServiceStub(self._channel)

    async def plan_capacity(
        self, request: messages.PlanCapacityRequest, *, timeout_s: float | None = None
    ) -> messages.PlanCapacityResponse:
        """Size one workload."""
        return await self._call(self._planning.PlanCapacity, request, timeout_s)

    async def fit_vram(
        self, request: messages.FitVramRequest, *, timeout_s: float | None = None
    ) -> messages.FitVramResponse:
        """Say whether a model fits, and how many requests at once."""
        return await self._call(self._planning.FitVram, request, timeout_s)

    async def estimate_token_demand(
        self, request: messages.EstimateTokenDemandRequest, *, timeout_s: float | None = None
    ) -> messages.EstimateTokenDemandResponse:
        """Turn demand into tokens/s."""
        return await self._call(self._planning.EstimateTokenDemand, request, timeout_s)

    async def compute_utilization(
        self, request: messages.ComputeUtilizationRequest, *, timeout_s: float | None = None
    ) -> messages.ComputeUtilizationResponse:
        """Return U_total of several tenants."""
        return await self._call(self._planning.ComputeUtilization, request, timeout_s)

    async def estimate_server_count(
        self, request: messages.EstimateServerCountRequest, *, timeout_s: float | None = None
    ) -> messages.EstimateServerCountResponse:
        """Return the counts alone, from stated demand and capacity."""
        return await self._call(self._planning.EstimateServerCount, request, timeout_s)

    async def list_configurations(
        self, request: messages.ListConfigurationsRequest, *, timeout_s: float | None = None
    ) -> messages.ListConfigurationsResponse:
        """Return one page of configurations with runs."""
        return await self._call(self._benchmark.ListConfigurations, request, timeout_s)

    async def list_runs(
        self, request: messages.ListRunsRequest, *, timeout_s: float | None = None
    ) -> messages.ListRunsResponse:
        """Return one page of runs, newest first."""
        return await self._call(self._benchmark.ListRuns, request, timeout_s)

    async def get_run(
        self, request: messages.GetRunRequest, *, timeout_s: float | None = None
    ) -> messages.GetRunResponse:
        """Return one run with its levels."""
        return await self._call(self._benchmark.GetRun, request, timeout_s)

    async def get_curve(
        self, request: messages.GetCurveRequest, *, timeout_s: float | None = None
    ) -> messages.GetCurveResponse:
        """Return the curve of one configuration and request size."""
        return await self._call(self._benchmark.GetCurve, request, timeout_s)

    async def list_models(
        self, request: messages.ListModelsRequest, *, timeout_s: float | None = None
    ) -> messages.ListModelsResponse:
        """Return one page of catalog models."""
        return await self._call(self._catalog.ListModels, request, timeout_s)

    async def get_model(
        self, request: messages.GetModelRequest, *, timeout_s: float | None = None
    ) -> messages.GetModelResponse:
        """Return one model, from the catalog or a config.json."""
        return await self._call(self._catalog.GetModel, request, timeout_s)

    async def list_accelerators(
        self, request: messages.ListAcceleratorsRequest, *, timeout_s: float | None = None
    ) -> messages.ListAcceleratorsResponse:
        """Return one page of catalog accelerators."""
        return await self._call(self._catalog.ListAccelerators, request, timeout_s)

    def explore_plans(
        self, request: messages.ExplorePlansRequest, *, timeout_s: float | None = None
    ) -> AsyncIterator[messages.ExplorePlansResponse]:
        """Yield the answer at each point of a range as it is planned; closing the iterator cancels the rest.

        There is no deadline unless one is given.
        """
        return self._each(self._planning.ExplorePlans, request, timeout_s)

    def simulate_plan(
        self, request: messages.SimulatePlanRequest, *, timeout_s: float | None = None
    ) -> AsyncIterator[messages.SimulatePlanResponse]:
        """Yield the share done, then the result of a simulation; closing the iterator stops it.

        There is no deadline unless one is given.
        """
        return self._each(self._planning.SimulatePlan, request, timeout_s)

    async def compare_plans(
        self, request: messages.ComparePlansRequest, *, timeout_s: float | None = None
    ) -> messages.ComparePlansResponse:
        """Return what differs between two plans, and what that comes to."""
        return await self._call(self._planning.ComparePlans, request, timeout_s)

    async def replay_plan(
        self, request: messages.ReplayPlanRequest, *, timeout_s: float | None = None
    ) -> messages.ReplayPlanResponse:
        """Compute a plan again from what it holds."""
        return await self._call(self._planning.ReplayPlan, request, timeout_s)

    async def check_retest(
        self, request: messages.CheckRetestRequest, *, timeout_s: float | None = None
    ) -> messages.CheckRetestResponse:
        """Return one page of what was measured, and whether it still carries what is planned."""
        return await self._call(self._benchmark.CheckRetest, request, timeout_s)

    async def configurations(
        self, request: messages.ListConfigurationsRequest, *, timeout_s: float | None = None
    ) -> AsyncIterator[messages.ConfigurationSummary]:
        """Yield configurations with runs, over all pages."""
        async for page in apages(self.list_configurations, request, timeout_s):
            for item in page.configurations:
                yield item

    async def runs(
        self, request: messages.ListRunsRequest, *, timeout_s: float | None = None
    ) -> AsyncIterator[messages.Run]:
        """Yield runs without levels, newest first, over all pages."""
        async for page in apages(self.list_runs, request, timeout_s):
            for item in page.runs:
                yield item

    async def models(
        self, request: messages.ListModelsRequest, *, timeout_s: float | None = None
    ) -> AsyncIterator[messages.Model]:
        """Yield catalog models, over all pages."""
        async for page in apages(self.list_models, request, timeout_s):
            for item in page.models:
                yield item

    async def accelerators(
        self, request: messages.ListAcceleratorsRequest, *, timeout_s: float | None = None
    ) -> AsyncIterator[messages.Accelerator]:
        """Yield catalog accelerators, over all pages."""
        async for page in apages(self.list_accelerators, request, timeout_s):
            for item in page.accelerators:
                yield item

    async def retest_items(
        self, request: messages.CheckRetestRequest, *, timeout_s: float | None = None
    ) -> AsyncIterator[messages.RetestItem]:
        """Yield what was measured against what is planned, the nearest first, over all pages."""
        async for page in apages(self.check_retest, request, timeout_s):
            for item in page.items:
                yield item
