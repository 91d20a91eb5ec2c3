"""Figures of a server for Prometheus: calls by method and code, their time, calls in flight, and gauges of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from tonnage.errors import InvalidInput
from tonnage.rpc.permissions import SCOPES_OF

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

# name: what it says; both servers export those of calls, each its own of the store.
GAUGES: Final = {
    "tonnage_ready": "1 while health answers SERVING.",
    "tonnage_data_version": "Newest data version this server holds.",
    "tonnage_waiting_commits": "Uploads waiting for a commit.",
}


class Meter:
    """Counts calls. Children are kept by method and code, so that a call costs two additions."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        labels = ["method", "code"]
        self._calls = Counter("tonnage_calls", "Calls by method and code.", labels, registry=self.registry)
        self._seconds = Histogram(
            "tonnage_call_seconds", "Time of a call.", labels, buckets=_BUCKETS_S, registry=self.registry
        )
        self._running = Gauge("tonnage_calls_in_flight", "Calls being answered.", registry=self.registry)
        self._children: dict[tuple[str, str], tuple[Any, Any]] = {}

    def began(self) -> None:
        """Count a call in flight."""
        self._running.inc()

    def ended(self, method: str, code: str, took_s: float) -> None:
        """Count a call that ended; methods we do not have share one label, so that nobody can grow the page."""
        self._running.dec()
        key = (method if method in SCOPES_OF else "other", code)
        found = self._children.get(key)
        if found is None:
            found = self._children[key] = (self._calls.labels(*key), self._seconds.labels(*key))
        found[0].inc()
        found[1].observe(took_s)

    def gauges(self, read: Mapping[str, Callable[[], float]]) -> None:
        """Export figures that are read when asked for; names are those of ``GAUGES``."""
        for name, value in read.items():
            Gauge(name, GAUGES[name], registry=self.registry).set_function(value)

    def serve(self, host: str, port: int) -> tuple[int, Callable[[], None]]:
        """Serve ``/metrics``; return its port and what stops it; raise ``InvalidInput`` when the port cannot be had."""
        try:
            server, thread = start_http_server(port, host, self.registry)
        except OSError as error:
            cure = "choose a free port"
            raise InvalidInput.field("metrics_port", port, f"cannot be bound: {error.strerror}", cure) from error

        def stop() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return server.server_port, stop
