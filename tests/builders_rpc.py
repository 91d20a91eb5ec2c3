"""Messages, a log and readers of errors that tests of either server ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.rpc import error_details_pb2, status_pb2

from tonnage.v1 import run_pb2

if TYPE_CHECKING:
    import grpc.aio


class Lines:
    """A log kept in a list, one dict a line."""

    def __init__(self) -> None:
        self.lines: list[dict[str, object]] = []

    def debug(self, event: str, **fields: object) -> None:
        """Keep a line."""
        self.lines.append({"level": "debug", "event": event, **fields})

    def info(self, event: str, **fields: object) -> None:
        """Keep a line."""
        self.lines.append({"level": "info", "event": event, **fields})

    def warning(self, event: str, **fields: object) -> None:
        """Keep a line."""
        self.lines.append({"level": "warning", "event": event, **fields})

    def error(self, event: str, **fields: object) -> None:
        """Keep a line."""
        self.lines.append({"level": "error", "event": event, **fields})


def a_level_message(**changes: object) -> run_pb2.Level:
    """Return a closed-loop level with 1,000 in and 100 out."""
    message = run_pb2.Level(
        work=run_pb2.WorkSize(text=run_pb2.TextWork(input_tokens_mean=1000, output_tokens_mean=100)),
        concurrency=4,
        requests_per_s=2,
        output_tokens_per_s=200,
        duration_s=500,
        completed_count=1000,
        failed_count=0,
        ttft=run_pb2.LatencyStatistics(mean_ms=200, p50_ms=190, p90_ms=250, p95_ms=280, p99_ms=300),
        e2e=run_pb2.LatencyStatistics(mean_ms=2000),
        location="row 1",
    )
    for key, value in changes.items():
        setattr(message, key, value)
    return message


def a_run_message(**changes: object) -> run_pb2.Run:
    """Return a run as a service would push it."""
    message = run_pb2.Run(
        tool="our-loadgen",
        metric_definitions="our-loadgen-1",
        configuration=run_pb2.Configuration(
            model="meta-llama/Llama-3.1-8B-Instruct",
            weight_precision="bf16",
            engine="vllm",
            engine_version="0.19.2",
            accelerator="h100-sxm-80gb",
            accelerators_per_replica=1,
            tensor_parallel=1,
        ),
        replicas_under_test=1,
        arrival_kind=run_pb2.ARRIVAL_KIND_CLOSED,
        state=run_pb2.TEST_STATE_TYPICAL,
        levels=[a_level_message()],
    )
    for key, value in changes.items():
        setattr(message, key, value)
    return message


def status_of_call(error: grpc.aio.AioRpcError) -> status_pb2.Status:
    """Return the status in the trailers of a failed call."""
    trailers = dict(error.trailing_metadata() or ())
    status = status_pb2.Status()
    status.ParseFromString(trailers["grpc-status-details-bin"])
    return status


def error_info(error: grpc.aio.AioRpcError) -> error_details_pb2.ErrorInfo:
    """Return reason and context of a failed call."""
    info = error_details_pb2.ErrorInfo()
    details = status_of_call(error).details
    next(detail for detail in details if detail.Is(info.DESCRIPTOR)).Unpack(info)
    return info


def violations(error: grpc.aio.AioRpcError) -> dict[str, str]:
    """Return the fields a failed call names, with what it says of them."""
    found: dict[str, str] = {}
    for detail in status_of_call(error).details:
        request = error_details_pb2.BadRequest()
        if detail.Unpack(request):
            found |= {item.field: item.description for item in request.field_violations}
    return found
