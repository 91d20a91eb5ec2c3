"""Builders for the planning server: a store that holds runs, a server on a real channel, valid requests."""

from __future__ import annotations

import asyncio
import threading
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import grpc
from builders import a_level, a_run
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from tonnage.domain.measurement import Latency
from tonnage.planning.desk import Desk
from tonnage.planning.server import services
from tonnage.rpc import logs
from tonnage.rpc.server import ServerOptions, start
from tonnage.store.base import Append, Receipt
from tonnage.v1 import (
    benchmark_service_pb2_grpc,
    catalog_service_pb2_grpc,
    planning_service_pb2,
    planning_service_pb2_grpc,
    run_pb2,
    workload_pb2,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tonnage.domain.measurement import Level, Run
    from tonnage.store.base import StoreReader
    from tonnage.store.memory import MemoryStore

MODEL = "meta-llama/Llama-3.1-8B-Instruct"
TODAY = "2026-11-30"


def a_latency(concurrency: float, scale: float = 1.0) -> Latency:
    """Return a TTFT that grows with load: 100 ms at one request in flight."""
    mean = 100.0 * concurrency * scale
    return Latency(mean_ms=mean, p50_ms=mean, p90_ms=1.5 * mean, p95_ms=2 * mean, p99_ms=3 * mean)


def a_ladder(**changes: object) -> Run:
    """Return a run whose TTFT p90 is 150, 300, 600, 1200 ms at concurrency 1, 2, 4, 8 and 1, 2, 4, 6 requests/s."""
    levels: list[Level] = [
        a_level(concurrency, rate, ttft=a_latency(concurrency), index=index)
        for index, (concurrency, rate) in enumerate(((1, 1), (2, 2), (4, 4), (8, 6)))
    ]
    return a_run(*levels, filename="ladder.json", **changes)


def stored(store: MemoryStore, *runs: Run) -> int:
    """Store each run as an upload of its own and return the data version."""
    version = store.data_version
    for run in runs:
        named = replace(run, run_id=str(uuid.uuid5(uuid.NAMESPACE_OID, repr(run))))
        upload = Append(namespace=named.namespace, runs=(named,), body_digest=uuid.uuid4().hex)
        (receipt,) = store.append([upload])
        assert isinstance(receipt, Receipt), receipt
        version = receipt.data_version
    return version


@dataclass(frozen=True)
class Stubs:
    """Stubs of the three services on one channel."""

    planning: planning_service_pb2_grpc.PlanningServiceStub
    benchmark: benchmark_service_pb2_grpc.BenchmarkServiceStub
    catalog: catalog_service_pb2_grpc.CatalogServiceStub
    channel: grpc.Channel
    desk: Desk


@contextmanager
def a_planning_server(
    reader: StoreReader, today: str = TODAY, log: logs.Log | None = None, options: ServerOptions | None = None
) -> Iterator[Stubs]:
    """Serve on a loopback port from a loop in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    desk = Desk(reader, "0.1.0", today=lambda: today)
    logs.configure("error")
    reached = options or ServerOptions(drain_s=0.2)
    started = start(reached, services(desk), desk.ready, log or logs.logger("planning"))
    running = asyncio.run_coroutine_threadsafe(started, loop)
    server = running.result(10)
    try:
        with grpc.insecure_channel(server.address) as channel:
            yield Stubs(
                planning_service_pb2_grpc.PlanningServiceStub(channel),
                benchmark_service_pb2_grpc.BenchmarkServiceStub(channel),
                catalog_service_pb2_grpc.CatalogServiceStub(channel),
                channel,
                desk,
            )
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
        desk.close()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def text_work(input_tokens: float = 1000, output_tokens: float = 100) -> run_pb2.WorkSize:
    """Return a text request size."""
    return run_pb2.WorkSize(text=run_pb2.TextWork(input_tokens_mean=input_tokens, output_tokens_mean=output_tokens))


def an_slo(max_ms: float = 600, statistic: str = "STATISTIC_P90") -> workload_pb2.Slo:
    """Return one TTFT limit."""
    limit = workload_pb2.LatencyLimit(
        metric=workload_pb2.LATENCY_METRIC_TTFT, statistic=workload_pb2.Statistic.Value(statistic), max_ms=max_ms
    )
    return workload_pb2.Slo(latency_limits=[limit])


def a_reserve(ratio: float = 0.2) -> workload_pb2.Reserve:
    """Return R as a whole."""
    return workload_pb2.Reserve(whole=workload_pb2.ReservePart(ratio=ratio, source="house rule"))


def a_workload(peak: float = 10, **changes: object) -> workload_pb2.Workload:
    """Return a workload of the ladder's lengths: TTFT p90 within 600 ms, a fifth in reserve."""
    stated: dict[str, object] = {
        "model": MODEL,
        "demand": workload_pb2.Demand(peak_rate=workload_pb2.PeakRate(peak_requests_per_s=peak)),
        "buckets": [workload_pb2.DemandBucket(work=text_work(), share=1)],
        "slo": an_slo(),
        "reserve": a_reserve(),
    }
    return workload_pb2.Workload(**{**stated, **changes})  # type: ignore[arg-type]


def a_plan_request(**changes: object) -> planning_service_pb2.PlanCapacityRequest:
    """Return a request for that workload."""
    stated: dict[str, object] = {"workload": a_workload(), "as_of_date": TODAY}
    return planning_service_pb2.PlanCapacityRequest(**{**stated, **changes})  # type: ignore[arg-type]


@dataclass(frozen=True)
class Refusal:
    """What a refused call says: its code, its reason, the fields named, what the error mentions."""

    code: grpc.StatusCode
    reason: str
    fields: tuple[str, ...]
    context: dict[str, str]
    message: str


def refusal_of(call: Callable[[], object]) -> Refusal:
    """Make a call that must be refused, and return what it says."""
    try:
        answer = call()
    except grpc.RpcError as error:
        failed: Any = error
        status = rpc_status.from_call(failed)
        info, fields = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
        for detail in status.details:
            detail.Unpack(info)
            detail.Unpack(fields)
        named = tuple(item.field for item in fields.field_violations)
        return Refusal(failed.code(), info.reason, named, dict(info.metadata), failed.details())
    raise AssertionError(f"the call was answered: {answer}")
