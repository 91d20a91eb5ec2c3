"""Sweeps held in memory."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from builders import a_configuration, a_level
from builders_store import a_retraction, a_stored_run, an_upload, stored

from tonnage.store.lake.cache import SweepCache
from tonnage.store.lake.connection import connect
from tonnage.store.lake.feed import Feed
from tonnage.store.lake.folder_site import FolderSource
from tonnage.store.lake.generation import Generation
from tonnage.store.lake.writer import LakeWriter
from tonnage.store.url import EmbeddedPlace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tonnage.store.lake.generation import Row

ENGINES = ("vllm", "sglang", "tgi")
KEYS = [("default", a_configuration(engine=engine).fingerprint) for engine in ENGINES]


class Counted(Generation):
    """A copy of the lake that counts how often it is asked."""

    asked_count = 0

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Count, and ask."""
        self.asked_count += 1
        return super().rows(sql, parameters)


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Counted]:
    """Return a copy that holds three versions of two levels each, then a retraction in the fourth."""
    place = EmbeddedPlace(tmp_path_factory.mktemp("lake"))
    with closing(LakeWriter(place)) as writer, closing(connect()) as connection:
        runs = [a_stored_run("default", engine, configuration=a_configuration(engine=engine)) for engine in ENGINES]
        more = a_stored_run("default", "more", a_level(9, 9), configuration=a_configuration(engine="vllm"))
        for run in (*runs, more):
            stored(writer, an_upload(run))
        writer.retract(a_retraction([runs[0]]))
        made = Counted(connection)
        made.build(Feed(connection, FolderSource(place)).position())
        yield made


def test_a_held_state_is_read_without_a_query(generation: Counted) -> None:
    cache = SweepCache(generation)
    first = cache.sweeps(KEYS[0], 4)
    before = generation.asked_count
    assert cache.sweeps(KEYS[0], 4) is first
    assert generation.asked_count == before


def test_each_version_of_a_configuration_is_its_own_state(generation: Counted) -> None:
    cache = SweepCache(generation)
    counts = {version: [len(sweep.runs) for sweep in cache.sweeps(KEYS[0], version)] for version in (1, 4, 5)}
    assert counts == {1: [1], 4: [2], 5: [1]}
    older = SweepCache(generation)
    assert [len(sweep.runs) for sweep in older.sweeps(KEYS[0], 5)] == [1]
    assert [len(sweep.runs) for sweep in older.sweeps(KEYS[0], 1)] == [1]


def test_the_relevant_version_is_the_last_that_changed_the_configuration(generation: Counted) -> None:
    assert [generation.relevant_version(KEYS[0], version) for version in range(6)] == [None, 1, 1, 1, 4, 5]
    assert [generation.relevant_version(KEYS[1], version) for version in range(6)] == [None, None, 2, 2, 2, 2]


def test_what_is_held_is_bounded_in_levels(generation: Counted) -> None:
    cache = SweepCache(generation, max_level_count=4)
    for key, version in zip(KEYS, (1, 2, 3), strict=True):
        cache.sweeps(key, version)
    before = generation.asked_count
    cache.sweeps(KEYS[2], 3)
    assert generation.asked_count == before
    cache.sweeps(KEYS[0], 1)
    assert generation.asked_count > before


def test_one_configuration_beyond_the_bound_is_still_answered(generation: Counted) -> None:
    assert len(SweepCache(generation, max_level_count=1).sweeps(KEYS[0], 4)) == 1
