"""``tonnage store`` runs the store's own program; words and status pass through."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from builders_admin import fill, flip, report_file

from tonnage.store.url import EmbeddedPlace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> EmbeddedPlace:
    """Return a filled store under the name that is taken when none is given."""
    found = EmbeddedPlace(tmp_path_factory.mktemp("home") / "tonnage-data")
    fill(found)
    return found


def run(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("TONNAGE_")}
    command = [sys.executable, "-m", "tonnage.cli", "store", *words]
    return subprocess.run(
        command, cwd=folder, env={**clean, **environment}, capture_output=True, text=True, check=False
    )


def test_the_folder_serve_takes_is_the_one_looked_after(place: EmbeddedPlace) -> None:
    done = run(place.folder.parent, "info", "--json")
    assert (done.returncode, json.loads(done.stdout)["store"]) == (0, f"lake://{place.folder}")


def test_a_folder_given_wins_over_the_variable(place: EmbeddedPlace, tmp_path: Path) -> None:
    url = f"lake://{tmp_path}/nowhere"
    assert run(tmp_path, "info", TONNAGE_STORE=url).returncode == 3
    assert run(tmp_path, "info", "--data", str(place.folder), TONNAGE_STORE=url).returncode == 0


def test_names_that_begin_with_a_hyphen_are_names(place: EmbeddedPlace) -> None:
    home = place.folder.parent
    done = run(home, "export", "--format", "csv", "--namespace", "default", "--include-retired", "--", "-out")
    assert (done.returncode, done.stderr) == (0, "")
    assert len((home / "-out" / "runs.csv").read_text().splitlines()) == 5
    assert run(home, "export", "--namespace", "-x", "other").returncode == 2


def test_the_status_is_the_programs_own(place: EmbeddedPlace, tmp_path: Path) -> None:
    assert run(place.folder.parent, "backup", str(tmp_path / "backup")).returncode == 0
    refused = run(place.folder.parent, "restore", str(tmp_path / "backup"))
    assert (refused.returncode, "is not empty" in refused.stderr) == (2, True)
    flip(report_file(place))
    assert run(place.folder.parent, "check").returncode == 1
    flip(report_file(place))
    assert run(place.folder.parent, "check").returncode == 0
