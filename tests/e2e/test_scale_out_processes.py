"""The commands of the compose file, as processes: two ingest and two planning servers on one shared store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import grpc
import pytest
import yaml
from builders_ingest import GIVEN, a_table

from tonnage.client import IngestClient
from tonnage.v1 import benchmark_service_pb2 as pb
from tonnage.v1 import ingest_service_pb2
from tonnage.v1.benchmark_service_pb2_grpc import BenchmarkServiceStub

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends import Backends

COMPOSE: Final = yaml.safe_load((Path(__file__).resolve().parents[2] / "compose.yaml").read_text())
SECRET: Final = "not for logs"  # noqa: S105 -- of a test


@contextmanager
def a_service(name: str, store: str, folder: Path) -> Iterator[str]:
    """Run a service's command with its variables, on a free port and the store given; yield its address."""
    service = COMPOSE["services"][name]
    own = {key: value for key, value in service["environment"].items() if key.startswith("TONNAGE_")}
    own |= {"TONNAGE_STORE": store, "TONNAGE_HOST": "127.0.0.1", f"TONNAGE_{name.upper()}_PORT": "0"}
    if "TONNAGE_SPOOL_DIR" in own:
        own["TONNAGE_SPOOL_DIR"] = str(folder / "spool")
    kept = {key: value for key, value in os.environ.items() if not key.startswith("TONNAGE_")}
    command = [sys.executable, *service["command"][1:]]
    with (
        (folder / f"{name}.log").open("ab") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env={**kept, **own}) as process,
    ):
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["address"]
        finally:
            process.terminate()
            process.wait(30)


@pytest.mark.timeout(120)
def test_what_any_ingest_stored_every_planning_server_shows_once(backends: Backends, tmp_path: Path) -> None:
    store = backends.new_url().replace("tonnage@", f"tonnage:{SECRET.replace(' ', '%20')}@")
    with ExitStack() as ended:
        folders = [tmp_path / "one", tmp_path / "two"]
        for folder in folders:
            folder.mkdir()
        writers = [ended.enter_context(a_service("ingest", store, folder)) for folder in folders]
        readers = [ended.enter_context(a_service("planning", store, folder)) for folder in folders]
        outcomes = []
        for address in writers:
            with IngestClient(address) as client:
                answer = client.ingest_report(a_table(), given=GIVEN, filename="bench.csv")
                outcomes += [run.outcome for run in answer.runs]
        assert outcomes == [ingest_service_pb2.RUN_OUTCOME_STORED, ingest_service_pb2.RUN_OUTCOME_ALREADY_STORED]
        channels = [ended.enter_context(grpc.insecure_channel(address)) for address in readers]
        for channel in channels:
            end_s = time.monotonic() + 20
            while True:
                found = BenchmarkServiceStub(channel).ListRuns(pb.ListRunsRequest(), wait_for_ready=True, timeout=20)
                if len(found.runs) == 1 or time.monotonic() > end_s:
                    break
                time.sleep(0.1)
            assert len(found.runs) == 1
    logs = "".join(path.read_text() for path in tmp_path.glob("*/*.log"))
    assert SECRET not in logs
    assert "not%20for%20logs" not in logs
