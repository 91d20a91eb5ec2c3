"""Ids of runs that came in bulk."""

from __future__ import annotations

import uuid

import numpy as np
import pyarrow as pa
from builders_arrow import a_bulk_table

from tonnage.ingest import keys
from tonnage.ingest.arrow.digests import report_ids
from tonnage.ingest.arrow.runs import run_starts


def ids(table: pa.Table) -> list[str]:
    return report_ids(table, [""] * len(run_starts(table)), run_starts(table))


def test_a_run_id_is_a_uuid5_as_the_standard_library_makes_it() -> None:
    report_id = "0123456789abcdef" * 4
    seed = uuid.UUID(hex=report_id[:32])
    assert keys.run_id(report_id, (), 0) == str(uuid.uuid5(seed, "[[],0]"))
    assert keys.run_ids([report_id]) == [keys.run_id(report_id, (), 0)]


def test_an_id_is_of_its_runs_values_alone() -> None:
    table = a_bulk_table(3)
    assert ids(table)[1:] == ids(table.slice(10))
    assert len(set(ids(table))) == 3


def test_one_changed_value_changes_one_id() -> None:
    rates = a_bulk_table(3)["requests_per_s"].to_numpy().copy()
    rates[15] = np.nextafter(rates[15], 1e9)
    before, after = ids(a_bulk_table(3)), ids(a_bulk_table(3, requests_per_s=rates))
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, True]


def test_nan_is_not_absence() -> None:
    nan, absent = ([float("nan")] * 10, [None] * 10)
    assert ids(a_bulk_table(1, power_w=pa.array(nan))) != ids(a_bulk_table(1, power_w=pa.array(absent, pa.float64())))


def test_a_column_without_values_changes_nothing() -> None:
    table = a_bulk_table(2)
    half = table.append_column("power_w", pa.array([None] * 10 + [3.0] * 10, pa.float64()))
    assert ids(half)[0] == ids(table)[0]
    assert ids(half)[1] != ids(table)[1]
