"""A backup taken from a real ingest process that goes on storing, restored and served again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from builders_ingest import GIVEN, a_table
from builders_processes import ServerProcess

from tonnage.client import IngestClient
from tonnage.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass
class Pusher:
    """Stores one small file after the other; ``acks`` are (data version, report id, seconds it took)."""

    address: str
    acks: list[tuple[int, str, float]] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def push(self) -> None:
        """Store until told to stop."""
        try:
            with IngestClient(self.address) as client:
                number = 0
                while not self.stop.is_set():
                    number += 1
                    begun_s = time.monotonic()
                    answer = client.ingest_report(a_table(f"{number},1,1,1,500,0"), given=GIVEN, filename="bench.csv")
                    self.acks.append((answer.data_version, answer.report_id, time.monotonic() - begun_s))
        except Exception as error:  # noqa: BLE001 -- told by the test, which runs in another thread
            self.failures.append(error)

    def wait_for(self, count: int) -> None:
        """Return when so many were stored."""
        while len(self.acks) < count and not self.failures:
            time.sleep(0.01)


@contextmanager
def pushing(address: str) -> Iterator[Pusher]:
    """Push in the background while the body runs."""
    pusher = Pusher(address)
    thread = threading.Thread(target=pusher.push)
    thread.start()
    try:
        yield pusher
    finally:
        pusher.stop.set()
        thread.join(60)


def store_command(*words: str) -> tuple[int, dict[str, object]]:
    """Run ``tonnage store … --json``; return status and answer."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("TONNAGE_")}
    command = [sys.executable, "-m", "tonnage.cli", "store", *words, "--json"]
    done = subprocess.run(command, env=clean, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.timeout(300)
def test_a_backup_beside_a_running_ingest_restores_to_every_ack_before_it(tmp_path: Path) -> None:
    store, restored = tmp_path / "store", tmp_path / "restored"
    ingest = ServerProcess("ingest", store)
    try:
        with pushing(ingest.address) as pusher:
            pusher.wait_for(5)
            before = pusher.acks[-1][0]
            status, made = store_command("backup", str(tmp_path / "backup"), "--data", str(store))
            pushed_meanwhile = pusher.acks[-1][0]
            checked, found = store_command("check", "--data", str(store))
            pusher.wait_for(len(pusher.acks) + 1)
        assert pusher.failures == []
        assert (status, checked, found["is_sound"]) == (0, 0, True), found
        version = int(str(made["data_version"]))
        assert before <= version <= pushed_meanwhile
    finally:
        ingest.end(signal.SIGKILL)
    assert store_command("restore", str(tmp_path / "backup"), "--data", str(restored))[0] == 0
    assert store_command("check", "--data", str(restored))[1]["is_sound"] is True
    assert store_command("check", "--data", str(store))[1]["is_sound"] is True
    again = ServerProcess("ingest", restored)
    try:
        with IngestClient(again.address) as client:
            kept = [report_id for acked, report_id, _ in pusher.acks if acked <= version]
            found_versions = [
                client.get_ingestion(pb.GetIngestionRequest(report_id=report_id)).data_version for report_id in kept
            ]
            assert found_versions == list(range(1, version + 1))
            after = client.ingest_report(a_table("777,1,1,1,500,0"), given=GIVEN, filename="bench.csv")
            assert after.data_version == version + 1
    finally:
        again.end()
