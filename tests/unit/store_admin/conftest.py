"""A filled store, made once and copied for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builders_admin import copied, fill

from tonnage.store.url import EmbeddedPlace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> EmbeddedPlace:
    """Return a filled store that no test changes."""
    place = EmbeddedPlace(tmp_path_factory.mktemp("filled") / "store")
    fill(place)
    return place


@pytest.fixture
def place(filled: EmbeddedPlace, tmp_path: Path) -> EmbeddedPlace:
    """Return a filled store of one's own."""
    return copied(filled, tmp_path / "store")
