"""``tonnage accuracy`` runs the check in a process of its own."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ROW = {
    "model": "m",
    "gpu": "H100",
    "engine": "vllm",
    "concurrency": "8",
    "request_rate": "",
    "isl_mean": "1000",
    "osl_mean": "250",
    "tpot_p50_ms": "10",
    "curve_id": "c",
}


def written(path: Path, rows: list[dict[str, str]]) -> Path:
    """Return a CSV of rows."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    return subprocess.run(
        [sys.executable, "-m", "tonnage.cli", "accuracy", *words], capture_output=True, text=True, check=False
    )


def test_curves_prints_one_json_document(tmp_path: Path) -> None:
    rows = [{**ROW, "concurrency": str(load), "tpot_p50_ms": str(10 + load)} for load in (1, 4, 16)]
    path = str(written(tmp_path / "runs.csv", rows))
    done = run("curves", "--train", path, "--test", path, "--leave-out", "point", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"metrics", "q_slo", "by_kind", "refused"} <= set(found)
    assert set(found["by_kind"]) == {"between-loads", "unseen-lengths", "unseen-configuration"}
    assert found["refused"] == 1


def test_a_file_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    path = str(tmp_path / "none.csv")
    done = run("curves", "--train", path, "--test", path)
    assert done.returncode == 2
    assert "none.csv" in done.stderr


def test_a_missing_column_is_bad_input(tmp_path: Path) -> None:
    path = str(written(tmp_path / "runs.csv", [{"model": "m"}]))
    done = run("curves", "--train", path, "--test", path)
    assert done.returncode == 2
    assert "train.gpu" in done.stderr
