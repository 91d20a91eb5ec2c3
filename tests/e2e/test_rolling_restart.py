"""Two planning servers on one port, replaced one after the other under calls: none fails."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from builders_planning import a_reserve
from builders_processes import ServerProcess, seconds_until

from tonnage.client import PlanningClient
from tonnage.v1 import planning_service_pb2 as pb

if TYPE_CHECKING:
    from pathlib import Path

REQUEST = pb.EstimateServerCountRequest(
    buckets=[pb.DemandAgainstCapacity(peak_requests_per_s=10, q_slo_requests_per_s=2)], reserve=a_reserve()
)


class Caller(threading.Thread):
    """Calls one after the other until told to stop; what fails ends it."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self._address = address
        self.stopping = threading.Event()
        self.answered_count = 0
        self.failure: Exception | None = None

    def run(self) -> None:
        """Call."""
        try:
            while not self.stopping.is_set():
                # A new connection now and then, as new clients make them.
                with PlanningClient(self._address) as client:
                    for _ in range(20):
                        client.estimate_server_count(REQUEST)
                        self.answered_count += 1
        except Exception as error:  # noqa: BLE001 -- the test shows it
            self.failure = error


def answered_more(callers: list[Caller]) -> None:
    """Wait until each caller got more answers, over new connections too, or failed."""
    before = [caller.answered_count for caller in callers]
    seconds_until(
        lambda: all(
            caller.failure is not None or caller.answered_count > count + 40
            for caller, count in zip(callers, before, strict=True)
        ),
        within_s=30,
    )


def test_no_call_fails_while_both_servers_are_replaced(tmp_path: Path) -> None:
    servers = [ServerProcess("planning", tmp_path / "store", "--share-port", "true")]
    port = servers[0].address.rsplit(":", 1)[1]
    shared = ("--share-port", "true", "--port", port)
    try:
        servers.append(ServerProcess("planning", tmp_path / "store", *shared))
        callers = [Caller(servers[0].address) for _ in range(3)]
        for caller in callers:
            caller.start()
        assert servers[0].end() == 0
        answered_more(callers)
        servers.append(ServerProcess("planning", tmp_path / "store", *shared))
        assert servers[1].end() == 0
        answered_more(callers)
        for caller in callers:
            caller.stopping.set()
            caller.join(30)
        assert [caller.failure for caller in callers] == [None] * 3
    finally:
        for server in servers:
            server.end()
