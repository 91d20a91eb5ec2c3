"""A small gRPC server with hand-made replies, for looking at pages without the real servers."""

# ruff: noqa: ANN401, D102, N802 -- fields of any message; the methods are named and told by the protos

from __future__ import annotations

from concurrent import futures
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import grpc

from tonnage.client import messages as pb
from tonnage.v1 import (
    benchmark_service_pb2_grpc,
    catalog_service_pb2_grpc,
    ingest_service_pb2_grpc,
    planning_service_pb2_grpc,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "meta-llama/Llama-3.1-8B-Instruct"
FINGERPRINT = "f" * 16
RUN = "namespaces/default/runs/0001"
AS_OF = "2026-11-30"
# Concurrency, requests/s, TTFT p90 ms, inside an SLO of 500 ms.
POINTS = ((1, 1.9, 60.0, True), (4, 6.8, 95.0, True), (16, 17.5, 260.0, True), (32, 21.0, 900.0, False))


def a_configuration(**changes: Any) -> pb.Configuration:
    """Return a complete configuration as a server sends it."""
    stated: dict[str, Any] = {
        "model": MODEL,
        "weight_precision": "bf16",
        "engine": "vllm",
        "engine_version": "0.19",
        "accelerator": "h100-sxm-80gb",
        "accelerators_per_replica": 1,
        "fingerprint": FINGERPRINT,
    }
    return pb.Configuration(**{**stated, **changes})


def a_work(input_tokens: float = 1000, output_tokens: float = 100) -> pb.WorkSize:
    """Return a text size."""
    return pb.WorkSize(text=pb.TextWork(input_tokens_mean=input_tokens, output_tokens_mean=output_tokens))


def an_evidence(point: int = 2) -> pb.Evidence:
    """Return what a Q_slo stands on."""
    return pb.Evidence(
        origin=pb.ORIGIN_MEASURED,
        quantity="q_slo",
        run=RUN,
        point_index=point,
        report_id="ab" * 32,
        source="concurrency-16.json",
        tool="vllm-bench-serve",
        location="$",
    )


def a_capacity(**changes: Any) -> pb.SloCapacity:
    """Return an exact capacity of the points above."""
    stated: dict[str, Any] = {
        "q_slo_requests_per_s": 17.5,
        "bound": pb.CAPACITY_BOUND_EXACT,
        "policy": pb.CAPACITY_POLICY_MEASURED,
        "measured_requests_per_s": 17.5,
        "crossing_requests_per_s": 18.8,
        "measured_at": an_evidence(),
        "offered_load": 16.0,
        "arrival_kind": pb.ARRIVAL_KIND_CLOSED,
        "binding": pb.BOTTLENECK_TTFT,
        "reason": "ttft p90 reaches 900 ms at the next load",
        "origin": pb.ORIGIN_MEASURED,
    }
    return pb.SloCapacity(**{**stated, **changes})


def a_curve(*, slo: bool = True, **changes: Any) -> pb.GetCurveResponse:
    """Return a curve with a knee and one load outside the SLO."""
    points = []
    for index, (concurrency, rate, ttft_ms, inside) in enumerate(POINTS):
        level = pb.Level(
            index=index,
            work=a_work(),
            concurrency=concurrency,
            requests_per_s=rate,
            completed_count=500,
            failed_count=0,
            ttft=pb.LatencyStatistics(p50_ms=ttft_ms * 0.6, p90_ms=ttft_ms),
            usable=True,
        )
        point = pb.CurvePoint(
            level=level, offered_load=concurrency, requests_per_s_per_replica=rate, evidence=an_evidence(index)
        )
        if slo:
            point.admissible = inside
            point.miss = "" if inside else f"ttft p90 {ttft_ms:g} ms > 500 ms"
        points.append(point)
    stated: dict[str, Any] = {
        "configuration": a_configuration(),
        "sweep_id": "sweep-1",
        "measured_work": a_work(),
        "arrival_kind": pb.ARRIVAL_KIND_CLOSED,
        "points": points,
        "knee_offered_load": 16.0,
        "saturation_requests_per_s": 21.0,
        "data_version": 3,
    }
    if slo:
        stated["capacity"] = a_capacity()
    return pb.GetCurveResponse(**{**stated, **changes})


def a_candidate(**changes: Any) -> pb.Candidate:
    """Return a candidate of 7 replicas."""
    stated: dict[str, Any] = {
        "configuration": a_configuration(),
        "buckets": [
            pb.BucketCapacity(
                work=a_work(),
                peak_requests_per_s=100.0,
                capacity=a_capacity(),
                measured_work=a_work(),
                replicas_before_reserve=5.71,
            )
        ],
        "count": pb.ServerCount(
            replica_count=7,
            server_count=1,
            accelerator_count=7,
            installed_accelerator_count=8,
            needed_replica_count=7,
            exact_replicas=6.857,
            demand_headroom_ratio=0.0208,
            demand_surplus_ratio=0.125,
            survived_replica_losses=0,
            replicas_per_server=8,
            equation="ceil(100 × (1 + 0.2) / 17.5) = ceil(6.857) = 7",
        ),
        "reserve": pb.ReserveBreakdown(
            ratio=0.2, parts=[pb.NamedReserve(part="whole", ratio=0.2, source="agreed with operations")]
        ),
        "utilization_ratio": 0.816,
        "bottleneck": pb.BOTTLENECK_TTFT,
        "origin": pb.ORIGIN_MEASURED,
        "evidence": [an_evidence()],
    }
    return pb.Candidate(**{**stated, **changes})


def a_plan(request: pb.PlanCapacityRequest, **changes: Any) -> pb.Plan:
    """Return a feasible plan that echoes its request."""
    stated: dict[str, Any] = {
        "plan_id": "p" * 16,
        "data_version": 3,
        "release": "0.1.0",
        "verdict": pb.PLAN_VERDICT_FEASIBLE,
        "request": pb.NormalizedPlanRequest(
            workload=request.workload,
            configuration=request.configuration,
            policy=request.policy or pb.CAPACITY_POLICY_MEASURED,
            depth=pb.DEPTH_BASE,
            as_of_date=request.as_of_date or AS_OF,
        ),
        "demand": pb.DemandSummary(
            base_requests_per_s=25.0,
            peak_requests_per_s=100.0,
            peak_factor=4.0,
            equation="25 × 4 = 100 requests/s",
            origin=pb.ORIGIN_DECLARED,
            peak_tokens=pb.TokenDemand(
                input_tokens_per_s=100_000, output_tokens_per_s=10_000, total_tokens_per_s=110_000
            ),
        ),
        "candidates": [a_candidate()],
        "rejections": [
            pb.Rejection(
                configuration=a_configuration(accelerator="l4-24gb", fingerprint="e" * 16),
                code="STATISTIC_NOT_MEASURED",
                bottleneck=pb.BOTTLENECK_EVIDENCE,
                reason="ttft p90 was not measured",
                remedy="run again with percentiles",
            )
        ],
        "findings": [
            pb.Finding(
                code="ONE_RUN_ONLY",
                severity=pb.SEVERITY_WARNING,
                path="configuration",
                message="one sweep stands behind this number",
                remedy="repeat the run twice",
                evidence=[an_evidence()],
            )
        ],
        "summary": "7 replicas on 1 server carry 100 requests/s.",
    }
    return pb.Plan(**{**stated, **changes})


def a_fit(question: pb.MemoryQuestion, **changes: Any) -> pb.MemoryFit:
    """Return a ledger of an 80 GB card whose verdict depends on the asked load."""
    gib = 1 << 30
    needed = question.concurrency * question.request_tokens * 131_072
    verdict = pb.FIT_VERDICT_FITS if needed < 40 * gib else pb.FIT_VERDICT_DOES_NOT_FIT
    terms = (
        (pb.MEMORY_TERM_KIND_WEIGHTS, 15 * gib),
        (pb.MEMORY_TERM_KIND_RUNTIME, gib),
        (pb.MEMORY_TERM_KIND_ACTIVATION, 2 * gib),
        (pb.MEMORY_TERM_KIND_KV_CACHE, needed),
        (pb.MEMORY_TERM_KIND_BATCH, gib),
        (pb.MEMORY_TERM_KIND_RESERVED, 8 * gib),
    )
    stated: dict[str, Any] = {
        "verdict": verdict,
        "total_bytes": 79 * gib,
        "budget_bytes": 71 * gib,
        "terms": [pb.MemoryTerm(kind=kind, bytes=size, origin=pb.ORIGIN_DERIVED) for kind, size in terms],
        "kv_pool_bytes": 52 * gib,
        "kv_bytes_per_token": 131_072,
        "kv_pool_tokens": 425_984,
        "block_tokens": 16,
        "requests_reserved": 52,
        "requests_steady": 52,
        "max_request_tokens": 53_248,
        "kv_needed_bytes": needed,
        "binding_term": pb.MEMORY_TERM_KIND_KV_CACHE,
        "smallest_accelerator_count": 1,
        "remedies": [pb.Remedy(change="kv_cache_type", value="fp8", message="halves the cache")],
        "equation": "15.00 + 1.00 + 2.00 + KV + 1.00 + 8.00 GiB",
        "assumed": ["kv_cache_type"],
        "prefill_mode": "chunked",
        "rank": "rank 0",
        "model_weights_bytes": 15 * gib,
    }
    return pb.MemoryFit(**{**stated, **changes})


@dataclass
class Services(
    planning_service_pb2_grpc.PlanningServiceServicer,
    benchmark_service_pb2_grpc.BenchmarkServiceServicer,
    catalog_service_pb2_grpc.CatalogServiceServicer,
    ingest_service_pb2_grpc.IngestServiceServicer,
):
    """All four services; ``calls`` counts what was asked, ``refuse`` makes every call fail."""

    data_version: int = 3
    empty: bool = False
    refuse: grpc.StatusCode | None = None
    refuse_plan: grpc.StatusCode | None = None
    plan_changes: dict[str, Any] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)
    stored: set[str] = field(default_factory=set)

    def _note(self, name: str, request: Any, context: grpc.ServicerContext) -> None:
        self.calls.append(name)
        self.requests.append(request)
        if self.refuse is not None:
            context.abort(self.refuse, "refused by the test")

    def PlanCapacity(self, request: pb.PlanCapacityRequest, context: grpc.ServicerContext) -> pb.PlanCapacityResponse:
        self._note("PlanCapacity", request, context)
        if self.refuse_plan is not None:
            context.abort(self.refuse_plan, "workload.demand: is not stated; give a demand")
        return pb.PlanCapacityResponse(plan=a_plan(request, **{"data_version": self.data_version, **self.plan_changes}))

    def FitVram(self, request: pb.FitVramRequest, context: grpc.ServicerContext) -> pb.FitVramResponse:
        self._note("FitVram", request, context)
        return pb.FitVramResponse(fit=a_fit(request.question))

    def ExplorePlans(
        self, request: pb.ExplorePlansRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.ExplorePlansResponse]:
        self._note("ExplorePlans", request, context)
        span = request.axes[0].span
        for index in range(span.count):
            value = span.low + index * (span.high - span.low) / (span.count - 1)
            yield pb.ExplorePlansResponse(
                index=index,
                total_count=span.count,
                values=[value],
                verdict=pb.PLAN_VERDICT_FEASIBLE,
                best=a_candidate(),
                data_version=self.data_version,
            )

    def ComputeUtilization(
        self, request: pb.ComputeUtilizationRequest, context: grpc.ServicerContext
    ) -> pb.ComputeUtilizationResponse:
        self._note("ComputeUtilization", request, context)
        tenants = [pb.TenantUtilization(tenant=tenant.name, utilization_ratio=0.3) for tenant in request.tenants]
        return pb.ComputeUtilizationResponse(
            total_utilization_ratio=0.3 * len(tenants),
            limit_ratio=1.0,
            within_limit=True,
            tenants=tenants,
            data_version=self.data_version,
        )

    def CheckRetest(self, request: pb.CheckRetestRequest, context: grpc.ServicerContext) -> pb.CheckRetestResponse:
        self._note("CheckRetest", request, context)
        states = [pb.StateCoverage(state=pb.TEST_STATE_TYPICAL, covered=True)]
        item = pb.RetestItem(configuration=a_configuration(), verdict=pb.RETEST_VERDICT_ADVISED, states=states)
        return pb.CheckRetestResponse(
            items=[] if self.empty else [item],
            as_of_date=AS_OF,
            data_version=self.data_version,
            total_count=0 if self.empty else 1,
        )

    def ListConfigurations(
        self, request: pb.ListConfigurationsRequest, context: grpc.ServicerContext
    ) -> pb.ListConfigurationsResponse:
        self._note("ListConfigurations", request, context)
        if self.empty:
            return pb.ListConfigurationsResponse(data_version=self.data_version)
        summary = pb.ConfigurationSummary(
            configuration=a_configuration(),
            run_count=4,
            level_count=4,
            measured_work=[a_work()],
            newest_measured_date="2026-11-01",
        )
        return pb.ListConfigurationsResponse(configurations=[summary], total_count=1, data_version=self.data_version)

    def ListRuns(self, request: pb.ListRunsRequest, context: grpc.ServicerContext) -> pb.ListRunsResponse:
        self._note("ListRuns", request, context)
        run = pb.Run(name=RUN, tool="vllm-bench-serve", filename="concurrency-16.json", sweep_id="sweep-1")
        return pb.ListRunsResponse(runs=[run], total_count=1, data_version=self.data_version)

    def GetCurve(self, request: pb.GetCurveRequest, context: grpc.ServicerContext) -> pb.GetCurveResponse:
        self._note("GetCurve", request, context)
        return a_curve(slo=request.HasField("slo") and bool(request.slo.latency_limits))

    def ListModels(self, request: pb.ListModelsRequest, context: grpc.ServicerContext) -> pb.ListModelsResponse:
        self._note("ListModels", request, context)
        return pb.ListModelsResponse(models=[pb.Model(id=MODEL)], total_count=1)

    def ListAccelerators(
        self, request: pb.ListAcceleratorsRequest, context: grpc.ServicerContext
    ) -> pb.ListAcceleratorsResponse:
        self._note("ListAccelerators", request, context)
        accelerator = pb.Accelerator(id="h100-sxm-80gb", name="NVIDIA H100 SXM 80 GB")
        return pb.ListAcceleratorsResponse(accelerators=[accelerator], total_count=1)

    def ConvertReport(
        self, request_iterator: Iterator[pb.ConvertReportRequest], context: grpc.ServicerContext
    ) -> pb.ConvertReportResponse:
        parts = list(request_iterator)
        self._note("ConvertReport", parts[0], context)
        run = pb.Run(configuration=a_configuration(), levels=[point.level for point in a_curve().points])
        return pb.ConvertReportResponse(report_id="ab" * 32, format="vllm-bench-serve", runs=[run])

    def IngestReport(
        self, request_iterator: Iterator[pb.IngestReportRequest], context: grpc.ServicerContext
    ) -> pb.IngestReportResponse:
        parts = list(request_iterator)
        self._note("IngestReport", parts[0], context)
        content = b"".join(part.chunk for part in parts[1:]).hex()
        outcome = pb.RUN_OUTCOME_ALREADY_STORED if content in self.stored else pb.RUN_OUTCOME_STORED
        self.stored.add(content)
        receipt = pb.RunReceipt(run=RUN, outcome=outcome, level_count=4, usable_level_count=4, fingerprint=FINGERPRINT)
        return pb.IngestReportResponse(
            report_id="ab" * 32, format="vllm-bench-serve", runs=[receipt], data_version=self.data_version
        )

    def ListFormats(self, request: pb.ListFormatsRequest, context: grpc.ServicerContext) -> pb.ListFormatsResponse:
        self._note("ListFormats", request, context)
        return pb.ListFormatsResponse(formats=[pb.Format(name="vllm-bench-serve", title="vLLM bench serve")])


def some_services() -> Services:
    """Return services that answer everything a page asks."""
    return Services()  # type: ignore[abstract]  # pages ask no more


def serve(services: Services) -> tuple[grpc.Server, str]:
    """Start the services on a free loopback port; return the server and its address."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    planning_service_pb2_grpc.add_PlanningServiceServicer_to_server(services, server)
    benchmark_service_pb2_grpc.add_BenchmarkServiceServicer_to_server(services, server)
    catalog_service_pb2_grpc.add_CatalogServiceServicer_to_server(services, server)
    ingest_service_pb2_grpc.add_IngestServiceServicer_to_server(services, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, f"127.0.0.1:{port}"
