"""Predictions between measured loads."""

from __future__ import annotations

import pytest
from builders_prediction import LOADS, many_models, some_traits, tpot_ms, tpot_samples

from tonnage.capacity.prediction.loads import LoadPredictor, Prediction, Refused, fold_of

OWN = some_traits("model-0", count=2, size=(3000.0, 300.0))


@pytest.fixture(scope="module")
def predictor() -> LoadPredictor:
    """Return one that knows six models, and an own curve without a load of 16."""
    own = tpot_samples(OWN, [load for load in LOADS if load != 16.0], curve="own")
    return LoadPredictor.fitted([*many_models(), *own], rate=False, max_half_width=0.35)


def test_a_load_that_was_not_measured_is_met_within_two_hundredths(predictor: LoadPredictor) -> None:
    found = predictor.predict("own", OWN, 16.0)
    assert isinstance(found, Prediction)
    assert found.value == pytest.approx(tpot_ms(16.0, OWN), rel=0.02)
    assert found.low < found.value < found.high


def test_nothing_is_said_outside_the_measured_loads(predictor: LoadPredictor) -> None:
    assert predictor.predict("own", OWN, 512.0) is None
    assert predictor.predict("another", OWN, 16.0) is None
    assert predictor.predict("own", OWN, 0.0) is None


def test_an_interval_wider_than_the_limit_is_refused(predictor: LoadPredictor) -> None:
    strict = LoadPredictor(
        rate=False,
        max_half_width=1e-6,
        lines=predictor.lines,
        siblings=predictor.siblings,
        blends=predictor.blends,
    )
    found = strict.predict("own", OWN, 16.0)
    assert isinstance(found, Refused)
    assert "loads 16 times apart" in found.why


def test_few_curves_calibrate_nothing() -> None:
    lonely = LoadPredictor.fitted(tpot_samples(OWN, curve="own"), rate=False, max_half_width=0.35)
    found = lonely.predict("own", OWN, 16.0)
    assert isinstance(found, Refused)
    assert "too few" in found.why


def test_all_curves_of_a_configuration_are_in_one_fold() -> None:
    assert fold_of(some_traits(size=(10.0, 10.0))) == fold_of(some_traits(size=(9000.0, 10.0)))
    assert len({fold_of(some_traits(count=count)) for count in range(1, 40)}) == 5
