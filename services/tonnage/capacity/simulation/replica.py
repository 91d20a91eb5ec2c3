"""One replica as its measured curve shows it: the time a mean request takes by requests in service, and latencies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import isotonic_regression

from tonnage.domain.measurement import METRICS, ArrivalKind, TextWork
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from tonnage.capacity.curves import Curve
    from tonnage.capacity.levels import CurveLevel

    Floats = npt.NDArray[np.float64]

_SHARES: Final = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
# Standard normal quantiles of the shares.
_NORMAL: Final = {"p99": 2.3263, "p95": 1.6449, "p90": 1.2816}


@dataclass(frozen=True, slots=True)
class Table:
    """One statistic over the loads where it was measured, ms."""

    concurrency: Floats
    values_ms: Floats


@dataclass(frozen=True, slots=True)
class ReplicaModel:
    """A replica: requests in service, the seconds a mean request takes there (never falling), latency tables.

    ``slots`` is the most it serves at once: what was measured, and nothing beyond. ``work_cv`` is the spread of
    requests that the measured e2e times show, None where they do not tell.
    """

    concurrency: Floats
    service_s: Floats
    tables: Mapping[str, Mapping[str, Table]]
    work_cv: float | None

    @property
    def slots(self) -> int:
        """Return the most requests in service."""
        return max(1, math.ceil(float(self.concurrency[-1]) - 1e-9))

    def time_s(self, concurrency: Floats) -> Floats:
        """Return the seconds of a mean request, straight in logs between loads, the ends held."""
        return np.exp(np.interp(np.log(concurrency), np.log(self.concurrency), np.log(self.service_s)))

    def load_at(self, service_s: Floats) -> Floats:
        """Return the requests in service at which a mean request takes so long."""
        return np.exp(np.interp(np.log(service_s), np.log(self.service_s), np.log(self.concurrency)))

    def draws_ms(self, metric: str, concurrency: Floats, luck: Floats) -> Floats | None:
        """Return a latency for each request by its luck within 0 and 1, None where the metric was not measured.

        Between measured percentiles straight; beyond them the nearest. A mean alone stands for every request.
        """
        found = self.tables.get(metric, {})
        known = [name for name in _SHARES if name in found]
        if not known:
            return self.means_ms(metric, concurrency)
        rows = [np.interp(concurrency, found[name].concurrency, found[name].values_ms) for name in known]
        value = rows[0]
        for low, high in zip(range(len(known) - 1), range(1, len(known)), strict=True):
            rows[high] = np.maximum(rows[low], rows[high])
            start, end = _SHARES[known[low]], _SHARES[known[high]]
            part = np.clip((luck - start) / (end - start), 0.0, 1.0)
            value = np.where(luck > start, rows[low] + part * (rows[high] - rows[low]), value)
        return value

    def means_ms(self, metric: str, concurrency: Floats) -> Floats | None:
        """Return the mean latency at each load, by the median or a higher percentile where no mean was measured."""
        found = self.tables.get(metric, {})
        name = next((name for name in ("mean", *_SHARES) if name in found), None)
        return None if name is None else np.interp(concurrency, found[name].concurrency, found[name].values_ms)


def replica_of(curve: Curve, rate_ratio: float = 1.0, ttft_ratio: float = 1.0) -> ReplicaModel | None:
    """Return the model of one replica, None where no load tells how many requests are in service.

    In a closed loop that is the offered concurrency, in an open one Little's law at the measured e2e; open loads that
    were not carried are left out. ``rate_ratio`` and ``ttft_ratio`` are wanted / measured, for other lengths.
    """
    rows = sorted(
        ((load, level) for level in curve.levels if (load := _in_service(curve, level)) is not None),
        key=lambda row: row[0],
    )
    if not rows:
        return None
    loads = np.array([load for load, _ in rows])
    times = loads / np.array([level.requests_per_s * rate_ratio for _, level in rows])
    smooth = isotonic_regression(times).x
    tables: dict[str, dict[str, Table]] = {
        metric: _tables(rows, metric, ttft_ratio if metric == "ttft" else 1.0) for metric in METRICS
    }
    return ReplicaModel(loads, np.asarray(smooth), tables, _work_cv(rows[0][1]))


def _in_service(curve: Curve, level: CurveLevel) -> float | None:
    if curve.arrival_kind is not ArrivalKind.OPEN:
        return level.offered_load / (curve.replicas_under_test or 1)
    found = level.qualified.values
    e2e = found.get("e2e_mean_ms", found.get("e2e_p50_ms"))
    work = level.level.work
    if e2e is None and isinstance(work, TextWork) and work.output_tokens_mean is not None:
        ttft, tpot = found.get("ttft_mean_ms"), found.get("tpot_mean_ms")
        e2e = None if ttft is None or tpot is None else ttft + tpot * max(0.0, work.output_tokens_mean - 1)
    return None if e2e is None or level.saturated else level.requests_per_s * e2e / MS_PER_S


def _tables(rows: list[tuple[float, CurveLevel]], metric: str, ratio: float) -> dict[str, Table]:
    found: dict[str, Table] = {}
    for name in ("mean", *_SHARES):
        known = [(load, value) for load, level in rows if (value := level.qualified.values.get(f"{metric}_{name}_ms"))]
        if known:
            found[name] = Table(np.array([item[0] for item in known]), ratio * np.array([item[1] for item in known]))
    return found


def _work_cv(level: CurveLevel) -> float | None:
    """Return the spread of a lognormal through the median and the highest percentile of e2e at the lowest load."""
    middle = level.qualified.values.get("e2e_p50_ms")
    for name, normal in _NORMAL.items():
        high = level.qualified.values.get(f"e2e_{name}_ms")
        if middle and high:
            return math.sqrt(math.expm1((math.log(max(high, middle) / middle) / normal) ** 2))
    return None
