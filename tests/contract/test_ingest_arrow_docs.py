"""The page on bulk tables: its example runs as it stands."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from builders_ingest import an_ingest_server

from tonnage.ingest.arrow.columns import HEADERS, TYPES

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_example_stores_its_two_levels(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (root / "docs" / "arrow.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)

    async def life() -> None:
        async with an_ingest_server(tmp_path) as running:
            await asyncio.to_thread(exec, example, {"address": running.address})

    asyncio.run(life())
    assert capsys.readouterr().out == "2\n"


def test_the_page_names_every_column_that_is_no_field_of_a_configuration(root: Path) -> None:
    page = (root / "docs" / "arrow.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", page))
    texts = {"modality", "tool", "state", "sweep_id", "source", "provider", "topology", "host", "image"}
    assert texts <= named & set(HEADERS)
    assert {"completed_count", "failed_count", "vram_peak_bytes", "quality_score"} <= named & set(TYPES)
