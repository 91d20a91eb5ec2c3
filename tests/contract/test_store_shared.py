"""A store on PostgreSQL and S3: several writers, what its messages hide, and moving to and from a folder."""

from __future__ import annotations

import hashlib
import io
import json
import logging
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from builders_admin import fill
from builders_store import a_stored_run, an_upload, rows_of, stored

from tonnage.errors import InvalidInput, NotAvailable, StoreDamaged, StoreUnavailable
from tonnage.store import __main__ as program
from tonnage.store import embedded_place, open_reader, open_writer
from tonnage.store.admin.move import move
from tonnage.store.base import Page, RunFilter
from tonnage.store.changes import Changes
from tonnage.store.lake.commit import Outrun, commit
from tonnage.store.lake.shared_names import Bucket, Catalog
from tonnage.store.lake.writer import LakeWriter
from tonnage.store.replica import LakeReader
from tonnage.store.url import EmbeddedPlace, ScaleOutPlace, parse_store_url, shown_url

if TYPE_CHECKING:
    from pathlib import Path

    from backends import Backends

    from tonnage.domain.measurement import Run
    from tonnage.store.base import Retirement

TEAM = "team-a"
NEVER_S = 3600.0
SECRET = "hunter2"  # noqa: S105 -- nobody's


def run_ids(reader: LakeReader) -> list[str]:
    """Return every run a reader sees, as often as it sees it."""
    return [run.run_id for run, _ in rows_of(reader.snapshot.runs(TEAM, RunFilter(), Page(limit=10_000)))]


def everything(reader: LakeReader) -> list[tuple[Run, Retirement | None]]:
    """Return every run with its levels and its standing."""
    listed = rows_of(reader.snapshot.runs("default", RunFilter(include_retired=True), Page(limit=10_000)))
    return [reader.snapshot.run("default", run.run_id) for run, _ in listed]


def test_what_one_writer_stored_the_other_knows(backends: Backends) -> None:
    url = backends.new_url()
    run = a_stored_run(TEAM, "the same")
    with closing(open_writer(url)) as one, closing(open_writer(url)) as other:
        (first,) = stored(one, an_upload(run))
        (again,) = stored(other, an_upload(run))
        (second,) = stored(other, an_upload(a_stored_run(TEAM, "another")))
    assert (first.data_version, second.data_version) == (1, 2)
    assert again.data_version == first.data_version
    with closing(open_reader(url)) as reader:
        reader.wait_for(2, 10)
        assert isinstance(reader, LakeReader)
        assert len(run_ids(reader)) == 2


