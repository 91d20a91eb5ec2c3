"""When requests completed and how long they took: a bounded sample in the file's order."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_KEPT_COUNT: Final = 1 << 16
_ABSENT: Final = math.nan


def _doubles() -> array[float]:
    return array("d")


@dataclass(slots=True)
class Timeline:
    """Every ``stride``-th completed request; the stride doubles whenever 2^16 are kept. NaN is absent."""

    end_s: array[float] = field(default_factory=_doubles)
    ttft_ms: array[float] = field(default_factory=_doubles)
    e2e_ms: array[float] = field(default_factory=_doubles)
    stride: int = 1
    seen_count: int = 0

    def add(self, end_s: float | None, ttft_ms: float | None, e2e_ms: float | None) -> None:
        """Add one completed request."""
        place = self.seen_count
        self.seen_count = place + 1
        if place % self.stride:
            return
        # Written out: this runs once for each of millions of requests.
        self.end_s.append(_ABSENT if end_s is None else end_s)
        self.ttft_ms.append(_ABSENT if ttft_ms is None else ttft_ms)
        self.e2e_ms.append(_ABSENT if e2e_ms is None else e2e_ms)
        if len(self.end_s) > MAX_KEPT_COUNT:
            self._thin()

    def add_rows(
        self, end_s: np.ndarray | None, ttft_ms: np.ndarray | None, e2e_ms: np.ndarray | None, count: int
    ) -> None:
        """Add many completed requests; a column that is not given is absent throughout."""
        chosen = slice(-self.seen_count % self.stride, None, self.stride)
        for values, column in ((self.end_s, end_s), (self.ttft_ms, ttft_ms), (self.e2e_ms, e2e_ms)):
            rows = np.full(count, np.nan) if column is None else column
            values.frombytes(np.ascontiguousarray(rows[chosen], dtype=np.float64).tobytes())
        self.seen_count += count
        self._thin()

    def _thin(self) -> None:
        while len(self.end_s) > MAX_KEPT_COUNT:
            self.end_s, self.ttft_ms, self.e2e_ms = self.end_s[::2], self.ttft_ms[::2], self.e2e_ms[::2]
            self.stride *= 2

    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return ends in s, TTFT and e2e in ms of what has a finite end, in order of the ends."""
        end_s, ttft_ms, e2e_ms = _arrays((self.end_s, self.ttft_ms, self.e2e_ms))
        order = np.argsort(end_s, kind="stable")
        order = order[np.isfinite(end_s[order])]
        return end_s[order], ttft_ms[order], e2e_ms[order]


def _arrays(columns: Iterable[array[float]]) -> list[np.ndarray]:
    return [np.array(column, dtype=np.float64) for column in columns]
