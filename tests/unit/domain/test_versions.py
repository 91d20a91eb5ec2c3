"""Engine versions."""

from __future__ import annotations

import pytest

from tonnage.domain.versions import split_version


@pytest.mark.parametrize(
    ("text", "minor", "patch"),
    [
        ("0.19", "0.19", None),
        ("0.19.2", "0.19", "0.19.2"),
        ("v0.8.5.post1", "0.8", "0.8.5.post1"),
        ("0.19.1rc1.dev7+gabc", "0.19", "0.19.1rc1.dev7+gabc"),
        ("1.2rc3", "1.2", "1.2rc3"),
        ("b4567", "b4567", None),
        ("2", "2", None),
        ("nightly", "nightly", None),
        ("0.190", "0.190", None),
    ],
)
def test_major_and_minor_are_the_identity(text: str, minor: str, patch: str | None) -> None:
    assert split_version(text) == (minor, patch)
