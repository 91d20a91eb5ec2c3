"""One child process: its address, its log, its end."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_LONGEST_LINE_BYTES: Final = 1 << 20
STOP_S: Final = 30.0
# How our servers end when a setting cannot be used.
_BAD_SETTINGS: Final = 2


class NotRunning(Exception):
    """A child ended by itself, with its last words, or something did not come up.

    ``bad_settings`` tells that the child refused what it was started with.
    """

    def __init__(self, message: str, *, bad_settings: bool = False) -> None:
        super().__init__(message)
        self.bad_settings = bad_settings


@dataclass(slots=True)
class Child:
    """A running child; its log goes on to our standard error, and the last line is kept."""

    name: str
    process: asyncio.subprocess.Process
    last_words: str = ""
    _readers: list[asyncio.Task[None]] = field(default_factory=list)
    _address: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @classmethod
    async def start(
        cls, name: str, command: Sequence[str], environment: Mapping[str, str], *, log: Callable[[str], None]
    ) -> Child:
        """Start a child in a group of its own, so that our terminal's Ctrl-C reaches it through us alone."""
        process = await asyncio.create_subprocess_exec(
            *command,
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=_LONGEST_LINE_BYTES,
            process_group=0,
        )
        child = cls(name, process)
        child._readers = [
            asyncio.create_task(child._read(process.stdout, child._listen)),
            asyncio.create_task(child._read(process.stderr, log)),
        ]
        return child

    async def _read(self, stream: asyncio.StreamReader | None, tell: Callable[[str], None]) -> None:
        assert stream is not None  # noqa: S101 -- both were asked for as pipes
        async for line in stream:
            text = line.decode("utf-8", "replace").rstrip("\n")
            if text:
                self.last_words = text
                tell(text)

    def _listen(self, text: str) -> None:
        """Take the address from the one line a server of ours prints when it is bound."""
        try:
            said = json.loads(text)
        except ValueError:
            return
        if isinstance(said, dict) and said.get("event") == "listening" and not self._address.done():
            self._address.set_result(str(said["address"]))

    async def address(self, timeout_s: float) -> str:
        """Return host:port once the child is bound; raise ``NotRunning`` when it ends first."""
        ended = asyncio.create_task(self.ended())
        waits: set[asyncio.Future[Any]] = {self._address, ended}
        done, _ = await asyncio.wait(waits, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        if self._address in done:
            return self._address.result()
        raise self.obituary() if done else NotRunning(f"{self.name} did not listen within {timeout_s:g} s")

    async def ended(self) -> None:
        """Return when the child has ended and all it said was read."""
        await self.process.wait()
        await asyncio.gather(*self._readers)

    def obituary(self) -> NotRunning:
        """Return how the child ended, with its last log line."""
        words = self.last_words.removeprefix("error: ") or "it said nothing"
        status = self.process.returncode
        return NotRunning(f"{self.name} ended with status {status}: {words}", bad_settings=status == _BAD_SETTINGS)

    async def stop(self) -> None:
        """Ask the child to end, and make it when it does not."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self.ended(), STOP_S)
        except TimeoutError:
            print(f"{self.name} did not end within {STOP_S:g} s and is killed", file=sys.stderr)  # noqa: T201 -- told
            self.process.kill()
            await self.ended()
