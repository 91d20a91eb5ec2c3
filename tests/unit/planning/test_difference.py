"""Differences between messages."""

from __future__ import annotations

import pytest

from tonnage.planning.codec.difference import Differ, Difference
from tonnage.v1 import finding_pb2, plan_pb2, run_pb2

DIFFER = Differ(
    keys={"tonnage.v1.Candidate.findings": lambda finding: str(finding.code)},
    skipped=("tonnage.v1.Finding.message",),
)


def found(before: plan_pb2.Candidate, after: plan_pb2.Candidate) -> list[Difference]:
    """Return every difference."""
    return list(DIFFER.differences(before, after))


def a_candidate(**changes: object) -> plan_pb2.Candidate:
    """Return a candidate of three replicas."""
    stated: dict[str, object] = {"count": plan_pb2.ServerCount(replica_count=3)}
    return plan_pb2.Candidate(**{**stated, **changes})  # type: ignore[arg-type]


def test_a_message_does_not_differ_from_its_copy() -> None:
    findings = [finding_pb2.Finding(code="A"), finding_pb2.Finding(code="A"), finding_pb2.Finding(code="B")]
    assert not found(a_candidate(findings=findings), a_candidate(findings=findings))


def test_a_number_inside_a_message_is_named_by_its_path() -> None:
    after = a_candidate(count=plan_pb2.ServerCount(replica_count=4))
    assert found(a_candidate(), after) == [Difference("count.replica_count", "3", "4")]


def test_unknown_and_zero_differ() -> None:
    zero = plan_pb2.ServerCount(replica_count=3, accelerator_count=0)
    assert found(a_candidate(), a_candidate(count=zero)) == [Difference("count.accelerator_count", "", "0")]


def test_an_enum_is_told_by_its_name_even_when_nobody_knows_the_number() -> None:
    assert found(a_candidate(), a_candidate(bottleneck=plan_pb2.BOTTLENECK_TTFT)) == [
        Difference("bottleneck", "BOTTLENECK_UNSPECIFIED", "BOTTLENECK_TTFT")
    ]
    unknown = plan_pb2.Candidate.FromString(a_candidate().SerializeToString() + b"\x48\xa7\x0f")
    assert found(a_candidate(), unknown) == [Difference("bottleneck", "BOTTLENECK_UNSPECIFIED", "1959")]


def test_entries_with_a_key_are_compared_by_it_whatever_their_place() -> None:
    first, second = finding_pb2.Finding(code="A", path="x"), finding_pb2.Finding(code="B", path="x")
    changed = finding_pb2.Finding(code="B", path="y")
    before, after = a_candidate(findings=[first, second]), a_candidate(findings=[changed, first])
    assert found(before, after) == [
        Difference('findings["B"].path', "x", "y"),
        Difference("findings order", '"A", "B"', '"B", "A"'),
    ]


def test_an_entry_on_one_side_alone_is_told() -> None:
    after = a_candidate(findings=[finding_pb2.Finding(code="A")])
    assert found(a_candidate(), after) == [Difference('findings["A"]', "", "there")]


def test_a_skipped_field_is_not_looked_at() -> None:
    sides = [a_candidate(findings=[finding_pb2.Finding(code="A", message=text)]) for text in ("one", "another")]
    assert not found(*sides)


def test_a_list_of_texts_differs_as_a_whole() -> None:
    before, after = a_candidate(assumed_fields=["a", "b"]), a_candidate(assumed_fields=["a"])
    assert found(before, after) == [Difference("assumed_fields", "a, b", "a")]


def test_maps_are_compared_by_key() -> None:
    before, after = (run_pb2.Conditions(labels={"b": "2", "a": value}) for value in ("1", "3"))
    assert list(DIFFER.differences(before, after)) == [Difference("labels", "a=1, b=2", "a=3, b=2")]


def test_messages_on_one_side_alone_are_told() -> None:
    with_cost = a_candidate(cost=plan_pb2.CostSummary())
    assert found(with_cost, a_candidate()) == [Difference("cost", "stated", "")]


@pytest.mark.parametrize("value", [float("nan"), 1e308])
def test_a_double_is_told_in_full(value: float) -> None:
    assert found(a_candidate(), a_candidate(utilization_ratio=value))[0].after == repr(value)
