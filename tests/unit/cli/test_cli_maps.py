"""Column maps as pairs, as files, and saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tonnage.cli.upload.labels import read
from tonnage.cli.upload.maps import MapFile, column_map
from tonnage.client import errors

if TYPE_CHECKING:
    from pathlib import Path

MAP = {"ttft_p90_ms": "TTFT, 90 % (ms)", "concurrency": "Nutzer: gesamt", "requests_per_s": "007"}


def test_a_saved_map_is_read_as_it_was(tmp_path: Path) -> None:
    path = str(tmp_path / "columns.yaml")
    saved = MapFile.of(path, [MAP, dict(reversed(MAP.items()))])
    assert saved is not None
    saved.write()
    assert column_map([path]) == MAP
    assert MapFile.of(path, [column_map([path])]) == saved


def test_a_saved_map_serves_as_the_labels_of_a_folder(tmp_path: Path) -> None:
    saved = MapFile.of(str(tmp_path / "tonnage.yaml"), [MAP])
    assert saved is not None
    saved.write()
    assert read(saved.path).column_map == MAP


@pytest.mark.parametrize("text", ["a: x\nb: y\n", "map: {a: x, b: y}\n", '{"map": {"a": "x", "b": "y"}}'])
def test_a_pair_wins_over_a_file_wherever_it_stands(tmp_path: Path, text: str) -> None:
    path = tmp_path / "columns.yaml"
    path.write_text(text)
    for texts in ([str(path), "b=z"], ["b=z", str(path)]):
        assert column_map(texts) == {"a": "x", "b": "z"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("map: {a: x}\nsweep: s\n", "holds more than its map"),
        ("map: {}\n", "maps no column"),
        ("map: [a]\n", "is no mapping"),
        ("a: [x]\n", "more than one value"),
        ("- a\n", "holds no mapping"),
        ("a: [\n", "neither JSON nor YAML"),
    ],
)
def test_a_file_that_is_no_map_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "columns.yaml"
    path.write_text(text)
    with pytest.raises(errors.BadInput, match=words) as caught:
        column_map([str(path)])
    assert "columns.yaml" in str(caught.value)


def test_what_is_neither_a_pair_nor_a_file_is_refused(tmp_path: Path) -> None:
    for text in (str(tmp_path), str(tmp_path / "none.yaml"), "ttft_p90_ms", ""):
        with pytest.raises(errors.BadInput, match="neither OURS=THEIRS nor a file"):
            column_map([text])


def test_two_files_that_disagree_are_refused(tmp_path: Path) -> None:
    paths = [tmp_path / "one.yaml", tmp_path / "two.yaml"]
    for path, theirs in zip(paths, "xy", strict=True):
        path.write_text(f"map: {{a: {theirs}}}\n")
    with pytest.raises(errors.BadInput, match="a is in two files with two values"):
        column_map(map(str, paths))


def test_one_map_is_saved_and_nothing_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "columns.yaml"
    assert MapFile.of("", [MAP]) is None
    with pytest.raises(errors.BadInput, match="no column is mapped"):
        MapFile.of(str(path), [{}])
    with pytest.raises(errors.BadInput, match="unlike maps"):
        MapFile.of(str(path), [MAP, {"a": "x"}])
    path.write_text("map: {a: x}  # mine\n")
    with pytest.raises(errors.BadInput, match="holds something else"):
        MapFile.of(str(path), [MAP])
    assert path.read_text() == "map: {a: x}  # mine\n"


def test_a_map_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    saved = MapFile.of(str(tmp_path / "nowhere" / "columns.yaml"), [MAP])
    assert saved is not None
    with pytest.raises(errors.BadInput, match="cannot be written"):
        saved.write()
