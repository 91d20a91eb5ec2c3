"""Which rows of a table the lint may have a word on, told in bulk; the words are the lint's own.

Every test here is the lint's, without its exceptions: a row that is not told is one that ``lint_level`` leaves as it
is, while a row that is told may still turn out clean.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from tonnage.domain.measurement import METRICS, STATISTICS
from tonnage.formats.checks import latencies, loads, scalars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    Numbers: TypeAlias = npt.NDArray[np.float64]
    Flags: TypeAlias = npt.NDArray[np.bool_]

WORK_NAMES: Final = (
    "input_tokens_mean",
    "output_tokens_mean",
    "prefix_cache_hit_ratio",
    "megapixels",
    "step_count",
    "images_per_request",
    "audio_s",
    "frame_count",
    "items_per_request",
)


def suspects(columns: Mapping[str, Numbers], row_count: int) -> Flags:
    """Return the rows that the lint has to look at.

    ``columns`` are by the names of the store's points, NaN where nothing is stated; a column may be left out. Stated
    NaN cannot be told from absence here and is the caller's to find.
    """
    rows = _Rows(columns, row_count)
    found = np.zeros(row_count, dtype=np.bool_)
    with np.errstate(invalid="ignore", over="ignore"):
        for check in (_scalars, _latencies, _orders, _too_few, _mismatches, _loads, _rates):
            for flags in check(rows):
                found |= flags
    return found


class _Rows:
    """Columns by name; what is not there is NaN throughout, which fails every comparison."""

    def __init__(self, columns: Mapping[str, Numbers], row_count: int) -> None:
        self._columns = columns
        self._absent: Numbers = np.full(row_count, np.nan)

    def __getitem__(self, name: str) -> Numbers:
        return self._columns.get(name, self._absent)

    def has(self, name: str) -> bool:
        return name in self._columns

    def stated(self, *names: str) -> Flags:
        """Return where every one of some columns is stated."""
        found: Flags = ~np.isnan(self[names[0]])
        for name in names[1:]:
            found &= ~np.isnan(self[name])
        return found


def _scalars(rows: _Rows) -> Iterator[Flags]:
    for name in filter(rows.has, (*scalars._NOT_NEGATIVE, *WORK_NAMES)):  # noqa: SLF001 -- the lint's own lists
        yield (rows[name] < 0) | np.isinf(rows[name])
    for name in filter(rows.has, scalars._POSITIVE):  # noqa: SLF001 -- the same
        yield (rows[name] <= 0) | np.isinf(rows[name])
    yield rows["prefix_cache_hit_ratio"] > 1


def _latencies(rows: _Rows) -> Iterator[Flags]:
    one_token = rows["output_tokens_mean"] <= 1
    for metric in METRICS:
        for statistic in STATISTICS:
            name = latencies.name_of(metric, statistic)
            if rows.has(name):
                value = rows[name]
                yield (value < 0 if metric == "queue" else value <= 0) | np.isinf(value)
                if metric in {"tpot", "itl"}:
                    yield one_token & rows.stated(name)


def _orders(rows: _Rows) -> Iterator[Flags]:
    slack = 1 - latencies._ROUNDING  # noqa: SLF001 -- the lint's own tolerance
    for metric in METRICS:
        held = [rank for rank in latencies._RANKS if rows.has(latencies.name_of(metric, rank))]  # noqa: SLF001 -- as above
        for low, high in combinations(held, 2):
            yield rows[f"{metric}_{high}_ms"] < rows[f"{metric}_{low}_ms"] * slack
        for rank, share in latencies._SHARE_ABOVE.items():  # noqa: SLF001 -- as above
            yield rows[f"{metric}_mean_ms"] < rows[f"{metric}_{rank}_ms"] * share * slack
        yield rows[f"{metric}_p99_ms"] == rows[f"{metric}_p95_ms"]
    for statistic in STATISTICS:
        yield rows[f"e2e_{statistic}_ms"] < rows[f"ttft_{statistic}_ms"] * slack


def _too_few(rows: _Rows) -> Iterator[Flags]:
    for statistic, least in latencies.LEAST_COUNT.items():
        few = rows["completed_count"] < least
        if few.any():
            for metric in METRICS:
                yield few & rows.stated(f"{metric}_{statistic}_ms")


def _mismatches(rows: _Rows) -> Iterator[Flags]:
    names = ("ttft_mean_ms", "tpot_mean_ms", "e2e_mean_ms", "output_tokens_mean")
    if all(map(rows.has, names)):
        ttft, tpot, e2e, output = (rows[name] for name in names)
        built = ttft + tpot * (output - 1)
        near = np.abs(built - e2e) <= latencies._SPREAD * e2e  # noqa: SLF001 -- the lint's own tolerance
        yield rows.stated(*names) & ~near


def _loads(rows: _Rows) -> Iterator[Flags]:
    cap, rate = rows["concurrency"], rows["requests_per_s"]
    yield rows["completed_count"] == 0
    yield ~(rows.stated("requests_per_s") | rows.stated("output_tokens_per_s") | rows.stated("total_tokens_per_s"))
    yield ~(rows.stated("concurrency") | rows.stated("offered_requests_per_s"))
    in_flight = rate * rows["e2e_mean_ms"] / 1000
    yield in_flight > cap * (1 + loads._LITTLE_SLACK)  # noqa: SLF001 -- the lint's own tolerance
    yield in_flight < cap * (1 - loads._LITTLE_SLACK)  # noqa: SLF001 -- as above
    yield rate * rows["ttft_mean_ms"] / 1000 > cap * (1 + loads._TTFT_SLACK)  # noqa: SLF001 -- as above


def _rates(rows: _Rows) -> Iterator[Flags]:
    rate, offered = rows["requests_per_s"], rows["offered_requests_per_s"]
    counted = rows["completed_count"] / rows["duration_s"]
    yield rows.stated("completed_count", "duration_s", "requests_per_s") & ~_near(counted, rate, loads._RATE_SLACK)  # noqa: SLF001 -- as above
    tokens, counted_tokens = rows["output_tokens_per_s"], rate * rows["output_tokens_mean"]
    stated = rows.stated("output_tokens_mean", "requests_per_s", "output_tokens_per_s")
    yield stated & ~_near(counted_tokens, tokens, loads._TOKEN_SLACK)  # noqa: SLF001 -- as above
    yield rate < offered * (1 - loads._BEHIND)  # noqa: SLF001 -- as above


def _near(one: Numbers, other: Numbers, slack: float) -> Flags:
    near: Flags = np.abs(one - other) <= slack * np.maximum(one, other)
    return near
