"""Several models on one accelerator: keep them resident, load them on demand, or give one its own pool.

Load time = weights / the slowest way in (disk, network, host link) + what starting takes; the
share of an hour spent loading = loads an hour x load time / 3600. Nothing here is a default:
the ways in, the start and the share one accepts are measured or decided by the caller.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tonnage import checks
from tonnage.capacity.memory.overheads import gib
from tonnage.units import S_PER_HOUR


class SwitchVerdict(StrEnum):
    """What to do with a model that is not always in use."""

    KEEP_RESIDENT = "keep-resident"
    LOAD_ON_DEMAND = "load-on-demand"
    SEPARATE_POOL = "separate-pool"


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchQuestion:
    """One model beside others. ``need_bytes`` is weights and the cache it must hold, on one accelerator."""

    weights_bytes: int
    need_bytes: int
    spare_bytes: int
    """What the accelerator has left beside the other models."""
    loads_per_hour: float
    slowest_link_bytes_per_s: float
    start_s: float
    """From the last byte to the first answer: allocation, graphs, warm-up."""
    max_loading_ratio: float
    """Largest share of time that may go into loading."""

    def __post_init__(self) -> None:
        """Hold sizes, rates and the share to their ranges."""
        checks.count("weights_bytes", self.weights_bytes)
        checks.count("need_bytes", self.need_bytes)
        checks.count("spare_bytes", self.spare_bytes, least=0)
        checks.not_negative("loads_per_hour", self.loads_per_hour)
        checks.positive("slowest_link_bytes_per_s", self.slowest_link_bytes_per_s)
        checks.not_negative("start_s", self.start_s)
        checks.share("max_loading_ratio", self.max_loading_ratio)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchAnswer:
    """What to do, and the sum behind it."""

    verdict: SwitchVerdict
    load_s: float
    loading_ratio: float
    """Share of an hour spent loading; above 1 it cannot be kept up."""
    resident_bytes_short: int
    """What is missing to keep the model resident; 0 when it fits."""
    equation: str


def switching(question: SwitchQuestion) -> SwitchAnswer:
    """Return whether a model stays resident, is loaded on demand, or needs a pool of its own.

    Resident wins where it fits; else loading on demand within the accepted share; else a pool.
    """
    load_s = question.weights_bytes / question.slowest_link_bytes_per_s + question.start_s
    ratio = question.loads_per_hour * load_s / S_PER_HOUR
    short = max(0, question.need_bytes - question.spare_bytes)
    if short == 0:
        verdict = SwitchVerdict.KEEP_RESIDENT
    elif ratio <= question.max_loading_ratio:
        verdict = SwitchVerdict.LOAD_ON_DEMAND
    else:
        verdict = SwitchVerdict.SEPARATE_POOL
    rate = question.slowest_link_bytes_per_s
    text = (
        f"load = {gib(question.weights_bytes)} / ({gib(rate)}/s) + {question.start_s:g} s = {load_s:.1f} s;"
        f" {question.loads_per_hour:g} loads/h x {load_s:.1f} s / 3600 s = {ratio:.1%} of the time;"
        f" resident needs {gib(question.need_bytes)} of {gib(question.spare_bytes)} spare"
    )
    return SwitchAnswer(verdict=verdict, load_s=load_s, loading_ratio=ratio, resident_bytes_short=short, equation=text)
