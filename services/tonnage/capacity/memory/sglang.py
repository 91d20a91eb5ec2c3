"""What SGLang takes for a card when nobody says: the prefill step and the share kept for weights and pool.

Facts of release 0.5.23's argument resolution (``arg_groups/memory_hook.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.units import GIB

if TYPE_CHECKING:
    from tonnage.domain.memory import MemoryQuestion

_MIB: Final = 1 << 20
_MIB_PER_TOKEN: Final = 1.5
_MIB_PER_GRAPH: Final = 2
_FIXED_MIB: Final = 512
_MIB_PER_HOST: Final = 1024
_LEAST_OUTSIDE_MIB: Final = 10 * 1024
_GRAPHS: Final = ((20, 8, 8), (35, 48, 160), (60, 32, 160), (160, 256, 512))
"""Below so many GiB, graphs up to this batch size with fewer than four ranks, and with four or more."""
_MOST_GRAPHS: Final = 512
_LARGE_GIB: Final = 60
_FEW_RANKS: Final = 4
_PLAIN_TOWER: Final = 24 * 1024**2
_LEAST_KEPT, _MOST_KEPT = 0.8, 1.05
_SMALLEST_SHARE: Final = 1 / 1000


def default_step(total: int) -> int:
    """Return the prefill step SGLang takes for a card's size (argument resolution of release 0.5.23)."""
    for below, step in ((20, 2048), (60, 4096), (160, 8192)):
        if total < below * GIB:
            return step
    return 16_384


def default_fraction(question: MemoryQuestion, total: int) -> float:
    """Return the share SGLang takes when none is given, as release 0.5.23 resolves it.

    Outside stay 1.5 MiB a token of the step, 2 MiB a graph, 512 MiB, 1 GiB for every eight ranks, and at
    least 10 GiB on large cards. Models with a vision tower get about a tenth less.
    """
    ranks = question.tensor_parallel * question.pipeline_parallel
    graphs = _MOST_GRAPHS
    for below, few, many in _GRAPHS:
        if total < below * GIB:
            graphs = few if question.tensor_parallel < _FEW_RANKS else many
            break
    outside = _FIXED_MIB + _MIB_PER_TOKEN * default_step(total) + ranks / 8 * _MIB_PER_HOST
    outside += graphs * _MIB_PER_GRAPH
    if total > _LARGE_GIB * GIB:
        outside = max(outside, _LEAST_OUTSIDE_MIB)
    share = round(1 - outside * _MIB / total, 3)
    return share * _tower_factor(question) if share > 0 else _SMALLEST_SHARE


def _tower_factor(question: MemoryQuestion) -> float:
    """Return what SGLang multiplies its share by for an encoder: 0.95, less a tenth per encoder of 24 x 1024^2."""
    tower = question.shape.tower
    if tower is None or question.language_only:
        return 1.0
    size = tower.layer_count * tower.hidden_size**2 / _PLAIN_TOWER
    return 0.95 * max(_LEAST_KEPT, min(_MOST_KEPT, 1 - 0.1 * (size - 1)))
