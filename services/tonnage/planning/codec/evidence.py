"""Runs as messages inside plans, encoded once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from tonnage.rpc.codec.run import encode_run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.domain.measurement import Run
    from tonnage.v1 import run_pb2

MOST_HELD: Final = 20_000


class RunMessages:
    """Encoded runs by name; rows of the store never change, so neither do these. Safe between threads."""

    def __init__(self, most_held: int = MOST_HELD) -> None:
        self._most_held = most_held
        self._held: OrderedDict[str, run_pb2.Run] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, runs: Iterable[Run]) -> list[run_pb2.Run]:
        """Return runs as messages, in their order."""
        return [self._one(run) for run in runs]

    def _one(self, run: Run) -> run_pb2.Run:
        with self._lock:
            held = self._held.get(run.name)
            if held is not None:
                self._held.move_to_end(run.name)
                return held
        made = encode_run(run)
        with self._lock:
            self._held[run.name] = made
            while len(self._held) > self._most_held:
                self._held.popitem(last=False)
        return made
