"""A blend of simple opinions, its weights fitted by least absolute error, and how far it is off where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from tonnage.capacity.prediction.samples import Array

_ROUNDS: Final = 40
_RIDGE: Final = 1e-3
_FLOOR: Final = 0.003
"""Errors are not told apart below 0.3 %: runs do not repeat better."""
_COVERED: Final = 0.93
"""A little above the nominal nine tenths: what is judged lies farther off than what it was calibrated on."""
LEAST_CASES: Final = 60
"""A blend with fewer cases behind it is not fitted."""


@dataclass(frozen=True, slots=True)
class Blend:
    """Weights of opinions, of what tells the spread, and the widening that covers nine tenths by class of spread."""

    weights: Array
    spread_weights: Array
    class_edges: Array
    class_widening: Array

    def value(self, features: Array) -> float:
        """Return the departure from the base, in logs."""
        return float(features @ self.weights)

    def half_width(self, spread_features: Array) -> float:
        """Return half of the nominal 90 % interval, in logs."""
        scale = float(spread_features @ self.spread_weights)
        place = int(np.searchsorted(self.class_edges, scale))
        return float(np.exp(scale) * self.class_widening[place])


def fit(features: Array, spread_features: Array, wanted: Array, folds: Array, smoothing: float) -> Blend:
    """Return the blend of some measured cases; ``wanted`` are true departures from the base, in logs.

    Weights minimize the absolute error, rounded off at ``smoothing``. The spread is fitted to errors of blends that
    did not see the fold a case is in, and widened so that nine tenths of those errors lie within, by class.
    Raises ``InvalidInput`` for too few cases.
    """
    if len(wanted) < LEAST_CASES:
        raise InvalidInput.field(
            "rows", len(wanted), f"give fewer than {LEAST_CASES} cases to calibrate on", "give more measured curves"
        )
    errors = np.abs(wanted - held_out(features, wanted, folds, smoothing))
    logs = np.log(errors + _FLOOR)
    scale = held_out(spread_features, logs, folds, 0.1)
    edges = np.quantile(scale, [0.25, 0.5, 0.75])
    place = np.searchsorted(edges, scale)
    widening = np.array([_quantile(errors[place == which] / np.exp(scale[place == which])) for which in range(4)])
    return Blend(
        weights=absolute_fit(features, wanted, smoothing),
        spread_weights=absolute_fit(spread_features, logs, 0.1),
        class_edges=edges,
        class_widening=widening,
    )


def held_out(features: Array, wanted: Array, folds: Array, smoothing: float) -> Array:
    """Return for each case what a fit without its fold says."""
    said = np.zeros_like(wanted)
    for fold in np.unique(folds):
        inside = folds == fold
        rest = ~inside
        if not rest.any():
            rest = inside
        said[inside] = features[inside] @ absolute_fit(features[rest], wanted[rest], smoothing)
    return said


def _quantile(ratios: Array) -> float:
    """Return the conformal quantile: of n errors the ceil(0.93 (n + 1))-th smallest."""
    if not len(ratios):
        return float("inf")
    rank = min(len(ratios), int(np.ceil(_COVERED * (len(ratios) + 1))))
    return float(np.sort(ratios)[rank - 1])


def absolute_fit(features: Array, wanted: Array, smoothing: float) -> Array:
    """Return weights of least absolute error by reweighted least squares with a small ridge."""
    weight: Array = np.ones(len(wanted))
    found: Array = np.zeros(features.shape[1])
    for _ in range(_ROUNDS):
        weighted = features * weight[:, None]
        whole: Array = features.T @ weighted + _RIDGE * np.eye(features.shape[1])
        found = np.asarray(np.linalg.solve(whole, weighted.T @ wanted), dtype=np.float64)
        weight = np.reciprocal(np.maximum(np.abs(wanted - features @ found), smoothing))
    return found
