"""The latency-throughput picture: what is drawn stands in the reply, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builders_ui import a_capacity, a_curve

from tonnage.client import messages as pb
from tonnage_ui.charts.axes import round_end
from tonnage_ui.charts.curve import latency_throughput
from tonnage_ui.charts.palette import palette
from tonnage_ui.presenters import curve
from tonnage_ui.words import words_of

WORDS = words_of("en")
SLO = pb.Slo(latency_limits=[pb.LatencyLimit(metric=pb.LATENCY_METRIC_TTFT, statistic=pb.STATISTIC_P90, max_ms=500.0)])


def _option(reply: pb.GetCurveResponse, slo: pb.Slo | None = SLO, **shown: str) -> dict[str, Any]:
    picture = curve.picture(reply, shown.get("metric", "ttft"), shown.get("statistic", "p90"), WORDS, slo=slo)
    return latency_throughput([picture], palette("light"), WORDS)


def _series(option: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((series for series in option["series"] if series["name"] == name), None)


def _lines(option: dict[str, Any]) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = option["series"][0]["markLine"]["data"]
    return lines


def test_points_are_drawn_where_they_were_measured() -> None:
    inside, outside = (_series(_option(a_curve()), f"{where} the SLO") for where in ("inside", "outside"))
    assert inside is not None
    assert outside is not None
    assert [row[:2] for row in inside["data"]] == [[1.9, 60.0], [6.8, 95.0], [17.5, 260.0]]
    assert [row[:3] for row in outside["data"]] == [[21.0, 900.0, "32"]]


def test_inside_and_outside_differ_in_shape_and_not_in_colour_alone() -> None:
    option = _option(a_curve())
    shapes = [series["symbol"] for series in option["series"] if series["name"].endswith("the SLO")]
    assert len(set(shapes)) == len(shapes) == 2


def test_the_slo_line_the_capacity_and_the_knee_are_drawn() -> None:
    lines = _lines(_option(a_curve()))
    assert [(line.get("yAxis"), line.get("xAxis")) for line in lines] == [(500.0, None), (None, 17.5), (None, 17.5)]
    assert [line["label"]["formatter"] for line in lines] == ["SLO: TTFT p90 ≤ 500 ms", "Q_slo 17.5 req/s", "knee"]


def test_the_slo_line_is_drawn_only_over_the_latency_it_limits() -> None:
    lines = _lines(_option(a_curve(), statistic="p50"))
    assert [line for line in lines if "yAxis" in line] == []


def test_the_crossing_lies_on_the_limit() -> None:
    crossing = _series(_option(a_curve()), "interpolated crossing")
    assert crossing is not None
    assert crossing["data"] == [[18.8, 500.0]]


def test_without_a_miss_an_arrow_says_at_least_and_no_crossing_is_drawn() -> None:
    reply = a_curve(capacity=a_capacity(bound=pb.CAPACITY_BOUND_AT_LEAST))
    reply.capacity.ClearField("crossing_requests_per_s")
    option = _option(reply)
    arrow = _series(option, "no miss measured: at least this much")
    assert arrow is not None
    assert arrow["symbol"] == "arrow"
    assert _series(option, "interpolated crossing") is None
    assert "Q_slo ≥ 17.5 req/s" in [line["label"]["formatter"] for line in _lines(option)]


def test_a_load_barred_from_capacity_is_drawn_apart() -> None:
    reply = a_curve()
    reply.points[0].level.usable = False
    barred = _series(_option(reply), "not used for capacity")
    assert barred is not None
    assert [row[2] for row in barred["data"]] == ["1"]


def test_a_load_without_the_latency_is_counted_and_not_drawn_at_zero() -> None:
    reply = a_curve()
    reply.points[1].level.ttft.ClearField("p90_ms")
    picture = curve.picture(reply, "ttft", "p90", WORDS, slo=SLO)
    assert picture.not_drawn_count == 1
    assert all(mark.latency_ms > 0 for mark in picture.marks)


def test_a_load_of_an_unknown_number_of_replicas_is_not_drawn() -> None:
    reply = a_curve()
    for point in reply.points:
        point.ClearField("requests_per_s_per_replica")
    assert not curve.picture(reply, "ttft", "p90", WORDS).has_marks


def test_only_measured_latencies_are_offered() -> None:
    assert curve.measured_statistics(a_curve()) == [("ttft", "p50"), ("ttft", "p90")]


def test_the_limited_latency_is_shown_first() -> None:
    offered = curve.measured_statistics(a_curve())
    assert curve.first_shown(offered, SLO) == ("ttft", "p90")
    assert curve.first_shown(offered, None) == ("ttft", "p50")


def test_a_wide_range_of_latencies_gets_a_log_axis_and_says_so() -> None:
    narrow, wide = a_curve(), a_curve()
    wide.points[3].level.ttft.p90_ms = 90_000
    assert _option(narrow)["yAxis"]["type"] == "value"
    assert _option(wide)["yAxis"]["type"] == "log"
    assert "log axis" in _option(wide)["yAxis"]["name"]


def test_the_option_is_plain_json() -> None:
    option = _option(a_curve())
    assert json.loads(json.dumps(option, allow_nan=False)) == option


def test_the_table_says_why_a_load_is_out() -> None:
    rows = curve.point_rows(a_curve(), WORDS)
    assert [row["Why"] for row in rows] == ["–", "–", "–", "ttft p90 900 ms > 500 ms"]
    assert rows[3]["TTFT p90"] == "900 ms"
    assert rows[0]["Load"] == "1 at once"


@pytest.mark.parametrize(("value", "end"), [(0.0, 1.0), (0.901, 1.0), (1.01, 1.2), (23.5, 25.0), (980.0, 1000.0)])
def test_an_axis_ends_at_a_readable_number_not_below_the_data(value: float, end: float) -> None:
    assert round_end(value) == end
