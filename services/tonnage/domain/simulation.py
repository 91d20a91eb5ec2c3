"""What a simulation is asked, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from tonnage import checks
from tonnage.domain.measurement import NOT_MEASURED, Latency
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Metric, StatisticName

LARGEST_CV = 10.0
"""Beyond this coefficient of variation no run of a length anybody waits for settles."""


class SimulationVerdict(StrEnum):
    """What a simulation says of a count."""

    CONFIRMED = "confirmed"
    FEWER_WOULD_DO = "fewer-would-do"
    NOT_HELD = "not-held"
    NOT_SIMULATED = "not-simulated"


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyPeak:
    """The load the count was made for, D_peak (1 + R), held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """D_peak, then ``height_ratio`` x D_peak for ``length_s``, then D_peak again."""

    height_ratio: float
    length_s: float
    allowed_recovery_s: float | None = None

    def __post_init__(self) -> None:
        """Hold the burst above the peak, and times above 0."""
        checks.at_least("height_ratio", self.height_ratio, 1)
        checks.positive("length_s", self.length_s)
        checks.not_negative("allowed_recovery_s", self.allowed_recovery_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class LostServer:
    """Servers lost at the load the count was made for; they come back after ``outage_s``, or never when None.

    ``lost_server_count`` of None takes as many replicas as the plan says it survives, or one server's.
    """

    lost_server_count: int | None = None
    outage_s: float | None = None

    def __post_init__(self) -> None:
        """Hold figures to their ranges."""
        checks.count("lost_server_count", self.lost_server_count)
        checks.positive("outage_s", self.outage_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdStart:
    """``added_replica_count`` of the planned replicas join only ``cold_start_s`` after the load arrives."""

    cold_start_s: float
    added_replica_count: int = 1

    def __post_init__(self) -> None:
        """Hold figures to their ranges."""
        checks.positive("cold_start_s", self.cold_start_s)
        checks.count("added_replica_count", self.added_replica_count)


Scenario = SteadyPeak | Burst | LostServer | ColdStart


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationRequest:
    """Scenarios and the traffic's nature; coefficients of variation are standard deviation / mean.

    ``duration_s`` of None is chosen so that enough requests are seen. ``work_cv`` of None is read from the measured
    latencies. The same request gives the same answer.
    """

    scenarios: tuple[Scenario, ...] = (SteadyPeak(),)
    seed: int = 0
    duration_s: float | None = None
    arrival_cv: float = 1.0
    work_cv: float | None = None

    def __post_init__(self) -> None:
        """Hold figures to their ranges."""
        checks.not_empty("scenarios", self.scenarios)
        checks.count("seed", self.seed, least=0)
        checks.positive("duration_s", self.duration_s)
        for name in ("arrival_cv", "work_cv"):
            value = getattr(self, name)
            checks.not_negative(name, value)
            if value is not None and value > LARGEST_CV:
                raise InvalidInput.field(name, value, "is too large to settle", f"give at most {LARGEST_CV:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOutcome:
    """One limit against what was simulated; ``low_ms`` and ``high_ms`` bound the value at 95 % by batch means."""

    metric: Metric
    statistic: StatisticName
    max_ms: float
    value_ms: float | None = None
    low_ms: float | None = None
    high_ms: float | None = None

    @property
    def holds(self) -> bool | None:
        """Tell whether the limit is kept, None where nothing measured says."""
        return None if self.value_ms is None else self.value_ms <= self.max_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPoint:
    """One bin of a run; time counts from the end of the warm-up to the bin's end."""

    time_s: float
    arrivals_requests_per_s: float
    waiting_count: int
    in_service_count: int
    queue_mean_ms: float | None = None
    inside_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """One simulated run of one count of replicas.

    ``holds`` is None where no limit could be told. ``recovery_s`` counts from the end of what disturbed the run, and
    is None where nothing did or where it did not recover.
    """

    replica_count: int
    request_count: int
    event_count: int
    simulated_s: float
    queue: Latency = NOT_MEASURED
    ttft: Latency = NOT_MEASURED
    tpot: Latency = NOT_MEASURED
    e2e: Latency = NOT_MEASURED
    waited_ratio: float = 0.0
    inside_ratio: float | None = None
    most_waiting_count: int = 0
    limits: tuple[LimitOutcome, ...] = ()
    holds: bool | None = None
    recovery_s: float | None = None
    series: tuple[SeriesPoint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioOutcome:
    """One scenario on the planned count and, at the steady peak, on one replica fewer than needed.

    ``holds`` is what the scenario asks for: the limits, or the recovery within the time allowed; None where nothing
    was asked. The fluid figures take requests as a liquid.
    """

    scenario: Scenario
    planned: RunOutcome
    one_fewer: RunOutcome | None = None
    holds: bool | None = None
    fluid_backlog_count: float | None = None
    fluid_recovery_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTail:
    """Waiting time for a slot from formulas: exponential work and Poisson arrivals, and any of both.

    ``erlang_c`` is exact for the first, ``allen_cunneen`` an approximation for the second; both are unmeasured where
    the load is above what the replicas carry (``stable`` is false).
    """

    replica_count: int
    stable: bool
    load_ratio: float
    wait_probability: float | None = None
    erlang_c: Latency = NOT_MEASURED
    allen_cunneen: Latency = NOT_MEASURED


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What a simulation finds of one candidate; counts are of replicas."""

    verdict: SimulationVerdict
    summary: str
    seed: int
    replica_count: int
    load_requests_per_s: float
    one_fewer_count: int | None = None
    arrival_cv: float = 1.0
    work_cv: float | None = None
    scenarios: tuple[ScenarioOutcome, ...] = ()
    tails: tuple[WaitingTail, ...] = ()
    findings: tuple[Finding, ...] = ()
