"""What every test may ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of handed material beside the repository, or skip."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the handed material (../shared) is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the repository's root."""
    return ROOT
