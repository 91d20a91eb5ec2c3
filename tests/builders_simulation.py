"""Builders of simulations: queues of constant speed, and one candidate simulated whole."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from builders_capacity import a_candidate, a_curve, a_request

from tonnage.capacity import planner
from tonnage.capacity.simulation.check import simulate
from tonnage.capacity.simulation.events import Served, Stage, serve
from tonnage.capacity.simulation.of_plan import last_of
from tonnage.capacity.simulation.traffic import traffic
from tonnage.domain.simulation import SimulationRequest

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    import numpy.typing as npt

    from tonnage.domain.simulation import Simulation


def finished(steps: Generator[int, None, Served]) -> Served:
    """Return what was served."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Served = end.value
            return found


def served(arrivals_s: Sequence[float], work: Sequence[float], *stages: Stage) -> Served:
    """Return what some stages make of some requests."""
    return finished(serve(arrivals_s, work, stages))


def waits_s(
    servers: int, load: float, requests: int, arrival_cv: float = 1.0, work_cv: float = 1.0, seed: int = 1
) -> npt.NDArray[np.float64]:
    """Return the waits in a queue of constant speed 1, the first tenth left out."""
    rate = load * servers
    stream = traffic([(requests / rate, rate)], arrival_cv, [1.0], [work_cv], seed)
    whole = Stage(math.inf, servers, [1.0] * (servers + 1))
    found = served(stream.arrivals_s.tolist(), stream.work.tolist(), whole)
    waits: npt.NDArray[np.float64] = np.array(found.starts_s) - stream.arrivals_s
    return waits[len(waits) // 10 :]


def simulated(asked: SimulationRequest | None = None, *, curve: Any = None, **changes: object) -> Simulation:  # noqa: ANN401 -- a curve, or none
    """Return the best candidate of a request on one curve, simulated."""
    request = a_request(**changes)
    curves = a_candidate(curve or a_curve())
    plan = planner.plan(request, [curves], 1, "test")
    return last_of(simulate(asked or SimulationRequest(work_cv=0.5), request, plan.candidates[0], curves))
