"""A plan as rows and labels."""

from __future__ import annotations

from builders_ui import a_candidate, a_capacity, a_plan, a_work

from tonnage.client import messages as pb
from tonnage_ui.presenters import findings, plan
from tonnage_ui.words import words_of

WORDS = words_of("en")
REQUEST = pb.PlanCapacityRequest()


def test_counts_are_kept_apart() -> None:
    figures = plan.count_figures(a_candidate(), WORDS)
    assert [(figure.label, figure.value) for figure in figures] == [
        ("Replicas", "7"),
        ("Servers", "1"),
        ("Accelerators", "7"),
        ("Installed accelerators", "8"),
    ]


def test_an_unknown_count_is_a_dash_and_a_count_of_zero_is_zero() -> None:
    unknown = a_candidate(count=pb.ServerCount(replica_count=0, server_count=0))
    assert [figure.value for figure in plan.count_figures(unknown, WORDS)] == ["0", "0", "–", "–"]


def test_counts_on_a_lower_bound_are_shown_as_at_most() -> None:
    bounded = a_candidate(upper_bound=True)
    assert plan.count_figures(bounded, WORDS)[0].value == "≤ 7"
    assert plan.candidate_rows(a_plan(REQUEST, candidates=[bounded]), WORDS)[0]["Replicas"] == "≤ 7"


def test_a_feasible_plan_on_a_lower_bound_is_a_warning() -> None:
    settled = plan.headline(a_plan(REQUEST), WORDS)
    bounded = plan.headline(a_plan(REQUEST, candidates=[a_candidate(upper_bound=True)]), WORDS)
    assert (settled.tone, bounded.tone) == ("success", "warning")
    assert settled.title != bounded.title


def test_not_known_is_no_error_and_not_feasible_is() -> None:
    unknown = plan.headline(a_plan(REQUEST, verdict=pb.PLAN_VERDICT_NOT_KNOWN, candidates=[]), WORDS)
    impossible = plan.headline(a_plan(REQUEST, verdict=pb.PLAN_VERDICT_NOT_FEASIBLE, candidates=[]), WORDS)
    assert (unknown.tone, impossible.tone) == ("info", "error")


def test_an_unknown_price_is_a_dash_and_a_free_server_costs_zero() -> None:
    free = a_candidate(cost=pb.CostSummary(per_hour=pb.Money(currency="USD", amount=0.0)))
    assert plan.rate_figures(a_candidate(), a_plan(REQUEST), WORDS)[-1].value == "–"
    assert plan.rate_figures(free, a_plan(REQUEST), WORDS)[-1].value == "0.00"


def test_a_capacity_without_a_miss_says_at_least() -> None:
    assert plan.capacity(a_capacity(), "req/s") == "17.5 req/s"
    assert plan.capacity(a_capacity(bound=pb.CAPACITY_BOUND_AT_LEAST), "req/s") == "≥ 17.5 req/s"
    assert plan.capacity(pb.SloCapacity(bound=pb.CAPACITY_BOUND_NONE), "req/s") == "–"


def test_a_predicted_number_is_not_shown_as_firm() -> None:
    measured = plan.certainty(a_candidate(), a_plan(REQUEST), WORDS)[0]
    predicted = plan.certainty(a_candidate(origin=pb.ORIGIN_PREDICTED), a_plan(REQUEST), WORDS)[0]
    assert (measured.tone, predicted.tone) == ("firm", "weak")


def test_a_rejection_keeps_its_reason_and_what_to_do() -> None:
    row = plan.rejection_rows(a_plan(REQUEST), WORDS)[0]
    assert row["Reason"] == "ttft p90 was not measured"
    assert row["What to do"] == "run again with percentiles"
    assert "l4-24gb" in row["Configuration"]


def test_the_reserve_is_shown_in_parts_with_sources() -> None:
    row = plan.reserve_rows(a_candidate(), WORDS)[0]
    assert (row["Ratio"], row["Source"]) == ("20 %", "agreed with operations")


def test_base_tokens_are_unknown_when_only_the_peak_is_known() -> None:
    rows = plan.token_rows(a_plan(REQUEST), WORDS)
    assert {row["At base"] for row in rows} == {"–"}
    assert rows[-1]["At peak"] == "110,000 tok/s"


def test_evidence_goes_down_to_the_place_in_the_file() -> None:
    row = findings.evidence_rows(plan.all_evidence(a_candidate()), WORDS)[0]
    assert (row["File"], row["Place in the file"], row["Point"]) == ("concurrency-16.json", "$", "2")


def test_the_same_evidence_is_listed_once() -> None:
    assert len(findings.evidence_rows(plan.all_evidence(a_candidate()), WORDS)) == 1


def test_findings_stand_gravest_first_and_once() -> None:
    note = pb.Finding(code="A", severity=pb.SEVERITY_INFO, message="a")
    error = pb.Finding(code="B", severity=pb.SEVERITY_ERROR, message="b")
    cards = findings.cards([note, error, note])
    assert [card.code for card in cards] == ["B", "A"]
    assert findings.tally(cards, WORDS) == "1 error, 1 note"


def test_several_sizes_are_all_listed() -> None:
    two = a_candidate(
        buckets=[
            pb.BucketCapacity(work=a_work(size), capacity=a_capacity(), peak_requests_per_s=1) for size in (10, 20)
        ]
    )
    assert [row["Asked size"] for row in plan.bucket_rows(two, WORDS)] == ["10 → 100", "20 → 100"]
