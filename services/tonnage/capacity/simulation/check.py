"""A planned count put to the test: does it hold, does one replica fewer break, what do bursts and losses do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.capacity import notes
from tonnage.capacity.exact import shown
from tonnage.capacity.limits import ready
from tonnage.capacity.simulation.events import Stage, serve
from tonnage.capacity.simulation.measure import Window, outcome, seen
from tonnage.capacity.simulation.pool import ASSUMED_WORK_CV, Bench, bench_of
from tonnage.capacity.simulation.queueing import fluid_burst, waiting_tail
from tonnage.capacity.simulation.traffic import traffic
from tonnage.domain.simulation import (
    Burst,
    ColdStart,
    LostServer,
    RunOutcome,
    ScenarioOutcome,
    Simulation,
    SimulationVerdict,
)
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from tonnage.capacity.limits import Limit
    from tonnage.capacity.sweeps import CandidateCurves
    from tonnage.domain.finding import Finding
    from tonnage.domain.plan import Candidate, PlanRequest
    from tonnage.domain.simulation import Scenario, SimulationRequest

MOST_REQUESTS: Final = 1_000_000
"""Requests of one run at most; beyond it nothing is simulated."""
MOST_SLOTS: Final = 4_000_000
"""Requests in service at once at most, over all replicas."""
_WANTED_REQUESTS: Final = 20_000
_SERVICE_TIMES: Final = 30
_SETTLE_TIMES: Final = 5
_WARM_RATIO: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Script:
    """One scenario in time: rates by phase, replicas by stage of (begins at, replicas, share lost), what is judged."""

    phases: tuple[tuple[float, float], ...]
    stages: tuple[tuple[float, int, float], ...]
    window: Window

    @property
    def request_count(self) -> float:
        """Return the requests expected."""
        return sum(length * rate for length, rate in self.phases)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """All that the runs of one candidate share."""

    asked: SimulationRequest
    bench: Bench
    limits: tuple[Limit, ...]
    peak: float
    sized: float
    candidate: Candidate

    @property
    def service_s(self) -> float:
        """Return the time of a mean request on a full replica."""
        return float(self.bench.lead.service_s[-1]) * self.bench.mean_work

    @property
    def settle_s(self) -> float:
        """Return the time after which the beginning is forgotten."""
        return max(_SETTLE_TIMES * self.service_s, _WARM_RATIO * self.duration_s)

    @property
    def duration_s(self) -> float:
        """Return the length of what is judged."""
        if self.asked.duration_s is not None:
            return self.asked.duration_s
        return max(_WANTED_REQUESTS / self.sized, _SERVICE_TIMES * self.service_s)


def simulate(
    asked: SimulationRequest, request: PlanRequest, candidate: Candidate, curves: CandidateCurves
) -> Generator[float, None, Simulation]:
    """Return what a simulation finds of one candidate; yield the share done, 0 to 1, every few milliseconds.

    Raises ``InvalidInput`` where a stated duration, burst or cold start makes more requests than are simulated.
    """
    bench = bench_of(request, candidate, curves, asked.work_cv)
    peak = sum(row.peak_requests_per_s for row in candidate.buckets)
    sized = peak * (1 + candidate.reserve.ratio)
    if bench is None or not sized > 0:
        return _not_simulated(asked, candidate, sized, _why(bench))
    slots = bench.slots(candidate.count.replica_count)
    if slots > MOST_SLOTS:
        return _not_simulated(asked, candidate, sized, _too_wide(slots))
    limits = ready(request.workload.slo)
    case = _Case(asked=asked, bench=bench, limits=limits, peak=peak, sized=sized, candidate=candidate)
    scripts = [_script(case, item) for item in asked.scenarios]
    for place, script in enumerate(scripts):
        if script.request_count > MOST_REQUESTS:
            if asked.duration_s is None and not isinstance(asked.scenarios[place], Burst | ColdStart):
                return _not_simulated(asked, candidate, sized, _too_many(script.request_count))
            raise InvalidInput.field(
                f"scenarios[{place}]",
                f"{script.request_count:.0f} requests",
                "makes more requests than are simulated",
                f"shorten duration_s or the scenario to {MOST_REQUESTS} requests",
            )
    rows = []
    for place, (scenario, script) in enumerate(zip(asked.scenarios, scripts, strict=True)):
        done = yield from _scenario(case, scenario, script, place / len(scripts), 1 / len(scripts))
        rows.append(done)
    return _told(case, tuple(rows))


def _fewer(case: _Case) -> int:
    return max(0, case.candidate.count.needed_replica_count - 1)


def _scenario(
    case: _Case, scenario: Scenario, script: _Script, begun: float, part: float
) -> Generator[float, None, ScenarioOutcome]:
    steady = len(script.phases) == 1 and len(script.stages) == 1
    part = part / 2 if steady else part
    planned = yield from _run(case, script, begun, part)
    fewer = None
    if steady and _fewer(case):
        fewer = yield from _run(case, replace(script, stages=((0.0, _fewer(case), 0.0),)), begun + part, part)
    made = ScenarioOutcome(scenario=scenario, planned=planned, one_fewer=fewer, holds=_holds(case, scenario, planned))
    if not isinstance(scenario, Burst):
        return made
    most = float(case.bench.rates(case.candidate.count.replica_count).max())
    backlog, recovery = fluid_burst(case.peak, scenario.height_ratio, scenario.length_s, most)
    return replace(made, fluid_backlog_count=backlog, fluid_recovery_s=recovery)


def _run(case: _Case, script: _Script, begun: float, part: float) -> Generator[float, None, RunOutcome]:
    bench, asked = case.bench, case.asked
    shares = [item.share for item in bench.classes]
    stream = traffic(script.phases, asked.arrival_cv, shares, [item.work_cv for item in bench.classes], asked.seed)
    work = stream.work * np.array([item.work_factor for item in bench.classes])[stream.buckets]
    count = len(work)
    ends = [begin for begin, _, _ in script.stages[1:]] + [float("inf")]
    stages = [
        Stage(end, bench.slots(replicas), bench.speeds(replicas, count).tolist(), lost)
        for end, (_, replicas, lost) in zip(ends, script.stages, strict=True)
    ]
    steps = serve(stream.arrivals_s.tolist(), work.tolist(), stages)
    while True:
        try:
            arrived = next(steps)
        except StopIteration as end:
            served = end.value
            break
        yield begun + part * arrived / max(1, count)
    found = seen(bench, stream, served, work, [(begin, replicas) for begin, replicas, _ in script.stages])
    return outcome(found, stream, served, case.limits, script.window, script.stages[-1][1])


def _script(case: _Case, scenario: Scenario) -> _Script:
    warm, length = case.settle_s, case.duration_s
    calm = warm + length / 4
    count = case.candidate.count.replica_count
    if isinstance(scenario, Burst):
        after = max(length, 2 * scenario.length_s, 1.5 * (scenario.allowed_recovery_s or 0.0))
        rates = ((calm, case.peak), (scenario.length_s, case.peak * scenario.height_ratio), (after, case.peak))
        over = calm + scenario.length_s
        return _Script(phases=rates, stages=((0.0, count, 0.0),), window=Window(warm, calm, over + after, over))
    if isinstance(scenario, LostServer):
        return _lost(case, scenario, warm, calm)
    if isinstance(scenario, ColdStart):
        begin, joins = 0.0, scenario.cold_start_s
        until = joins + length
        stages = ((begin, max(0, count - scenario.added_replica_count), 0.0), (joins, count, 0.0))
        return _Script(phases=((until, case.sized),), stages=stages, window=Window(0.0, 0.0, until, joins))
    until = warm + length
    return _Script(phases=((until, case.sized),), stages=((0.0, count, 0.0),), window=Window(warm, warm, until))


def _lost(case: _Case, scenario: LostServer, warm: float, calm: float) -> _Script:
    planned = case.candidate.count
    count = planned.replica_count
    lost = min(count, _lost_count(case, scenario))
    stages = [(0.0, count, 0.0), (calm, count - lost, lost / count)]
    over = calm
    if scenario.outage_s is not None:
        over = calm + scenario.outage_s
        stages.append((over, count, 0.0))
    until = over + case.settle_s + case.duration_s
    judged = calm if scenario.outage_s is not None else calm + case.settle_s
    return _Script(phases=((until, case.sized),), stages=tuple(stages), window=Window(warm, judged, until, over))


def _lost_count(case: _Case, scenario: LostServer) -> int:
    count = case.candidate.count
    if scenario.lost_server_count is not None:
        return scenario.lost_server_count * max(1, count.replicas_per_server)
    return count.survived_replica_losses or max(1, count.replicas_per_server)


def _holds(case: _Case, scenario: Scenario, run: RunOutcome) -> bool | None:
    if isinstance(scenario, Burst):
        if scenario.allowed_recovery_s is None:
            return None
        return run.recovery_s is not None and run.recovery_s <= scenario.allowed_recovery_s
    if isinstance(scenario, LostServer):
        survives = _lost_count(case, scenario) <= case.candidate.count.survived_replica_losses
        return run.holds if survives and scenario.outage_s is None else None
    return None if isinstance(scenario, ColdStart) else run.holds


def _told(case: _Case, rows: tuple[ScenarioOutcome, ...]) -> Simulation:
    count, fewer = case.candidate.count.replica_count, _fewer(case)
    steady = next((row for row in rows if row.one_fewer is not None or _is_steady(row)), None)
    verdict = _verdict(rows, steady, fewer)
    tails = tuple(
        waiting_tail(case.sized, case.bench.rates(number), case.asked.arrival_cv, case.bench.work_cv, number)
        for number in (count, fewer)
        if number
    )
    summary = _SUMMARIES[verdict].format(n=count, fewer=fewer, load=shown(case.sized))
    return Simulation(
        verdict=verdict,
        summary=summary,
        seed=case.asked.seed,
        replica_count=count,
        load_requests_per_s=case.sized,
        one_fewer_count=fewer,
        arrival_cv=case.asked.arrival_cv,
        work_cv=case.bench.work_cv,
        scenarios=rows,
        tails=tails,
        findings=notes.ordered(_findings(case, rows, verdict, summary)),
    )


_SUMMARIES: Final = {
    SimulationVerdict.CONFIRMED: "simulated at {load} requests/s, {n} replicas keep every limit and {fewer} do not",
    SimulationVerdict.FEWER_WOULD_DO: "simulated at {load} requests/s, {fewer} replicas keep every limit, too",
    SimulationVerdict.NOT_HELD: "simulated, {n} replicas do not keep what was asked at {load} requests/s",
    SimulationVerdict.NOT_SIMULATED: "nothing was simulated that tells whether {n} replicas are enough",
}


def _is_steady(row: ScenarioOutcome) -> bool:
    return not isinstance(row.scenario, Burst | LostServer | ColdStart)


def _verdict(rows: tuple[ScenarioOutcome, ...], steady: ScenarioOutcome | None, fewer: int) -> SimulationVerdict:
    if any(row.holds is False for row in rows):
        return SimulationVerdict.NOT_HELD
    if steady is None or steady.holds is None:
        return SimulationVerdict.NOT_SIMULATED
    if fewer and steady.one_fewer is not None and steady.one_fewer.holds:
        return SimulationVerdict.FEWER_WOULD_DO
    return SimulationVerdict.CONFIRMED


def _findings(
    case: _Case, rows: tuple[ScenarioOutcome, ...], verdict: SimulationVerdict, summary: str
) -> Iterable[Finding]:
    for row in rows:
        if row.holds is False and not _is_steady(row):
            yield _not_kept(row)
    if any(row.holds is False and _is_steady(row) for row in rows):
        yield notes.warning(
            "SIMULATION_DISAGREES",
            f"the arithmetic says {case.candidate.count.replica_count} replicas are enough; {summary}",
            remedy="read the limits that were missed; add replicas until the simulation holds, or measure higher loads",
        )
    if verdict is SimulationVerdict.FEWER_WOULD_DO:
        yield notes.info("SIMULATION_FEWER_WOULD_DO", f"{summary}: the count carries more room than the limits ask for")
    if case.bench.cv_assumed:
        yield notes.warning(
            "WORK_VARIATION_ASSUMED",
            f"how unlike requests are was not measured; a coefficient of variation of {shown(ASSUMED_WORK_CV)} is used",
            remedy="state work_cv, or ingest runs with e2e percentiles",
        )
    if not case.limits:
        yield notes.info("SIMULATED_WITHOUT_LIMITS", "no latency limit was asked, so nothing can be kept or missed")
    for row in rows:
        for item in row.planned.limits:
            if item.value_ms is None:
                yield notes.warning(
                    "LIMIT_NOT_SIMULATED", f"{item.metric} {item.statistic} was measured at no load, or never ends"
                )


def _not_kept(row: ScenarioOutcome) -> Finding:
    if isinstance(row.scenario, Burst):
        took = "it does not recover in the time simulated"
        if row.planned.recovery_s is not None:
            took = f"it recovers after {shown(row.planned.recovery_s)} s"
        return notes.warning(
            "BURST_NOT_RECOVERED",
            f"a burst of {shown(row.scenario.height_ratio)} x D_peak for {shown(row.scenario.length_s)} s: {took}, "
            f"{shown(row.scenario.allowed_recovery_s or 0.0)} s are allowed",
            remedy="put the burst into the reserve, or shed load while it lasts",
        )
    return notes.warning(
        "LOSS_NOT_HELD",
        f"simulated, the {row.planned.replica_count} replicas left after the planned loss do not keep every limit",
        remedy="raise the failover, or the reserve",
    )


def _why(bench: Bench | None) -> Finding:
    if bench is not None:
        return notes.info("NO_DEMAND_TO_SIMULATE", "no request arrives, so there is nothing to simulate")
    return notes.warning(
        "SIMULATION_NOT_POSSIBLE",
        "the curve does not tell how many requests are in service at its loads",
        remedy="measure with a stated concurrency, or with e2e latencies beside the offered rate",
    )


def _too_many(count: float) -> Finding:
    return notes.warning(
        "SIMULATION_TOO_LARGE",
        f"{count:.0f} requests would have to be simulated to see the peak settle, at most {MOST_REQUESTS} are",
        remedy="state a shorter duration_s, and read the result as one that has not settled",
    )


def _too_wide(slots: int) -> Finding:
    return notes.warning(
        "SIMULATION_TOO_LARGE",
        f"the replicas serve {slots} requests at once, at most {MOST_SLOTS} are simulated",
        remedy="simulate a part of the load on its part of the replicas",
    )


def _not_simulated(asked: SimulationRequest, candidate: Candidate, sized: float, finding: Finding) -> Simulation:
    return Simulation(
        verdict=SimulationVerdict.NOT_SIMULATED,
        summary=finding.message,
        seed=asked.seed,
        replica_count=candidate.count.replica_count,
        load_requests_per_s=sized,
        arrival_cv=asked.arrival_cv,
        work_cv=asked.work_cv,
        findings=(finding,),
    )
