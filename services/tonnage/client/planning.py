"""The blocking client of the planning server: plans, what was measured, and the catalogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tonnage.client.channel import DEFAULT_TIMEOUT_S
from tonnage.client.connection import Connection
from tonnage.client.paging import pages
from tonnage.v1.benchmark_service_pb2_grpc import BenchmarkServiceStub
from tonnage.v1.catalog_service_pb2_grpc import CatalogServiceStub
from tonnage.v1.planning_service_pb2_grpc import PlanningServiceStub

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from tonnage.client import messages


class PlanningClient(Connection):
    """Blocking calls of PlanningService, BenchmarkService and CatalogService.

    Each method takes and returns the messages of ``tonnage.v1`` and raises ``ClientError``.
    """

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

    def plan_capacity(
        self, request: messages.PlanCapacityRequest, *, timeout_s: float | None = None
    ) -> messages.PlanCapacityResponse:
        """Size one workload."""
        return self._call(self._planning.PlanCapacity, request, timeout_s)

    def fit_vram(self, request: messages.FitVramRequest, *, timeout_s: float | None = None) -> messages.FitVramResponse:
        """Say whether a model fits, and how many requests at once."""
        return self._call(self._planning.FitVram, request, timeout_s)

    def estimate_token_demand(
        self, request: messages.EstimateTokenDemandRequest, *, timeout_s: float | None = None
    ) -> messages.EstimateTokenDemandResponse:
        """Turn demand into tokens/s."""
        return self._call(self._planning.EstimateTokenDemand, request, timeout_s)

    def compute_utilization(
        self, request: messages.ComputeUtilizationRequest, *, timeout_s: float | None = None
    ) -> messages.ComputeUtilizationResponse:
        """Return U_total of several tenants."""
        return self._call(self._planning.ComputeUtilization, request, timeout_s)

    def estimate_server_count(
        self, request: messages.EstimateServerCountRequest, *, timeout_s: float | None = None
    ) -> messages.EstimateServerCountResponse:
        """Return the counts alone, from stated demand and capacity."""
        return self._call(self._planning.EstimateServerCount, request, timeout_s)

    def list_configurations(
        self, request: messages.ListConfigurationsRequest, *, timeout_s: float | None = None
    ) -> messages.ListConfigurationsResponse:
        """Return one page of configurations with runs."""
        return self._call(self._benchmark.ListConfigurations, request, timeout_s)

    def list_runs(
        self, request: messages.ListRunsRequest, *, timeout_s: float | None = None
    ) -> messages.ListRunsResponse:
        """Return one page of runs, newest first."""
        return self._call(self._benchmark.ListRuns, request, timeout_s)

    def get_run(self, request: messages.GetRunRequest, *, timeout_s: float | None = None) -> messages.GetRunResponse:
        """Return one run with its levels."""
        return self._call(self._benchmark.GetRun, request, timeout_s)

    def get_curve(
        self, request: messages.GetCurveRequest, *, timeout_s: float | None = None
    ) -> messages.GetCurveResponse:
        """Return the curve of one configuration and request size."""
        return self._call(self._benchmark.GetCurve, request, timeout_s)

    def list_models(
        self, request: messages.ListModelsRequest, *, timeout_s: float | None = None
    ) -> messages.ListModelsResponse:
        """Return one page of catalog models."""
        return self._call(self._catalog.ListModels, request, timeout_s)

    def get_model(
        self, request: messages.GetModelRequest, *, timeout_s: float | None = None
    ) -> messages.GetModelResponse:
        """Return one model, from the catalog or a config.json."""
        return self._call(self._catalog.GetModel, request, timeout_s)

    def list_accelerators(
        self, request: messages.ListAcceleratorsRequest, *, timeout_s: float | None = None
    ) -> messages.ListAcceleratorsResponse:
        """Return one page of catalog accelerators."""
        return self._call(self._catalog.ListAccelerators, request, timeout_s)

    def explore_plans(
        self, request: messages.ExplorePlansRequest, *, timeout_s: float | None = None
    ) -> Iterator[messages.ExplorePlansResponse]:
        """Yield the answer at each point of a range as it is planned; closing the iterator cancels the rest.

        There is no deadline unless one is given.
        """
        return self._each(self._planning.ExplorePlans, request, timeout_s)

    def simulate_plan(
        self, request: messages.SimulatePlanRequest, *, timeout_s: float | None = None
    ) -> Iterator[messages.SimulatePlanResponse]:
        """Yield the share done, then the result of a simulation; closing the iterator stops it.

        There is no deadline unless one is given.
        """
        return self._each(self._planning.SimulatePlan, request, timeout_s)

    def compare_plans(
        self, request: messages.ComparePlansRequest, *, timeout_s: float | None = None
    ) -> messages.ComparePlansResponse:
        """Return what differs between two plans, and what that comes to."""
        return self._call(self._planning.ComparePlans, request, timeout_s)

    def replay_plan(
        self, request: messages.ReplayPlanRequest, *, timeout_s: float | None = None
    ) -> messages.ReplayPlanResponse:
        """Compute a plan again from what it holds."""
        return self._call(self._planning.ReplayPlan, request, timeout_s)

    def check_retest(
        self, request: messages.CheckRetestRequest, *, timeout_s: float | None = None
    ) -> messages.CheckRetestResponse:
        """Return one page of what was measured, and whether it still carries what is planned."""
        return self._call(self._benchmark.CheckRetest, request, timeout_s)

    def configurations(
        self, request: messages.ListConfigurationsRequest, *, timeout_s: float | None = None
    ) -> Iterator[messages.ConfigurationSummary]:
        """Yield configurations with runs, over all pages."""
        for page in pages(self.list_configurations, request, timeout_s):
            yield from page.configurations

    def runs(self, request: messages.ListRunsRequest, *, timeout_s: float | None = None) -> Iterator[messages.Run]:
        """Yield runs without levels, newest first, over all pages."""
        for page in pages(self.list_runs, request, timeout_s):
            yield from page.runs

    def models(
        self, request: messages.ListModelsRequest, *, timeout_s: float | None = None
    ) -> Iterator[messages.Model]:
        """Yield catalog models, over all pages."""
        for page in pages(self.list_models, request, timeout_s):
            yield from page.models

    def accelerators(
        self, request: messages.ListAcceleratorsRequest, *, timeout_s: float | None = None
    ) -> Iterator[messages.Accelerator]:
        """Yield catalog accelerators, over all pages."""
        for page in pages(self.list_accelerators, request, timeout_s):
            yield from page.accelerators

    def retest_items(
        self, request: messages.CheckRetestRequest, *, timeout_s: float | None = None
    ) -> Iterator[messages.RetestItem]:
        """Yield what was measured against what is planned, the nearest first, over all pages."""
        for page in pages(self.check_retest, request, timeout_s):
            yield from page.items
