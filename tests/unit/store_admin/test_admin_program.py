"""``python -m tonnage.store``: what it prints and what it ends with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from builders_admin import RUN_COUNT, TEAM, change, flip, report_file

from tonnage.store.__main__ import main
from tonnage.store.lake.lock import WriterLock
from tonnage.store.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tonnage.store.url import EmbeddedPlace


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    status = main([str(word) for word in words])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_info_counts_rows_and_bytes(filled: EmbeddedPlace, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"lake://{filled.folder}"
    status, out, _ = said(capsys, "info", "--store", url, "--json")
    found = json.loads(out)
    assert (status, found["store"], found["data_version"], found["schema_version"]) == (0, url, 4, SCHEMA_VERSION)
    assert found["counts"][TEAM]["run_count"] == RUN_COUNT
    assert found["parts"]["reports"] == {
        "file_count": RUN_COUNT + 1,
        "size_bytes": sum(path.stat().st_size for path in (filled.folder / "reports").rglob("*.zst")),
    }
    status, out, _ = said(capsys, "info", "--store", url)
    assert f"default       {RUN_COUNT}" in out
    assert status == 0


def test_damage_ends_with_1_and_names_the_file(place: EmbeddedPlace, capsys: pytest.CaptureFixture[str]) -> None:
    flip(report_file(place))
    status, out, _ = said(capsys, "check", "--store", f"lake://{place.folder}")
    assert status == 1
    assert report_file(place).name in out
    assert out.splitlines()[-1] == "damaged: 1 findings"
    status, out, _ = said(capsys, "check", "--store", f"lake://{place.folder}", "--json")
    found = json.loads(out)
    assert (status, found["is_sound"], found["damages"][0]["code"]) == (1, False, "REPORT_DAMAGED")


def test_backup_restore_and_export_say_what_they_did(
    filled: EmbeddedPlace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"lake://{filled.folder}"
    status, out, _ = said(capsys, "backup", "--store", url, "--json", tmp_path / "backup")
    made = json.loads(out)
    assert (status, made["data_version"], made["destination"]) == (0, 4, str(tmp_path / "backup"))
    assert made["file_count"] == len(json.loads((tmp_path / "backup" / "backup.json").read_text())["files"])
    status, out, _ = said(capsys, "restore", "--store", f"lake://{tmp_path}/new", tmp_path / "backup")
    assert (status, out.splitlines()[0].startswith("restored data version 4")) == (0, True)
    status, out, _ = said(capsys, "migrate", "--store", f"lake://{tmp_path}/new")
    assert (status, "nothing was to do" in out) == (0, True)
    status, out, _ = said(capsys, "export", "--store", f"lake://{tmp_path}/new", "--format", "csv", tmp_path / "out")
    assert status == 0
    assert (tmp_path / "out" / "runs.csv").is_file()


def test_bad_input_ends_with_2(filled: EmbeddedPlace, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"lake://{filled.folder}"
    (tmp_path / "file").write_text("in the way")
    for words in (
        ("info", "--store", "s3://somewhere"),
        ("info", "--store", "lake://"),
        ("backup", "--store", url, tmp_path),
        ("backup", "--store", url, tmp_path / "file" / "below"),
        ("restore", "--store", url, tmp_path),
        ("export", "--store", url, "--namespace", "nobody", tmp_path / "out"),
    ):
        status, out, err = said(capsys, *words)
        assert (status, out, err.count("\n")) == (2, "", 1), words
        assert err.startswith("error: ")


def test_a_store_that_is_not_named_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, filled: EmbeddedPlace
) -> None:
    monkeypatch.delenv("TONNAGE_STORE", raising=False)
    status, _, err = said(capsys, "info")
    assert (status, "TONNAGE_STORE" in err) == (2, True)
    monkeypatch.setenv("TONNAGE_STORE", f"lake://{filled.folder}")
    assert said(capsys, "info")[0] == 0


def test_what_cannot_be_reached_ends_with_3(
    place: EmbeddedPlace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = said(capsys, "check", "--store", f"lake://{tmp_path}/nowhere")
    assert (status, "there is no store" in err) == (3, True)
    assert said(capsys, "info", "--store", "lake+postgres://a@b/c?data=s3://d/e")[0] == 3
    change(place, "DELETE FROM lake.schema_migrations WHERE version > 1")
    lock = WriterLock(place.folder / "writer.lock")
    status, _, err = said(capsys, "migrate", "--store", f"lake://{place.folder}")
    lock.release()
    assert (status, "held by process" in err) == (3, True)
    change(place, "INSERT INTO lake.schema_migrations VALUES ('default', 99, now(), 'later')")
    status, _, err = said(capsys, "check", "--store", f"lake://{place.folder}")
    assert (status, "schema 99" in err) == (3, True)


def test_names_in_a_store_cannot_steer_a_terminal(place: EmbeddedPlace, capsys: pytest.CaptureFixture[str]) -> None:
    change(place, "UPDATE lake.runs SET namespace = 'a' || chr(27) || '[2Jb' WHERE namespace = 'other'")
    _, out, _ = said(capsys, "info", "--store", f"lake://{place.folder}")
    assert "\x1b" not in out
    assert "a�[2Jb" in out
