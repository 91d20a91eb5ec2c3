"""What stands behind a flag."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tonnage.cli import values
from tonnage.client import errors, messages


def test_pairs_keep_what_follows_the_first_equals_sign() -> None:
    assert values.pairs("--set", ["a=1", " b = x=y ", "a=1"]) == {"a": "1", "b": "x=y"}


@pytest.mark.parametrize("texts", [["a"], ["=1"], ["a=1", "a=2"]])
def test_what_is_no_pair_or_contradicts_one_is_refused(texts: list[str]) -> None:
    with pytest.raises(errors.BadInput, match="--set"):
        values.pairs("--set", texts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("14.99GiB", 16_095_389_942), ("80GB", 80_000_000_000), ("123", 123), ("1.5 MiB", 1_572_864), (None, None)],
)
def test_bytes_are_read_with_their_unit_or_bare(text: str | None, expected: int | None) -> None:
    assert values.byte_count("--weights", text) == expected


@pytest.mark.parametrize("text", ["14.99", "big", "1 GiBs", "", "12,5GiB"])
def test_bytes_without_a_readable_unit_name_the_flag(text: str) -> None:
    with pytest.raises(errors.BadInput) as caught:
        values.byte_count("--weights", text)
    assert caught.value.violations[0].field == "--weights"


@given(st.integers(min_value=0, max_value=2**50))
def test_whole_gib_are_read_exactly(count: int) -> None:
    assert values.byte_count("--weights", f"{count}GiB") == count << 30


def test_limits_become_metric_statistic_and_value() -> None:
    found = values.slo(
        ["ttft_p90_ms=500", "max_e2e_mean_ms=2e3", "failure_ratio=0.01", "min_output_tokens_per_s_per_user=20"],
        allow_substitution=True,
    )
    assert [(item.metric, item.statistic, item.max_ms) for item in found.latency_limits] == [
        (messages.LATENCY_METRIC_TTFT, messages.STATISTIC_P90, 500.0),
        (messages.LATENCY_METRIC_E2E, messages.STATISTIC_MEAN, 2000.0),
    ]
    assert (found.max_failure_ratio, found.min_output_tokens_per_s_per_user) == (0.01, 20.0)
    assert found.allow_statistic_substitution


@pytest.mark.parametrize("text", ["ttft_p42_ms=5", "ttft_p90=5", "ttft_p90_ms=fast", "ttft_p90_ms"])
def test_a_limit_nobody_knows_is_refused(text: str) -> None:
    with pytest.raises(errors.BadInput, match="--slo"):
        values.slo([text], allow_substitution=False)


def test_a_bucket_is_text_by_its_short_names_and_other_work_by_its_path() -> None:
    text = values.bucket("share=0.7,input=1000,output=100")
    assert (text.share, text.work.text.input_tokens_mean, text.work.text.output_tokens_mean) == (0.7, 1000, 100)
    image = values.bucket("share=1,image.megapixels=1.5,image.step_count=30")
    assert (image.work.image.megapixels, image.work.image.step_count) == (1.5, 30)


@pytest.mark.parametrize("text", ["share=1,weight=3", "share=a", "image.size=3", "image=3"])
def test_a_bucket_with_a_field_nobody_knows_is_refused(text: str) -> None:
    with pytest.raises(errors.BadInput, match="--bucket"):
        values.bucket(text)


def test_a_number_too_large_for_its_field_names_the_flag() -> None:
    with pytest.raises(errors.BadInput) as caught:
        values.made(messages.Configuration, {}, tensor_parallel=2**40)
    assert caught.value.violations[0].field == "--tensor-parallel"


def test_what_is_not_stated_stays_absent_and_a_zero_is_kept() -> None:
    made = values.made(messages.Configuration, {}, model="", tensor_parallel=None, lora_adapter_count=0)
    assert [field.name for field, _ in made.ListFields()] == ["lora_adapter_count"]


def test_two_answers_to_one_question_are_refused() -> None:
    values.only_one([("--a", True), ("--b", False)])
    with pytest.raises(errors.BadInput, match=r"--a: contradicts --b"):
        values.only_one([("--a", True), ("--b", True)])


@pytest.mark.parametrize(
    ("text", "values_", "span"),
    [
        ("peak_rps=1,2.5", [1, 2.5], None),
        ("reserve=0.2", [0.2], None),
        ("input_tokens=10:100:5", [], (10, 100, 5, False)),
        ("ttft_p90_ms=1:1000:4:geometric", [], (1, 1000, 4, True)),
    ],
)
def test_an_axis_is_values_or_a_span(
    text: str, values_: list[float], span: tuple[float, float, int, bool] | None
) -> None:
    found = values.axis(text)
    assert list(found.values.values) == values_
    if span is not None:
        assert (found.span.low, found.span.high, found.span.count, found.span.geometric) == span


def test_every_field_that_can_be_varied_has_a_name() -> None:
    named = {messages.ExploreField.Value(f"EXPLORE_FIELD_{name}") for name in values.AXES.values()}
    limits = {messages.EXPLORE_FIELD_UNSPECIFIED, messages.EXPLORE_FIELD_LATENCY_LIMIT_MS}
    assert named | limits == set(messages.ExploreField.values())
    assert values.axis("tpot_p50_ms=1").metric == messages.LATENCY_METRIC_TPOT


@pytest.mark.parametrize(
    "text", ["peak_rps", "color=1", "peak_rps=a", "peak_rps=1:2", "peak_rps=1:2:x", "peak_rps=1:2:3:log"]
)
def test_an_axis_nobody_knows_is_refused(text: str) -> None:
    with pytest.raises(errors.BadInput, match="--vary"):
        values.axis(text)
