"""Statistics from summaries that name them in their own way, and from single requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tonnage.domain.measurement import NOT_MEASURED, STATISTICS, Latency
from tonnage.formats.reading.fields import scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tonnage.formats.reading.fields import Fields

_PERCENTILES = (50.0, 90.0, 95.0, 99.0)
# What overflows on absurd figures becomes infinite, and the lint names it.
overflow_is_infinite = np.errstate(over="ignore", invalid="ignore")


def latency(pick: Callable[[str], float | None], to_ms: float = 1.0) -> Latency:
    """Return the statistics that ``pick`` finds by our names (mean, p50, p90, p95, p99), in milliseconds."""
    found = {f"{name}_ms": scaled(pick(name), to_ms) for name in STATISTICS}
    return Latency(**found) if any(value is not None for value in found.values()) else NOT_MEASURED


def block(fields: Fields, names: Mapping[str, Sequence[str]], to_ms: float = 1.0) -> Latency:
    """Return the statistics of one block whose keys are given by our names."""

    def pick(name: str) -> float | None:
        keys = names.get(name, ())
        return fields.number(*((keys,) if isinstance(keys, str) else keys))

    return latency(pick, to_ms)


@overflow_is_infinite
def of_values(values: Sequence[float] | np.ndarray, to_ms: float = 1.0) -> Latency:
    """Return mean and linear-interpolated percentiles of single values; nothing of no values.

    Linear interpolation between closest ranks (Hyndman and Fan 1996, type 7), as numpy has it.
    """
    array = np.asarray(values, dtype=np.float64)
    array = array[np.isfinite(array)]
    if not array.size:
        return NOT_MEASURED
    p50, p90, p95, p99 = (float(value) * to_ms for value in np.percentile(array, _PERCENTILES))
    return Latency(mean_ms=float(array.mean()) * to_ms, p50_ms=p50, p90_ms=p90, p95_ms=p95, p99_ms=p99)
