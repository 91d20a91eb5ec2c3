"""Grouping of runs into sweeps."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations

import pytest
from builders import a_configuration, a_level
from builders_store import a_stored_run

from tonnage.domain.measurement import ImageWork, Run, TextWork
from tonnage.store.sweeps import RunHead, facts_of, sweep_name, sweeps_of

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def a_kept_run(seed: str, day: int = 1, **changes: object) -> Run:
    return replace(a_stored_run("default", seed, **changes), ingested_at=NOW.replace(day=day))


def test_a_run_that_never_was_stored_has_no_place_in_a_sweep() -> None:
    with pytest.raises(ValueError, match="did not come from a store"):
        sweeps_of([a_stored_run("default")])


def test_a_run_without_levels_is_on_no_curve() -> None:
    assert sweeps_of([replace(a_kept_run("a"), levels=())]) == ()


def test_no_sweep_id_is_not_the_empty_one() -> None:
    assert sweep_name(a_kept_run("a", sweep_id="")) == ""
    assert sweep_name(a_kept_run("a", sweep_id=None)) == a_kept_run("a").report_id


def test_an_absent_sample_set_is_no_sample_set_by_any_name() -> None:
    runs = [a_kept_run("a", sample_set=None), a_kept_run("b", sample_set=""), a_kept_run("c", sample_set="=")]
    assert len(sweeps_of(runs)) == 3


def test_modalities_are_never_on_one_curve() -> None:
    picture = a_level(1, 1, work=ImageWork(megapixels=1.0))
    runs = [a_kept_run("a"), replace(a_kept_run("b"), levels=(picture,))]
    assert [len(sweep.runs) for sweep in sweeps_of(runs)] == [1, 1]


def test_sweeps_do_not_depend_on_the_order_of_runs() -> None:
    runs = [a_kept_run("a"), a_kept_run("b", day=2), a_kept_run("c", sweep_id="other"), a_kept_run("d", day=3)]
    assert {sweeps_of(order) for order in map(list, permutations(runs))} == {sweeps_of(runs)}


def test_a_sweep_without_a_date_counts_from_its_ingestion() -> None:
    dated = a_kept_run("a", day=9, sweep_id="dated", measured_at=NOW.replace(day=2))
    undated = a_kept_run("b", day=5, sweep_id="undated")
    assert [sweep.sweep_id for sweep in sweeps_of([dated, undated])] == ["undated", "dated"]


def test_a_sweep_tells_its_newest_times() -> None:
    measured = [NOW.replace(day=2), NOW.replace(day=4), None]
    runs = [a_kept_run(str(day), day=day + 10, measured_at=at) for day, at in enumerate(measured)]
    (sweep,) = sweeps_of(runs)
    assert (sweep.newest_measured_at, sweep.newest_ingested_at) == (NOW.replace(day=4), NOW.replace(day=12))


def test_equal_request_sizes_are_told_once() -> None:
    heads = [RunHead.of(a_kept_run(sweep, sweep_id=sweep)) for sweep in "abc"]
    facts = facts_of(a_configuration(), heads)
    assert facts is not None
    assert facts.works == (TextWork(input_tokens_mean=1000.0, output_tokens_mean=100.0),)
    assert (facts.run_count, facts.level_count) == (3, 6)


def test_nothing_is_known_of_a_configuration_without_runs() -> None:
    assert facts_of(a_configuration(), []) is None
