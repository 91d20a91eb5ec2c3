"""The real ingest and planning processes on one store folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc

from tonnage.client import IngestClient
from tonnage.v1 import benchmark_service_pb2_grpc, catalog_service_pb2_grpc, planning_service_pb2_grpc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class ServerProcess:
    """A running server: ``kind`` is ingest or planning; its log lies beside the store."""

    def __init__(self, kind: str, store: Path, *flags: str) -> None:
        command = [sys.executable, "-m", f"tonnage.{kind}", "--store", f"lake://{store}", "--port", "0", *flags]
        self.log = store.parent / f"{kind}.log"
        with self.log.open("ab") as log:
            clean = {key: value for key, value in os.environ.items() if not key.startswith("TONNAGE_")}
            self.child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=clean)
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        if not line:
            status = self.end()
            raise AssertionError(f"{kind} ended with status {status}: {self.log.read_text()}")
        self.address = json.loads(line)["address"]

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal, wait, and return the exit status."""
        if self.child.poll() is None:
            self.child.send_signal(number)
        status = self.child.wait(30)
        if self.child.stdout is not None:
            self.child.stdout.close()
        return status


@dataclass(frozen=True)
class Servers:
    """Both processes, a client of ingest and stubs of planning."""

    ingest_process: ServerProcess
    planning_process: ServerProcess
    ingest: IngestClient
    planning: planning_service_pb2_grpc.PlanningServiceStub
    benchmark: benchmark_service_pb2_grpc.BenchmarkServiceStub
    catalog: catalog_service_pb2_grpc.CatalogServiceStub


@contextmanager
def both_servers(folder: Path) -> Iterator[Servers]:
    """Run both processes on a store inside ``folder``; whatever happens they end."""
    store = folder / "store"
    ingest = ServerProcess("ingest", store)
    try:
        planning = ServerProcess("planning", store)
        try:
            with IngestClient(ingest.address) as client, grpc.insecure_channel(planning.address) as channel:
                yield Servers(
                    ingest,
                    planning,
                    client,
                    planning_service_pb2_grpc.PlanningServiceStub(channel),
                    benchmark_service_pb2_grpc.BenchmarkServiceStub(channel),
                    catalog_service_pb2_grpc.CatalogServiceStub(channel),
                )
        finally:
            planning.end()
    finally:
        ingest.end()


def seconds_until(happened: Callable[[], bool], within_s: float) -> float:
    """Return how long it took until something happened; fail when it took longer than ``within_s``."""
    begun = time.monotonic()
    while not happened():
        passed = time.monotonic() - begun
        assert passed <= within_s, f"nothing happened within {within_s} s"
        time.sleep(0.005)
    return time.monotonic() - begun
