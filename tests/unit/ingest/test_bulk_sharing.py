"""What runs of a bulk table share is found by column; what each says for itself keeps the text its id is made of."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from tonnage.errors import InvalidInput
from tonnage.ingest import keys
from tonnage.ingest.arrow.columns import TIME
from tonnage.ingest.arrow.sharing import Own, alike, each_once

SWEEPS = ["plain", None, 'quoted " and \\', "],[", "line separator \u2028 and é", ""]
DATES = [
    datetime(2026, 5, 1, 12, tzinfo=UTC),
    datetime(2026, 5, 1, 12, 0, 0, 7, tzinfo=UTC),
    None,
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
]


def test_a_runs_own_text_is_the_canonical_text_of_its_sweep_and_date() -> None:
    own = Own(SWEEPS, pa.array(DATES, TIME))

    assert own.texts() == [keys.canonical(pair) for pair in zip(SWEEPS, DATES, strict=True)]


def test_rows_are_alike_only_when_every_column_agrees_and_absent_is_a_value_of_its_own() -> None:
    table = pa.table({"tool": ["b", "a", "b", None, "b", None], "count": pa.array([1, 1, 1, 1, None, 1], pa.int64())})

    firsts, kinds = alike(table, 6)

    assert firsts.tolist() == [0, 1, 3, 4]
    assert kinds.tolist() == [0, 1, 0, 2, 3, 2]


def test_rows_without_columns_are_all_alike() -> None:
    firsts, kinds = alike(pa.table({}), 3)

    assert (firsts.tolist(), kinds.tolist()) == ([0], [0, 0, 0])


def test_an_object_that_stands_twice_is_made_once() -> None:
    asked: list[str] = []
    item = "shared"

    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    assert each_once(length, [item, "other", item]) == [6, 5, 6]
    assert asked == ["shared", "other"]


def test_a_sweep_that_is_no_name_is_refused_with_its_runs_first_row() -> None:
    own = Own(["fine", "\u00a0odd but fine", "bad\x01"], pa.nulls(3, TIME))

    with pytest.raises(InvalidInput, match=r"rows\[140\]\.sweep_id"):
        own.check(np.array([0, 20, 40]), 100)
