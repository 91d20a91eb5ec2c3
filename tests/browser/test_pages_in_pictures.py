"""Every page on the sample data: in pictures, in the dark, on a phone, in Chinese, and without its servers."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from browser_driver import Site, figures, press, serving, showing
from playwright.sync_api import expect

from tonnage.client import messages as pb

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]

VRAM = {
    "model": "meta-llama/Llama-3.1-70B-Instruct",
    "accelerator": "h100-sxm-80gb",
    "engine": "vllm",
    "tensor_parallel": "4",
    "request_tokens": "8192",
    "concurrency": "32",
}


@pytest.fixture(scope="module")
def fingerprint(seeded: Site) -> str:
    """Return a configuration with many measured loads."""
    with seeded.planning_client() as client:
        known = client.list_configurations(pb.ListConfigurationsRequest(page_size=1000)).configurations
    return max(
        (one for one in known if not one.missing_for_plan), key=lambda one: one.level_count
    ).configuration.fingerprint


@pytest.fixture
def plan_address(seeded: Site, new_page: Callable[..., Page]) -> str:
    """Return the link of the example plan."""
    page = new_page()
    page.goto(f"{seeded.ui}/plan")
    press(page, "example_button")
    assert int(figures(page, "plan_counts")[0].removeprefix("≤ ")) >= 1
    return page.url


def test_the_start_page_shows_the_store_and_the_ways_on(
    seeded: Site, new_page: Callable[..., Page], picture: Callable[..., None]
) -> None:
    page = new_page()
    page.goto(seeded.ui)
    assert len(figures(page, "home_store")) == 5
    picture(page, "start")


def test_an_example_leads_to_a_first_plan_in_one_click(
    plan_address: str, new_page: Callable[..., Page], picture: Callable[..., None]
) -> None:
    for name, options in (
        ("plan", {}),
        ("plan-dark", {"scheme": "dark"}),
        ("plan-phone", {"width": 390, "height": 844}),
    ):
        page = new_page(**options)
        page.goto(plan_address)
        expect(page.locator(".st-key-plan_curve_chart svg").first).to_be_visible()
        overflow = page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
        assert overflow <= 0, name
        picture(page, name, 3600 if name == "plan-phone" else 2200)


def test_the_same_link_opens_in_chinese(
    plan_address: str, new_page: Callable[..., Page], picture: Callable[..., None]
) -> None:
    english, chinese = new_page(), new_page()
    english.goto(plan_address)
    chinese.goto(f"{plan_address}&lang=zh")
    assert figures(chinese, "plan_counts") == figures(english, "plan_counts")
    expect(chinese.locator("h1")).to_have_text("规划")
    picture(chinese, "plan-zh")


def test_a_curve_is_explored_with_a_limit(
    seeded: Site, fingerprint: str, new_page: Callable[..., Page], picture: Callable[..., None]
) -> None:
    page = new_page()
    page.goto(f"{seeded.ui}/benchmarks?" + urlencode({"configuration": fingerprint}))
    expect(page.locator(".st-key-explorer_chart svg").first).to_be_visible()
    picture(page, "benchmarks")


def test_a_model_is_fitted_term_by_term(
    seeded: Site, new_page: Callable[..., Page], picture: Callable[..., None]
) -> None:
    page = new_page()
    page.goto(f"{seeded.ui}/vram?" + urlencode(VRAM))
    expect(page.locator(".st-key-vram_ledger canvas, .st-key-vram_ledger svg").first).to_be_visible()
    assert len(figures(page, "vram_figures")) == 4
    expect(page.locator(".st-key-vram_map canvas, .st-key-vram_map svg").first).to_be_visible()
    picture(page, "vram")


def test_a_plan_is_varied_and_drawn_as_steps(
    seeded: Site, plan_address: str, new_page: Callable[..., Page], picture: Callable[..., None]
) -> None:
    varied = {"vary": "peak_rps", "vary_low": "1", "vary_high": "20", "vary_count": "20", "lines": "ttft_p50_ms"}
    query = plan_address.partition("?")[2] + "&" + urlencode({**varied, "lines_values": "1500, 2500, 10000"})
    page = new_page()
    page.goto(f"{seeded.ui}/explore?{query}")
    chart = page.locator(".st-key-explore_chart")
    expect(chart).to_contain_text("Peak rate, requests/s")
    expect(chart).to_contain_text("TTFT p50")
    picture(page, "explore", 1300)


def test_what_has_to_be_measured_again_is_a_matrix(
    seeded: Site, new_page: Callable[..., Page], picture: Callable[..., None]
) -> None:
    page = new_page()
    page.goto(f"{seeded.ui}/freshness")
    expect(page.locator(".st-key-freshness_chart canvas, .st-key-freshness_chart svg").first).to_be_visible()
    picture(page, "freshness", 1300)


def test_tenants_are_summed_against_the_limit(
    seeded: Site, fingerprint: str, new_page: Callable[..., Page], picture: Callable[..., None]
) -> None:
    with seeded.planning_client() as client:
        curve = client.get_curve(pb.GetCurveRequest(configuration=pb.Configuration(fingerprint=fingerprint)))
    text = curve.measured_work.text
    tenants = {
        "tenant_count": "2",
        "t1_name": "chat",
        "t1_peak": "0.2",
        "t1_configuration": fingerprint,
        "t1_input_tokens": f"{text.input_tokens_mean:g}",
        "t1_output_tokens": f"{text.output_tokens_mean:g}",
        "t1_limits": "ttft_p50",
        "t1_ttft_p50_ms": "8000",
        "t2_name": "search",
        "t2_peak": "0.1",
        "t2_q": "0.4",
        "reserve_kind": "whole",
        "reserve": "0.2",
        "reserve_source": "agreed with operations",
    }
    page = new_page()
    page.goto(f"{seeded.ui}/fleet?" + urlencode(tenants))
    total, limit = figures(page, "fleet_figures")
    assert total.endswith("%")
    assert limit == "83.3 %"
    picture(page, "fleet", 1300)


def test_an_outage_in_the_middle_says_what_to_do_and_hides_no_answer(
    root: Path, tmp_path: Path, new_page: Callable[..., Page]
) -> None:
    with serving(tmp_path / "data") as (servers, site), showing(root / "ui" / "app.py", site) as address:
        page = new_page()
        page.goto(f"{address}/plan")
        expect(page.get_by_text("Nothing is stored yet")).to_be_visible()
        servers.terminate()
        servers.wait(30)
        press(page, "plan_button")
        expect(page.get_by_text("The service does not answer").first).to_be_visible()
        expect(page.get_by_text("tonnage serve").first).to_be_visible()
        expect(page.get_by_text("Nothing is stored yet")).to_have_count(0)
