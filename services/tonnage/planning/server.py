"""The planning server's services on one replica, ready for the channel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.planning.codec.evidence import RunMessages
from tonnage.planning.servicer import benchmark, catalog, planning
from tonnage.planning.wire import Handlers, RepeatCache
from tonnage.v1 import benchmark_service_pb2, catalog_service_pb2, planning_service_pb2

if TYPE_CHECKING:
    from google.protobuf.descriptor import FileDescriptor, ServiceDescriptor

    from tonnage.planning.desk import Desk
    from tonnage.rpc.server import Service

REPEAT_CACHE_BYTES: Final = 64 << 20


def services(desk: Desk, repeat_cache_bytes: int = REPEAT_CACHE_BYTES) -> list[Service]:
    """Return PlanningService, BenchmarkService and CatalogService."""
    handlers = Handlers(desk, RepeatCache(repeat_cache_bytes))
    runs = RunMessages()
    return [
        handlers.service(
            _service(planning_service_pb2.DESCRIPTOR), planning.PlanningServicer(desk, runs), planning.REPEATED
        ),
        handlers.service(
            _service(benchmark_service_pb2.DESCRIPTOR), benchmark.BenchmarkServicer(desk), benchmark.REPEATED
        ),
        handlers.service(_service(catalog_service_pb2.DESCRIPTOR), catalog.CatalogServicer(), catalog.REPEATED),
    ]


def _service(file: FileDescriptor) -> ServiceDescriptor:
    """Return the one service of a file."""
    (found,) = file.services_by_name.values()
    service: ServiceDescriptor = found
    return service
