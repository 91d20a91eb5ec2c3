"""What holds of every simulation: more replicas never make a request later, seeds decide, order does not."""

from __future__ import annotations

import math

import numpy as np
from builders_capacity import a_bucket, a_candidate, a_curve, a_request
from builders_simulation import served, simulated
from hypothesis import given, settings
from hypothesis import strategies as st

from tonnage.capacity import planner
from tonnage.capacity.simulation.check import simulate
from tonnage.capacity.simulation.events import Stage
from tonnage.capacity.simulation.of_plan import last_of
from tonnage.capacity.simulation.traffic import traffic
from tonnage.domain.simulation import SimulationRequest

seeds = st.integers(0, 2**31)


@given(
    seed=seeds,
    replicas=st.integers(1, 4),
    slots=st.integers(1, 6),
    slowdown=st.lists(st.floats(0.5, 1.0), min_size=6, max_size=6),
    rate=st.floats(0.5, 12),
    cv=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
)
@settings(max_examples=60)
def test_one_more_replica_never_makes_a_request_begin_or_end_later(
    seed: int, replicas: int, slots: int, slowdown: list[float], rate: float, cv: float
) -> None:
    stream = traffic([(200 / rate, rate)], cv, [1.0], [1.0], seed)
    speeds = np.cumprod([1.0, *slowdown])[: slots + 1]

    def pool(count: int) -> Stage:
        held = np.interp(np.arange(slots * count + 1) / count, np.arange(slots + 1), speeds)
        return Stage(math.inf, slots * count, held.tolist())

    arrivals, work = stream.arrivals_s.tolist(), stream.work.tolist()
    few, many = served(arrivals, work, pool(replicas)), served(arrivals, work, pool(replicas + 1))
    slack = 1e-6 * (1 + max(few.ends_s, default=0.0))
    assert all(late <= early + slack for early, late in zip(few.starts_s, many.starts_s, strict=True))
    assert all(late <= early + slack for early, late in zip(few.ends_s, many.ends_s, strict=True))


@given(seed=seeds)
@settings(max_examples=5, deadline=None)
def test_the_same_seed_gives_the_same_answer(seed: int) -> None:
    asked = SimulationRequest(seed=seed, duration_s=60, work_cv=0.5)
    assert repr(simulated(asked)) == repr(simulated(asked))


@given(seed=seeds)
@settings(max_examples=5, deadline=None)
def test_the_order_of_buckets_never_matters(seed: int) -> None:
    asked = SimulationRequest(seed=seed, duration_s=60, work_cv=0.5)
    curves = a_candidate(a_curve())

    def found(*buckets: object) -> str:
        request = a_request(buckets=buckets)
        plan = planner.plan(request, [curves], 1, "test")
        return repr(last_of(simulate(asked, request, plan.candidates[0], curves)))

    one, other = a_bucket(share=0.25), a_bucket(1500.0, 150.0, share=0.75)
    assert found(one, other) == found(other, one)
