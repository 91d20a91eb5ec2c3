"""A real Chromium before the real front end, planning and ingest processes.

``TONNAGE_UPDATE_IMAGES=1`` puts the pictures that the tests take into ``docs/images``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser_driver import Site, serving, settled
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Return a whole product on an empty store."""
    with serving(tmp_path_factory.mktemp("site") / "data", "--ui") as (_, site):
        yield site


@pytest.fixture(scope="module")
def seeded(site: Site, root: Path) -> Site:
    """Return the product with the sample data in its store."""
    command = [sys.executable, "-m", "tonnage.cli", "ingest", str(root / "bench_data"), "--ingest", site.ingest]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return site


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Return a browser; where Chromium is not installed the tests are skipped, but never in CI."""
    if not CHROMIUM.exists() and not os.environ.get("CI"):
        pytest.skip(f"{CHROMIUM} is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Return what opens a page in a context of its own, as another reader would."""
    contexts = []

    def open_(width: int = 1440, height: int = 1000, scheme: str = "light") -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            locale="en-US",
        )
        contexts.append(context)
        return context.new_page()

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture
def picture(root: Path, tmp_path: Path) -> Callable[..., None]:
    """Return what takes a picture of a page, down to a height at most."""
    folder = root / "docs" / "images" if os.environ.get("TONNAGE_UPDATE_IMAGES") else tmp_path

    def take(page: Page, name: str, most: int = 2200) -> None:
        settled(page)
        size = page.viewport_size
        assert size is not None
        height = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollHeight")
        page.set_viewport_size({"width": size["width"], "height": min(height, most)})
        settled(page)
        page.mouse.move(0, 0)
        page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
        page.wait_for_timeout(1000)  # charts draw themselves anew after a resize, and tell nobody
        page.screenshot(path=folder / f"{name}.png")
        page.set_viewport_size(size)

    return take
