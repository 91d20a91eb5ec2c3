"""The levels of runs that say nothing unusual, read by column; all else is left to the reading of single runs.

A run is *plain* when it states identity, loads, counts, latencies and text lengths, and neither parts, telemetry,
quality, findings nor places in a file: what a CI job sends. A value that the other way in would refuse or have a word
on is not judged here, its run is handed over.
"""

from __future__ import annotations

import json
from itertools import compress
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa

from tonnage.checks import LARGEST_COUNT
from tonnage.domain.measurement import LEVEL_COUNTS, LEVEL_NUMBERS, METRICS, STATISTICS
from tonnage.formats.checks.suspects import suspects
from tonnage.rpc.codec.numbers import LARGEST_MAGNITUDE
from tonnage.rpc.codec.run import LARGEST_LEVEL_COUNT
from tonnage.store.schema import LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt
    from google.protobuf.message import Message

    from tonnage.v1 import run_pb2

    Values: TypeAlias = tuple[float | int | None, ...]
    Flags: TypeAlias = npt.NDArray[np.bool_]
    Integers: TypeAlias = npt.NDArray[np.int64]
    Numbers: TypeAlias = npt.NDArray[np.float64]

LENGTHS: Final = ("input_tokens_mean", "output_tokens_mean", "prefix_cache_hit_ratio")
_NUMBERS: Final = LEVEL_NUMBERS + LEVEL_COUNTS
_STATISTICS: Final = tuple(f"{statistic}_ms" for statistic in STATISTICS)
# By the store's names, in the order ``level_values`` gives them.
COLUMNS: Final = (*_NUMBERS, *LENGTHS, *(f"{metric}_{name}" for metric in METRICS for name in _STATISTICS))
_RATIO: Final = "prefix_cache_hit_ratio"

_numbers_of: Final = attrgetter(*_NUMBERS)
_lengths_of: Final = attrgetter(*LENGTHS)
_latency_of: Final = attrgetter(*_STATISTICS)
_NO_LENGTHS: Final[Values] = (None,) * len(LENGTHS)
_NO_LATENCY: Final[Values] = (None,) * len(_STATISTICS)
_FIRST_OF_LATENCIES: Final = tuple(range(len(_NUMBERS) + len(LENGTHS), len(COLUMNS), len(_STATISTICS)))
_TYPES: Final = dict(LEVEL)
_LARGEST: Final = {**dict.fromkeys(LEVEL_COUNTS, LARGEST_COUNT), _RATIO: 1}
# From here on both encoders write a number with the same digits; below, one writes exponents that the other does not.
SMALLEST: Final = 0.001
_FAST: Final = msgspec.json.Encoder()
# Keys stand in their order, so that none is sorted again.
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def run_values(levels: Sequence[run_pb2.Level]) -> list[Values] | None:
    """Return the numbers of each level, in order of ``COLUMNS``; None when the run is not plain."""
    if not 0 < len(levels) <= LARGEST_LEVEL_COUNT:
        return None
    found = []
    for position, level in enumerate(levels):
        values = _level_values(level, position)
        if values is None:
            return None
        found.append(values)
    return found


def _level_values(level: run_pb2.Level, position: int) -> Values | None:
    has = level.HasField
    if level.index not in (0, position) or level.location or level.tenants or level.findings:
        return None
    if has("telemetry") or has("quality") or has("usable"):
        return None
    work = level.work.WhichOneof("work")
    if work not in (None, "text"):
        return None
    values = _held(level, _NUMBERS, _numbers_of)
    values += _NO_LENGTHS if work is None else _held(level.work.text, LENGTHS, _lengths_of)
    for metric in METRICS:
        values += _held(getattr(level, metric), _STATISTICS, _latency_of) if has(metric) else _NO_LATENCY
    return values


def _held(message: Message, names: tuple[str, ...], values_of: Callable[[Any], Values]) -> Values:
    """Return the fields of a message; absent is None. Only what reads as 0 is asked whether it is there."""
    values = values_of(message)
    if 0 not in values:
        return values
    has = message.HasField
    return tuple([value or (value if has(name) else None) for name, value in zip(names, values, strict=True)])


class _Latency(msgspec.Struct, frozen=True, gc=False):
    """Fields stand in the order of canonical text, here and in the others, and none is checked again."""

    mean_ms: float | None = None
    p50_ms: float | None = None
    p90_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None


