"""What matters most: how far N moves when one input alone goes from edge to edge of its central nine tenths."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tonnage.capacity.confidence.rates import CAUSES
from tonnage.capacity.exact import rounded
from tonnage.capacity.spread.published import EDGE
from tonnage.domain.confidence import Swing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tonnage.capacity.confidence.counts import Counter
    from tonnage.capacity.confidence.inputs import Inputs
    from tonnage.capacity.confidence.rates import Rate

_ROUNDING = 1e-9


def swings_of(inputs: Inputs, rates: Sequence[Rate], counter: Counter) -> tuple[Swing, ...]:
    """Return the swing of each unsure input, the largest first, equal ones by name; all others stay as planned.

    The mix is moved along the bucket that takes the most of a replica for each of its requests.
    """
    found = [_swing(name, ends, counter) for name, ends in _ends(inputs, rates) if ends[0] != ends[1]]
    return tuple(sorted(found, key=lambda item: (-item.width, item.input)))


def _ends(inputs: Inputs, rates: Sequence[Rate]) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield replicas before the ceiling at the two edges of each input."""
    centers = [rate.center for rate in rates]

    def replicas(logs: Sequence[float], factor: float = 0.0, shares: Sequence[float] = inputs.shares) -> float:
        load = math.fsum(share * math.exp(-item) for share, item in zip(shares, logs, strict=True))
        return load * inputs.peak * inputs.kept * math.exp(factor)

    for name, ends in inputs.ranges.items():
        yield name, (replicas(centers, ends.low), replicas(centers, ends.high))
    if inputs.share_deviations:
        costly = min(range(len(rates)), key=lambda place: (centers[place], place))
        low, high = (replicas(centers, shares=inputs.tilted_shares(costly, z)) for z in (-EDGE, EDGE))
        yield "mix", (low, high)
    for cause in CAUSES:
        worse, better = ([rate.swings[cause][end] for rate in rates] for end in (0, 1))
        yield f"curve.{cause}", (replicas(better), replicas(worse))
    for name in ("between_loads", "lengths"):
        moves = [EDGE * getattr(rate, name) for rate in rates]
        lower, upper = ([c + sign * move for c, move in zip(centers, moves, strict=True)] for sign in (-1, 1))
        yield f"curve.{name}", (replicas(upper), replicas(lower))


def _swing(name: str, ends: tuple[float, float], counter: Counter) -> Swing:
    low, high = sorted(ends)
    bounded = math.isfinite(high)
    return Swing(
        input=name,
        low_replicas=rounded(low),
        low_replica_count=counter.of(math.ceil(low * (1 - _ROUNDING)))[0],
        high_replicas=rounded(high) if bounded else None,
        high_replica_count=counter.of(math.ceil(high * (1 - _ROUNDING)))[0] if bounded else None,
    )
