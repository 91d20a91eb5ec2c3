"""What is said beside the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tonnage.cli.upload.discover import discover
from tonnage.cli.upload.labels import LabelBook, Labels
from tonnage.client import errors

if TYPE_CHECKING:
    from pathlib import Path


def _labels(root: Path, flags: Labels | None = None, *, named: str = "") -> dict[str, Labels]:
    book = LabelBook(flags or Labels())
    return {
        item.path.name: book.of(item) for item in discover([str(root / named) if named else str(root)]) if item.path
    }


def test_the_nearer_file_wins_and_a_flag_wins_over_both(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for path in (tmp_path / "a.json", tmp_path / "sub" / "b.json"):
        path.write_text("{}")
    farther = "set: {engine: vllm, accelerator: a100, tensor_parallel: 2}\nsweep: outer\n"
    (tmp_path / "tonnage.yaml").write_text(farther)
    (tmp_path / "sub" / "tonnage.yml").write_text(
        "set: {accelerator: h100, tensor_parallel: 4}\nmap: {ttft_p90_ms: x}\n"
    )
    found = _labels(tmp_path, Labels(given={"tensor_parallel": "8"}))
    assert found["a.json"].given == {"engine": "vllm", "accelerator": "a100", "tensor_parallel": "8"}
    assert found["b.json"].given == {"engine": "vllm", "accelerator": "h100", "tensor_parallel": "8"}
    assert found["b.json"].column_map == {"ttft_p90_ms": "x"}
    assert {item.sweep for item in found.values()} == {"outer"}


def test_labels_above_the_folder_that_was_named_do_not_hold(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.json").write_text("{}")
    (tmp_path / "tonnage.yaml").write_text("set: {engine: vllm}\n")
    assert _labels(tmp_path, named="sub")["b.json"].given == {}


def test_a_file_named_alone_takes_the_labels_beside_it(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text("{}")
    (tmp_path / "tonnage.yaml").write_text("set: {engine: vllm}\n")
    assert _labels(tmp_path, named="b.json")["b.json"].given == {"engine": "vllm"}


def test_values_reach_the_server_as_a_user_would_type_them(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text("{}")
    (tmp_path / "tonnage.yaml").write_text(
        "set: {prefix_caching: true, tensor_parallel: 2, measured_at: 2026-11-30, engine_version: '0.10', label.x: }\n"
    )
    assert _labels(tmp_path)["b.json"].given == {
        "prefix_caching": "true",
        "tensor_parallel": "2",
        "measured_at": "2026-11-30",
        "engine_version": "0.10",
        "label.x": "",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sets: {a: 1}", "sets is no key"),
        ("set: [1]", "is no mapping"),
        ("set: {a: [1]}", "more than one value"),
        ("a", "mapping"),
    ],
)
def test_a_label_file_that_cannot_be_used_names_itself(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "b.json").write_text("{}")
    (tmp_path / "tonnage.yaml").write_text(text)
    with pytest.raises(errors.BadInput, match=words) as caught:
        _labels(tmp_path)
    assert "tonnage.yaml" in str(caught.value)


def test_two_label_files_in_one_folder_are_refused(tmp_path: Path) -> None:
    for name in ("b.json", "tonnage.yaml", "tonnage.yml"):
        (tmp_path / name).write_text("set: {}\n")
    with pytest.raises(errors.BadInput, match="keep one"):
        _labels(tmp_path)
