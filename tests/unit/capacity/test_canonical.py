"""The name of a plan."""

from __future__ import annotations

from builders_capacity import a_bucket, a_request

from tonnage.capacity.canonical import canonical, plan_id
from tonnage.domain.configuration import Configuration
from tonnage.domain.workload import PeakRate


def test_whole_and_broken_numbers_are_the_same_number() -> None:
    one, other = (a_request(demand=PeakRate(peak_requests_per_s=rate)) for rate in (10, 10.0))
    assert plan_id(one, 3, "0.1") == plan_id(other, 3, "0.1")


def test_the_order_of_buckets_never_matters() -> None:
    buckets = (a_bucket(1000, 100, 0.25), a_bucket(2000, 100, 0.75))
    assert plan_id(a_request(buckets=buckets), 3, "0.1") == plan_id(a_request(buckets=buckets[::-1]), 3, "0.1")


def test_any_change_of_request_data_or_release_changes_the_name() -> None:
    names = {
        plan_id(a_request(), 3, "0.1"),
        plan_id(a_request(), 4, "0.1"),
        plan_id(a_request(), 3, "0.2"),
        plan_id(a_request(as_of_date="2026-01-02"), 3, "0.1"),
        plan_id(a_request(demand=PeakRate(peak_requests_per_s=10.5)), 3, "0.1"),
        plan_id(a_request(configuration=Configuration(engine="vllm")), 3, "0.1"),
        plan_id(a_request(max_candidate_count=1), 3, "0.1"),
    }
    assert len(names) == 7


def test_what_is_not_stated_is_left_out_and_nothing_is_not() -> None:
    assert "base_requests_per_s" not in canonical(PeakRate(peak_requests_per_s=1.0))
    assert "base_requests_per_s:0.0" in canonical(PeakRate(peak_requests_per_s=1.0, base_requests_per_s=-0.0))


def test_texts_cannot_pose_as_structure() -> None:
    assert canonical(Configuration(model="a',engine:'b")) != canonical(Configuration(model="a", engine="b"))
    assert canonical(prefix_caching := Configuration(prefix_caching=True)) != canonical(
        Configuration(prefix_caching=False)
    )
    assert "prefix_caching:true" in canonical(prefix_caching)
