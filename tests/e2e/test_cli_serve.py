"""``tonnage serve`` as people start it: real processes, real signals."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tonnage.cli.__main__ import status_of
from tonnage.client import PlanningClient, errors

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.timeout(240)
FREE = ["--planning-port", "0", "--ingest-port", "0"]


def _command(data: Path, *flags: str) -> list[str]:
    return [sys.executable, "-m", "tonnage.cli", "serve", "--data", str(data), "--json", *(flags or FREE)]


@contextlib.contextmanager
def _serving(data: Path, *flags: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    process = subprocess.Popen(_command(data, *flags), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        yield process, json.loads(line)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def _children(parent: int) -> dict[str, int]:
    """Return the servers a process started, by module."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                status = (entry / "stat").read_text().rpartition(")")[2].split()
                command = (entry / "cmdline").read_bytes().decode().split("\0")
                if int(status[1]) == parent and "-m" in command:
                    found[command[command.index("-m") + 1]] = int(entry.name)
    return found


def _gone(pid: int) -> bool:
    deadline_s = time.monotonic() + 30
    while time.monotonic() < deadline_s:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_it_serves_a_folder_of_any_name_and_ends_with_its_children(tmp_path: Path) -> None:
    with _serving(tmp_path / "a folder? #1") as (process, found):
        assert Path(found["data"]).is_dir()
        with PlanningClient(found["planning"]) as client:
            assert client.is_serving()
        children = _children(process.pid)
        assert set(children) == {"tonnage.ingest", "tonnage.planning"}
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert [name for name, pid in children.items() if not _gone(pid)] == []
    with PlanningClient(found["planning"]) as client, pytest.raises(errors.Unavailable):
        client.is_serving()


def test_when_one_child_dies_the_other_is_ended_and_the_status_says_so(tmp_path: Path) -> None:
    with _serving(tmp_path / "data") as (process, _found):
        children = _children(process.pid)
        os.kill(children["tonnage.ingest"], signal.SIGKILL)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 3
        assert "error: ingest ended with status -9" in told
        assert _gone(children["tonnage.planning"])


def test_a_second_one_on_the_same_data_says_who_holds_it_and_leaves_the_first(tmp_path: Path) -> None:
    with _serving(tmp_path / "data") as (process, found):
        holder = _children(process.pid)["tonnage.ingest"]
        second = subprocess.run(_command(tmp_path / "data"), capture_output=True, text=True, timeout=120, check=False)
        assert second.returncode == 3
        assert f"held by process {holder}" in second.stderr
        assert second.stdout == ""
        with PlanningClient(found["planning"]) as client:
            assert client.is_serving()


@pytest.mark.parametrize("wrong", ["port", "data", "log", "tls"])
def test_what_cannot_work_ends_with_2_and_names_the_setting(tmp_path: Path, wrong: str) -> None:
    (tmp_path / "file").write_text("")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        lines: dict[str, tuple[list[Any], str]] = {
            "port": ([tmp_path / "d", "--ingest-port", port, "--planning-port", "0"], port),
            "data": ([tmp_path / "file" / "below", *FREE], "--data"),
            "log": ([tmp_path / "d", *FREE, "--log-level", "loud"], "log_level"),
            "tls": ([tmp_path / "d", *FREE, "--tls-cert-file", str(tmp_path / "file")], "--tls-cert-file"),
        }
        (data, *flags), words = lines[wrong]
        ended = subprocess.run(_command(data, *flags), capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""


def test_tls_and_a_token_reach_from_serve_to_the_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, cert, token = tmp_path / "key.pem", tmp_path / "cert.pem", tmp_path / "token"
    subject = ["-subj", "/CN=tonnage-test", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    subprocess.run([*made, *subject, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    token.write_text("a-token-of-this-test\n")
    files = [
        "--tls-cert-file",
        str(cert),
        "--tls-key-file",
        str(key),
        "--tls-ca",
        str(cert),
        "--token-file",
        str(token),
    ]
    with _serving(tmp_path / "data", *FREE, *files) as (_process, found):
        monkeypatch.setenv("TONNAGE_INGEST", found["ingest"])
        assert status_of(["formats", "--tls-ca", str(cert), "--token-file", str(token)]) == 0
        assert status_of(["formats", "--tls-ca", str(cert)]) == 2
        assert status_of(["formats", "--token-file", str(token)]) == 3
        token.write_text("another-token-than-that\n")
        assert status_of(["formats", "--tls-ca", str(cert), "--token-file", str(token)]) == 2


def test_the_pages_are_served_beside_the_servers(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    with _serving(tmp_path / "data", *FREE, "--ui", "--ui-port", "0") as (_process, found):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(found["ui"], timeout=30) as page:
            assert page.status == 200
            assert b"streamlit" in page.read().lower()
