"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backends import missing, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends import Backends

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of handed material beside the repository, or skip."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the handed material (../shared) is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def backends() -> Iterator[Backends]:
    """Return a running PostgreSQL and S3 server, or skip; ``TONNAGE_REQUIRE_BACKENDS`` forbids to skip."""
    why = missing()
    if why is not None:
        if os.environ.get("TONNAGE_REQUIRE_BACKENDS"):
            pytest.fail(why)
        pytest.skip(why)
    with running() as found:
        yield found


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the repository's root."""
    return ROOT
