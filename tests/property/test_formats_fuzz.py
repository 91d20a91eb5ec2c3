"""Inputs nobody wrote give points or a named refusal; ``make fuzz`` runs a million of them."""

from __future__ import annotations

import pytest
from fuzz.__main__ import ROOT, Session
from fuzz.judge import judged

from tonnage.domain.measurement import Level
from tonnage.formats.lint import lint_level
from tonnage.formats.reading.fields import ratio

_MB: bytes = b'{"prefill": {"memory": {"max_global_vram": %s}}, "decode": {}, "load_model": {}, "per_token": {}}'


def test_a_few_thousand_inputs_give_points_or_a_named_refusal() -> None:
    session = Session(11, [ROOT / "bench_data" / "samples"], ROOT / "build" / "fuzz")
    session.run(2_000, 60.0)
    assert not session.failures


@pytest.mark.parametrize("size", [b"NaN", b"Infinity", b"-1", b"1e300"])
def test_a_memory_of_no_size_is_refused_by_name(size: bytes) -> None:
    assert judged(_MB % size) == "MALFORMED_REPORT"


def test_a_count_beyond_any_number_is_dropped() -> None:
    level = lint_level(Level(completed_count=10**400, failed_count=2**60, requests_per_s=ratio(10**400, 10.0)))
    assert (level.completed_count, level.failed_count, level.requests_per_s) == (None, None, None)
    said = {item.path: item.code for item in level.findings}
    assert said["completed_count"] == said["requests_per_s"] == "NON_FINITE_STATISTIC"
    assert said["failed_count"] == "IMPOSSIBLE_STATISTIC"


def test_a_printed_report_whose_model_row_is_cut_is_refused_by_name() -> None:
    text = "Performance Test Summary Report\n│ Model │\nBasic Information\n"
    assert judged(text.encode()) == "MALFORMED_REPORT"
