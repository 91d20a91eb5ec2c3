"""Request-size classes."""

from __future__ import annotations

import math

import pytest
from builders import a_level

from tonnage.domain.buckets import added, band_of, bucket_of, edge, kind_of, mean_work, sums_of
from tonnage.domain.measurement import AudioWork, EmbeddingWork, ImageWork, Level, TextWork, VideoWork, Work


def a_text_level(input_tokens: float | None, completed_count: int | None) -> Level:
    return a_level(1, 1, completed_count=completed_count, work=TextWork(input_tokens_mean=input_tokens))


def test_bands_are_half_open_from_16_tokens() -> None:
    assert [band_of(value) for value in (0, 15.9, 16, 22.6, 22.7, 31.9, 32, 1024)] == [-1, -1, 0, 0, 1, 1, 2, 12]


@pytest.mark.parametrize("band", range(60))
def test_an_edge_belongs_to_the_band_above(band: int) -> None:
    assert band_of(edge(band)) == band
    assert band_of(math.nextafter(edge(band), 0)) == band - 1


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -1.0, 1e300])
def test_what_is_no_length_has_no_band(value: float | None) -> None:
    assert band_of(value) is None


def test_each_modality_has_its_axes() -> None:
    works: list[Work] = [
        TextWork(input_tokens_mean=16, output_tokens_mean=32),
        ImageWork(megapixels=1.0, step_count=4),
        AudioWork(audio_s=2),
        VideoWork(frame_count=2, megapixels=0.0625),
        EmbeddingWork(input_tokens_mean=64),
    ]
    found = {kind_of(work): (bucket_of(work).first, bucket_of(work).second) for work in works}
    assert found == {"text": (0, 2), "image": (8, 4), "audio": (2, None), "video": (2, 0), "embedding": (4, None)}


def test_a_mean_is_weighted_by_completed_requests() -> None:
    assert mean_work([a_text_level(100, 1), a_text_level(200, 3)]) == TextWork(input_tokens_mean=175.0)


def test_one_level_without_a_count_makes_the_mean_plain() -> None:
    assert mean_work([a_text_level(100, None), a_text_level(200, 3)]) == TextWork(input_tokens_mean=150.0)


def test_levels_that_completed_nothing_have_no_mean() -> None:
    assert mean_work([a_text_level(100, 0)]) == TextWork()


def test_a_level_that_does_not_tell_its_length_is_left_out() -> None:
    assert mean_work([a_text_level(None, 50), a_text_level(200, 3)]) == TextWork(input_tokens_mean=200.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, 1e300])
def test_what_cannot_be_a_length_is_left_out_of_the_mean(value: float) -> None:
    assert mean_work([a_text_level(value, 50), a_text_level(200, 3)]) == TextWork(input_tokens_mean=200.0)


def test_no_levels_have_no_mean() -> None:
    assert mean_work([]) is None


def test_parts_add_up_to_the_whole_in_any_order() -> None:
    levels = [a_text_level(10 * index, index) for index in range(1, 9)]
    parts = [sums for chunk in (levels[:3], levels[3:4], levels[4:]) if (sums := sums_of(chunk)) is not None]
    assert added(parts).mean() == added(reversed(parts)).mean() == mean_work(levels)
