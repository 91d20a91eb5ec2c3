"""Long runs of queues whose mean wait is known, each within one percent."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
import pytest
from builders_simulation import waits_s

if TYPE_CHECKING:
    import numpy.typing as npt

_RUNS = 8
_REQUESTS = 1_000_000
_STATES = 600


def _m_m_c_s(servers: int, load: float) -> float:
    offered = servers * load
    last = offered**servers / math.factorial(servers) / (1 - load)
    waits = last / (sum(offered**k / math.factorial(k) for k in range(servers)) + last)
    return waits / (servers * (1 - load))


def _m_d_c_s(servers: int, load: float) -> float:
    """Return the exact mean wait of M/D/c: those there one service later are those who waited, and the arrivals."""
    rate = servers * load
    arrivals = np.array([math.exp(-rate + k * math.log(rate) - math.lgamma(k + 1)) for k in range(_STATES)])
    there: npt.NDArray[np.float64] = np.zeros(_STATES)
    there[0] = 1.0
    for _ in range(20_000):
        kept = np.concatenate([[there[: servers + 1].sum()], there[servers + 1 :]])
        following = np.convolve(kept, arrivals)[:_STATES]
        following /= following.sum()
        if np.abs(following - there).sum() < 1e-13:
            break
        there = following
    line = float((np.maximum(np.arange(_STATES) - servers, 0) * there).sum())
    return line / rate


def _m_g_1_s(load: float, work_cv: float) -> float:
    return load / (1 - load) * (1 + work_cv**2) / 2


def _m_g_c_s(servers: int, load: float, work_cv: float) -> float:
    """Return the two-moment interpolation of Bjorklund and Elldin between M/M/c and M/D/c."""
    return work_cv**2 * _m_m_c_s(servers, load) + (1 - work_cv**2) * _m_d_c_s(servers, load)


@pytest.mark.parametrize(
    ("servers", "load", "work_cv", "known_s"),
    [
        (1, 0.7, 1.0, _m_m_c_s(1, 0.7)),
        (4, 0.8, 1.0, _m_m_c_s(4, 0.8)),
        (16, 0.85, 1.0, _m_m_c_s(16, 0.85)),
        (1, 0.7, 0.0, _m_d_c_s(1, 0.7)),
        (4, 0.8, 0.0, _m_d_c_s(4, 0.8)),
        (16, 0.85, 0.0, _m_d_c_s(16, 0.85)),
        (1, 0.7, 0.5, _m_g_1_s(0.7, 0.5)),
        (1, 0.6, 2.0, _m_g_1_s(0.6, 2.0)),
        (4, 0.8, math.sqrt(0.5), _m_g_c_s(4, 0.8, math.sqrt(0.5))),
    ],
    ids=["M/M/1", "M/M/4", "M/M/16", "M/D/1", "M/D/4", "M/D/16", "M/G/1 cv 0.5", "M/G/1 cv 2", "M/E2/4"],
)
def test_a_mean_wait_lies_within_a_percent_of_the_known_one(
    servers: int, load: float, work_cv: float, known_s: float
) -> None:
    means = [waits_s(servers, load, _REQUESTS, work_cv=work_cv, seed=seed).mean() for seed in range(_RUNS)]
    assert fmean(means) == pytest.approx(known_s, rel=0.01)
