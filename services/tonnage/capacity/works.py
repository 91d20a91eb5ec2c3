"""Sizes of requests: means over levels, and how far one size is from another."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING

from tonnage.domain import buckets
from tonnage.domain.measurement import TextWork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.levels import CurveLevel
    from tonnage.domain.measurement import Level, Work


def mean_work(levels: Sequence[Level]) -> Work:
    """Return the mean request size, weighted by completed requests; levels of several modalities have none."""
    if len({type(level.work) for level in levels}) != 1:
        return TextWork()
    return buckets.mean_work(levels) or TextWork()


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
    return f"{buckets.kind_of(work)} of {', '.join(stated) or 'unstated size'}"
