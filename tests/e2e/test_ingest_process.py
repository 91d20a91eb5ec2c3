"""The real ingest process on a real lake: pushed to, stopped, and killed."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import grpc
import pytest
from builders_ingest import GIVEN, a_table, report_parts

from tonnage.client import IngestClient
from tonnage.client.errors import BadInput, Conflict, Denied, NotFound
from tonnage.v1 import ingest_service_pb2 as pb
from tonnage.v1.ingest_service_pb2_grpc import IngestServiceStub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LABELS = {
    "accelerator": "a10g-24gb",
    "engine": "llama.cpp",
    "weight_precision": "q4_1",
    "tensor_parallel": "1",
}
STORED, ALREADY_STORED = pb.RUN_OUTCOME_STORED, pb.RUN_OUTCOME_ALREADY_STORED


class Process:
    """A running ingest process and a client of it."""

    def __init__(self, folder: Path, *flags: str) -> None:
        command = [sys.executable, "-m", "tonnage.ingest", "--store", f"lake://{folder}", "--port", "0", *flags]
        self.log = folder.parent / "ingest.log"
        with self.log.open("ab") as log:
            clean = {key: value for key, value in os.environ.items() if not key.startswith("TONNAGE_")}
            self.child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=clean)
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        assert line, self.log.read_text()
        self.address = json.loads(line)["address"]

    def client(self, token: str | None = None) -> IngestClient:
        """Return a client."""
        return IngestClient(self.address, token=token)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and return the exit status."""
        self.child.send_signal(number)
        status = self.child.wait(30)
        if self.child.stdout is not None:
            self.child.stdout.close()
        return status


@contextmanager
def running(folder: Path, *flags: str) -> Iterator[Process]:
    """Run the process; whatever happens it ends."""
    process = Process(folder, *flags)
    try:
        yield process
    finally:
        if process.child.poll() is None:
            process.end()
        elif process.child.stdout is not None:
            process.child.stdout.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a store that is not there yet."""
    return tmp_path / "store"


def lines_of(process: Process, event: str) -> list[dict[str, object]]:
    """Return the log's lines of one event."""
    lines = [json.loads(line) for line in process.log.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == event]


def test_real_files_are_stored_once_and_other_labels_refused(folder: Path, shared: Path) -> None:
    files = sorted((shared / "samples" / "local-vllm-bench").glob("*.json"))
    files.append(shared / "samples" / "local-guidellm" / "benchmarks.json")
    assert len(files) == 4
    with running(folder) as process, process.client() as client:
        first = [client.ingest_report(file, given=LABELS, default_sweep_id=file.parent.name) for file in files]
        again = [client.ingest_report(file, given=LABELS, default_sweep_id=file.parent.name) for file in files]
        with pytest.raises(Conflict):
            client.ingest_report(files[0], given={**LABELS, "weight_precision": "bf16"})
        with pytest.raises(BadInput, match="contradictory"):
            client.ingest_report(files[0], given={**LABELS, "model": "meta-llama/Llama-3.1-8B-Instruct"})
    assert [answer.format for answer in first] == ["vllm-bench-serve"] * 3 + ["guidellm"]
    assert {run.outcome for answer in first for run in answer.runs} == {STORED}
    assert {run.outcome for answer in again for run in answer.runs} == {ALREADY_STORED}
    assert [answer.data_version for answer in again] == [answer.data_version for answer in first] == [1, 2, 3, 4]
    assert [[run.level_count for run in answer.runs] for answer in first] == [[1], [1], [1], [3]]
    assert {name for answer in first for run in answer.runs for name in run.missing_for_plan} == set()
    assert [run.sweep_id for answer in first[:3] for run in answer.runs] == ["local-vllm-bench"] * 3


@contextmanager
def upload_without_end(process: Process, data: bytes) -> Iterator[None]:
    """Send a whole file and keep the stream open while the body runs."""
    sent, end = threading.Event(), threading.Event()

    def parts() -> Iterator[pb.IngestReportRequest]:
        yield from report_parts(data, chunk_bytes=100)
        sent.set()
        end.wait(60)

    with grpc.insecure_channel(process.address) as channel:
        call = IngestServiceStub(channel).IngestReport.future(parts())
        assert sent.wait(20)
        try:
            yield
        finally:
            end.set()
            call.cancel()


