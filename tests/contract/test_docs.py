"""Pages can fail: coverage lists every row and names files that exist; links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "bench_data" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ROWS = {"A": 15, "B": 13, "C": 16, "D": 14, "E": 5, "F": 4, "G": 9, "H": 8, "I": 6, "J": 18}


def _rows() -> list[list[str]]:
    text = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if re.match(r"\| [A-J]\d+ ", line)
    ]


def test_coverage_lists_every_row_once() -> None:
    found = [row[0].split()[0] for row in _rows()]
    assert found == [f"{letter}{number}" for letter, count in ROWS.items() for number in range(1, count + 1)]


def test_coverage_claims_nothing_without_a_file_that_shows_it() -> None:
    missing = [
        f"{row[0]}: {name}"
        for row in _rows()
        for name in re.findall(r"`((?:tests|docs)/[^`]+)`", row[3])
        if not (ROOT / name).is_file()
    ]
    unshown = [row[0] for row in _rows() if row[1] == "yes" and not re.search(r"`(?:tests|docs)/", row[3])]
    assert (missing, unshown) == ([], [])
    assert {row[1] for row in _rows()} <= {"yes", "part", "no"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    lost = [one for one in targets if "://" not in one and not (page.parent / one).exists()]
    assert lost == []
