"""Mean sizes and their words."""

from __future__ import annotations

import math

from builders import a_level
from builders_capacity import a_curve, levels, text

from tonnage.capacity.works import described, mean_work, spread_of_lengths
from tonnage.domain.measurement import AudioWork, TextWork


def test_the_mean_size_is_weighted_by_completed_requests() -> None:
    few = a_level(1, 1.0, completed_count=100, work=text(1000.0, 100.0))
    many = a_level(2, 2.0, completed_count=300, work=text(2000.0, 100.0))
    assert mean_work([few, many]) == text(1750.0, 100.0)


def test_levels_of_several_modalities_have_no_mean_size() -> None:
    assert mean_work([a_level(1, 1.0), a_level(2, 2.0, work=AudioWork(audio_s=30.0))]) == TextWork()
    assert mean_work([]) == TextWork()


def test_the_spread_is_the_widest_ratio_of_any_length() -> None:
    curve = a_curve()
    assert spread_of_lengths(curve.levels) == 1.0
    assert spread_of_lengths([]) == 1.0


def test_modalities_are_infinitely_far_apart() -> None:
    one, two = a_curve().levels[0], a_curve().levels[1]
    object.__setattr__(two, "level", a_level(2, 2.0, work=AudioWork(audio_s=30.0)))
    assert spread_of_lengths([one, two]) == math.inf


def test_a_size_is_told_in_words() -> None:
    assert described(text()) == "1000 in / 100 out tokens"
    assert described(TextWork(input_tokens_mean=1000.0)) == "text of unstated lengths"
    assert described(AudioWork(audio_s=30.0)) == "audio of audio_s 30"
    assert described(AudioWork()) == "audio of unstated size"
    assert described(levels()[0].work) == "1000 in / 100 out tokens"
