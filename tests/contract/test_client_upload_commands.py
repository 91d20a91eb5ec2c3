"""Commands that store and show runs: which files, which labels, what became of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from builders_commands import a_run, faked, files, read_runs

from tonnage.cli.__main__ import status_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tonnage.client import messages
    from tonnage.client.testing import FakeServers


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServers]:
    with faked(monkeypatch) as servers:
        yield servers


def test_a_folder_is_stored_as_one_sweep_and_what_nobody_knows_is_listed(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = files(tmp_path / "sweep7", a="run 1", b="run 2", readme="hello")
    assert status_of(["ingest", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [item["answer"]["runs"][0]["outcome"] for item in found["files"]] == ["RUN_OUTCOME_STORED"] * 2
    assert found["skipped"] == [str(folder / "readme")]
    assert {kept.run.sweep_id for kept in fake.memory.runs.values()} == {"sweep7"}
    assert status_of(["ingest", str(folder)]) == 0
    out = capsys.readouterr().out
    assert out.count("1 already stored") == 2
    assert f"skipped, since no reader recognises them: {folder / 'readme'}" in out
    assert fake.memory.data_version == 2


def test_a_file_named_alone_that_nobody_knows_ends_with_2(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = files(tmp_path / "x", readme="hello")
    assert fake.memory.data_version == 0
    assert status_of(["ingest", str(folder / "readme")]) == 2
    assert "no reader recognises readme" in capsys.readouterr().err
    assert status_of(["ingest", str(folder)]) == 2
    assert "no reader recognises any of the files" in capsys.readouterr().err


def test_a_broken_file_ends_with_2_and_the_others_are_stored(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = files(tmp_path / "x", a="broken", b="run 1")
    assert status_of(["ingest", str(folder)]) == 2
    assert f"error: {folder / 'a'}: report: line 1 is broken; mend it\n" == capsys.readouterr().err
    assert len(fake.memory.runs) == 1


def test_a_dry_run_stores_nothing(fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = files(tmp_path / "x", a="run 1")
    assert status_of(["ingest", str(folder), "--dry-run"]) == 0
    assert "1 valid" in capsys.readouterr().out
    assert fake.memory.runs == {}


def test_an_overloaded_server_is_asked_again(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked: list[str] = []

    def reader(head: messages.ReportMetadata, data: bytes) -> list[messages.Run] | None:
        asked.append(head.filename)
        return read_runs(head, b"busy" if len(asked) == 1 else data)

    fake.reader = reader
    assert status_of(["ingest", str(files(tmp_path / "x", a="run 1") / "a")]) == 0
    assert asked == ["a", "a"]
    assert "1 stored" in capsys.readouterr().out


def test_labels_request_ids_and_the_sender_reach_the_server(fake: FakeServers, tmp_path: Path) -> None:
    heads: list[messages.ReportMetadata] = []

    def reader(head: messages.ReportMetadata, _data: bytes) -> list[messages.Run]:
        heads.append(head)
        return [a_run()]

    fake.reader = reader
    folder = files(tmp_path / "x", a="1", b="2", **{"tonnage.yaml": "set: {engine: vllm, accelerator: a}\n"})
    args = ["ingest", str(folder), "--set", "accelerator=b", "--map", "ttft_p90_ms=t", "--sweep", "s", "--by", "me"]
    assert (
        status_of([*args, "--request-id", "ci-7", "--ci-job", "j", "--replace", "--namespace", "n", "--format", "f"])
        == 0
    )
    assert [dict(head.given) for head in heads] == [{"engine": "vllm", "accelerator": "b"}] * 2
    assert {
        (head.sweep_id, head.ingested_by, head.ci_job, head.replace, head.namespace, head.format) for head in heads
    } == {("s", "me", "j", True, "n", "f")}
    assert dict(heads[0].column_map) == {"ttft_p90_ms": "t"}
    assert len({head.request_id for head in heads}) == 2
    assert all(head.request_id.startswith("ci-7/") for head in heads)


@pytest.mark.parametrize("command", ["ingest", "convert"])
def test_a_column_map_is_saved_by_one_command_and_used_by_the_next(
    fake: FakeServers, tmp_path: Path, command: str
) -> None:
    seen: list[dict[str, str]] = []

    def reader(head: messages.ReportMetadata, data: bytes) -> list[messages.Run] | None:
        seen.append(dict(head.column_map))
        return read_runs(head, data)

    fake.reader = reader
    path, broken = str(files(tmp_path / "x", a="run 1") / "a"), str(files(tmp_path / "y", b="broken") / "b")
    saved = tmp_path / "columns.yaml"
    arguments = ["--map", "ttft_p90_ms=t", "--save-map", str(saved)]
    assert status_of([command, broken, *arguments]) == 2
    assert not saved.exists()
    assert status_of([command, path, *arguments]) == 0
    assert saved.read_text() == "map:\n  ttft_p90_ms: t\n"
    assert status_of([command, path, "--map", str(saved), "--map", "concurrency=c"]) == 0
    assert seen == [{"ttft_p90_ms": "t"}] * 2 + [{"ttft_p90_ms": "t", "concurrency": "c"}]


def test_convert_prints_flat_points_and_findings_with_their_place(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = files(tmp_path / "x", a="run 1") / "a"
    assert status_of(["convert", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["points"] == [
        {
            "concurrency": 2.0,
            "requests_per_s": 1.5,
            "completed_count": 12,
            "input_tokens_mean": 64.0,
            "modality": "text",
            "ttft_p50_ms": 251.5,
            "tool": "vllm-bench-serve",
            "metric_definitions": "vllm-serve-1",
            "sweep_id": "run 1",
            "engine": "vllm",
        }
    ]
    (finding,) = found["findings"]
    assert (finding["code"], finding["run"], finding["level"], finding["location"]) == ("TOO_FEW", 0, 0, "line 1")
    assert fake.memory.runs == {}
    assert status_of(["convert", str(path.parent)]) == 2


def test_runs_are_listed_shown_and_retracted(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert status_of(["runs", "list"]) == 1
    assert status_of(["ingest", str(files(tmp_path / "x", a="run 1", b="run 2"))]) == 0
    names = list(fake.memory.runs)
    capsys.readouterr()
    assert status_of(["runs", "list", "--limit", "1", "--json"]) == 0
    assert [item["name"] for item in json.loads(capsys.readouterr().out)["runs"]] == names[-1:]
    assert status_of(["runs", "show", names[0].rpartition("/")[2]]) == 0
    assert "251.5" in capsys.readouterr().out
    assert status_of(["runs", "retract", names[0], "--reason", "wrong", "--dry-run"]) == 0
    assert status_of(["runs", "retract", names[0], "--reason", "wrong"]) == 0
    assert "1 retracted; data version 3" in capsys.readouterr().out
    assert [name for name, kept in fake.memory.runs.items() if kept.retired] == names[:1]
    assert status_of(["runs", "show", "nobody"]) == 2
