"""The servers of one site, from start to end: all are up, or none is left."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tonnage.cli.processes import site as sites
from tonnage.cli.processes.child import Child, NotRunning
from tonnage.client import ClientError, IngestAsyncClient, PlanningAsyncClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tonnage.cli.processes.site import Site

START_S: Final = 120.0
_POLL_S: Final = 0.1


@dataclass(slots=True)
class Running:
    """What runs, and where."""

    site: Site
    addresses: dict[str, str] = field(default_factory=dict)
    children: list[Child] = field(default_factory=list)
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self, *, with_ui: bool) -> None:
        """Start everything and wait until it is healthy. Raises ``NotRunning`` when something does not come up."""
        self.site.check()
        app = sites.ui_app() if with_ui else None
        # Planning second: it reads the store that ingest makes, and would warn of its absence.
        await self._start_server("ingest", self.site.ingest_port)
        await self._start_server("planning", self.site.planning_port)
        await self._until(self._servers_serve, "the servers")
        if app is not None:
            await self._start_ui(app)

    async def _start_server(self, name: str, port: int) -> None:
        child = await Child.start(name, self.site.command(name, port), os.environ, log=_log)
        self.children.append(child)
        self.addresses[name] = await child.address(START_S)

    async def _start_ui(self, app: Path) -> None:
        port = sites.free_port(self.site.host, self.site.ui_port or 0)
        command = sites.ui_command(app, self.site.host, port)
        child = await Child.start("ui", command, sites.environment(self.addresses, self.site), log=_log)
        self.children.append(child)
        self.addresses["ui"] = f"http://{self.site.host}:{port}"
        await self._until(self._ui_serves, "the pages")

    async def _until(self, ask: Callable[[], Awaitable[bool]], what: str) -> None:
        """Poll until something is so; a child that ends meanwhile ends the wait."""
        deadline_s = asyncio.get_running_loop().time() + START_S
        while not await ask():
            self.raise_ended()
            if self._stopping.is_set():
                raise NotRunning(f"interrupted before {what} were healthy")
            if asyncio.get_running_loop().time() > deadline_s:
                raise NotRunning(f"{what} did not become healthy within {START_S:g} s")
            await asyncio.sleep(_POLL_S)

    async def _servers_serve(self) -> bool:
        token = self.site.token_file.read_text(encoding="utf-8").strip() if self.site.token_file else None
        for client_type, name in ((PlanningAsyncClient, "planning"), (IngestAsyncClient, "ingest")):
            async with client_type(self.addresses[name], token=token, tls_ca=self.site.tls_ca) as client:
                try:
                    if not await client.is_serving(timeout_s=2.0):
                        return False
                except ClientError:
                    return False
        return True

    async def _ui_serves(self) -> bool:
        return await asyncio.to_thread(_answers, f"{self.addresses['ui']}/_stcore/health")

    def raise_ended(self) -> None:
        """Raise when a child has ended by itself."""
        for child in self.children:
            if child.process.returncode is not None:
                raise child.obituary()

    async def wait(self) -> None:
        """Return on SIGINT or SIGTERM. Raises ``NotRunning`` when a child ends by itself."""
        stop = asyncio.create_task(self._stopping.wait())
        ends = [asyncio.create_task(child.ended()) for child in self.children]
        waits: set[asyncio.Task[Any]] = {stop, *ends}
        _, pending = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        if not self._stopping.is_set():
            self.raise_ended()

    def stop_on_signals(self) -> None:
        """Take SIGINT and SIGTERM as the wish to end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stopping.set)

    async def stop(self) -> None:
        """End every child, the last started first."""
        await asyncio.gather(*(child.stop() for child in reversed(self.children)))


@contextlib.asynccontextmanager
async def running(site: Site, *, with_ui: bool) -> AsyncIterator[Running]:
    """Run a site; leaving ends it."""
    found = Running(site)
    found.stop_on_signals()
    try:
        await found.start(with_ui=with_ui)
        yield found
    finally:
        await found.stop()


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 -- a child's log goes on


def _answers(url: str) -> bool:
    """Tell whether a loopback page answers; no proxy is asked."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=2) as reply:
            status: int = reply.status
            return status == 200  # noqa: PLR2004 -- HTTP's OK
    except OSError:
        return False
