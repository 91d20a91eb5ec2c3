"""The check of predictions against measured rows."""

from __future__ import annotations

import pytest
from builders_prediction import LOADS, SIZES, some_traits, throughput, tpot_ms

from tonnage.capacity.accuracy.curves import Q_SLO, Kind, LeaveOut, accuracy
from tonnage.capacity.accuracy.page import page
from tonnage.capacity.accuracy.rows import Row, rows_of
from tonnage.capacity.accuracy.slo import Rung, beside_fixed_limits, q_slo
from tonnage.capacity.accuracy.summary import as_json


def table(count: int = 10) -> list[dict[str, str]]:
    """Return rows of some models at four sizes and five loads."""
    return [_cells(number, size, load) for number in range(count) for size in SIZES for load in LOADS]


def _cells(number: int, size: tuple[float, float], load: float) -> dict[str, str]:
    traits = some_traits(f"model-{number}", size=size)
    return {
        "model": traits.model,
        "precision": "fp8",
        "gpu": "H100",
        "gpu_count": str(number + 1),
        "engine": "vllm",
        "concurrency": str(load),
        "request_rate": "",
        "isl_mean": str(size[0]),
        "osl_mean": str(size[1]),
        "output_tps": str(throughput(load, traits)),
        "tpot_p50_ms": str(tpot_ms(load, traits)),
        "ttft_p50_ms": str(20.0 + load),
        "curve_id": f"{number}/{size}",
    }


@pytest.fixture(scope="module")
def rows() -> tuple[Row, ...]:
    """Return the measured rows."""
    return rows_of(table(), "test")


def test_interior_points_alone_are_between_loads(rows: tuple[Row, ...]) -> None:
    report = accuracy(rows, rows, [LeaveOut.POINT])
    judged = {score.row for score in report.scores if score.metric == "tpot"}
    assert judged == {row.index for row in rows if row.load not in {1.0, 256.0}}
    assert {score.kind for score in report.scores} == {Kind.BETWEEN_LOADS}


def test_the_law_is_met_between_loads(rows: tuple[Row, ...]) -> None:
    numbers = as_json(accuracy(rows, rows, [LeaveOut.POINT]))["metrics"]
    assert isinstance(numbers, dict)
    for metric in ("throughput", "tpot", "ttft"):
        assert numbers[metric]["n"] == 120
        assert numbers[metric]["median"] < 0.02
        assert numbers[metric]["covered_90"] > 0.85


def test_without_leaving_out_the_kind_follows_what_is_known(rows: tuple[Row, ...]) -> None:
    middle = next(row for row in rows if row.load == 16.0)
    asked = rows_of(
        [
            {**table(1)[0], "concurrency": "16", "isl_mean": "1500", "curve_id": "new size"},
            {**table(1)[0], "concurrency": "16", "gpu_count": "64", "curve_id": "new count"},
        ],
        "test",
    )
    kinds = [
        {score.kind for score in accuracy(rows, [row]).scores if score.metric == "tpot"} for row in (middle, *asked)
    ]
    assert kinds == [{Kind.BETWEEN_LOADS}, {Kind.UNSEEN_LENGTHS}, {Kind.UNSEEN_CONFIGURATION}]


def test_refusals_are_counted_with_their_reason(rows: tuple[Row, ...]) -> None:
    far = rows_of([{**table(1)[0], "concurrency": "16", "isl_mean": "900000", "curve_id": "far"}], "test")
    found = as_json(accuracy(rows, far))
    assert found["refused"] == 1
    assert any("times apart" in reason for reason in found["refusals"])  # type: ignore[attr-defined]


def test_q_slo_is_scored_at_the_own_latencies_of_the_point_left_out(rows: tuple[Row, ...]) -> None:
    scores = [score for score in accuracy(rows, rows, [LeaveOut.POINT]).scores if score.metric == Q_SLO]
    assert len(scores) == 120
    assert all(score.predicted is not None for score in scores)
    # The law is straight in the load, where the planner's shape reaches limits early and promises nothing too much.
    assert -0.7 < min(score.error for score in scores) < -0.1
    assert max(score.error for score in scores) < 0.1


def test_q_slo_walks_to_the_first_miss() -> None:
    rungs = [
        Rung(1.0, {"throughput": 10.0, "tpot": 5.0}),
        Rung(4.0, {"throughput": 30.0, "tpot": 20.0}),
        Rung(16.0, {"throughput": 90.0, "tpot": 6.0}),
    ]
    found = q_slo(rungs, {"tpot": 10.0})
    assert isinstance(found, float)
    assert 10.0 < found < 30.0
    assert q_slo(rungs, {"tpot": 1.0}) == "the lowest load left misses the limits"
    assert "lower bound" in str(q_slo(rungs, {"tpot": 30.0}))


def test_a_load_beside_the_crossing_of_a_usual_limit_is_judged_by_the_whole_curve() -> None:
    loads = (1.0, 2.0, 4.0, 8.0, 16.0)
    rungs = [Rung(load, {"throughput": 1000 * load / (10 + 2 * load), "tpot": 10 + 2 * load}) for load in loads]
    # TPOT of 20 ms is reached between 4 and 8.
    assert list(beside_fixed_limits(rungs, 2.0)) == []
    ((part, whole),) = beside_fixed_limits(rungs, 4.0)
    assert part == pytest.approx(whole, rel=0.1)
    assert part != whole


def test_the_page_names_every_kind_judged(rows: tuple[Row, ...]) -> None:
    text = page(accuracy(rows, rows, list(LeaveOut)))
    for title in ("Between measured loads", "Q_slo", "Other lengths"):
        assert f"## {title}" in text
    assert "leaving out point, bucket, configuration in turn" in text
