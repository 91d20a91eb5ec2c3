"""Rows of published runs."""

from __future__ import annotations

import pytest

from tonnage.capacity.accuracy.rows import rows_of
from tonnage.errors import InvalidInput

ROW = {
    "model": "m",
    "gpu": "H100",
    "engine": "vllm",
    "concurrency": "8",
    "request_rate": "",
    "isl_mean": "1000",
    "osl_mean": "250",
    "output_tps": "500",
    "ttft_p50_ms": "",
    "ttft_mean_ms": "120",
    "tpot_p50_ms": "10",
    "tpot_mean_ms": "11",
    "curve_id": "c",
}


def test_a_median_counts_before_a_mean() -> None:
    (row,) = rows_of([ROW], "test")
    assert row.figures == {"throughput": 500.0, "ttft": 120.0, "tpot": 10.0}
    assert (row.curve, row.load, row.traits.arrival) == ("c", 8.0, "closed")


def test_all_tokens_become_output_tokens_where_lengths_are_known() -> None:
    total = {**ROW, "output_tps": "", "total_tps": "500"}
    assert rows_of([total], "test")[0].figures["throughput"] == 100.0
    assert rows_of([{**total, "isl_mean": ""}], "test")[0].figures["throughput"] == 500.0


def test_a_row_without_load_or_figure_is_none() -> None:
    assert rows_of([{**ROW, "concurrency": ""}], "test") == ()
    assert rows_of([{key: ROW[key] for key in list(ROW)[:7]}], "test") == ()


def test_an_offered_rate_is_an_open_loop() -> None:
    (row,) = rows_of([{**ROW, "concurrency": "", "request_rate": "2.5"}], "test")
    assert (row.load, row.traits.arrival) == (2.5, "open")


@pytest.mark.parametrize(
    ("cells", "barred"),
    [
        ({"littles_flag": "fail"}, True),
        ({"littles_flag": "ok"}, False),
        ({"request_throughput_rps": "2", "e2e_mean_ms": "4000"}, False),
        ({"request_throughput_rps": "2", "e2e_mean_ms": "2000"}, True),
    ],
)
def test_a_row_that_breaks_littles_law_is_barred(cells: dict[str, str], barred: bool) -> None:
    (row,) = rows_of([{**ROW, **cells}], "test")
    assert bool(row.barred) is barred
    assert (row.sample("tpot") is None) is barred


def test_rows_without_a_curve_id_of_one_setting_are_one_curve() -> None:
    silent = {key: value for key, value in ROW.items() if key != "curve_id"}
    one, other, third = rows_of([silent, {**silent, "concurrency": "16"}, {**silent, "gpu": "H200"}], "test")
    assert one.curve == other.curve != third.curve


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"train\.gpu"):
        rows_of([{key: value for key, value in ROW.items() if key != "gpu"}], "train")


def test_a_cell_that_is_no_number_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"test\.rows\[1\]\.osl_mean"):
        rows_of([ROW, {**ROW, "osl_mean": "many"}], "test")
