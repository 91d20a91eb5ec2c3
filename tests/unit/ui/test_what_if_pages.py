"""Explore, Freshness and Fleet: requests, pictures and lines."""

from __future__ import annotations

import json

import pytest
from builders_ui import FINGERPRINT, a_candidate, a_capacity, a_configuration

from tonnage.client import messages as pb
from tonnage_ui.charts.explore import what_if as explore_chart
from tonnage_ui.charts.fleet import utilization as fleet_chart
from tonnage_ui.charts.freshness import matrix as freshness_chart
from tonnage_ui.charts.palette import palette
from tonnage_ui.forms import explore, fleet
from tonnage_ui.forms.retest import retest_request
from tonnage_ui.presenters import explore as explored
from tonnage_ui.presenters import fleet as fleet_presenter
from tonnage_ui.presenters import freshness
from tonnage_ui.words import words_of

WORDS = words_of("en")
COLOURS = palette("light")


def _point(value: float, replicas: int | None, line: float | None = None) -> pb.ExplorePlansResponse:
    point = pb.ExplorePlansResponse(values=[value] if line is None else [value, line], reason="too slow")
    if replicas is not None:
        point.best.CopyFrom(a_candidate(count=pb.ServerCount(replica_count=replicas, server_count=replicas)))
    return point


def test_every_thing_that_can_be_varied_is_asked_by_its_own_field() -> None:
    asked = {}
    for name in explore.VARIED:
        axis = explore.explore_request({"vary": name, "vary_low": 1.0, "vary_high": 2.0, "vary_count": 2}).axes[0]
        asked[name] = (axis.field, axis.metric, axis.statistic)
        assert explore.name_of(axis) == name
    assert len(set(asked.values())) == len(explore.VARIED)


def test_a_span_keeps_its_ends_and_lines_their_values() -> None:
    values = {
        "vary": "peak_rps",
        "vary_low": 1.0,
        "vary_high": 100.0,
        "vary_count": 5,
        "vary_geometric": True,
        "lines": "ttft_p90_ms",
        "lines_values": "200, 500",
    }
    span, lines = explore.explore_request(values).axes
    assert (span.span.low, span.span.high, span.span.count, span.span.geometric) == (1.0, 100.0, 5, True)
    assert list(lines.values.values) == [200.0, 500.0]


def test_a_list_with_something_else_than_numbers_is_told() -> None:
    assert explore.not_numbers({"lines_values": "200, many, 1e3"}) == ["many"]


@pytest.mark.parametrize("missing", ["vary", "vary_low", "vary_high"])
def test_nothing_is_explored_before_its_ends_are_named(missing: str) -> None:
    values = {"vary": "peak_rps", "vary_low": 0.0, "vary_high": 2.0}
    assert explore.is_askable(values)
    assert not explore.is_askable({**values, missing: None})


def test_a_point_that_cannot_be_served_is_a_gap_and_not_zero() -> None:
    points = [_point(1, 2), _point(2, None), _point(3, 0)]
    shown = explored.what_if(points, "rate", str, "replicas", WORDS)
    option = explore_chart(shown, COLOURS, log_axis=False)
    assert [row[1] for row in option["series"][0]["data"]] == [2, None, 0]
    assert option["series"][0]["connectNulls"] is False
    assert explored.unserved_count(points) == 1
    assert explored.rows(points, ["rate"], WORDS)[1]["Replicas"] == "–"


def test_each_value_of_the_second_axis_has_its_line() -> None:
    points = [_point(1, 2, 200), _point(1, 1, 500), _point(2, 4, 200), _point(2, 2, 500)]
    shown = explored.what_if(points, "rate", "TTFT {:g}".format, "replicas", WORDS)
    assert [(line.name, [point[1] for point in line.points]) for line in shown.lines] == [
        ("TTFT 200", [2, 4]),
        ("TTFT 500", [1, 2]),
    ]


def test_lines_differ_in_shape_and_not_in_colour_alone() -> None:
    points = [_point(1, 2, 200), _point(1, 1, 500)]
    series = explore_chart(
        explored.what_if(points, "rate", "TTFT {:g}".format, "replicas", WORDS), COLOURS, log_axis=True
    )["series"]
    assert series[0]["symbol"] != series[1]["symbol"]


def test_an_unknown_cost_is_not_drawn_as_free() -> None:
    assert explored.figure(_point(1, 2), "cost") is None


def _item() -> pb.RetestItem:
    states = [
        pb.StateCoverage(state=pb.TEST_STATE_TYPICAL, covered=True),
        pb.StateCoverage(state=pb.TEST_STATE_PEAK, covered=True),
        pb.StateCoverage(state=pb.TEST_STATE_SOAK, covered=False),
    ]
    return pb.RetestItem(
        configuration=a_configuration(),
        verdict=pb.RETEST_VERDICT_ADVISED,
        states=states,
        states_to_run=[pb.TEST_STATE_PEAK],
        changes=[pb.FieldChange(field="engine_version", measured="0.18", planned="0.19", reason="schedulers differ")],
    )


