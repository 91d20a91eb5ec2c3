"""Constants fitted anew from start-up logs, with the spread they leave.

Least squares through the origin for the sampler's rate, medians for the rest; the range is
where nine in ten logs fell. A class without logs takes its neighbour's figure, one with a
single log the geometric mean of that log and the neighbour; never a figure that was fitted
with logs that were left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tonnage.capacity.memory.constants import DEFAULT, Constants, Fitted
from tonnage.units import GIB

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST_LOGS: Final = 2
"""No constant is fitted to one report; a single log only pulls its class away from the neighbour."""
_LOW_QUANTILE: Final = 0.05
_HIGH_QUANTILE: Final = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One start-up's figures for one constant: ``value`` is the constant, or y over x."""

    constant: str
    value: float
    weight: float = 1.0
    """x of a fit through the origin; 1 for medians."""
    family: str = ""
    """Model family of the log."""
    log: str = ""
    """Id of the log."""


def observed_rate(peak_gib: float, hidden_bytes: float, entries: float) -> float:
    """Return the sampler's bytes per entry that a logged peak implies."""
    return (peak_gib * GIB - hidden_bytes) / entries


_SMALLEST: Final = frozenset({"load_residue_sglang"})
"""Constants that other causes only add to: the smallest log is the figure."""


def _fitted(name: str, found: Sequence[Observation]) -> Fitted:
    values = np.array([item.value for item in found])
    if name in _SMALLEST:
        least = float(np.min(values))
        return Fitted(value=least, low=0.0, high=float(np.max(values)), log_count=len(found))
    weights = np.array([item.weight for item in found])
    weighted = len(set(weights.tolist())) > 1
    value = float(np.sum(values * weights**2) / np.sum(weights**2)) if weighted else float(np.median(values))
    low, high = np.quantile(values, [_LOW_QUANTILE, _HIGH_QUANTILE])
    return Fitted(value=value, low=float(min(low, value)), high=float(max(high, value)), log_count=len(found))


_NEIGHBOURS: Final = {
    "sampler_bytes_old": "sampler_bytes_new",
    "sampler_bytes_new": "sampler_bytes_old",
    "runtime_single_v0": "runtime_single_old",
    "runtime_pair_v0": "runtime_pair_old",
    "runtime_single_old": "runtime_single_new",
    "runtime_single_new": "runtime_single_old",
    "runtime_pair_old": "runtime_pair_new",
    "runtime_pair_new": "runtime_pair_old",
    "graphs_few": "graphs_dense",
    "graphs_dense": "graphs_large",
    "graphs_large": "graphs_dense",
}


def calibrate(observations: Sequence[Observation], prior: Constants = DEFAULT) -> Constants:
    """Return constants fitted to the observations; ``prior`` keeps what no class here covers."""
    by_name: dict[str, list[Observation]] = {}
    for item in observations:
        by_name.setdefault(item.constant, []).append(item)
    fitted = {name: _fitted(name, found) for name, found in by_name.items() if len(found) >= FEWEST_LOGS}
    alone = {name: found[0].value for name, found in by_name.items() if len(found) < FEWEST_LOGS}
    for name, other in _NEIGHBOURS.items():
        if name not in fitted and other in fitted:
            fitted[name] = _between(alone[name], fitted[other]) if name in alone else fitted[other]
    changes: dict[str, Any] = dict(fitted)
    return replace(prior, **changes)


def _between(single: float, neighbour: Fitted) -> Fitted:
    """Return the geometric mean of one log and the neighbouring class, with the range of both."""
    return Fitted(
        value=math.sqrt(single * neighbour.value),
        low=min(single, neighbour.low),
        high=max(single, neighbour.high),
        log_count=1,
    )
