"""Exports that other programs read, and a spreadsheet cannot run."""

from __future__ import annotations

import csv
from contextlib import closing
from typing import TYPE_CHECKING

import duckdb
import polars as pl
import pytest
from builders_admin import LEVEL_COUNT, OTHER, RUN_COUNT, TEAM, a_kept_upload, names_in
from builders_store import stored

from tonnage.errors import InvalidInput
from tonnage.store.admin.export import export
from tonnage.store.lake.writer import LakeWriter
from tonnage.store.schema import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    from tonnage.store.url import EmbeddedPlace

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201", "\tx"]
HARMLESS = ["plain", "a=b", "1-2", "'quoted'", 'a "b", c', "", " x", "é"]


def test_polars_and_duckdb_read_an_export(filled: EmbeddedPlace, tmp_path: Path) -> None:
    found = export(filled, tmp_path / "out")
    live = RUN_COUNT  # one of four is retracted, one is of another namespace
    assert found.row_counts == {"runs.parquet": live, "points.parquet": live * LEVEL_COUNT}
    points = pl.read_parquet(tmp_path / "out" / "points.parquet")
    assert points.columns == [*TABLES["points"].names, "retirement"]
    assert points.height == live * LEVEL_COUNT
    assert points["requests_per_s"].sum() == pytest.approx(live * (1.5 + 2.5 + 3.5))
    path = str(tmp_path / "out" / "runs.parquet")
    assert duckdb.execute("SELECT count(*) FROM read_parquet(?)", [path]).fetchone() == (live,)
    assert names_in(tmp_path / "out") == ["export.json", "points.parquet", "runs.parquet"]


def test_one_namespace_and_retired_runs_are_taken_when_asked_for(filled: EmbeddedPlace, tmp_path: Path) -> None:
    found = export(filled, tmp_path / "out", namespace=TEAM, include_retired=True)
    assert found.row_counts["runs.parquet"] == RUN_COUNT
    runs = pl.read_parquet(tmp_path / "out" / "runs.parquet")
    assert set(runs["namespace"]) == {TEAM}
    assert sorted(runs["retirement"].to_list(), key=str) == [None] * (RUN_COUNT - 1) + ["RETRACTED"]


def test_the_same_data_gives_the_same_bytes(filled: EmbeddedPlace, tmp_path: Path) -> None:
    for name in ("one", "two"):
        export(filled, tmp_path / name)
    for name in names_in(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_no_cell_of_a_csv_is_a_formula_and_harmless_ones_are_as_they_were(place: EmbeddedPlace, tmp_path: Path) -> None:
    with closing(LakeWriter(place)) as writer:
        uploads = [
            a_kept_upload(writer, f"text {number}", source=text) for number, text in enumerate(FORMULAS + HARMLESS)
        ]
        stored(writer, *uploads)
    export(place, tmp_path / "out", kind="csv", namespace=TEAM)
    with (tmp_path / "out" / "runs.csv").open(encoding="utf-8", newline="") as file:
        cells = {row["filename"]: row["source"] for row in csv.DictReader(file)}
    found = [cells[f"text {number}.json"] for number in range(len(uploads))]
    assert found == ["'" + text for text in FORMULAS] + HARMLESS


def test_figures_of_a_csv_stay_figures(filled: EmbeddedPlace, tmp_path: Path) -> None:
    export(filled, tmp_path / "out", kind="csv", namespace=OTHER)
    with (tmp_path / "out" / "points.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["requests_per_s"]) for row in rows] == [1.5, 2.5, 3.5]
    assert {row["sweep_id"] for row in rows} == {"'=HYPERLINK(1)"}
    assert {row["ttft_p99_ms"] for row in rows} == {""}


def test_a_namespace_nobody_has_is_refused(filled: EmbeddedPlace, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="use one of default, other") as refused:
        export(filled, tmp_path / "out", namespace="x'; DROP TABLE lake.points; --")
    assert refused.value.violations[0].path == "namespace"
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_in_it_is_refused(filled: EmbeddedPlace, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep me")
    with pytest.raises(InvalidInput, match="not empty"):
        export(filled, tmp_path)
