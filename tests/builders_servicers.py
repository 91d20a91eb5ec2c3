"""Small servicers that show what reached them, or fail as told."""
# ruff: noqa: ANN401, D102 -- stand-ins for RPCs whose messages share no type and whose names say what they are

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import grpc
from builders_client import fail

from tonnage.client import messages
from tonnage.v1 import catalog_service_pb2_grpc, ingest_service_pb2_grpc, planning_service_pb2_grpc

if TYPE_CHECKING:
    from collections.abc import Iterator


class SmallPlanning(planning_service_pb2_grpc.PlanningServiceServicer):
    """Answers with what it was asked, or fails as told by the namespace."""

    def __init__(self) -> None:
        self.metadata: dict[str, Any] = {}
        self.calls = 0
        self.release = threading.Event()

    def PlanCapacity(self, request: Any, context: Any) -> messages.PlanCapacityResponse:  # noqa: N802 -- gRPC's name
        self.calls += 1
        self.metadata = dict(context.invocation_metadata())
        if request.namespace == "refused":
            fail(context, 3, "workload.model: no", reason="INVALID_INPUT", violations=(("workload.model", "no"),))
        if request.namespace == "flaky" and self.calls == 1:
            context.abort(grpc.StatusCode.UNAVAILABLE, "restarting")
        if request.namespace == "slow":
            self.release.wait(5)
        plan = messages.Plan(verdict=messages.PLAN_VERDICT_NOT_KNOWN)
        plan.request.workload.CopyFrom(request.workload)
        return messages.PlanCapacityResponse(plan=plan)

    def ExplorePlans(self, request: Any, context: Any) -> Iterator[messages.ExplorePlansResponse]:  # noqa: N802 -- gRPC's name
        for index in range(len(request.axes)):
            yield messages.ExplorePlansResponse(index=index)
        if request.base.namespace == "endless":
            context.add_callback(self.release.set)
            while context.is_active():
                yield messages.ExplorePlansResponse()
        if request.base.namespace == "refused":
            fail(context, 3, "axes: no", reason="INVALID_INPUT", violations=(("axes", "no"),))

    def _unserved(self, request: Any, context: Any) -> Any:  # noqa: ARG002 -- gRPC's shape
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "not here")

    FitVram = EstimateTokenDemand = ComputeUtilization = EstimateServerCount = _unserved
    ComparePlans = ReplayPlan = SimulatePlan = _unserved


class SmallCatalog(catalog_service_pb2_grpc.CatalogServiceServicer):
    """Three models, a page at a time."""

    def ListModels(self, request: Any, context: Any) -> messages.ListModelsResponse:  # noqa: ARG002, N802 -- gRPC's
        at = int(request.page_token or 0)
        return messages.ListModelsResponse(
            models=[messages.Model(id=f"{request.query}{at}")], next_page_token=str(at + 1) if at < 2 else ""
        )

    def GetModel(self, request: Any, context: Any) -> Any:  # noqa: N802 -- gRPC's name
        raise NotImplementedError

    ListAccelerators = GetModel


class SmallIngest(ingest_service_pb2_grpc.IngestServiceServicer):
    """Counts what arrives."""

    def IngestReport(self, request_iterator: Any, context: Any) -> messages.IngestReportResponse:  # noqa: N802 -- the name and shape in the proto
        head = next(request_iterator).metadata
        if head.namespace == "busy":
            fail(context, 8, "busy", reason="OVERLOADED", retry_after_s=2)
        size = sum(len(item.chunk) for item in request_iterator)
        return messages.IngestReportResponse(report_id=f"{head.filename}:{size}:{dict(head.given)}")

    def ConvertReport(self, request_iterator: Any, context: Any) -> messages.ConvertReportResponse:  # noqa: ARG002, N802 -- the name and shape in the proto
        head = next(request_iterator).metadata
        size = sum(len(item.chunk) for item in request_iterator)
        return messages.ConvertReportResponse(report_id=f"{head.filename}:{size}")

    def IngestRuns(self, request_iterator: Any, context: Any) -> messages.IngestRunsResponse:  # noqa: ARG002, N802 -- the name and shape in the proto
        next(request_iterator)
        return messages.IngestRunsResponse(stored_level_count=sum(len(item.batch.runs) for item in request_iterator))

    def ListFormats(self, request: Any, context: Any) -> messages.ListFormatsResponse:  # noqa: ARG002, N802 -- the name and shape in the proto
        return messages.ListFormatsResponse(formats=[messages.Format(name="vllm-bench-serve")])

    def GetIngestion(self, request: Any, context: Any) -> Any:  # noqa: N802 -- gRPC's name
        fail(context, 5, "no such report", reason="NOT_STORED", kind="report", name=request.report_id)

    def RetractRuns(self, request: Any, context: Any) -> messages.RetractRunsResponse:  # noqa: ARG002, N802 -- the name and shape in the proto
        return messages.RetractRunsResponse(already_retracted=request.runs)

    def RecordPlan(self, request: Any, context: Any) -> messages.RecordPlanResponse:  # noqa: ARG002, N802 -- the name and shape in the proto
        return messages.RecordPlanResponse(plan_id=request.plan.plan_id)

    GetRecordedPlan = RereadReports = FetchReport = GetIngestion
