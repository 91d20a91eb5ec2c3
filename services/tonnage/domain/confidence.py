"""How sure a plan is: what was said of the request's own figures, and what follows for counts and money."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tonnage import checks
from tonnage.errors import InvalidInput, at

if TYPE_CHECKING:
    from tonnage.domain.workload import Money

RESERVE_RANGES: Final = ("whole", "growth", "burst", "drift", "colocation")


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyRange:
    """Two ends between which a figure lies nine times in ten."""

    low: float
    high: float

    def __post_init__(self) -> None:
        """Hold the ends in order."""
        checks.not_negative("low", self.low)
        checks.not_negative("high", self.high)
        if self.high < self.low:
            raise InvalidInput.field("high", self.high, "is below low", "give a high end not below the low one")

    def holds(self, path: str, stated: float) -> None:
        """Refuse a stated figure outside the range."""
        if not self.low <= stated <= self.high:
            raise InvalidInput.field(
                path,
                stated,
                f"is not between {self.low:g} and {self.high:g}, where it lies nine times in ten",
                "give a range around the stated figure",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceOptions:
    """How unsure the request's figures are, and what an error costs an hour; None is not stated."""

    base_requests_per_s: LikelyRange | None = None
    peak_factor: LikelyRange | None = None
    peak_requests_per_s: LikelyRange | None = None
    whole: LikelyRange | None = None
    growth: LikelyRange | None = None
    burst: LikelyRange | None = None
    drift: LikelyRange | None = None
    colocation: LikelyRange | None = None
    share_sample_count: int | None = None
    server_too_many_per_hour: Money | None = None
    slo_broken_per_hour: Money | None = None
    current_server_count: int | None = None
    not_worth_server_count: int | None = None
    planned_engine_version: str | None = None

    def __post_init__(self) -> None:
        """Hold counts and prices to their ranges; refuse prices in two currencies."""
        checks.count("share_sample_count", self.share_sample_count)
        checks.count("current_server_count", self.current_server_count, least=0)
        checks.count("not_worth_server_count", self.not_worth_server_count, least=0)
        checks.name("planned_engine_version", self.planned_engine_version)
        for name in ("base_requests_per_s", "peak_factor", "peak_requests_per_s"):
            found = getattr(self, name)
            with at(name):
                checks.positive("low", None if found is None else found.low)
        if self.peak_requests_per_s is not None and (self.base_requests_per_s or self.peak_factor):
            raise InvalidInput.field(
                "peak_requests_per_s", None, "stands beside a range of its parts", "state one or the other"
            )
        prices = {item.currency for item in (self.server_too_many_per_hour, self.slo_broken_per_hour) if item}
        if len(prices) > 1:
            raise InvalidInput.field(
                "slo_broken_per_hour.currency",
                " and ".join(sorted(prices)),
                "differs from the other price's",
                "state both in one currency",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """Central intervals of one quantity; an end is None where it has no bound."""

    low_95: float | None
    low_80: float | None
    low_50: float | None
    median: float | None
    high_50: float | None
    high_80: float | None
    high_95: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountAtConfidence:
    """The smallest counts that are enough in a share of the worlds; None where none is."""

    confidence: float
    replica_count: int | None = None
    server_count: int | None = None
    per_hour: Money | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountProbability:
    """Share of worlds that need this many replicas, and no fewer than the bar before."""

    replica_count: int
    server_count: int
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Swing:
    """What one input moves alone; replicas before the ceiling and N, None where no count is enough."""

    input: str
    low_replicas: float
    low_replica_count: int
    high_replicas: float | None = None
    high_replica_count: int | None = None

    @property
    def width(self) -> float:
        """Return the swing in replicas before the ceiling."""
        return math.inf if self.high_replicas is None else self.high_replicas - self.low_replicas


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCount:
    """How far the planned count is from the next one, exact ratios; None when there is none that way."""

    demand_growth_ratio: float | None = None
    demand_fall_ratio: float | None = None
    capacity_fall_ratio: float | None = None
    capacity_rise_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveSpread:
    """Spread of one curve, deviations of logs."""

    run_count: int
    used_half_width_90: float
    run_to_run: float | None = None
    within_run: float | None = None
    age_days: float | None = None
    other_version: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityConfidence:
    """Q of one bucket, requests/s of one replica, and how sure it is."""

    q_slo_requests_per_s: Quantiles
    unserved_probability: float
    at_least: bool
    spread: CurveSpread


@dataclass(frozen=True, slots=True, kw_only=True)
class CountChoice:
    """One count of servers with its expected regret an hour."""

    server_count: int
    replica_count: int
    sufficient_probability: float
    regret_per_hour: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastRegret:
    """The count of least regret beside the planned one."""

    choice: CountChoice
    planned: CountChoice
    currency: str


class CurrentVerdict(StrEnum):
    """What to do with the servers that run now."""

    KEEP = "keep"
    DO_NOT_BOTHER = "do-not-bother"
    ADD = "add"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentAgainstPlanned:
    """The servers that run now against the planned ones; the band has no high end where no count is enough."""

    verdict: CurrentVerdict
    server_count_change: int
    sufficient_probability: float
    band_low_server_count: int
    band_high_server_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateConfidence:
    """How sure one candidate is."""

    world_count: int
    counts: tuple[CountAtConfidence, ...]
    distribution: tuple[CountProbability, ...]
    unserved_probability: float
    sufficient_probability: float
    at_most: bool
    utilization_ratio: Quantiles
    buckets: tuple[CapacityConfidence, ...]
    next_count: NextCount
    swings: tuple[Swing, ...]
    per_hour: Quantiles | None = None
    least_regret: LeastRegret | None = None
    current: CurrentAgainstPlanned | None = None
