"""Totals that were only read off a model's name."""

from __future__ import annotations

import re
import statistics
from dataclasses import replace

import pytest
from builders_memory import a_question, a_shape

from tonnage import catalog
from tonnage.capacity.memory.core import evaluate
from tonnage.capacity.memory.parameters import likely_total

NAMED = (("parameters_source", "model name"),)
_SIZE = re.compile(r"(?<![\dA-Za-z.])(\d+(?:\.\d+)?)[bB](?![a-zA-Z0-9])")


def _ratios() -> dict[bool, list[float]]:
    """Return computed total / name, by whether the name has one digit."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for shape in catalog.models():
        size = _SIZE.search(shape.name.rsplit("/", 1)[-1])
        computed = dict(shape.extra)["parameters_source"].startswith("computed")
        if size is None or not computed or shape.total_parameter_count is None:
            continue
        digits = size[1].replace(".", "").lstrip("0")
        found[len(digits) == 1].append(shape.total_parameter_count / 1e9 / float(size[1]))
    return found


@pytest.mark.parametrize(("one_digit", "total"), [(True, 3_000_000_000), (False, 34_000_000_000)])
def test_a_named_total_is_raised_by_what_the_catalogs_names_leave_out(*, one_digit: bool, total: int) -> None:
    ratios = _ratios()[one_digit]
    assert len(ratios) > 40
    raised = likely_total(a_shape(total_parameter_count=total, extra=NAMED))
    assert raised is not None
    assert raised / total == pytest.approx(statistics.median(ratios), abs=0.005)


def test_a_total_somebody_computed_stays() -> None:
    assert likely_total(a_shape(total_parameter_count=3_000_000_000)) == 3_000_000_000
    assert likely_total(a_shape(total_parameter_count=None)) is None


def test_a_name_close_to_the_count_gives_way_to_the_count() -> None:
    named = evaluate(a_question(shape=a_shape(total_parameter_count=8_000_000_000, extra=NAMED)))
    counted = evaluate(a_question(shape=a_shape(total_parameter_count=None)))
    assert named.ledger.weights == counted.ledger.weights


def test_weights_of_a_named_total_have_a_wide_range() -> None:
    shape = replace(a_shape(total_parameter_count=7_000_000_000, extra=NAMED), vocabulary_size=None)
    weights = evaluate(a_question(shape=shape)).ledger.weights
    assert weights.low_bytes <= 0.95 * weights.bytes + 1
    assert weights.high_bytes >= 1.2 * weights.bytes