@pytest.mark.timeout(300)
def test_kill_9_in_mid_stream_loses_no_acknowledged_point_and_leaves_no_half(folder: Path) -> None:
    acknowledged: dict[str, int] = {}
    for number in range(2):
        with running(folder) as process, process.client() as client:
            for index in range(3):
                data = a_table(f"{index + 1},{number + 1},100,50,500,0")
                answer = client.ingest_report(data, given=GIVEN, filename="bench.csv")
                acknowledged[answer.report_id] = answer.data_version
            with upload_without_end(process, a_table(f"9,{number + 1},1,1,500,0")):
                while not _spooled(folder):
                    threading.Event().wait(0.01)
                assert process.end(signal.SIGKILL) == -signal.SIGKILL
            assert len(list((folder / "spool").iterdir())) == 1
    with running(folder) as process, process.client() as client:
        assert list((folder / "spool").iterdir()) == []
        found = {key: client.get_ingestion(pb.GetIngestionRequest(report_id=key)) for key in acknowledged}
        assert {key: upload.data_version for key, upload in found.items()} == acknowledged
        assert {len(upload.runs) for upload in found.values()} == {1}
        reported = lines_of(process, "store opened")
        assert [line["data_version"] for line in reported] == [0, 3, 6]
        again = client.ingest_report(a_table("9,1,1,1,500,0"), given=GIVEN, filename="bench.csv")
        assert [run.outcome for run in again.runs] == [STORED]


KILLED_CLIENT = """
import os, sys, grpc
from builders_ingest import a_table, report_parts
from tonnage.v1.ingest_service_pb2_grpc import IngestServiceStub
def parts():
    yield from report_parts(a_table("1,1,1,1,500,0"), chunk_bytes=16)
    sys.stdout.write("sent"); sys.stdout.flush()
    sys.stdin.read()
IngestServiceStub(grpc.insecure_channel(sys.argv[1])).IngestReport(parts())
"""


def test_a_client_killed_in_mid_stream_stores_nothing(folder: Path, root: Path) -> None:
    with running(folder) as process:
        command = [sys.executable, "-c", KILLED_CLIENT, process.address]
        environment = {**os.environ, "PYTHONPATH": str(root / "tests")}
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as child:
            assert child.stdout is not None
            assert child.stdout.read(4) == b"sent"
            child.kill()
        with process.client() as client:
            while not lines_of(process, "call"):
                client.list_formats()
            with pytest.raises(NotFound):
                client.get_ingestion(pb.GetIngestionRequest(report_id=_digest(a_table("1,1,1,1,500,0"))))
        assert list((folder / "spool").iterdir()) == []


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_term_signal_lets_an_upload_in_flight_end_and_stores_it(folder: Path) -> None:
    with running(folder) as process:
        data = a_table("1,1,1,1,500,0")
        parts = report_parts(data)
        begun, end = threading.Event(), threading.Event()

        def slow() -> Iterator[pb.IngestReportRequest]:
            yield parts[0]
            begun.set()
            end.wait(60)
            yield from parts[1:]

        with grpc.insecure_channel(process.address) as channel:
            future = IngestServiceStub(channel).IngestReport.future(slow())
            assert begun.wait(20)
            while not _spooled(folder):
                threading.Event().wait(0.01)
            process.child.send_signal(signal.SIGTERM)
            while not lines_of(process, "draining"):
                threading.Event().wait(0.01)
            end.set()
            assert [run.outcome for run in future.result(30).runs] == [STORED]
        assert process.child.wait(30) == 0
        assert lines_of(process, "stopped")


def _spooled(folder: Path) -> bool:
    return any((folder / "spool").iterdir())


def test_a_second_writer_is_turned_away_and_the_first_goes_on(folder: Path) -> None:
    with running(folder) as process:
        command = [sys.executable, "-m", "tonnage.ingest", "--store", f"lake://{folder}", "--port", "0"]
        second = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert second.returncode == 3
        assert second.stderr.splitlines()[-1].startswith("error: ")
        assert str(process.child.pid) in second.stderr
        with process.client() as client:
            assert client.list_formats().formats


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--store", "s3://x"], "store"),
        (["--store", "lake:///tmp/x", "--port", "99999"], "ingest_port"),
        (["--store", "lake:///tmp/x", "--token-file", "/nowhere"], "token_file"),
        (["--store", "lake:///tmp/x", "--tls-cert-file", "a"], "tls_key_file"),
    ],
)
def test_a_setting_that_cannot_be_used_ends_the_start_with_one_line(flags: list[str], said: str) -> None:
    command = [sys.executable, "-m", "tonnage.ingest", *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert said in line


def test_a_token_file_shuts_out_who_lacks_the_token(folder: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef0123\n")
    with running(folder, "--token-file", str(token)) as process:
        with process.client(token="0123456789abcdef0123") as client:  # noqa: S106 -- made up for the test
            assert client.list_formats().formats
        with process.client() as client, pytest.raises(Denied, match="token"):
            client.list_formats()
