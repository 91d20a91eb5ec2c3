"""Labels fill what a file leaves open, and may not contradict it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from builders import a_configuration, a_level, a_run

from tonnage.domain.configuration import Conditions, Configuration
from tonnage.domain.finding import Finding, Origin, Severity
from tonnage.domain.measurement import AudioWork, Level, Run, TestState, TextWork
from tonnage.errors import InvalidInput
from tonnage.ingest.given import parse_given
from tonnage.ingest.labels import labelled

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def bare(**changes: object) -> Run:
    """Return a run whose file says little."""
    return a_run(a_level(4, 2), **{"configuration": Configuration(), "replicas_under_test": None, **changes})


def put(run: Run, **labels: str) -> Run:
    """Put labels on a run; two underscores stand for a dot."""
    return labelled(run, parse_given({key.replace("__", "."): value for key, value in labels.items()}))


def refused(run: Run, **labels: str) -> str:
    """Return the path of the label that is refused as contradictory or out of place."""
    with pytest.raises(InvalidInput) as caught:
        put(run, **labels)
    return caught.value.violations[0].path


def test_what_the_file_leaves_open_is_filled() -> None:
    run = put(bare(), model="m", tensor_parallel="2", replicas_under_test="3", driver_version="580", label__team="x")
    assert run.configuration == Configuration(model="m", tensor_parallel=2)
    assert run.replicas_under_test == 3
    assert run.conditions == Conditions(driver_version="580", labels=(("team", "x"),))


def test_what_the_file_says_alike_is_no_contradiction() -> None:
    run = a_run(a_level(4, 2))
    assert put(run, engine="vLLM", weight_precision="bfloat16", tensor_parallel="1") == run


@pytest.mark.parametrize(
    ("key", "text"),
    [("engine", "sglang"), ("tensor_parallel", "2"), ("weight_precision", "fp8"), ("accelerator", "a100-sxm-80gb")],
)
def test_a_configuration_the_file_denies_is_refused(key: str, text: str) -> None:
    assert refused(a_run(a_level(4, 2)), **{key: text}) == f'given["{key}"]'


def test_replicas_the_file_denies_are_refused() -> None:
    assert refused(a_run(a_level(4, 2)), replicas_under_test="2") == 'given["replicas_under_test"]'


def test_a_free_label_the_file_denies_is_refused() -> None:
    run = bare(conditions=Conditions(labels=(("team", "a"),)))
    assert refused(run, label__team="b") == 'given["label.team"]'
    assert put(run, label__site="b").conditions.labels == (("site", "b"), ("team", "a"))


def test_a_state_that_is_given_is_declared() -> None:
    run = put(bare(), state="cold")
    assert (run.state, run.state_origin) == (TestState.COLD, Origin.DECLARED)


def test_an_absent_time_is_filled() -> None:
    assert put(bare(), measured_at="2026-11-30T12:00:00Z").measured_at == NOON


def test_the_files_own_time_stands_on_the_day_given() -> None:
    assert put(bare(measured_at=NOON), measured_at="2026-11-30").measured_at == NOON


def test_another_day_is_refused() -> None:
    assert refused(bare(measured_at=NOON), measured_at="2026-12-01") == 'given["measured_at"]'


def test_a_time_with_a_zone_stands_over_one_whose_zone_was_not_known() -> None:
    unsure = Finding(code="TIME_ZONE_NOT_STATED", severity=Severity.INFO, message="taken as UTC")
    run = put(bare(measured_at=NOON, findings=(unsure,)), measured_at="2026-11-30T12:00:00+08:00")
    assert run.measured_at == NOON - timedelta(hours=8)
    assert run.findings == ()


def test_a_time_no_zone_explains_is_refused() -> None:
    unsure = Finding(code="TIME_ZONE_NOT_STATED", severity=Severity.INFO, message="taken as UTC")
    run = bare(measured_at=NOON, findings=(unsure,))
    assert refused(run, measured_at="2026-11-28T12:00:00Z") == 'given["measured_at"]'


@pytest.mark.parametrize(
    ("key", "text"), [("input_tokens_mean", "999"), ("concurrency", "5"), ("completed_count", "9")]
)
def test_a_number_the_file_denies_is_refused(key: str, text: str) -> None:
    assert refused(a_run(a_level(4, 2)), **{key: text}) == f'given["{key}"]'


def test_a_number_the_file_says_alike_is_no_contradiction() -> None:
    run = a_run(a_level(4, 2))
    assert put(run, input_tokens_mean="1000", concurrency="4", completed_count="1000") == run


def test_a_number_of_one_level_is_refused_for_several() -> None:
    assert refused(a_run(a_level(1, 1), a_level(4, 2)), concurrency="4") == 'given["concurrency"]'


def test_token_lengths_have_no_place_in_audio() -> None:
    run = replace(bare(), levels=(Level(work=AudioWork(audio_s=3)),))
    assert refused(run, input_tokens_mean="10") == 'given["input_tokens_mean"]'


def test_labels_do_not_touch_the_levels() -> None:
    run = a_run(Level(work=TextWork(input_tokens_mean=1.0)), configuration=a_configuration())
    assert put(run, sample_set="s").levels == run.levels
