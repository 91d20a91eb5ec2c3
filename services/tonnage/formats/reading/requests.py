"""Single requests gathered into one level, in bounded memory."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.domain.measurement import Latency, Level, TextWork
from tonnage.errors import TooLarge
from tonnage.formats.reading.fields import product, ratio
from tonnage.formats.reading.statistics import of_values, overflow_is_infinite
from tonnage.formats.reading.steadiness import unsteady, warm_up_inside
from tonnage.formats.reading.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_REQUEST_COUNT: Final = 20_000_000
_EXACT_GAP_COUNT: Final = 2_000_000
# Beyond the exact ones, gaps are counted in bins 0.05 % wide between 1 ns and about 3 hours.
_BIN_RATIO: Final = 1.0005
_SMALLEST_MS: Final = 1e-6
_BIN_COUNT: Final = math.ceil(math.log(1e7 / _SMALLEST_MS) / math.log(_BIN_RATIO))


def _doubles() -> array[float]:
    return array("d")


@dataclass(slots=True)
class Gaps:
    """Gaps between chunks of all requests: exact while few, counted in fine bins when many."""

    exact: array[float] = field(default_factory=_doubles)
    bins: np.ndarray | None = None
    total_ms: float = 0.0

    def extend(self, gaps_ms: Iterable[float]) -> None:
        """Add the gaps of one request."""
        self.exact.extend(gaps_ms)
        if len(self.exact) > _EXACT_GAP_COUNT:
            self._fold()

    @overflow_is_infinite
    def _fold(self) -> None:
        values = np.frombuffer(self.exact, dtype=np.float64)
        values = values[np.isfinite(values) & (values >= 0)]
        if self.bins is None:
            self.bins = np.zeros(_BIN_COUNT + 1, dtype=np.int64)
        places = np.log(np.maximum(values, _SMALLEST_MS) / _SMALLEST_MS) / math.log(_BIN_RATIO)
        self.bins += np.bincount(np.minimum(places.astype(np.int64), _BIN_COUNT), minlength=_BIN_COUNT + 1)
        self.total_ms += float(values.sum())
        self.exact = _doubles()

    def latency(self) -> Latency:
        """Return the statistics; within 0.05 % when gaps were counted in bins."""
        if self.bins is None:
            return of_values(self.exact)
        self._fold()
        below = np.cumsum(self.bins)
        count = int(below[-1])
        if not count:
            return Latency()
        p50, p90, p95, p99 = (
            _SMALLEST_MS * _BIN_RATIO ** (int(np.searchsorted(below, share * count)) + 0.5)
            for share in (0.50, 0.90, 0.95, 0.99)
        )
        return Latency(mean_ms=self.total_ms / count, p50_ms=p50, p90_ms=p90, p95_ms=p95, p99_ms=p99)


@dataclass(slots=True)
class Requests:
    """What single requests said; times in ms, clock readings in s. Absent values are left out."""

    completed_count: int = 0
    failed_count: int = 0
    ttft_ms: array[float] = field(default_factory=_doubles)
    tpot_ms: array[float] = field(default_factory=_doubles)
    e2e_ms: array[float] = field(default_factory=_doubles)
    gaps: Gaps = field(default_factory=Gaps)
    input_tokens: array[float] = field(default_factory=_doubles)
    output_tokens: array[float] = field(default_factory=_doubles)
    first_start_s: float | None = None
    last_end_s: float | None = None
    timeline: Timeline = field(default_factory=Timeline)

    def completed(
        self,
        *,
        e2e_ms: float | None = None,
        ttft_ms: float | None = None,
        tpot_ms: float | None = None,
        input_tokens: float | None = None,
        output_tokens: float | None = None,
        end_s: float | None = None,
    ) -> None:
        """Add one request that succeeded, ``end_s`` by any steady clock; raises ``TooLarge`` beyond 20 million."""
        self._grow(1)
        self.timeline.add(end_s, ttft_ms, e2e_ms)
        for values, value in (
            (self.e2e_ms, e2e_ms),
            (self.ttft_ms, ttft_ms),
            (self.tpot_ms, tpot_ms),
            (self.input_tokens, input_tokens),
            (self.output_tokens, output_tokens),
        ):
            if value is not None:
                values.append(value)

    def completed_rows(  # noqa: PLR0913 -- columns of one table
        self,
        *,
        e2e_ms: np.ndarray | None = None,
        ttft_ms: np.ndarray | None = None,
        tpot_ms: np.ndarray | None = None,
        input_tokens: np.ndarray | None = None,
        output_tokens: np.ndarray | None = None,
        end_s: np.ndarray | None = None,
        count: int,
    ) -> None:
        """Add many requests that succeeded; NaN is absent."""
        self._grow(count)
        self.timeline.add_rows(end_s, ttft_ms, e2e_ms, count)
        for values, column in (
            (self.e2e_ms, e2e_ms),
            (self.ttft_ms, ttft_ms),
            (self.tpot_ms, tpot_ms),
            (self.input_tokens, input_tokens),
            (self.output_tokens, output_tokens),
        ):
            if column is not None:
                values.frombytes(np.ascontiguousarray(column[~np.isnan(column)], dtype=np.float64).tobytes())

    def _grow(self, count: int) -> None:
        self.completed_count += count
        if self.completed_count > _MAX_REQUEST_COUNT:
            raise TooLarge("the file holds more than 20 million requests; split it", limit=_MAX_REQUEST_COUNT)

    def span_rows(self, start_s: np.ndarray, end_s: np.ndarray) -> None:
        """Widen the measured window by many requests; NaN is absent."""
        starts, ends = start_s[np.isfinite(start_s)], end_s[np.isfinite(end_s)]
        self.spans(float(starts.min()) if starts.size else None, float(ends.max()) if ends.size else None)

    def spans(self, start_s: float | None, end_s: float | None) -> None:
        """Widen the measured window by one request, successful or not."""
        if start_s is not None and math.isfinite(start_s):
            self.first_start_s = start_s if self.first_start_s is None else min(self.first_start_s, start_s)
        if end_s is not None and math.isfinite(end_s):
            self.last_end_s = end_s if self.last_end_s is None else max(self.last_end_s, end_s)

    @property
    def is_empty(self) -> bool:
        """Tell whether no request was met at all: then there is no level."""
        return not self.completed_count and not self.failed_count

    @property
    def duration_s(self) -> float | None:
        """Return the window from first start to last end."""
        if self.first_start_s is None or self.last_end_s is None or self.last_end_s <= self.first_start_s:
            return None
        return self.last_end_s - self.first_start_s

    def level(
        self,
        *,
        duration_s: float | None,
        failures_known: bool,
        concurrency: float | None = None,
        location: str = "",
    ) -> Level:
        """Return the level, unusable where it did not hold still; throughputs follow from counts and duration."""
        barring, doubts = unsteady(self.timeline), warm_up_inside(self.timeline)
        requests_per_s = ratio(self.completed_count, duration_s)
        inputs, outputs = _mean(self.input_tokens), _mean(self.output_tokens)
        total = inputs + outputs if inputs is not None and outputs is not None else None
        return Level(
            work=TextWork(input_tokens_mean=inputs, output_tokens_mean=outputs),
            concurrency=concurrency,
            requests_per_s=requests_per_s,
            output_tokens_per_s=product(requests_per_s, outputs),
            total_tokens_per_s=product(requests_per_s, total),
            duration_s=duration_s,
            completed_count=self.completed_count,
            failed_count=self.failed_count if failures_known else None,
            ttft=of_values(self.ttft_ms),
            tpot=of_values(self.tpot_ms),
            itl=self.gaps.latency(),
            e2e=of_values(self.e2e_ms),
            location=location,
            findings=(*barring, *doubts),
            usable=not barring,
        )


@overflow_is_infinite
def _mean(values: array[float]) -> float | None:
    return float(np.frombuffer(values, dtype=np.float64).mean()) if values else None