class _Lengths(msgspec.Struct, frozen=True, gc=False):
    input_tokens_mean: float | None
    output_tokens_mean: float | None
    prefix_cache_hit_ratio: float | None


class _Level(msgspec.Struct, frozen=True, gc=False):
    completed_count: float | None
    concurrency: float | None
    duration_s: float | None
    e2e: _Latency
    failed_count: float | None
    findings: tuple[()]
    index: int
    itl: _Latency
    location: str
    offered_requests_per_s: float | None
    output_tokens_per_s: float | None
    quality: None
    queue: _Latency
    reported_requests_per_s: float | None
    requests_per_s: float | None
    telemetry: None
    tenants: tuple[()]
    total_tokens_per_s: float | None
    tpot: _Latency
    ttft: _Latency
    usable: bool
    work: _Lengths


_ABSENT: Final = _Latency()


def levels_text(levels: Sequence[Values], *, is_usual: bool) -> str:
    """Return levels as ``keys.canonical`` writes them; ``is_usual`` promises no number between 0 and ``SMALLEST``."""
    held = [_level(position, values) for position, values in enumerate(levels)]
    return _FAST.encode(held).decode() if is_usual else _ENCODER.encode(msgspec.to_builtins(held))


def _level(position: int, values: Values) -> _Level:
    concurrency, offered, rate, output, total, reported, duration_s, completed, failed, *_ = values
    ttft, tpot, itl, e2e, queue = [
        _ABSENT if values[first : first + 5] == _NO_LATENCY else _Latency(*values[first : first + 5])
        for first in _FIRST_OF_LATENCIES
    ]
    return _Level(
        completed, concurrency, duration_s, e2e, failed, (), position, itl, "", offered, output, None, queue,
        reported, rate, None, (), total, tpot, ttft, True, _Lengths(*values[9:12]),  # noqa: FBT003 -- by position
    )  # fmt: skip


class Columns:
    """Levels of several runs by column, with what holds for each run."""

    def __init__(self, runs: Sequence[Sequence[Values]]) -> None:
        columns = zip(*(values for run in runs for values in run), strict=True)
        arrays = {name: pa.array(column, _TYPES[name]) for name, column in zip(COLUMNS, columns, strict=True)}
        self.arrays = {name: array for name, array in arrays.items() if array.null_count < len(array)}
        self.sizes = np.array([len(run) for run in runs])
        self._numbers = {name: _numbers(array) for name, array in self.arrays.items()}

    @property
    def starts(self) -> Integers:
        """Return the first row of each run."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    def sound(self) -> Flags:
        """Return which runs are within all limits and leave the lint without a word."""
        count = int(self.sizes.sum())
        faulty = suspects(self._numbers, count)
        for name, numbers in self._numbers.items():
            with np.errstate(invalid="ignore"):
                within = (numbers >= 0) & (numbers <= _LARGEST.get(name, LARGEST_MAGNITUDE))
            if not within.all():
                # What was not sent is NaN here; a NaN that was sent is not sound.
                faulty |= ~within & self.arrays[name].is_valid().to_numpy(zero_copy_only=False)
        return ~np.logical_or.reduceat(faulty, self.starts)

    def usual(self) -> Flags:
        """Return which runs hold no number between 0 and ``SMALLEST``."""
        small = np.zeros(int(self.sizes.sum()), dtype=np.bool_)
        for numbers in self._numbers.values():
            small |= (numbers > 0) & (numbers < SMALLEST)
        return ~np.logical_or.reduceat(small, self.starts)

    def of(self, flags: Flags) -> Columns:
        """Return the rows of the runs that are flagged."""
        mask = pa.array(np.repeat(flags, self.sizes))
        found = object.__new__(Columns)
        found.arrays = {name: array.filter(mask) for name, array in self.arrays.items()}
        found.sizes = self.sizes[flags]
        found._numbers = {name: _numbers(array) for name, array in found.arrays.items()}
        return found


def _numbers(array: pa.Array) -> Numbers:
    numbers: Numbers = array.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return numbers


def kept(items: Sequence[Any], flags: Flags) -> list[Any]:
    """Return the items whose flag is set."""
    return list(compress(items, flags.tolist()))
