"""Models that share an accelerator, and builds that replace another."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders_memory import gib

from tonnage.capacity.memory.acceptance import AcceptanceLimits, BuildMeasured, LineState, acceptance
from tonnage.capacity.memory.switching import SwitchQuestion, SwitchVerdict, switching
from tonnage.errors import InvalidInput

ASKED = SwitchQuestion(
    weights_bytes=gib(15),
    need_bytes=gib(20),
    spare_bytes=gib(10),
    loads_per_hour=4,
    slowest_link_bytes_per_s=gib(1.5),
    start_s=20,
    max_loading_ratio=0.05,
)


def test_load_time_is_size_over_the_slowest_link_and_the_start() -> None:
    answer = switching(ASKED)
    assert answer.load_s == pytest.approx(30)
    assert answer.loading_ratio == pytest.approx(4 * 30 / 3600)
    assert answer.resident_bytes_short == gib(10)


def test_what_fits_stays_what_is_rare_loads_and_the_rest_moves_out() -> None:
    assert switching(replace(ASKED, spare_bytes=gib(20))).verdict is SwitchVerdict.KEEP_RESIDENT
    assert switching(ASKED).verdict is SwitchVerdict.LOAD_ON_DEMAND
    assert switching(replace(ASKED, loads_per_hour=40)).verdict is SwitchVerdict.SEPARATE_POOL


@pytest.mark.parametrize(
    ("name", "value"),
    [("slowest_link_bytes_per_s", 0), ("weights_bytes", 0), ("loads_per_hour", -1), ("max_loading_ratio", 2)],
)
def test_senseless_figures_are_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=name):
        replace(ASKED, **{name: value})  # type: ignore[arg-type]


BEFORE = BuildMeasured(
    quality_score=0.80,
    memory_bytes=gib(16),
    ttft_p50_ms=200,
    output_tokens_per_s=1000,
    tail_ttft_p99_ms=900,
    operators_supported=True,
)
AFTER = BuildMeasured(
    quality_score=0.795,
    memory_bytes=gib(9),
    ttft_p50_ms=190,
    output_tokens_per_s=1300,
    tail_ttft_p99_ms=950,
    operators_supported=True,
)
LIMITS = AcceptanceLimits(
    max_quality_loss_ratio=0.01,
    min_memory_saving_ratio=0.2,
    max_ttft_growth_ratio=0.05,
    max_speed_loss_ratio=0.0,
    max_tail_growth_ratio=0.1,
)


def test_the_gate_opens_when_every_line_is_green() -> None:
    assert acceptance(BEFORE, AFTER, LIMITS).open


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"quality_score": 0.70}, "quality"),
        ({"memory_bytes": gib(15)}, "memory"),
        ({"ttft_p50_ms": 260.0}, "ttft"),
        ({"output_tokens_per_s": 900.0}, "speed"),
        ({"tail_ttft_p99_ms": 2000.0}, "tail"),
        ({"operators_supported": False}, "operators"),
    ],
)
def test_one_red_line_shuts_it(change: dict[str, float], line: str) -> None:
    found = acceptance(BEFORE, replace(AFTER, **change), LIMITS)  # type: ignore[arg-type]
    assert not found.open
    assert [item.name for item in found.lines if item.state is LineState.RED] == [line]


def test_what_was_not_measured_keeps_it_shut() -> None:
    found = acceptance(BEFORE, replace(AFTER, tail_ttft_p99_ms=None), LIMITS)
    assert not found.open
    assert [item.state for item in found.lines if item.name == "tail"] == [LineState.NOT_MEASURED]
