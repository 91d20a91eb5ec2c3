"""Ids follow from content alone."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from builders import a_level, a_run

from tonnage.ingest.keys import body_digest, record_id, run_id

if TYPE_CHECKING:
    from tonnage.domain.measurement import Run

DIGEST = "ab" * 32


def test_a_run_id_is_a_uuid_of_its_content() -> None:
    made = run_id(DIGEST, (("engine", "vllm"),), 0)
    assert uuid.UUID(made).version == 5
    assert made == run_id(DIGEST, (("engine", "vllm"),), 0)


def test_a_run_id_is_the_same_in_every_release() -> None:
    assert run_id(DIGEST, (("engine", "vllm"),), 0) == "64a5019f-9514-5900-ba6e-bd5f991b382a"


@pytest.mark.parametrize(
    "other",
    [
        ("cd" * 32, (("engine", "vllm"),), 0),
        (DIGEST, (("engine", "sglang"),), 0),
        (DIGEST, (), 0),
        (DIGEST, (("engine", "vllm"),), 1),
    ],
)
def test_other_bytes_labels_or_positions_are_another_run(other: tuple[str, tuple[tuple[str, str], ...], int]) -> None:
    assert run_id(*other) != run_id(DIGEST, (("engine", "vllm"),), 0)


@pytest.mark.parametrize(
    "changes",
    [{"ingested_by": "x"}, {"ci_job": "7"}, {"run_id": "r"}, {"report_id": "q"}, {"namespace": "n"}, {"ordinal": 3}],
)
def test_keys_and_who_pushed_it_do_not_make_another_record(changes: dict[str, object]) -> None:
    run = a_run(a_level(4, 2))
    assert record_id(replace(run, **changes)) == record_id(run)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changed",
    [
        a_run(a_level(4, 2.5)),
        a_run(a_level(4, 2), tool="other"),
        a_run(a_level(4, 2), measured_at=datetime(2026, 1, 1, tzinfo=UTC)),
        a_run(a_level(4, 2), a_level(8, 3)),
    ],
)
def test_what_was_measured_makes_the_record(changed: Run) -> None:
    assert record_id(changed) != record_id(a_run(a_level(4, 2)))


def test_zero_and_unknown_are_different_records() -> None:
    assert record_id(a_run(a_level(4, 2, failed_count=0))) != record_id(a_run(a_level(4, 2, failed_count=None)))


def test_a_body_is_told_by_every_part() -> None:
    assert body_digest("a", {"x": "1", "y": "2"}) == body_digest("a", {"y": "2", "x": "1"})
    assert body_digest("a", "b") != body_digest("ab")
