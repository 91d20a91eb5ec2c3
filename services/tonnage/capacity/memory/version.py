"""Engine versions as logs write them: a release, a development build, or only a month."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Version(NamedTuple):
    """Major and minor of a release."""

    major: int
    minor: int

    def __str__(self) -> str:
        """Return "0.19"."""
        return f"{self.major}.{self.minor}"


_RELEASE: Final = re.compile(r"(?<![\d-])(\d{1,2})\.(\d{1,2})(?:\.|x|\b)")
_MONTH: Final = re.compile(r"\b(20\d\d)-(\d\d)\b")
_VLLM_MONTHS: Final = (
    # From this month on, this release was the newest (dates of the logs the model was made from).
    ((2024, 1), Version(0, 3)),
    ((2024, 7), Version(0, 5)),
    ((2024, 9), Version(0, 6)),
    ((2025, 1), Version(0, 7)),
    ((2025, 4), Version(0, 8)),
    ((2025, 6), Version(0, 9)),
    ((2025, 8), Version(0, 10)),
    ((2025, 10), Version(0, 11)),
    ((2025, 12), Version(0, 12)),
    ((2026, 2), Version(0, 16)),
    ((2026, 4), Version(0, 19)),
    ((2026, 5), Version(0, 21)),
    ((2026, 6), Version(0, 22)),
    ((2026, 8), Version(0, 26)),
    ((2026, 10), Version(0, 31)),
)


def is_v0(text: str | None) -> bool:
    """Tell whether a log names vLLM's old engine, which some releases could still run."""
    return text is not None and "(V0)" in text


def parse_version(text: str | None) -> Version | None:
    """Return the release a version text names; None when it names none.

    A development build counts as the release it leads to; a month as the newest release of it.
    """
    if not text:
        return None
    release = _RELEASE.search(text)
    month = _MONTH.search(text)
    if release is not None:
        return Version(int(release.group(1)), int(release.group(2)))
    if month is None:
        return None
    when = (int(month.group(1)), int(month.group(2)))
    known = [version for start, version in _VLLM_MONTHS if start <= when]
    return known[-1] if known else None