def test_writers_that_send_the_same_at_once_store_it_once(backends: Backends) -> None:
    url = backends.new_url()
    uploads = [an_upload(a_stored_run(TEAM, str(number))) for number in range(8)]
    with closing(LakeWriter(parse_store_url(url))) as one, closing(LakeWriter(parse_store_url(url))) as other:
        threads = [
            threading.Thread(target=lambda w=writer, turn=order: [stored(w, upload) for upload in uploads[::turn]])
            for writer, order in ((one, 1), (other, -1))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with closing(LakeReader(parse_store_url(url))) as reader:
            reader.wait_for(max(one.data_version, other.data_version), 10)
            seen = run_ids(reader)
            assert len(seen) == len(set(seen)) == len(uploads)
            assert reader.snapshot.data_version == len(uploads)


def test_a_commit_decided_on_an_older_state_is_refused_without_any_lock(backends: Backends) -> None:
    place = parse_store_url(backends.new_url())
    with closing(LakeWriter(place)) as one, closing(LakeWriter(place)) as other:
        stored(one, an_upload(a_stored_run(TEAM, "first")))
        held = other._snapshot_id  # noqa: SLF001 -- what a writer that lost its turn would commit on
        changes = Changes(data_version=1, now=one._now())  # noqa: SLF001 -- the clock of the writer that was first
        with pytest.raises(Outrun):
            commit(other._connection, changes, other._files, on_snapshot=held)  # noqa: SLF001 -- below what takes turns


def test_a_reader_sees_a_commit_of_another_process_within_a_second(backends: Backends) -> None:
    url = backends.new_url()
    with closing(open_writer(url)) as writer, closing(open_reader(url)) as reader:
        stored(writer, an_upload(a_stored_run(TEAM, "warm")))
        reader.wait_for(1, 10)
        (receipt,) = stored(writer, an_upload(a_stored_run(TEAM, "timed")))
        assert reader.wait_for(receipt.data_version, 1.0).data_version == receipt.data_version


def test_a_reader_that_starts_first_waits_for_the_store(backends: Backends) -> None:
    url = backends.new_url()
    with closing(open_reader(url)) as reader:
        assert not reader.healthy()
        with closing(open_writer(url)) as writer:
            stored(writer, an_upload(a_stored_run(TEAM)))
            assert reader.wait_for(1, 10).data_version == 1
            assert reader.healthy()


def test_raw_reports_are_whole_or_not_there(backends: Backends) -> None:
    data = b"a report" * 100_000
    digest = hashlib.sha256(data).hexdigest()
    with closing(open_writer(backends.new_url())) as writer:
        with pytest.raises(InvalidInput):
            writer.keep_report(TEAM, digest, io.BytesIO(b"something else"))
        writer.keep_report(TEAM, digest, io.BytesIO(data))
        writer.keep_report(TEAM, digest, io.BytesIO(data))


def test_a_catalog_that_is_not_there_is_named_without_its_password(caplog: pytest.LogCaptureFixture) -> None:
    url = f"lake+postgres://me:{SECRET}@127.0.0.1:1/runs?data=s3://bucket/runs&endpoint=http://127.0.0.1:1"
    caplog.set_level(logging.DEBUG)
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:1") as refused:
        open_writer(url)
    with closing(open_reader(url)) as reader:
        assert not reader.healthy()
    place = parse_store_url(url)
    assert isinstance(place, ScaleOutPlace)
    said = [refused.value.message, caplog.text, repr(place), repr(Catalog.of(place)), shown_url(url)]
    assert [text for text in said if SECRET in text] == []


def test_keys_are_in_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    place = parse_store_url("lake+postgres://me@db/runs?data=s3://bucket/runs")
    assert isinstance(place, ScaleOutPlace)
    assert SECRET not in repr(Bucket.of(place))


def test_housekeeping_is_done_by_one_writer_and_changes_nothing_that_is_seen(backends: Backends) -> None:
    place = parse_store_url(backends.new_url())
    with closing(LakeWriter(place)) as one, closing(LakeWriter(place)) as other, closing(LakeReader(place)) as reader:
        for number in range(4):
            stored(one, an_upload(a_stored_run(TEAM, str(number))))
        one.maintain()
        other.maintain()
        (receipt,) = stored(other, an_upload(a_stored_run(TEAM, "after")))
        reader.wait_for(receipt.data_version, 10)
        assert len(run_ids(reader)) == 5


def test_a_store_moves_to_the_servers_and_back_unchanged(backends: Backends, tmp_path: Path) -> None:
    folder, back = EmbeddedPlace(tmp_path / "folder"), EmbeddedPlace(tmp_path / "back")
    servers = parse_store_url(backends.new_url())
    fill(folder)
    there = move(folder, servers)
    home = move(servers, back)
    assert there == home
    counts = {table.name: table.row_count for table in there.tables}
    assert counts["runs"] >= 2
    assert there.report_count >= 1
    with closing(LakeReader(folder)) as before, closing(LakeReader(back)) as after:
        assert everything(before) == everything(after)
        assert before.snapshot.data_version == after.snapshot.data_version == there.data_version
    with pytest.raises(InvalidInput, match="holds rows"):
        move(folder, servers)
    with closing(LakeWriter(servers)) as writer:
        assert stored(writer, an_upload(a_stored_run(TEAM, "new")))[0].data_version == there.data_version + 1


def test_a_copy_that_differs_is_not_committed(
    backends: Backends, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, servers = EmbeddedPlace(tmp_path / "folder"), parse_store_url(backends.new_url())
    fill(folder)
    digests = iter([(1, "1"), (1, "2")])
    with monkeypatch.context() as at:
        at.setattr("tonnage.store.admin.move._digest", lambda *_: next(digests))
        with pytest.raises(StoreDamaged, match="nothing was committed"):
            move(folder, servers)
    assert move(folder, servers).tables


def test_the_command_copies_and_shows_no_password(
    backends: Backends, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(EmbeddedPlace(tmp_path / "store"))
    target = backends.new_url().replace("tonnage@", f"tonnage:{SECRET}@")
    assert program.main(["migrate", f"--store=lake://{tmp_path / 'store'}", f"--to={target}", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["report_count"] >= 1
    assert SECRET not in said.out + said.err


def test_what_is_for_folders_alone_says_what_to_use_instead() -> None:
    with pytest.raises(NotAvailable, match="pg_dump"):
        embedded_place("lake+postgres://me@db/runs?data=s3://bucket/runs")
