"""What becomes of the runs of a sweep."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import a_configuration, a_level, a_run
from builders_capacity import LADDER, a_curve, an_open_run, codes, levels, marked, text

from tonnage.capacity.curves import curve_of
from tonnage.domain.finding import Origin
from tonnage.domain.measurement import ArrivalKind, Latency, TestState, TextWork
from tonnage.errors import InvalidInput


def test_levels_stand_in_order_of_load_whatever_the_order_of_files() -> None:
    made = levels()
    files = [a_run(level, run_id=str(place)) for place, level in enumerate(made)]
    forwards, backwards = curve_of(files), curve_of(files[::-1])
    assert forwards == backwards
    assert [item.offered_load for item in forwards.levels] == [rung[0] for rung in LADDER]


def test_rates_are_of_one_replica_and_the_axis_is_of_the_whole_system() -> None:
    curve = a_curve((8, 9.0, 100.0), replicas_under_test=3)
    level = curve.levels[0]
    assert (level.requests_per_s, level.output_tokens_per_s, level.offered_load) == (3.0, 300.0, 8)
    assert (level.origin, level.evidence[0].origin) == (Origin.DERIVED, Origin.DERIVED)
    assert codes(curve.findings) == ["SCALED_FROM_MANY"]


def test_dividing_by_replicas_adds_no_noise() -> None:
    assert a_curve((8, 0.3, 100.0), replicas_under_test=3).levels[0].requests_per_s == 0.1


def test_an_unknown_replica_count_makes_a_curve_unusable() -> None:
    curve = a_curve(replicas_under_test=None)
    assert curve.levels == ()
    assert curve.unusable is not None
    assert curve.unusable.code == "REPLICAS_UNDER_TEST_NOT_KNOWN"


def test_unlike_replica_counts_make_no_curve() -> None:
    one, two = levels()[:2]
    curve = curve_of([a_run(one, run_id="1"), a_run(two, run_id="2", replicas_under_test=2)])
    assert curve.unusable is not None
    assert curve.unusable.code == "MIXED_REPLICA_COUNTS"


def test_cold_runs_stay_out() -> None:
    warm, cold = levels()[:2]
    runs = [a_run(warm, run_id="1"), a_run(cold, run_id="2", state=TestState.COLD)]
    assert [item.offered_load for item in curve_of(runs).levels] == [1]
    only_cold = curve_of([a_run(cold, state=TestState.COLD)])
    assert only_cold.unusable is not None
    assert only_cold.unusable.code == "ONLY_COLD_RUNS"


def test_a_barred_level_is_shown_and_not_used() -> None:
    good, bad = levels()[:2]
    barred = replace(marked(bad, "ALL_FAILED", ""), usable=False)
    curve = curve_of([a_run(good, barred)])
    assert [item.offered_load for item in curve.levels] == [1]
    assert [(item.offered_load, item.reason) for item in curve.unused] == [(2, "barred by ALL_FAILED")]
    assert codes(curve.findings) == ["LEVELS_NOT_USED"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"concurrency": None}, "no offered load on this axis"),
        ({"concurrency": float("inf")}, "no offered load on this axis"),
        ({"requests_per_s": None, "output_tokens_per_s": None}, "neither requests/s nor tokens/s"),
        ({"requests_per_s": 0.0}, "neither requests/s nor tokens/s"),
        ({"requests_per_s": float("nan")}, "neither requests/s nor tokens/s"),
        ({"requests_per_s": float("inf")}, "neither requests/s nor tokens/s"),
    ],
)
def test_a_level_without_load_or_rate_has_no_place(changes: dict[str, float | None], reason: str) -> None:
    level = replace(a_level(2, 2.0, index=1), **changes)  # type: ignore[arg-type]  # fields by name
    curve = curve_of([a_run(levels()[0], level)])
    assert [item.offered_load for item in curve.levels] == [1]
    assert reason in curve.unused[0].reason


def test_a_curve_without_levels_says_why() -> None:
    curve = curve_of([a_run(a_level(1, 1.0, usable=False))])
    assert curve.unusable is not None
    assert curve.unusable.code == "NO_USABLE_LEVEL"
    assert "barred by its reader" in curve.unusable.message
    assert (curve.knee_offered_load, curve.saturation_requests_per_s) == (None, None)


def test_a_request_rate_follows_from_output_tokens() -> None:
    level = replace(a_level(32, 1.0, output_tokens_per_s=6247.2, work=text(1000.0, 8192.0)), requests_per_s=None)
    found = curve_of([a_run(level)]).levels[0]
    assert (found.requests_per_s, found.origin) == (6247.2 / 8192, Origin.DERIVED)
    assert found.level.requests_per_s == 6247.2 / 8192


def test_a_request_rate_follows_from_all_tokens_where_only_those_are_known() -> None:
    level = replace(a_level(4, 1.0, output_tokens_per_s=None, total_tokens_per_s=2200.0), requests_per_s=None)
    found = curve_of([a_run(level)]).levels[0]
    assert (found.requests_per_s, found.output_tokens_per_s, found.origin) == (2.0, 200.0, Origin.DERIVED)


def test_tokens_without_lengths_make_no_request_rate() -> None:
    level = replace(a_level(4, 1.0, work=TextWork(input_tokens_mean=1000.0)), requests_per_s=None)
    assert curve_of([a_run(level)]).unusable is not None


def test_an_open_loop_is_ordered_by_its_offered_rate() -> None:
    curve = curve_of([an_open_run((8, 7.6, 460.0), (2, 2.0, 180.0), (12, 7.9, 9800.0), (5, 4.9833, 210.0))])
    assert [item.offered_load for item in curve.levels] == [2, 5, 8, 12]
    assert [item.saturated for item in curve.levels] == [False, False, False, True]
    assert codes(curve.findings) == ["SATURATED"]


def test_an_unstated_arrival_kind_is_read_from_the_levels() -> None:
    closed = curve_of([a_run(*levels(), arrival_kind=None)])
    opened = curve_of([replace(an_open_run((2, 2.0, 10.0)), arrival_kind=None)])
    assert (closed.arrival_kind, opened.arrival_kind) == (ArrivalKind.CLOSED, ArrivalKind.OPEN)


def test_levels_of_the_other_arrival_kind_are_not_pooled() -> None:
    paced = replace(a_level(1, 1.0, index=9), concurrency=None, offered_requests_per_s=1.0)
    curve = curve_of([a_run(*levels(), paced, arrival_kind=None)])
    assert len(curve.levels) == len(LADDER)
    assert [item.level.index for item in curve.unused] == [9]


@pytest.mark.parametrize(
    "changes",
    [
        {"tool": "guidellm"},
        {"metric_definitions": "other-1"},
        {"arrival_kind": ArrivalKind.OPEN},
        {"configuration": a_configuration(engine_version="0.20")},
    ],
)
def test_unlike_runs_are_never_pooled(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="differ in"):
        curve_of([a_run(*levels(), run_id="1"), a_run(*levels(), run_id="2", **changes)])


def test_no_runs_make_no_curve() -> None:
    with pytest.raises(InvalidInput, match="is empty"):
        curve_of([])


def test_sizes_that_differ_a_little_are_said_and_a_lot_are_refused() -> None:
    one = a_level(1, 1.0)
    little = curve_of([a_run(one, a_level(2, 2.0, index=1, work=text(1200.0, 100.0)))])
    assert codes(little.findings) == ["UNEVEN_LENGTHS"]
    lot = curve_of([a_run(one, a_level(2, 2.0, index=1, work=text(1000.0, 800.0)))])
    assert lot.unusable is not None
    assert lot.unusable.code == "MIXED_LENGTHS"


def test_evidence_leads_back_to_the_file() -> None:
    run = a_run(replace(levels()[0], index=4, location="line 3"), filename="concurrency-1.json")
    evidence = curve_of([run]).levels[0].evidence[0]
    assert (evidence.run, evidence.point_index, evidence.report_id) == (run.name, 4, run.report_id)
    assert (evidence.source, evidence.tool, evidence.location) == ("concurrency-1.json", run.tool, "line 3")
    published = curve_of([replace(run, source="example, MIT")])
    assert published.evidence[0].source == "example, MIT"


def test_repeats_of_a_load_become_one_level_by_median() -> None:
    rates = (5.0, 6.0, 7.0)
    runs = [
        a_run(
            a_level(8, rate, ttft=Latency(p95_ms=100 * rate), completed_count=400, failed_count=place),
            run_id=str(place),
        )
        for place, rate in enumerate(rates)
    ]
    curve = curve_of(runs)
    assert len(curve.levels) == 1
    level = curve.levels[0]
    assert (level.requests_per_s, level.output_tokens_per_s, level.repeat_count) == (6.0, 600.0, 3)
    assert level.spread_ratio == pytest.approx(2 / 6)
    assert level.qualified.values["ttft_p95_ms"] == 600.0
    assert (level.level.ttft.p95_ms, level.level.completed_count, level.level.failed_count) == (600.0, 1200, 3)
    assert level.origin is Origin.DERIVED
    assert [item.run for item in level.evidence] == [run.name for run in runs]
    assert level.evidence[0].note == "one of 3 repeats, combined by median"


def test_a_repeat_with_an_impossible_statistic_bars_it_for_all() -> None:
    good = a_level(8, 6.0, ttft=Latency(p95_ms=100.0))
    bad = marked(a_level(8, 6.0), "NON_FINITE_STATISTIC", "ttft_p95_ms")
    level = curve_of([a_run(good, run_id="1"), a_run(bad, run_id="2")]).levels[0]
    assert "ttft_p95_ms" not in level.qualified.values
    assert "ttft_p95_ms" in level.qualified.refusals


def test_a_repeat_of_too_few_requests_leaves_the_others() -> None:
    long = a_level(8, 6.0, ttft=Latency(p99_ms=100.0))
    short = a_level(8, 6.2, ttft=Latency(p99_ms=50.0), completed_count=20)
    level = curve_of([a_run(long, run_id="1"), a_run(short, run_id="2")]).levels[0]
    assert level.qualified.values["ttft_p99_ms"] == 100.0
