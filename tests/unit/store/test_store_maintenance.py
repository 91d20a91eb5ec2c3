"""Housekeeping never gives damaged values a new checksum."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from builders_admin import flip
from builders_store import a_stored_run, an_upload, stored

from tonnage.errors import StoreDamaged
from tonnage.store.checksums import Checksums
from tonnage.store.lake.writer import LakeWriter
from tonnage.store.maintenance import Upkeep
from tonnage.store.url import EmbeddedPlace

if TYPE_CHECKING:
    from pathlib import Path

AT_ONCE = Upkeep(snapshot_age_s=0, file_age_s=0, orphan_every_s=0)


def points_files(place: EmbeddedPlace) -> list[Path]:
    return sorted((place.folder / "data" / "main" / "points").glob("*.parquet"))


def test_every_data_file_has_its_checksum_after_commits_and_merges(tmp_path: Path) -> None:
    place = EmbeddedPlace(tmp_path / "store")
    sums = Checksums(place.folder)
    with closing(LakeWriter(place, upkeep=AT_ONCE)) as writer:
        for number in range(3):
            stored(writer, an_upload(a_stored_run("default", str(number))))
        written = sorted(place.folder.rglob("*.parquet"))
        assert set(sums.known()) == {sums.name(path) for path in written}
        for _ in range(3):
            writer.maintain()
        left = sorted(place.folder.rglob("*.parquet"))
    assert len(points_files(place)) == 1
    assert set(sums.known()) == {sums.name(path) for path in left}
    assert sums.damaged(left) == []


def test_a_damaged_file_is_named_and_not_merged(tmp_path: Path) -> None:
    place = EmbeddedPlace(tmp_path / "store")
    with closing(LakeWriter(place, upkeep=AT_ONCE)) as writer:
        for number in range(3):
            stored(writer, an_upload(a_stored_run("default", str(number))))
        before = points_files(place)
        flip(before[1])
        with pytest.raises(StoreDamaged) as refused:
            writer.maintain()
        assert refused.value.context["files"] == f"data/main/points/{before[1].name}"
        assert points_files(place) == before
        flip(before[1])
        writer.maintain()
        writer.maintain()
        assert len(points_files(place)) == 1
