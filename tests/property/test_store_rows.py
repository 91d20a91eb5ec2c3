"""A run comes back from its rows as it was, field for field."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from builders_store import an_upload, stored
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies_store import RUNS

from tonnage.store.incoming import Upload
from tonnage.store.known import KnownRun
from tonnage.store.lake.writer import LakeWriter
from tonnage.store.replica import LakeReader
from tonnage.store.rows import row_to_run
from tonnage.store.url import EmbeddedPlace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.measurement import Run

NOW = datetime(2026, 6, 1, 12, 30, 0, 123456, tzinfo=UTC)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(RUNS)
def test_a_run_comes_back_from_its_tables(run: Run) -> None:
    upload = Upload.of(an_upload(run, report=None))
    known = KnownRun(
        namespace=run.namespace,
        run_id=run.run_id,
        report_id=run.report_id,
        filename=run.filename,
        level_count=len(run.levels),
        ingested_at=NOW,
        data_version=3,
    )
    runs, points = upload.stamped([known])
    (row,) = runs.to_pylist()
    assert row_to_run(row, points.to_pylist()) == replace(run, ingested_at=NOW)
    assert set(runs["data_version"].to_pylist()) == {3}
    assert set(points["data_version"].to_pylist()) <= {3}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LakeWriter, LakeReader]]:
    place = EmbeddedPlace(tmp_path_factory.mktemp("lake"))
    with closing(LakeWriter(place)) as writer, closing(LakeReader(place, poll_s=1e6)) as reader:
        yield writer, reader


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(runs=st.lists(RUNS, min_size=1, max_size=4, unique_by=lambda run: run.run_id), flush=st.booleans())
def test_a_run_comes_back_from_the_lake(lake: tuple[LakeWriter, LakeReader], runs: list[Run], *, flush: bool) -> None:
    writer, reader = lake
    receipts = stored(writer, *(an_upload(run, report=None) for run in runs))
    if flush:
        writer.maintain()
    assert reader.refresh() is None
    for run, receipt in zip(runs, receipts, strict=True):
        found, _ = reader.snapshot.run("default", run.run_id)
        if not receipt.runs[0].already_stored:
            assert found == replace(run, ingested_at=receipt.ingested_at)
