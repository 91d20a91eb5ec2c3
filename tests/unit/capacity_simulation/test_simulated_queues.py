"""The event loop and the formulas against queues whose answer is known."""

from __future__ import annotations

import math
import time
from statistics import fmean

import numpy as np
import pytest
from builders_simulation import finished, served, waits_s

from tonnage.capacity.simulation.events import Stage, serve
from tonnage.capacity.simulation.queueing import fluid_burst, waiting_tail
from tonnage.capacity.simulation.traffic import traffic


def _erlang_c(servers: int, load: float) -> float:
    offered = servers * load
    last = offered**servers / math.factorial(servers) / (1 - load)
    return last / (sum(offered**k / math.factorial(k) for k in range(servers)) + last)


@pytest.mark.parametrize(("servers", "load"), [(1, 0.5), (3, 0.8), (20, 0.9)])
def test_the_chain_at_constant_speed_is_erlang_c(servers: int, load: float) -> None:
    tail = waiting_tail(servers * load, np.arange(1.0, servers + 1), 1.0, 1.0, servers)
    waits = _erlang_c(servers, load)
    assert tail.wait_probability == pytest.approx(waits, rel=1e-9)
    assert tail.erlang_c.mean_ms == pytest.approx(1000 * waits / (servers * (1 - load)), rel=1e-9)
    assert tail.allen_cunneen == tail.erlang_c


def test_allen_cunneen_of_one_server_is_pollaczek_khinchine() -> None:
    tail = waiting_tail(0.7, np.array([1.0]), 1.0, 2.0, 1)
    assert tail.allen_cunneen.mean_ms == pytest.approx(1000 * 0.7 / 0.3 * (1 + 4) / 2)


def test_a_load_above_what_is_carried_has_no_tail() -> None:
    tail = waiting_tail(2.0, np.array([1.0]), 1.0, 1.0, 1)
    assert not tail.stable
    assert tail.erlang_c.mean_ms is None


@pytest.mark.parametrize(
    ("servers", "load", "work_cv", "known_s"),
    [(1, 0.6, 1.0, 1.5), (4, 0.7, 1.0, None), (1, 0.6, 0.0, 0.75), (1, 0.5, 2.0, 2.5)],
    ids=["M/M/1", "M/M/4", "M/D/1", "M/G/1"],
)
def test_a_simulated_mean_wait_lies_around_the_known_one(
    servers: int, load: float, work_cv: float, known_s: float | None
) -> None:
    known = _erlang_c(servers, load) / (servers * (1 - load)) if known_s is None else known_s
    means = [waits_s(servers, load, 25_000, work_cv=work_cv, seed=seed).mean() for seed in range(10)]
    half = 3.25 * np.std(means, ddof=1) / math.sqrt(10)  # 99 % of Student's t with nine degrees
    assert abs(fmean(means) - known) < max(half, 0.01 * known)
    assert half < 0.12 * known


def test_requests_that_share_a_replica_take_turns() -> None:
    found = served([0.0, 1.0], [2.0, 1.0], Stage(math.inf, 2, [1.0, 1.0, 0.5]))
    assert found.ends_s == [3.0, 3.0]
    assert found.seats == [1, 2]


def test_what_ran_on_a_lost_replica_starts_again_before_those_that_wait() -> None:
    before, after = Stage(1.0, 2, [1.0, 1.0, 1.0]), Stage(math.inf, 1, [1.0, 1.0], lost_ratio=0.5)
    found = served([0.0, 0.1, 0.2], [3.0, 3.0, 3.0], before, after)
    assert found.displaced_s == [1.0]
    assert found.starts_s == [0.0, 3.0, 6.0]
    assert found.ends_s == [3.0, 6.0, 9.0]


def test_requests_that_meet_no_replica_are_never_served() -> None:
    found = served([0.0, 0.5], [1.0, 1.0], Stage(math.inf, 0, [1.0]))
    assert found.starts_s == found.ends_s == [math.inf, math.inf]


def test_arrivals_have_the_rate_and_the_variation_asked() -> None:
    for cv in (0.0, 0.5, 1.0, 2.0):
        stream = traffic([(1000.0, 10.0), (1000.0, 40.0)], cv, [0.25, 0.75], [0.0, 1.0], 5)
        first = stream.arrivals_s < 1000
        assert first.sum() == pytest.approx(10_000, rel=0.05)
        assert (~first).sum() == pytest.approx(40_000, rel=0.05)
        gaps = np.diff(stream.arrivals_s[first])
        assert gaps.std() / gaps.mean() == pytest.approx(cv, rel=0.1, abs=1e-6)
        assert (stream.buckets == 0).mean() == pytest.approx(0.25, abs=0.02)
        assert (stream.work[stream.buckets == 0] == 1).all()


def test_a_burst_of_liquid_drains_at_what_is_spare() -> None:
    assert fluid_burst(10, 3, 60, 20) == (600, 60)
    assert fluid_burst(10, 3, 60, 10) == (1200, None)
    assert fluid_burst(10, 1.5, 60, 20) == (0, 0)


def test_two_hundred_thousand_events_take_less_than_a_second_of_cpu() -> None:
    stream = traffic([(100.0, 1000.0)], 1.0, [1.0], [1.0], 1)
    arrivals, work = stream.arrivals_s.tolist(), (stream.work * 40).tolist()
    begun = time.process_time()
    found = finished(serve(arrivals, work, [Stage(math.inf, 64, [1.0] * 65)]))
    assert found.event_count > 190_000
    assert found.event_count / (time.process_time() - begun) > 200_000
