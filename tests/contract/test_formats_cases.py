"""The handed result files that broke somebody's reader give their right answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from builders_formats import opened

from tonnage.domain.measurement import ArrivalKind, Latency, Level, Run, TextWork
from tonnage.errors import MalformedReport
from tonnage.formats import read, recognise

if TYPE_CHECKING:
    from pathlib import Path

NBOMBER = {
    "requests_per_s": "rps",
    "completed_count": "ok",
    "failed_count": "fail",
    "e2e_mean_ms": "mean_ms",
    "e2e_p50_ms": "p50_ms",
    "e2e_p95_ms": "p95_ms",
    "e2e_p99_ms": "p99_ms",
}
FOUR_H100 = {
    "concurrency": "Concurrency",
    "output_tokens_per_s": "Average Output Token Throughput (requests/sec)",
    "requests_per_s": "Average Request Throughput (requests/sec)",
    "ttft_mean_s": "Average Time to first token (s)",
    "itl_mean_s": "Average Inter Token Latency (s)",
}


def case(shared: Path, name: str, **wanted: object) -> list[Run]:
    source = opened(shared / "cases" / "files" / name, **wanted)
    return read(source, recognise(source))[0]


def levels_of(runs: list[Run]) -> list[Level]:
    return [level for run in runs for level in run.levels]


@pytest.fixture(scope="session")
def right(shared: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared / "cases" / "files" / "expected.json").read_text())
    return found


def near(value: dict[str, float]) -> object:
    return pytest.approx(value["value"], rel=value["rel_tol"])


def test_nan_minus_and_zero_are_no_time_per_token(shared: Path, right: dict[str, Any]) -> None:
    (level,) = levels_of(case(shared, "s_c1_nan_negative_tpot.json"))
    assert level.ttft.mean_ms == near(right["S-C1"]["ttft_mean_ms"])
    assert level.e2e.mean_ms == near(right["S-C1"]["e2e_mean_ms"])
    assert level.requests_per_s == near(right["S-C1"]["rps"])
    assert level.tpot == level.itl == Latency()
    assert isinstance(level.work, TextWork)
    assert level.work.output_tokens_mean is not None
    assert level.e2e.mean_ms is not None
    assert level.ttft.mean_ms is not None
    derived = (level.e2e.mean_ms - level.ttft.mean_ms) / (level.work.output_tokens_mean - 1)
    assert derived == near(right["S-C1"]["tpot_from_e2e_ms"])


def test_json_lines_are_two_levels_of_the_lengths_that_ran(shared: Path, right: dict[str, Any]) -> None:
    runs = case(shared, "s_c2_results.json")
    found = levels_of(runs)
    assert len(found) == right["S-C2"]["runs"]["equals"]
    for level, inputs, outputs, failures in zip(
        found, right["S-C2"]["input_mean"], right["S-C2"]["output_mean"], right["S-C2"]["failure_rate"], strict=True
    ):
        assert isinstance(level.work, TextWork)
        assert level.work.input_tokens_mean == near(inputs)
        assert level.work.output_tokens_mean == near(outputs)
        assert level.failure_ratio == (near(failures) if "value" in failures else failures["equals"])
        assert level.offered_requests_per_s is None
        assert level.usable
    assert {run.arrival_kind for run in runs} == {ArrivalKind.CLOSED}


def test_one_output_token_has_no_time_per_token(shared: Path, right: dict[str, Any]) -> None:
    (level,) = levels_of(case(shared, "s_c3_one_output_token.json"))
    assert level.tpot == level.itl == Latency()
    assert level.ttft.mean_ms == near(right["S-C3"]["ttft_mean_ms"])
    assert level.requests_per_s == near(right["S-C3"]["rps"])
    assert level.concurrency is None


def test_decimal_commas_are_read_when_declared(shared: Path, right: dict[str, Any]) -> None:
    wanted = right["S-C4"]["semicolon"]
    (level,) = levels_of(case(shared, "s_c4_decimal_comma_semicolon.csv", column_map={**NBOMBER, "decimal": ","}))
    assert level.requests_per_s == near(wanted["rps"])
    for name in ("mean", "p50", "p95", "p99"):
        assert level.e2e.value_ms(name) == near(wanted[f"{name}_ms"])


def test_decimal_commas_inside_commas_are_refused_with_the_hint(shared: Path) -> None:
    with pytest.raises(MalformedReport, match=r"row 2.*16 cells.*decimal comma"):
        case(shared, "s_c4_decimal_comma_unquoted.csv", column_map={**NBOMBER, "decimal": ","})


def test_three_units_in_one_report_are_obeyed(shared: Path, right: dict[str, Any]) -> None:
    (level,) = levels_of(case(shared, "s_c5_units_declared.json"))
    assert level.ttft.mean_ms == near(right["S-C5"]["ttft_mean_ms"])
    assert level.tpot.mean_ms == near(right["S-C5"]["tpot_mean_ms"])
    assert level.e2e.mean_ms == near(right["S-C5"]["e2e_mean_ms"])
    assert level.requests_per_s == near(right["S-C5"]["rps"])
    assert level.itl == Latency()


def test_four_rates_in_one_file_are_four_levels_and_the_summary_is_none(shared: Path, right: dict[str, Any]) -> None:
    found = levels_of(case(shared, "s_c6_four_rates_one_file.json"))
    assert [level.requests_per_s for level in found] == [near(item) for item in right["S-C6"]["rps"]]
    saturated = ["OFFERED_RATE_NOT_REACHED" in {item.code for item in level.findings} for level in found]
    assert saturated == [item["equals"] for item in right["S-C6"]["saturated"]]


def test_rows_that_cannot_be_true_are_not_used(shared: Path, right: dict[str, Any]) -> None:
    found = levels_of(case(shared, "s_c8_four_h100_table.csv", column_map=FOUR_H100))
    assert [level.concurrency for level in found if not level.usable] == right["S-C8"]["flagged_concurrency"]
    fitting = [level for level in found if level.usable and (level.ttft.mean_ms or 0) <= 3000]
    assert max(level.requests_per_s or 0 for level in fitting) == near(right["S-C8"]["q_slo_ttft_3s"])
