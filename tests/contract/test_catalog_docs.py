"""The memory pages tell the truth: examples run, figures are the ones the check prints."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING

from tonnage.accuracy import judge, main
from tonnage.capacity.memory.accuracy_text import markdown

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_examples_of_the_memory_page_run(root: Path) -> None:
    failed, tried = doctest.testfile(str(root / "docs/vram.md"), module_relative=False)
    assert tried > 3
    assert failed == 0


def test_the_accuracy_page_is_what_the_check_prints(root: Path, shared: Path) -> None:
    page = (root / "docs/accuracy.md").read_text("utf-8")
    assert markdown(judge(shared / "truth/vram_reports.csv")) in page


def test_the_check_keeps_the_aims_it_is_known_to_keep(shared: Path) -> None:
    report = judge(shared / "truth/vram_reports.csv")
    weights, pool = report.summary("weights_gib"), report.summary("kv_cache_gib")
    tokens, requests = report.summary("kv_cache_tokens"), report.summary("max_concurrency")
    assert weights is not None
    assert pool is not None
    assert tokens is not None
    assert requests is not None
    assert (weights.median <= 0.005, weights.p90 <= 0.03) == (True, True)
    assert (pool.median <= 0.01, pool.p90 <= 0.05) == (True, True)
    assert (tokens.median <= 0.01, tokens.p90 <= 0.08) == (True, True)
    assert requests.median <= 0.01
    balanced = report.balanced_accuracy
    assert balanced is not None
    assert balanced >= 0.95


def test_the_command_prints_json_and_refuses_what_is_no_table(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["vram", str(shared / "truth/vram_reports.csv"), "--json"]) == 0
    assert '"weights_gib"' in capsys.readouterr().out
    broken = tmp_path / "broken.csv"
    broken.write_text("id,engine\nx,vllm\n", "utf-8")
    assert main(["vram", str(broken)]) == 2
    assert "model_for_check" in capsys.readouterr().err
    assert main(["vram", str(tmp_path / "absent.csv")]) == 2
