"""The Plan page: what it asks, when it says that its answer is stale, and what it shows instead of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest
from builders_ui import AS_OF, FINGERPRINT, MODEL, Services, a_candidate

from tonnage.client import messages as pb

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streamlit.testing.v1 import AppTest

    Open = Callable[..., AppTest]

ADDRESS = {
    "model": MODEL,
    "input_tokens": "1000",
    "output_tokens": "100",
    "base_requests_per_s": "25",
    "peak_factor": "4",
    "peak_factor_source": "log",
    "limits": ["ttft_p90"],
    "ttft_p90_ms": "500",
    "reserve_kind": "none",
}


def _said(app: AppTest) -> str:
    shown = [*app.markdown, *app.caption, *app.warning, *app.error, *app.info, *app.text, *app.title, *app.subheader]
    return "\n".join(str(element.value) for element in shown)


def _listed(value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _address(app: AppTest) -> dict[str, list[str]]:
    return {key: _listed(value) for key, value in app.query_params.items()}


def _plans(services: Services) -> list[pb.PlanCapacityRequest]:
    return [request for request in services.requests if isinstance(request, pb.PlanCapacityRequest)]


def test_nothing_is_planned_before_the_button_is_pressed(services: Services, open_page: Open) -> None:
    app = open_page("plan", **ADDRESS)
    assert _plans(services) == []
    assert "Describe the workload" in _said(app)


def test_the_button_asks_what_the_address_says(services: Services, open_page: Open) -> None:
    app = open_page("plan", **ADDRESS)
    app.button(key="plan_button").click().run()
    asked = _plans(services)[0].workload
    assert asked.demand.base_and_peak.peak_factor == 4
    assert asked.slo.latency_limits[0].max_ms == 500
    assert asked.reserve.WhichOneof("kind") == "none"
    assert [metric.value for metric in app.metric][:4] == ["7", "1", "7", "8"]


def test_the_address_after_planning_holds_every_input_and_the_date(open_page: Open) -> None:
    app = open_page("plan", **ADDRESS)
    app.button(key="plan_button").click().run()
    address = _address(app)
    assert address["as_of"] == [AS_OF]
    assert address["data_version"] == ["3"]
    assert {key: address[key] for key in ADDRESS} == {key: _listed(value) for key, value in ADDRESS.items()}


def test_a_link_with_a_date_opens_the_answer(services: Services, open_page: Open) -> None:
    app = open_page("plan", **ADDRESS, as_of=AS_OF)
    assert len(_plans(services)) == 1
    assert "7 replicas on 1 server" in _said(app)
    assert "inputs have changed" not in _said(app)


def test_a_changed_input_marks_the_answer_stale_and_planning_again_clears_it(
    services: Services, open_page: Open
) -> None:
    app = open_page("plan", **ADDRESS)
    app.button(key="plan_button").click().run()
    assert "inputs have changed" not in _said(app)
    app.number_input(key="peak_factor").set_value(5.0).run()
    assert "inputs have changed" in _said(app)
    assert len(_plans(services)) == 1
    app.button(key="plan_button").click().run()
    assert "inputs have changed" not in _said(app)
    assert len(_plans(services)) == 2


def test_new_data_marks_the_answer_stale(services: Services, open_page: Open) -> None:
    app = open_page("plan", **ADDRESS, as_of=AS_OF)
    assert "New data" not in _said(app)
    services.data_version = 4
    app.run()
    assert "New data has arrived" in _said(app)


def test_a_link_of_another_data_version_says_so(open_page: Open) -> None:
    app = open_page("plan", **ADDRESS, as_of=AS_OF, data_version="2")
    assert "link was made on data version 2" in _said(app)
    same = open_page("plan", **ADDRESS, as_of=AS_OF, data_version="3")
    assert "link was made" not in _said(same)


def test_a_download_does_not_plan_again_and_the_answer_stays(services: Services, open_page: Open) -> None:
    app = open_page("plan", **ADDRESS, as_of=AS_OF)
    app.run()
    assert len(_plans(services)) == 1
    assert "7 replicas on 1 server" in _said(app)


def test_part_of_a_link_that_is_not_understood_is_named(open_page: Open) -> None:
    app = open_page("plan", **{**ADDRESS, "peak_factor": "many", "reserve_kind": "some"})
    assert "peak_factor=many" in _said(app)
    assert "reserve_kind=some" in _said(app)
    assert app.number_input(key="peak_factor").value is None


def test_a_lower_bound_is_shown_as_at_most(services: Services, open_page: Open) -> None:
    services.plan_changes = {"candidates": [a_candidate(upper_bound=True)]}
    app = open_page("plan", **ADDRESS, as_of=AS_OF)
    assert app.metric[0].value == "≤ 7"
    assert "at most this many" in _said(app)


def test_no_candidate_shows_the_verdict_and_no_number(services: Services, open_page: Open) -> None:
    services.plan_changes = {
        "verdict": pb.PLAN_VERDICT_NOT_KNOWN,
        "candidates": [],
        "summary": "nothing that was measured speaks of it",
    }
    app = open_page("plan", **ADDRESS, as_of=AS_OF)
    assert "Not known yet" in _said(app)
    assert len(app.metric) == 0


def test_several_candidates_can_be_looked_at_one_by_one(services: Services, open_page: Open) -> None:
    second = a_candidate()
    second.configuration.accelerator = "l4-24gb"
    second.count.replica_count = 40
    services.plan_changes = {"candidates": [a_candidate(), second]}
    app = open_page("plan", **ADDRESS, as_of=AS_OF)
    assert app.metric[0].value == "7"
    app.selectbox(key="candidate").select_index(1).run()
    assert app.metric[0].value == "40"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (grpc.StatusCode.UNAVAILABLE, "The service does not answer"),
        (grpc.StatusCode.UNAUTHENTICATED, "The server refuses this identity"),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "No answer came in time"),
    ],
)
def test_an_outage_shows_its_state_and_what_to_do(
    services: Services, open_page: Open, code: grpc.StatusCode, said: str
) -> None:
    services.refuse = code
    app = open_page("plan")
    assert said in _said(app)
    assert "Nothing is stored yet" not in _said(app)
    assert len(app.dataframe) == 0


def test_a_refused_request_shows_the_reason_and_keeps_the_form(services: Services, open_page: Open) -> None:
    services.refuse_plan = grpc.StatusCode.INVALID_ARGUMENT
    app = open_page("plan", model=MODEL)
    app.button(key="plan_button").click().run()
    assert "cannot be answered as it stands" in _said(app)
    assert "workload.demand: is not stated" in _said(app)
    assert app.selectbox(key="model").value == MODEL


def test_an_empty_store_leads_to_the_upload(services: Services, open_page: Open) -> None:
    services.empty = True
    app = open_page("plan")
    assert "Nothing is stored yet" in _said(app)
    assert any("tonnage ingest" in code.value for code in app.code)


def test_the_example_is_planned_on_measured_lengths_and_calls_its_demand_made_up(
    services: Services, open_page: Open
) -> None:
    app = open_page("plan")
    app.button(key="example_button").click().run()
    asked = _plans(services)[0].workload
    assert asked.buckets[0].work.text.input_tokens_mean == 1000
    assert "example" in asked.demand.base_and_peak.peak_factor_source
    assert not app.exception
    assert app.metric[0].value == "7"


def test_the_page_speaks_chinese(open_page: Open) -> None:
    app = open_page("plan", **ADDRESS, as_of=AS_OF, lang="zh")
    assert "可以承载" in _said(app)
    assert app.button(key="plan_button").label == "规划"
    assert _address(app)["limits"] == ["ttft_p90"]


def test_the_limited_latency_is_drawn_though_another_page_showed_another_one(open_page: Open) -> None:
    app = open_page("benchmarks", configuration=FINGERPRINT)
    assert app.selectbox(key="shown_latency").value == "ttft_p50"
    app.switch_page("app_pages/plan.py")
    for key, value in {**ADDRESS, "as_of": AS_OF}.items():
        app.query_params[key] = value
    app.run()
    assert app.selectbox(key="shown_latency").value == "ttft_p90"


def test_a_latency_that_was_picked_stays_when_the_limit_changes(open_page: Open) -> None:
    app = open_page("plan", **ADDRESS, as_of=AS_OF)
    app.selectbox(key="shown_latency").select("ttft_p50").run()
    app.number_input(key="ttft_p90_ms").set_value(400.0).run()
    assert app.selectbox(key="shown_latency").value == "ttft_p50"
    assert _address(app)["shown_latency"] == ["ttft_p50"]
