"""One load between two others, as numbers."""

from __future__ import annotations

import math

import pytest
from builders_prediction import some_traits, tpot_samples

from tonnage.capacity.prediction.between import between
from tonnage.capacity.prediction.samples import Sample, lines_of


def test_a_latency_straight_in_the_load_is_met_by_the_straight_opinion() -> None:
    (line,) = lines_of(tpot_samples(some_traits()))
    case = between(line, math.log(16.0), (), rate=False)
    assert case is not None
    measured = dict(zip(line.places, line.heights, strict=True))[math.log(16.0)]
    # With steps known on both sides the straight line's departure stands in the fourth of its places; the step is flat.
    assert case.base + case.features[3 + 3] == pytest.approx(measured)
    assert not case.features[len(case.features) // 2 :].any()


def test_the_measured_load_itself_is_not_known_to_the_case() -> None:
    samples = tpot_samples(some_traits())
    changed = [
        Sample(curve=item.curve, traits=item.traits, load=item.load, value=item.value * (9 if item.load == 16 else 1))
        for item in samples
    ]
    (line,), (other,) = lines_of(samples), lines_of(changed)
    one, two = between(line, math.log(16.0), (), rate=False), between(other, math.log(16.0), (), rate=False)
    assert one is not None
    assert two is not None
    assert one.base == two.base
    assert one.features.tolist() == two.features.tolist()


@pytest.mark.parametrize("load", [1.0, 256.0, 0.5, 1000.0])
def test_there_is_no_case_without_a_load_on_both_sides(load: float) -> None:
    (line,) = lines_of(tpot_samples(some_traits()))
    assert between(line, math.log(load), (), rate=False) is None
