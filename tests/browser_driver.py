"""Running real processes, and driving a real Chromium before them."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tonnage.client import IngestClient, PlanningClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

WAIT_MS = 60_000
_PATIENCE_S = 30
IDLE = """() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
    && !document.querySelector('[data-stale=true]')"""

expect.set_options(timeout=WAIT_MS)


@dataclass(frozen=True)
class Site:
    """Addresses of one set of real processes."""

    planning: str
    ingest: str
    ui: str

    def planning_client(self) -> PlanningClient:
        """Return a client of the planning server."""
        return PlanningClient(self.planning)

    def ingest_client(self) -> IngestClient:
        """Return a client of the ingest server."""
        return IngestClient(self.ingest)


@contextmanager
def running(command: list[str], ready: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a command until the block ends; yield it with the line of its output that says it is ready."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ) as process:
        try:
            assert process.stdout is not None
            line = next((line for line in process.stdout if re.search(ready, line)), None)
            assert line is not None, f"{command} ended before it was ready"
            yield process, line
        finally:
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    """End a process in its own way; Streamlit waits for its readers to go away, and these wait for the test."""
    process.terminate()
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()


@contextmanager
def showing(app: Path, site: Site) -> Iterator[str]:
    """Run the pages alone before some servers; yield their address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-u", "-m", "streamlit", "run", str(app), "--server.port", str(port)]
    command += ["--server.headless", "true"]  # else it asks for a mail address before it reads the configuration
    address = f"http://127.0.0.1:{port}"
    with running(command, address, TONNAGE_PLANNING=site.planning, TONNAGE_INGEST=site.ingest):
        yield address


@contextmanager
def serving(data: Path, *flags: str) -> Iterator[tuple[subprocess.Popen[str], Site]]:
    """Run ``tonnage serve`` on free ports."""
    ports = ["--planning-port", "0", "--ingest-port", "0", "--ui-port", "0"]
    command = [sys.executable, "-m", "tonnage.cli", "serve", "--json", "--data", str(data), *ports, *flags]
    with running(command, r'"event": "serving"') as (process, line):
        told = json.loads(line)
        yield process, Site(told["planning"], told["ingest"], _address(told.get("ui", "")))


def _address(told: str) -> str:
    return told if told.startswith("http") or not told else f"http://{told}"


def settled(page: Page) -> None:
    """Wait until the page's script has run and everything on it is of that run."""
    page.wait_for_function(IDLE, timeout=WAIT_MS)


def fill(page: Page, key: str, value: str) -> None:
    """Fill a text or number field by its key, as a user leaves it with the tabulator."""
    field = page.locator(f".st-key-{key} input").first
    field.fill(value)
    field.press("Tab")
    settled(page)


def press(page: Page, key: str) -> None:
    """Press a button by its key."""
    page.locator(f".st-key-{key} button").first.click()
    page.wait_for_timeout(100)  # the click reaches the server before the page says that it runs
    settled(page)


def choose(page: Page, key: str, text: str) -> None:
    """Type into a list and take what it offers first."""
    field = page.locator(f".st-key-{key} input").first
    field.fill(text)
    field.press("Enter")
    page.wait_for_timeout(100)
    settled(page)
    page.keyboard.press("Escape")


def figures(page: Page, key: str) -> list[str]:
    """Return the large numbers of a group."""
    values = page.locator(f".st-key-{key} [data-testid=stMetricValue]")
    expect(values.first).to_be_visible()
    settled(page)
    return values.all_inner_texts()
