"""Predictions of published runs keep the aims: a few sources, each row as if it had not been measured."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from tonnage.capacity.accuracy.curves import LeaveOut, accuracy
from tonnage.capacity.accuracy.rows import rows_of
from tonnage.capacity.accuracy.summary import as_json

if TYPE_CHECKING:
    from pathlib import Path

SOURCES = ("mlenergy", "akamas_g7", "ifx_dump")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_published_loads_are_met_within_the_aims(shared: Path) -> None:
    with (shared / "published/runs.csv").open(encoding="utf-8", newline="") as file:
        rows = rows_of((row for row in csv.DictReader(file) if row["source_id"] in SOURCES), "runs")
    found = as_json(accuracy(rows, rows, [LeaveOut.POINT]))
    metrics = found["metrics"]
    assert isinstance(metrics, dict)
    for metric in ("throughput", "tpot"):
        numbers = metrics[metric]
        assert numbers["median"] <= 0.03
        assert numbers["p90"] <= 0.12
        assert 0.88 <= numbers["covered_90"] <= 0.96
        assert numbers["width_90"] < 0.3
        assert numbers["refused"] <= 0.2 * (numbers["n"] + numbers["refused"])
