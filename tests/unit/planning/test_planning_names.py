"""Names of a request meet what ingest stored."""

from __future__ import annotations

import pytest

from tonnage.domain.configuration import Configuration
from tonnage.planning.usecase.names import normalized


@pytest.mark.parametrize(
    ("asked", "stored"), [("0.19.2", "0.19"), ("v0.19", "0.19"), ("0.6.0-dev", "0.6"), ("nightly", "nightly")]
)
def test_a_patch_version_is_asked_for_by_its_minor(asked: str, stored: str) -> None:
    assert normalized(Configuration(engine_version=asked)).engine_version == stored
