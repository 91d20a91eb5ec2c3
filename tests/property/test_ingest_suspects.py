"""The bulk check against the lint itself: what is not told apart is what the lint leaves alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tonnage.domain.measurement import METRICS, STATISTICS, TextWork
from tonnage.formats.checks.suspects import suspects
from tonnage.formats.lint import lint_level
from tonnage.store.rows import level_to_row, row_to_level

NAMES = (
    "input_tokens_mean",
    "output_tokens_mean",
    "prefix_cache_hit_ratio",
    "concurrency",
    "offered_requests_per_s",
    "requests_per_s",
    "output_tokens_per_s",
    "total_tokens_per_s",
    "reported_requests_per_s",
    "duration_s",
    *(f"{metric}_{statistic}_ms" for metric in METRICS for statistic in STATISTICS),
)
COUNTS = ("completed_count", "failed_count")
# Few values, so that they meet each other at the edges of every check.
numbers = st.none() | st.sampled_from((-1.0, 0.0, 0.5, 1.0, 1.149, 1.151, 2.0, 2.1, 10.0, 100.0, 1000.0, float("inf")))
rows = st.lists(
    st.fixed_dictionaries(
        {}, optional={**dict.fromkeys(NAMES, numbers), **dict.fromkeys(COUNTS, st.sampled_from((None, -1, 0, 4, 1000)))}
    ),
    min_size=1,
    max_size=4,
)


def _level_row(row: dict[str, Any]) -> dict[str, Any]:
    held = {"level_index": 0, "work_kind": "text", "has_telemetry": False, "tenants": "[]", "findings": "[]"}
    return {**held, "location": "", "usable": True, **row}


@given(rows)
def test_a_row_that_is_no_suspect_is_one_the_lint_leaves_as_it_is(given_rows: list[dict[str, Any]]) -> None:
    columns = {
        name: np.array([np.nan if row.get(name) is None else row[name] for row in given_rows], dtype=np.float64)
        for name in (*NAMES, *COUNTS)
    }
    told = suspects(columns, len(given_rows))
    for row, is_suspect in zip(given_rows, told, strict=True):
        level = row_to_level(_level_row(row))
        assert isinstance(level.work, TextWork)
        linted = lint_level(level)
        assert is_suspect or level_to_row(linted) == level_to_row(level)


@given(st.integers(1, 20))
def test_a_sound_level_is_no_suspect(step: int) -> None:
    rate = 2.0 * step
    columns = {
        "concurrency": np.array([rate * 0.5]),
        "requests_per_s": np.array([rate]),
        "e2e_mean_ms": np.array([500.0]),
        "completed_count": np.array([1000.0]),
        "duration_s": np.array([1000 / rate]),
    }
    assert not suspects(columns, 1).any()
