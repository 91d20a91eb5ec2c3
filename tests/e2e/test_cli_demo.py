"""``tonnage demo --once``: sample runs in, a plan out."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.timeout(300)
def test_the_demo_prints_a_feasible_plan_on_published_runs_and_twice_the_same(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tonnage.cli", "demo", "--once", "--data", str(tmp_path / "demo")]
    first, again = (
        subprocess.run(command, capture_output=True, text=True, timeout=140, check=False, cwd=root) for _ in range(2)
    )
    assert first.returncode == 0, first.stderr
    assert "FEASIBLE" in first.stdout
    assert "Apache-2.0" in first.stdout
    assert again.stdout == first.stdout