def test_the_matrix_tells_measured_missing_and_to_run_apart() -> None:
    shown = freshness.matrix([_item()], WORDS)
    assert shown.states == ("typical", "peak", "soak")
    assert [cell[2:] for cell in shown.cells] == [(2, "measured"), (0, "run"), (1, "–")]
    option = freshness_chart(shown, COLOURS, WORDS)
    assert json.loads(json.dumps(option, allow_nan=False)) == option


def test_an_undated_run_has_no_age_and_not_age_zero() -> None:
    dated = _item()
    dated.age_days = 0
    assert [freshness.rows([item], WORDS)[0]["Age, days"] for item in (_item(), dated)] == ["–", "0"]


def test_a_change_is_shown_with_both_values_and_the_reason() -> None:
    row = freshness.change_rows(_item(), WORDS)[0]
    assert (row["Measured"], row["Planned"], row["Reason"]) == ("0.18", "0.19", "schedulers differ")


def test_an_empty_question_checks_everything_against_itself() -> None:
    assert not retest_request({"fingerprint": FINGERPRINT}, 10).HasField("planned")
    assert retest_request({"model": "m", "engine": "vllm"}, 10).planned == pb.Configuration(model="m", engine="vllm")


TENANTS = {
    "tenant_count": 2,
    "t1_name": "chat",
    "t1_peak": 4.0,
    "t1_q": 10.0,
    "t2_name": "search",
    "t2_peak": 2.0,
    "t2_configuration": FINGERPRINT,
    "t2_input_tokens": 1000.0,
    "t2_output_tokens": 100.0,
    "t2_limits": ["ttft_p90"],
    "t2_ttft_p90_ms": 500.0,
    "reserve_kind": "none",
}


def test_a_stated_capacity_is_sent_and_another_one_is_looked_up() -> None:
    chat, search = fleet.utilization_request(TENANTS).tenants
    assert chat == pb.Tenant(name="chat", peak_requests_per_s=4.0, q_slo_requests_per_s=10.0)
    assert search.configuration.fingerprint == FINGERPRINT
    assert search.slo.latency_limits[0].max_ms == 500
    assert not search.HasField("q_slo_requests_per_s")


@pytest.mark.parametrize("missing", ["t1_name", "t2_peak", "t2_configuration", "reserve_kind"])
def test_nothing_is_asked_before_every_tenant_is_described(missing: str) -> None:
    assert fleet.is_askable(TENANTS)
    assert not fleet.is_askable({**TENANTS, missing: None})


def _utilization(**changes: object) -> pb.ComputeUtilizationResponse:
    stated: dict[str, object] = {
        "total_utilization_ratio": 0.5,
        "limit_ratio": 0.8,
        "within_limit": True,
        "first_to_breach": "chat",
        "tenants": [
            pb.TenantUtilization(tenant="chat", peak_requests_per_s=4, q_slo_requests_per_s=10, utilization_ratio=0.4),
            pb.TenantUtilization(tenant="search", peak_requests_per_s=2, capacity=a_capacity(), utilization_ratio=0.1),
        ],
    }
    return pb.ComputeUtilizationResponse(**{**stated, **changes})  # type: ignore[arg-type]


def test_the_bar_adds_up_and_the_limit_is_a_line() -> None:
    bars = fleet_presenter.bars(_utilization())
    option = fleet_chart(bars, 80.0, "Limit", COLOURS)
    assert sum(series["data"][0] for series in option["series"]) == pytest.approx(50.0)
    assert option["series"][0]["markLine"]["data"][0]["xAxis"] == 80.0


def test_an_unknown_total_is_neither_a_yes_nor_a_no() -> None:
    unknown = _utilization(within_limit=False)
    unknown.ClearField("total_utilization_ratio")
    tones = [fleet_presenter.headline(answer, WORDS).tone for answer in (_utilization(), unknown)]
    tones.append(fleet_presenter.headline(_utilization(within_limit=False), WORDS).tone)
    assert tones == ["success", "info", "error"]
    assert fleet_presenter.figures(unknown, WORDS)[0].value == "–"


def test_a_tenant_without_a_capacity_is_no_bar_of_length_zero() -> None:
    answer = _utilization()
    answer.tenants[1].ClearField("utilization_ratio")
    assert [name for name, _ in fleet_presenter.bars(answer)] == ["chat"]
    assert fleet_presenter.rows(answer, WORDS)[1]["Use at peak"] == "–"


@pytest.mark.parametrize(
    ("path", "key"),
    [("tenants[1].peak_requests_per_s", "tenant_peak"), ("tenants[0].slo.latency_limits[0].max_ms", "limits")],
)
def test_a_refused_field_of_a_tenant_is_named_by_its_label(path: str, key: str) -> None:
    assert fleet.key_of_field(path) == key
    assert WORDS.has(f"field.{key}")
