"""The examples of the method page run."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def test_every_example_on_the_method_page_is_true(root: Path) -> None:
    found = doctest.testfile(str(root / "docs" / "method.md"), module_relative=False, encoding="utf-8")
    assert found.attempted >= 10
    assert found.failed == 0
