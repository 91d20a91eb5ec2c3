"""Start, Benchmarks, VRAM fit and Upload: states and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest
from builders_ui import FINGERPRINT, MODEL, Services

from tonnage.client import messages as pb

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest

    Open = Callable[..., AppTest]

PAGES = ("start", "plan", "benchmarks", "vram", "upload", "freshness")
ALL_PAGES = (*PAGES, "fleet", "explore")


def _said(app: AppTest) -> str:
    shown = [*app.markdown, *app.caption, *app.warning, *app.error, *app.info, *app.text, *app.title, *app.subheader]
    return "\n".join(str(element.value) for element in shown)


@pytest.mark.parametrize("page", ALL_PAGES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_opens_in_both_languages(open_page: Open, page: str, language: str) -> None:
    app = open_page(page, lang=language)
    assert len(app.title) == 1


@pytest.mark.parametrize("page", PAGES)
def test_every_page_survives_an_outage_and_says_so(services: Services, open_page: Open, page: str) -> None:
    services.refuse = grpc.StatusCode.UNAVAILABLE
    assert "does not answer" in _said(open_page(page))


def test_the_start_page_shows_what_is_stored(open_page: Open) -> None:
    app = open_page("start")
    assert [metric.value for metric in app.metric] == ["1", "1", "4", "2026-11-01", "3"]


def test_the_start_page_of_an_empty_store_leads_to_the_upload(services: Services, open_page: Open) -> None:
    services.empty = True
    app = open_page("start")
    assert "Nothing is stored yet" in _said(app)
    assert len(app.metric) == 0


def test_what_is_stored_is_listed_once_for_one_data_version(services: Services, open_page: Open) -> None:
    app = open_page("start")
    before = [request for request in services.requests if isinstance(request, pb.ListConfigurationsRequest)]
    app.run()
    after = [request for request in services.requests if isinstance(request, pb.ListConfigurationsRequest)]
    assert [request.page_size for request in after[len(before) :]] == [1]


def test_a_curve_link_opens_the_curve_with_its_limit(services: Services, open_page: Open) -> None:
    app = open_page("benchmarks", configuration=FINGERPRINT, limits=["ttft_p90"], ttft_p90_ms="500")
    asked = [request for request in services.requests if isinstance(request, pb.GetCurveRequest)][-1]
    assert asked.configuration.fingerprint == FINGERPRINT
    assert asked.slo.latency_limits[0].max_ms == 500
    assert asked.work.text.input_tokens_mean == 1000
    assert "One replica carries 17.5 req/s" in _said(app)


def test_without_a_configuration_no_curve_is_asked(services: Services, open_page: Open) -> None:
    open_page("benchmarks")
    assert "GetCurve" not in services.calls


def test_the_list_is_paged_by_the_server(services: Services, open_page: Open) -> None:
    open_page("benchmarks", model=MODEL)
    asked = [request for request in services.requests if isinstance(request, pb.ListConfigurationsRequest)]
    pages = [request for request in asked if request.filter.model == MODEL]
    assert pages
    assert all(request.page_size == 10 for request in pages)


def test_vram_answers_once_a_model_and_an_accelerator_are_named(services: Services, open_page: Open) -> None:
    app = open_page("vram", model=MODEL)
    assert "FitVram" not in services.calls
    app = open_page("vram", model=MODEL, accelerator="h100-sxm-80gb", request_tokens="8192", concurrency="16")
    assert "It fits" in _said(app)
    assert [metric.value for metric in app.metric] == ["52", "52", "53,248", "1"]
    assert services.calls.count("FitVram") == 1 + 25


def test_an_uploaded_file_is_previewed_and_not_stored(services: Services, open_page: Open) -> None:
    app = open_page("upload")
    app.file_uploader(key="files").upload("a.json", b"{}", "application/json").run()
    assert services.calls.count("ConvertReport") == 1
    assert "IngestReport" not in services.calls
    assert "vllm-bench-serve" in _said(app)


def test_reruns_never_read_or_store_a_file_twice(services: Services, open_page: Open) -> None:
    app = open_page("upload")
    app.file_uploader(key="files").upload("a.json", b"{}", "application/json").run()
    app.button(key="ingest_button").click().run()
    for _ in range(3):
        app.run()
    assert services.calls.count("ConvertReport") == 1
    assert services.calls.count("IngestReport") == 1
    assert app.button(key="ingest_button").disabled
    assert "Stored" in _said(app)


def test_another_session_with_the_same_file_says_already_there(open_page: Open) -> None:
    for said in ("Stored", "Already there"):
        app = open_page("upload")
        app.file_uploader(key="files").upload("a.json", b"{}", "application/json").run()
        app.button(key="ingest_button").click().run()
        assert said in _said(app)


def test_labels_go_with_the_file(services: Services, open_page: Open) -> None:
    app = open_page("upload")
    app.file_uploader(key="files").upload("a.json", b"{}", "application/json").run()
    app.text_input(key="given_accelerator").set_value("h100-sxm-80gb").run()
    sent = [request for request in services.requests if isinstance(request, pb.ConvertReportRequest)][-1]
    assert dict(sent.metadata.given) == {"accelerator": "h100-sxm-80gb"}
    assert sent.metadata.filename == "a.json"


def test_an_outage_during_the_upload_is_shown_beside_the_file_and_can_be_tried_again(
    services: Services, open_page: Open
) -> None:
    app = open_page("upload")
    app.file_uploader(key="files").upload("a.json", b"{}", "application/json").run()
    services.refuse = grpc.StatusCode.UNAVAILABLE
    app.button(key="ingest_button").click().run()
    assert "does not answer" in _said(app)
    assert not app.button(key="ingest_button").disabled
    services.refuse = None
    app.button(key="ingest_button").click().run()
    assert "Stored" in _said(app)


def test_an_exploration_link_opens_its_points_and_a_changed_end_marks_them_stale(
    services: Services, open_page: Open
) -> None:
    address = {"model": MODEL, "vary": "peak_rps", "vary_low": "10", "vary_high": "50", "vary_count": "5"}
    app = open_page("explore", **address)
    assert len(app.dataframe[0].value) == 5
    assert "inputs have changed" not in _said(app)
    app.number_input(key="vary_high").set_value(60.0).run()
    assert "inputs have changed" in _said(app)
    assert services.calls.count("ExplorePlans") == 1
    app.button(key="explore_button").click().run()
    assert "inputs have changed" not in _said(app)
    assert services.calls.count("ExplorePlans") == 2


def test_an_outage_of_an_exploration_shows_its_state(services: Services, open_page: Open) -> None:
    app = open_page("explore", vary="peak_rps", vary_low="10", vary_high="50")
    services.refuse = grpc.StatusCode.UNAVAILABLE
    app.button(key="explore_button").click().run()
    assert "does not answer" in _said(app)


def test_a_fleet_link_opens_its_answer(services: Services, open_page: Open) -> None:
    tenants = {
        "tenant_count": "2",
        "t1_name": "a",
        "t1_peak": "1",
        "t1_q": "4",
        "t2_name": "b",
        "t2_peak": "1",
        "t2_q": "4",
    }
    assert "ComputeUtilization" not in services.calls
    app = open_page("fleet", **tenants, reserve_kind="none")
    assert app.metric[0].value == "60 %"
    assert "They fit together" in _said(app)


def test_freshness_lists_what_has_to_be_measured_again(services: Services, open_page: Open) -> None:
    app = open_page("freshness")
    assert list(app.dataframe[0].value["Verdict"]) == ["measure again"]
    services.empty = True
    assert "Nothing is stored yet" in _said(open_page("freshness"))
