"""Labels given beside a file."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given as anything
from hypothesis import strategies as st

from tonnage.domain.configuration import FIELD_NAMES
from tonnage.domain.measurement import ArrivalKind, TestState
from tonnage.errors import AmbiguousName, InvalidInput
from tonnage.ingest.given import KNOWN_LABELS, Moment, check_configuration, parse_given


def refused(raw: dict[str, str]) -> tuple[str, str]:
    """Return the path and the sentence of a refusal."""
    with pytest.raises(InvalidInput) as caught:
        parse_given(raw)
    (violation,) = caught.value.violations
    return violation.path, str(violation)


def test_every_field_of_a_configuration_can_be_given() -> None:
    assert set(FIELD_NAMES) <= set(KNOWN_LABELS)


def test_names_come_out_in_the_catalogs_spelling() -> None:
    found = parse_given({"accelerator": "NVIDIA H100 80GB HBM3", "engine": "vLLM", "weight_precision": "bfloat16"})
    assert found.configuration == {"accelerator": "h100-sxm-80gb", "engine": "vllm", "weight_precision": "bf16"}


def test_two_spellings_of_one_meaning_have_one_canonical_form() -> None:
    one = parse_given({"accelerator": "H100-SXM5-80GB", "tensor_parallel": "2", "prefix_caching": "True"})
    other = parse_given({"prefix_caching": "yes", "tensor_parallel": " 02", "accelerator": "h100_sxm"})
    assert one.canonical == other.canonical
    assert dict(one.canonical)["prefix_caching"] == "true"


def test_the_order_of_labels_does_not_matter() -> None:
    raw = {"model": "m", "engine": "vllm", "label.team": "x", "state": "peak"}
    assert parse_given(raw).canonical == parse_given(dict(reversed(raw.items()))).canonical


def test_an_accelerator_that_means_several_cards_is_refused_with_the_candidates() -> None:
    with pytest.raises(AmbiguousName) as caught:
        parse_given({"accelerator": "H100"})
    assert caught.value.violations[0].path == 'given["accelerator"]'
    assert "h100-sxm-80gb" in caught.value.violations[0].cure


def test_an_accelerator_the_catalog_lacks_keeps_its_name() -> None:
    assert parse_given({"accelerator": "our-own-card"}).configuration == {"accelerator": "our-own-card"}


def test_an_unknown_label_is_refused_with_near_ones() -> None:
    path, said = refused({"tensor-paralel": "2"})
    assert path == 'given["tensor-paralel"]'
    assert "tensor_parallel" in said


def test_a_label_like_none_we_know_is_refused_with_all_of_them() -> None:
    assert "weight_precision" in refused({"zzzzzz": "2"})[1]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("tensor_parallel", "two"),
        ("tensor_parallel", "0"),
        ("tensor_parallel", "-1"),
        ("tensor_parallel", "1.5"),
        ("tensor_parallel", "9" * 18),
        ("tensor_parallel", "9" * 400),
        ("lora_adapter_count", "-1"),
        ("prefix_caching", "maybe"),
        ("input_tokens_mean", "nan"),
        ("input_tokens_mean", "-1"),
        ("input_tokens_mean", "1k"),
        ("prefix_cache_hit_ratio", "1.2"),
        ("concurrency", "0"),
        ("concurrency", "inf"),
        ("completed_count", "1e3"),
        ("state", "warm"),
        ("arrival_kind", "poisson"),
        ("measured_at", "yesterday"),
        ("measured_at", "2026-11-30T10:00:00"),
        ("measured_at", "2026-13-01"),
        ("measured_at", "0001-01-01T00:00:00+14:00"),
        ("replicas_under_test", "x"),
        ("model", "  "),
        ("model", "a\x00b"),
        ("model", "x" * 600),
        ("label.team", ""),
        ("label.", "x"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_by_its_label(key: str, text: str) -> None:
    assert refused({key: text})[0] == f'given["{key}"]'


def test_the_readable_kinds_are_read() -> None:
    found = parse_given(
        {
            "state": "Peak",
            "arrival_kind": "closed",
            "replicas_under_test": "2",
            "input_tokens_mean": "1e3",
            "completed_count": "0",
            "label.team": " a b ",
            "driver_version": "580.1",
            "accelerator_count": "8",
        }
    )
    assert found.run == {"state": TestState.PEAK, "arrival_kind": ArrivalKind.CLOSED, "replicas_under_test": 2}
    assert (found.work, found.level) == ({"input_tokens_mean": 1000.0}, {"completed_count": 0})
    assert (found.labels, found.conditions) == ({"team": "a b"}, {"driver_version": "580.1"})
    assert found.accelerator_count == 8


def test_an_engine_version_gives_minor_and_patch() -> None:
    found = parse_given({"engine_version": "v0.19.2"})
    assert (found.configuration, found.conditions) == (
        {"engine_version": "0.19"},
        {"engine_patch_version": "0.19.2"},
    )


def test_a_version_and_another_patch_contradict() -> None:
    raw = {"engine_version": "0.19.2", "engine_patch_version": "0.19.3"}
    assert refused(raw)[0] == 'given["engine_patch_version"]'


def test_a_date_stands_for_any_time_of_its_day() -> None:
    moment = parse_given({"measured_at": "2026-11-30"}).run["measured_at"]
    assert moment.agrees_with(datetime(2026, 11, 30, 23, 59, tzinfo=UTC))
    assert not moment.agrees_with(datetime(2026, 12, 1, tzinfo=UTC))


def test_a_time_is_kept_in_utc() -> None:
    moment = parse_given({"measured_at": "2026-11-30T08:00:00+08:00"}).run["measured_at"]
    assert moment == Moment(datetime(2026, 11, 30, tzinfo=UTC))


def test_too_many_labels_are_refused() -> None:
    assert refused({f"label.{n}": "x" for n in range(201)})[0] == "given"


def test_counts_that_cannot_be_are_refused_as_a_configuration() -> None:
    check_configuration(parse_given({"tensor_parallel": "8"}))


@anything(st.dictionaries(st.sampled_from(KNOWN_LABELS) | st.text(max_size=12), st.text(max_size=24), max_size=4))
def test_any_labels_at_all_are_read_or_refused_by_name(raw: dict[str, str]) -> None:
    named = 0
    canonical: tuple[tuple[str, str], ...] = ()
    try:
        canonical = parse_given(raw).canonical
    except InvalidInput as error:
        named = len(error.violations)
    assert named or len(canonical) >= len(raw)
