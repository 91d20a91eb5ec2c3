"""Request-size classes: geometric bands, and the mean request size of a set of levels."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

from tonnage.checks import LARGEST_COUNT
from tonnage.domain.measurement import AudioWork, EmbeddingWork, ImageWork, TextWork, VideoWork, Work

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tonnage.domain.measurement import Level

WORK_KINDS: Final[Mapping[str, type[Work]]] = {
    "text": TextWork,
    "image": ImageWork,
    "audio": AudioWork,
    "video": VideoWork,
    "embedding": EmbeddingWork,
}
_KIND_OF: Final = {kind: name for name, kind in WORK_KINDS.items()}
# The two axes of a modality, with the lowest edge of each: tokens, megapixels, steps, seconds, frames.
_AXES: Final[Mapping[str, tuple[tuple[str, float], ...]]] = {
    "text": (("input_tokens_mean", 16.0), ("output_tokens_mean", 16.0)),
    "image": (("megapixels", 0.0625), ("step_count", 1.0)),
    "audio": (("audio_s", 1.0),),
    "video": (("frame_count", 1.0), ("megapixels", 0.0625)),
    "embedding": (("input_tokens_mean", 16.0),),
}
BELOW_FIRST_EDGE: Final = -1


def kind_of(work: Work) -> str:
    """Return the modality's name: text, image, audio, video or embedding."""
    return _KIND_OF[type(work)]


def can_be_a_size(value: float) -> bool:
    """Tell whether a number can be a length at all: finite, not negative, and exact as a count."""
    return 0 <= value <= LARGEST_COUNT


def edge(band: int, lowest: float = 16.0) -> float:
    """Return the lower edge of a band, ``lowest`` x 2^(band/2), in the unit of ``lowest``."""
    return lowest * math.pow(2.0, band / 2)


def band_of(value: float | None, lowest: float = 16.0) -> int | None:
    """Return the band whose [edge(k), edge(k + 1)) holds ``value``; -1 below the lowest edge.

    None for what is unknown or cannot be a size.
    """
    if value is None or not can_be_a_size(value):
        return None
    if value < lowest:
        return BELOW_FIRST_EDGE
    band = math.floor(2 * math.log2(value / lowest))
    while value < edge(band, lowest):
        band -= 1
    while value >= edge(band + 1, lowest):
        band += 1
    return band


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A request-size class; ``second`` is None where the modality has one axis or the size is unknown."""

    kind: str
    first: int | None = None
    second: int | None = None


def bucket_of(work: Work) -> Bucket:
    """Return the class of a mean request size."""
    kind = kind_of(work)
    bands = [band_of(getattr(work, name), lowest) for name, lowest in _AXES[kind]]
    return Bucket(kind=kind, first=bands[0], second=bands[1] if len(bands) > 1 else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSums:
    """What is needed to average one field over levels, and to go on averaging later."""

    weighted_sum: float = 0.0
    completed_count: int = 0
    plain_sum: float = 0.0
    level_count: int = 0
    uncounted_level_count: int = 0

    def mean(self) -> float | None:
        """Return the mean weighted by completed requests; the plain mean when a level does not tell its count."""
        if self.uncounted_level_count:
            return self.plain_sum / self.level_count
        return self.weighted_sum / self.completed_count if self.completed_count else None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSums:
    """Sums of one modality's fields; parts of a sweep are summed apart and added."""

    kind: str
    sums: tuple[tuple[str, FieldSums], ...] = ()

    def mean(self) -> Work:
        """Return the mean request size; a field no level states is None."""
        means = {name: item.mean() for name, item in self.sums}
        return WORK_KINDS[self.kind](**means)


def sums_of(levels: Sequence[Level]) -> WorkSums | None:
    """Return the sums over levels of one modality; None without levels. What cannot be a size is left out."""
    if not levels:
        return None
    kind = kind_of(levels[0].work)
    names = [item.name for item in fields(levels[0].work)]
    found = ((name, _field_sums(levels, name)) for name in names)
    return WorkSums(kind=kind, sums=tuple((name, item) for name, item in found if item.level_count))


def _field_sums(levels: Sequence[Level], name: str) -> FieldSums:
    return field_sums([(getattr(level.work, name), level.completed_count) for level in levels])


def field_sums(pairs: Iterable[tuple[float | None, int | None]]) -> FieldSums:
    """Return the sums of one field, given as (value, completed count) a level; what cannot be a size is left out."""
    stated = [(value, count) for value, count in pairs if value is not None and can_be_a_size(value)]
    counted = [(value, count) for value, count in stated if count is not None and 0 <= count <= LARGEST_COUNT]
    return FieldSums(
        weighted_sum=math.fsum(value * count for value, count in counted),
        completed_count=sum(count for _, count in counted),
        plain_sum=math.fsum(value for value, _ in stated),
        level_count=len(stated),
        uncounted_level_count=len(stated) - len(counted),
    )


def added(parts: Iterable[WorkSums]) -> WorkSums:
    """Return the sum of parts of one modality; their order does not matter. At least one part."""
    held = list(parts)
    names = sorted({name for part in held for name, _ in part.sums})
    by_name = {name: [dict(part.sums)[name] for part in held if name in dict(part.sums)] for name in names}
    return WorkSums(kind=held[0].kind, sums=tuple((name, _added(items)) for name, items in by_name.items()))


def _added(items: Sequence[FieldSums]) -> FieldSums:
    return FieldSums(
        weighted_sum=math.fsum(item.weighted_sum for item in items),
        completed_count=sum(item.completed_count for item in items),
        plain_sum=math.fsum(item.plain_sum for item in items),
        level_count=sum(item.level_count for item in items),
        uncounted_level_count=sum(item.uncounted_level_count for item in items),
    )


def mean_work(levels: Sequence[Level]) -> Work | None:
    """Return the completed-weighted mean request size of levels of one modality; None without levels."""
    sums = sums_of(levels)
    return None if sums is None else sums.mean()
