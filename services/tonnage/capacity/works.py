"""Sizes of requests: means over levels, and how far one size is from another."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING

from tonnage.domain.measurement import TextWork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.levels import CurveLevel
    from tonnage.domain.measurement import Level, Work


def mean_work(levels: Sequence[Level]) -> Work:
    """Return the mean request size, weighted by completed requests where every level states them.

    A field is None when any level leaves it open; levels of several modalities give an empty text size.
    """
    kinds = {type(level.work) for level in levels}
    if len(kinds) != 1:
        return TextWork()
    counted = all(level.completed_count for level in levels)
    weights = [float(level.completed_count or 1) if counted else 1.0 for level in levels]
    kind = kinds.pop()
    means = {item.name: _mean([getattr(level.work, item.name) for level in levels], weights) for item in fields(kind)}
    return kind(**means)


def _mean(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    known = [value for value in values if value is not None]
    if len(known) != len(values):
        return None
    if len(set(known)) == 1:
        return known[0]
    return math.fsum(value * weight for value, weight in zip(known, weights, strict=True)) / math.fsum(weights)


def spread_of_lengths(levels: Sequence[CurveLevel]) -> float:
    """Return the largest ratio of one level's size to another's, over all fields that every level states."""
    widest = 1.0
    works = [item.level.work for item in levels]
    if len({type(work) for work in works}) > 1:
        return math.inf
    for name in works[0].__dataclass_fields__ if works else ():
        values = [getattr(work, name) for work in works]
        if name != "prefix_cache_hit_ratio" and all(value is not None and value > 0 for value in values):
            widest = max(widest, max(values) / min(values))
    return widest


def described(work: Work) -> str:
    """Return "1000 in / 100 out tokens", or the stated fields of another modality."""
    if isinstance(work, TextWork):
        known = [("in", work.input_tokens_mean), ("out", work.output_tokens_mean)]
        if any(value is None for _, value in known):
            return "text of unstated lengths"
        return " / ".join(f"{value:.6g} {name}" for name, value in known) + " tokens"
    stated = [f"{item.name} {value:.6g}" for item in fields(work) if (value := getattr(work, item.name)) is not None]
    return f"{type(work).__name__.removesuffix('Work').lower()} of {', '.join(stated) or 'unstated size'}"
