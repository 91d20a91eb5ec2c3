"""Which files a command line means."""

from __future__ import annotations

from pathlib import Path

import pytest

from tonnage.cli.upload.discover import Found, discover, sweep_of
from tonnage.client import errors


def _tree(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    return root


def _shown(found: list[Found], root: Path) -> list[str]:
    return [str(Path(item.shown).relative_to(root)) for item in found]


def test_a_folder_gives_its_files_by_name_without_hidden_ones_and_labels(tmp_path: Path) -> None:
    root = _tree(tmp_path, "b.json", "a.json", ".hidden", ".git/x", "sub/c.csv", "tonnage.yaml", "sub/tonnage.yml")
    found = discover([str(root)])
    assert _shown(found, root) == ["a.json", "b.json", "sub/c.csv"]
    assert not any(item.alone for item in found)


def test_one_named_file_is_alone_and_leaves_its_sweep_to_the_server(tmp_path: Path) -> None:
    path = _tree(tmp_path, "x/a.json") / "x" / "a.json"
    (found,) = discover([str(path)])
    assert (found.alone, found.sweep_id, found.path) == (True, "", path)


def test_a_folder_of_one_file_is_not_a_file_named_alone(tmp_path: Path) -> None:
    (found,) = discover([str(_tree(tmp_path / "sweep7", "a.json"))])
    assert (found.alone, found.sweep_id) == (False, "sweep7")


def test_several_named_files_of_one_folder_are_one_sweep(tmp_path: Path) -> None:
    root = _tree(tmp_path / "runs-a", "1.json", "2.json")
    found = discover([str(root / "1.json"), str(root / "2.json"), str(root / "1.json")])
    assert [item.sweep_id for item in found] == ["runs-a", "runs-a"]
    assert not any(item.alone for item in found)


def test_a_pattern_gives_what_it_matches(tmp_path: Path) -> None:
    root = _tree(tmp_path, "a.json", "b.csv", "sub/c.json")
    assert _shown(discover([str(root / "**" / "*.json")]), root) == ["a.json", "sub/c.json"]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    (found,) = discover([str(_tree(tmp_path, "a[1].json") / "a[1].json")])
    assert found.alone


def test_standard_input_is_one_file_alone() -> None:
    (found,) = discover(["-"])
    assert (found.path, found.alone) == (None, True)


@pytest.mark.parametrize("name", ["none.json", "none*.json", "empty"])
def test_where_nothing_is_there_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(errors.BadInput, match=name.replace("*", r"\*")):
        discover([str(tmp_path / name)])


@pytest.mark.parametrize(
    ("folder", "sweep"),
    [
        ("results/chat", "chat"),
        ("results/concurrency_4", "results"),
        ("results/chat-concurrency-16", "chat"),
        ("results/chat_rate_2.5", "chat"),
        ("results/request-rate-8", "results"),
        ("results/run_1", "run_1"),
        ("results/conc4/qps-2", "results"),
    ],
)
def test_folders_that_name_one_load_level_are_one_sweep_with_their_siblings(folder: str, sweep: str) -> None:
    assert sweep_of(Path("/data") / folder) == sweep


def test_a_level_folder_at_the_root_ends_the_search() -> None:
    assert sweep_of(Path("/concurrency_4")) == ""
