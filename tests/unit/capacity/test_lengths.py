"""Request sizes that were not measured."""

from __future__ import annotations

import math

import pytest
from builders_capacity import a_curve, an_slo, codes, text

from tonnage.capacity.lengths import convert, distance, slo_for
from tonnage.capacity.slo import slo_capacity
from tonnage.domain.finding import Origin
from tonnage.domain.measurement import AudioWork, ImageWork, TextWork, Work
from tonnage.domain.plan import Bottleneck, CapacityBound, SloCapacity

MEASURED = text(1000.0, 100.0)


def capacity() -> SloCapacity:
    return slo_capacity(a_curve(), an_slo(ttft_p95=500))


@pytest.mark.parametrize("wanted", [text(1100.0, 100.0), text(910.0, 110.0), MEASURED])
def test_sizes_within_a_tenth_use_the_rate_as_it_is(wanted: TextWork) -> None:
    assert convert(capacity(), MEASURED, wanted) == capacity()


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (text(1000.0, 200.0), 4.5),  # output doubles: the same output tokens/s
        (text(2000.0, 100.0), 4.5),  # input doubles: the same input tokens/s
        (text(1000.0, 50.0), 9.0),  # a shorter output earns nothing while inputs stay
        (text(500.0, 100.0), 9.0),
        (text(500.0, 50.0), 18.0),
        (text(2000.0, 200.0), 4.5),
    ],
)
def test_the_tighter_of_input_and_output_tokens_decides(wanted: TextWork, expected: float) -> None:
    found = convert(capacity(), MEASURED, wanted)
    assert found.q_slo_requests_per_s == pytest.approx(expected)
    assert found.measured_requests_per_s == pytest.approx(expected)
    assert found.output_tokens_per_s == pytest.approx(expected * (wanted.output_tokens_mean or 0.0))
    assert (found.origin, found.bound) == (Origin.PREDICTED, CapacityBound.EXACT)
    assert "LENGTHS_PREDICTED" in codes(found.findings)


@pytest.mark.parametrize("wanted", [text(2010.0, 100.0), text(1000.0, 49.0), text(100.0, 100.0)])
def test_beyond_twofold_nothing_is_predicted(wanted: TextWork) -> None:
    found = convert(capacity(), MEASURED, wanted)
    assert (found.bound, found.q_slo_requests_per_s, found.binding) == (
        CapacityBound.NONE,
        None,
        Bottleneck.EVIDENCE,
    )
    assert codes(found.findings) == ["LENGTHS_NOT_MEASURED"]
    assert "measure a sweep of" in found.findings[0].remedy


def test_no_capacity_stays_none() -> None:
    none = slo_capacity(a_curve(), an_slo(ttft_p95=1))
    assert convert(none, MEASURED, text(1500.0, 100.0)) is none


def test_a_run_out_of_the_prefix_cache_does_not_answer_for_fresh_prompts() -> None:
    cached = text(1000.0, 100.0, hit=0.9)
    found = convert(capacity(), cached, MEASURED)
    assert found.bound is CapacityBound.NONE
    assert "prefix cache" in found.reason
    assert distance(text(1000.0, 100.0, hit=1.0), MEASURED).factor == math.inf


def test_the_same_hit_ratio_is_the_same_size() -> None:
    cached = text(1000.0, 100.0, hit=0.5)
    assert distance(cached, cached).same


def test_expected_hits_earn_nothing_on_a_run_that_does_not_state_its_own() -> None:
    assert distance(MEASURED, text(1000.0, 100.0, hit=0.9)).prefill_ratio == 1.0


def test_unstated_lengths_cannot_be_compared() -> None:
    found = convert(capacity(), TextWork(), MEASURED)
    assert found.bound is CapacityBound.NONE
    assert "mean lengths are not stated" in found.reason


@pytest.mark.parametrize(
    ("measured", "wanted", "same"),
    [
        (AudioWork(audio_s=30.0), AudioWork(audio_s=32.0), True),
        (AudioWork(audio_s=30.0), AudioWork(), True),
        (AudioWork(audio_s=30.0), AudioWork(audio_s=60.0), False),
        (AudioWork(), AudioWork(audio_s=30.0), False),
        (ImageWork(megapixels=1.0, step_count=20.0), ImageWork(megapixels=1.0, step_count=30.0), False),
        (MEASURED, AudioWork(audio_s=30.0), False),
    ],
)
def test_other_work_is_compared_field_by_field(measured: Work, wanted: Work, same: bool) -> None:
    assert distance(measured, wanted).same is same


def test_limits_that_grow_with_length_are_tightened_for_longer_requests() -> None:
    slo = an_slo(ttft_p95=600, tpot_p95=40, e2e_p95=4000, queue_p95=100)
    longer = slo_for(slo, MEASURED, text(1200.0, 160.0))
    found = {limit.metric: limit.max_ms for limit in longer.latency_limits}
    assert found == {
        "ttft": pytest.approx(500),
        "tpot": 40,
        "e2e": pytest.approx(2500),
        "queue": pytest.approx(62.5),
    }


@pytest.mark.parametrize("wanted", [text(500.0, 50.0), text(1050.0, 100.0), text(9000.0, 100.0)])
def test_shorter_alike_and_far_requests_leave_limits_alone(wanted: TextWork) -> None:
    slo = an_slo(ttft_p95=600, e2e_p95=4000)
    assert slo_for(slo, MEASURED, wanted) == slo
