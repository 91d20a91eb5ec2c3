"""What published reruns show: how far a second measurement of one configuration lies from the first.

The figures are quantiles of |ln(second / first)| over consecutive dated rows of one configuration, lengths and load in
the collection of published runs (InferenceX nightly sweeps above all, with Akamas, Sequrity, fmbench and AccelMark),
486, 176 and 68 pairs of throughput within 10, 11 to 60 and more than 60 days. Engine versions are told apart between 11
and 60 days, where both kinds are many. Each row is at least the row before it: age never narrows.
"""

from __future__ import annotations

import functools
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUANTILES_Z: Final = np.array([0.0, 0.674490, 1.150349, 1.644854, 1.959964])
"""Where 0, 50, 75, 90 and 95 % of |z| of a normal lie; the tables below hold the same quantiles."""
EDGE: Final = 1.6448536269514722
"""Nine in ten lie within this many deviations."""
GRID_COUNT: Final = 97
STEPS: Final = np.append(np.linspace(-3.6, 3.6, GRID_COUNT), EDGE)
"""Normals over which moves are tabulated: an even grid with 0 in its middle, then the edge of nine in ten."""
AGES_DAYS: Final = np.array([1.0, 25.0, 88.0])
"""Median days between the pairs of each row."""
_OLDEST_DAYS: Final = 88.0


class Kind(StrEnum):
    """What is measured again; a tail is a 90th percentile or above."""

    THROUGHPUT = "throughput"
    TTFT = "ttft"
    TTFT_TAIL = "ttft-tail"
    TPOT = "tpot"
    TPOT_TAIL = "tpot-tail"
    E2E = "e2e"


# 50, 75, 90 and 95 % by age; the second table is of another engine version than was measured.
_SAME: Final[dict[Kind, list[list[float]]]] = {
    Kind.THROUGHPUT: [[0.006, 0.031, 0.105, 0.309], [0.030, 0.091, 0.153, 0.309], [0.072, 0.158, 0.214, 0.309]],
    Kind.TTFT: [[0.025, 0.120, 0.279, 0.408], [0.060, 0.138, 0.279, 0.408], [0.078, 0.182, 0.327, 0.457]],
    Kind.TTFT_TAIL: [[0.032, 0.177, 0.596, 0.946], [0.103, 0.363, 0.708, 1.370], [0.189, 0.488, 1.254, 2.803]],
    Kind.TPOT: [[0.004, 0.013, 0.047, 0.244], [0.013, 0.066, 0.110, 0.244], [0.064, 0.127, 0.186, 0.244]],
    Kind.TPOT_TAIL: [[0.006, 0.022, 0.092, 0.405], [0.035, 0.088, 0.146, 0.405], [0.080, 0.155, 0.211, 0.405]],
    Kind.E2E: [[0.005, 0.016, 0.066, 0.241], [0.025, 0.080, 0.140, 0.241], [0.064, 0.137, 0.186, 0.241]],
}
_OTHER: Final[dict[Kind, list[list[float]]]] = {
    Kind.THROUGHPUT: [[0.006, 0.031, 0.195, 0.629], [0.038, 0.129, 0.414, 0.669], [0.072, 0.158, 0.414, 0.669]],
    Kind.TTFT: [[0.033, 0.120, 0.627, 1.560], [0.161, 0.417, 0.918, 2.144], [0.161, 0.417, 0.918, 2.144]],
    Kind.TTFT_TAIL: [[0.032, 0.177, 0.596, 1.500], [0.123, 0.488, 1.332, 1.500], [0.189, 0.488, 1.332, 2.803]],
    Kind.TPOT: [[0.008, 0.108, 0.233, 0.366], [0.061, 0.228, 0.855, 1.032], [0.064, 0.228, 0.855, 1.032]],
    Kind.TPOT_TAIL: [[0.007, 0.072, 0.262, 0.544], [0.066, 0.248, 1.293, 1.920], [0.080, 0.248, 1.293, 1.920]],
    Kind.E2E: [[0.005, 0.030, 0.201, 0.569], [0.028, 0.111, 0.309, 0.635], [0.064, 0.137, 0.309, 0.635]],
}


def _table(rows: dict[Kind, list[list[float]]]) -> dict[Kind, NDArray[np.float64]]:
    return {kind: np.array([[0.0, *row] for row in ages]) for kind, ages in rows.items()}


_TABLES: Final = {False: _table(_SAME), True: _table(_OTHER)}


def kind_of(statistic: str) -> Kind:
    """Return what a statistic counts as: "ttft_p99_ms" is a tail of TTFT. Queues count as TTFT, gaps as TPOT."""
    metric, rank, _ = statistic.split("_")
    if metric == "e2e":
        return Kind.E2E
    tail = rank in {"p90", "p95", "p99"}
    if metric in {"tpot", "itl"}:
        return Kind.TPOT_TAIL if tail else Kind.TPOT
    return Kind.TTFT_TAIL if tail else Kind.TTFT


def rerun_quantiles(kind: Kind, age_days: float, *, other_version: bool) -> NDArray[np.float64]:
    """Return |ln(second / first)| at ``QUANTILES_Z``, straight in the log of the age between the rows of the table.

    Beyond the oldest row it grows with the square root of the age, as drift without a trend does.
    """
    table = _TABLES[other_version][kind]
    age = max(age_days, float(AGES_DAYS[0]))
    if age >= _OLDEST_DAYS:
        oldest: NDArray[np.float64] = table[-1] * float(np.sqrt(age / _OLDEST_DAYS))
        return oldest
    place = 0 if age < AGES_DAYS[1] else 1
    share = float(np.log(age / AGES_DAYS[place]) / np.log(AGES_DAYS[place + 1] / AGES_DAYS[place]))
    between: NDArray[np.float64] = (1 - share) * table[place] + share * table[place + 1]
    return between


@functools.lru_cache(maxsize=4096)
def moves(kind: Kind, age_days: float, *, other_version: bool) -> NDArray[np.float64]:
    """Return the size of the move at each |z| of ``STEPS``, straight between quantiles, constant behind the last.

    One rerun in twenty lies beyond the last quantile, by up to eightfold: those are failed runs, not capacity.
    """
    quantiles = rerun_quantiles(kind, age_days, other_version=other_version)
    found: NDArray[np.float64] = np.asarray(np.interp(np.abs(STEPS), QUANTILES_Z, quantiles))
    found.flags.writeable = False
    return found
