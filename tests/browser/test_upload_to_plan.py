"""From a load tool's file to a plan somebody else can open, in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from browser_driver import Site, choose, figures, fill, press, settled
from playwright.sync_api import expect

from tonnage.client import messages as pb

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

LABELS = {
    "model": "HuggingFaceTB/SmolLM2-135M-Instruct",
    "accelerator": "cpu-x86-64-1-core",
    "accelerators_per_replica": "1",
    "engine": "llama.cpp",
    "engine_version": "0.6",
    "weight_precision": "q4_1",
    "replicas_under_test": "1",
}
DEMAND = {"base_requests_per_s": "4", "peak_factor": "2.5", "peak_factor_source": "gateway log, March 2026"}


def _stored_runs(site: Site) -> int:
    with site.planning_client() as client:
        return client.list_runs(pb.ListRunsRequest()).total_count


def _upload(page: Page, site: Site, files: list[Path]) -> None:
    page.goto(f"{site.ui}/upload")
    settled(page)
    page.set_input_files("input[type=file]", files)
    settled(page)
    for key, value in LABELS.items():
        fill(page, f"given_{key}", value)


def test_a_file_becomes_a_curve_and_a_plan_that_another_reader_opens(
    site: Site, new_page: Callable[..., Page], root: Path, picture: Callable[..., None]
) -> None:
    page = new_page()
    page.goto(site.ui)
    expect(page.get_by_text("Nothing is stored yet")).to_be_visible()

    files = sorted((root / "bench_data" / "samples" / "vllm-bench-serve").glob("*.json"))
    _upload(page, site, files)
    expect(page.get_by_text("vllm-bench-serve").first).to_be_visible()
    assert _stored_runs(site) == 0
    press(page, "ingest_button")
    expect(page.get_by_text(re.compile(r"Stored: runs: 1"))).to_have_count(len(files))
    picture(page, "upload")
    for language in ("中文", "English"):
        page.locator(".st-key-lang").get_by_text(language).click()
        settled(page)
    assert _stored_runs(site) == len(files)

    page.get_by_text("See its curve").first.click()
    expect(page.locator(".st-key-explorer_chart svg").first).to_be_visible()
    assert page.locator("h1").inner_text() == "Benchmarks"

    page.get_by_text("Plan with this configuration").click()
    expect(page.locator("h1")).to_have_text("Plan")
    settled(page)
    for key, value in DEMAND.items():
        fill(page, key, value)
    choose(page, "limits", "TTFT p50")
    fill(page, "ttft_p50_ms", "600")
    page.locator(".st-key-reserve_kind").get_by_text("None", exact=True).click()
    settled(page)
    press(page, "plan_button")
    counts = figures(page, "plan_counts")
    assert int(counts[0]) >= 1
    expect(page.locator(".st-key-plan_curve_chart svg").first).to_be_visible()
    expect(page.locator(".st-key-plan_curve_chart")).to_contain_text("SLO: TTFT p50 ≤ 600 ms")
    expect(page.locator(".st-key-plan_curve_chart")).to_contain_text("Q_slo")

    other = new_page()
    other.goto(page.url)
    assert figures(other, "plan_counts") == counts
    expect(other.locator(".st-key-stale")).to_have_count(0)

    fill(other, "peak_factor", "5")
    expect(other.get_by_text("The inputs have changed")).to_be_visible()
    assert figures(other, "plan_counts") == counts
    press(other, "plan_button")
    expect(other.get_by_text("The inputs have changed")).to_have_count(0)
    assert int(figures(other, "plan_counts")[0]) > int(counts[0])


def test_the_same_files_in_another_tab_add_nothing(site: Site, new_page: Callable[..., Page], root: Path) -> None:
    before = _stored_runs(site)
    page = new_page()
    _upload(page, site, sorted((root / "bench_data" / "samples" / "vllm-bench-serve").glob("*.json")))
    press(page, "ingest_button")
    expect(page.get_by_text(re.compile("Already there")).first).to_be_visible()
    assert _stored_runs(site) == before > 0


def test_a_file_nobody_recognises_is_refused_beside_its_name(
    site: Site, new_page: Callable[..., Page], tmp_path: Path
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("nothing was measured here\n", encoding="utf-8")
    before = _stored_runs(site)
    page = new_page()
    page.goto(f"{site.ui}/upload")
    settled(page)
    page.set_input_files("input[type=file]", notes)
    settled(page)
    expect(page.get_by_text("The request cannot be answered as it stands")).to_be_visible()
    press(page, "ingest_button")
    assert _stored_runs(site) == before


def test_an_answer_downloads_as_the_reply_itself(site: Site, new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto(f"{site.ui}/benchmarks")
    settled(page)
    with site.planning_client() as client:
        fingerprint = (
            client.list_configurations(pb.ListConfigurationsRequest()).configurations[0].configuration.fingerprint
        )
    page.goto(f"{site.ui}/benchmarks?configuration={fingerprint}")
    settled(page)
    page.locator(".st-key-curve_reproduce summary").click()
    with page.expect_download() as download:
        page.locator(".st-key-curve_download_answer button").click()
    assert fingerprint in download.value.path().read_text(encoding="utf-8")
