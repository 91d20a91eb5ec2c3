"""axe-core finds nothing serious on any page, in light and in dark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser_driver import Site, press, settled
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]

PAGES = (
    "",
    "plan",
    "vram?model=meta-llama%2FLlama-3.1-8B-Instruct&accelerator=h100-sxm-80gb&request_tokens=8192&concurrency=16",
    "benchmarks",
    "fleet",
    "explore",
    "freshness",
    "upload",
)


def _grave(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:120]}"
        for violation in found
        if violation["impact"] in {"serious", "critical"}
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_stands_in_the_way_of_a_reader(
    seeded: Site, new_page: Callable[..., Page], scheme: str
) -> None:
    page = new_page(scheme=scheme)
    found = {}
    for address in PAGES:
        page.goto(f"{seeded.ui}/{address}")
        expect(page.locator("h1")).to_be_visible()
        settled(page)
        found[address] = _grave(page)
    page.goto(f"{seeded.ui}/plan")
    press(page, "example_button")
    expect(page.locator(".st-key-plan_curve_chart svg").first).to_be_visible()
    expect(page.locator(".st-key-example_button")).to_have_count(0)
    settled(page)
    found["answer"] = _grave(page)
    assert {address: grave for address, grave in found.items() if grave} == {}
