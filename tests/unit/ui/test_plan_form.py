"""The workload form as a request."""

from __future__ import annotations

import pytest
from google.protobuf.descriptor import FieldDescriptor

from tonnage.client import messages as pb
from tonnage_ui.forms.plan import key_of_field, plan_request
from tonnage_ui.words import words_of

FILLED = {
    "model": "m",
    "input_tokens": 1000.0,
    "output_tokens": 100.0,
    "demand_kind": "base_and_peak",
    "base_requests_per_s": 5.0,
    "peak_factor": 3.0,
    "peak_factor_source": "log",
    "limits": ["ttft_p90", "e2e_p50"],
    "ttft_p90_ms": 500.0,
    "e2e_p50_ms": 9000.0,
    "reserve_kind": "whole",
    "reserve": 0.2,
    "reserve_source": "agreed",
}


def test_an_empty_form_states_nothing() -> None:
    request = plan_request({"demand_kind": "base_and_peak"})
    assert not request.workload.demand.base_and_peak.HasField("peak_factor")
    assert request.workload.reserve.WhichOneof("kind") is None
    assert not request.workload.HasField("failover")
    assert not request.workload.server.HasField("price_per_hour")
    assert not request.workload.buckets[0].work.text.HasField("input_tokens_mean")


def test_zero_is_stated_and_empty_is_not() -> None:
    stated = plan_request({**FILLED, "base_requests_per_s": 0.0, "price_per_hour": 0.0})
    assert stated.workload.demand.base_and_peak.HasField("base_requests_per_s")
    assert stated.workload.server.price_per_hour.HasField("amount")
    empty = plan_request({**FILLED, "base_requests_per_s": None})
    assert not empty.workload.demand.base_and_peak.HasField("base_requests_per_s")


def test_each_limit_keeps_its_metric_statistic_and_number() -> None:
    limits = plan_request(FILLED).workload.slo.latency_limits
    assert [(limit.metric, limit.statistic, limit.max_ms) for limit in limits] == [
        (pb.LATENCY_METRIC_TTFT, pb.STATISTIC_P90, 500.0),
        (pb.LATENCY_METRIC_E2E, pb.STATISTIC_P50, 9000.0),
    ]


def test_a_limit_that_was_taken_back_is_not_asked_though_its_number_is_still_there() -> None:
    limits = plan_request({**FILLED, "limits": ["e2e_p50"]}).workload.slo.latency_limits
    assert [limit.metric for limit in limits] == [pb.LATENCY_METRIC_E2E]


def test_only_the_chosen_way_to_state_demand_is_asked() -> None:
    request = plan_request({**FILLED, "demand_kind": "peak_rate", "peak_requests_per_s": 40.0})
    assert request.workload.demand == pb.Demand(peak_rate=pb.PeakRate(peak_requests_per_s=40.0))


def test_one_size_has_the_whole_share_and_several_have_their_own() -> None:
    assert plan_request(FILLED).workload.buckets[0].share == 1.0
    several = {
        **FILLED,
        "size_count": 2,
        "share": 0.7,
        "input_tokens_2": 4000.0,
        "output_tokens_2": 10.0,
        "share_2": 0.3,
    }
    buckets = plan_request(several).workload.buckets
    assert [(bucket.share, bucket.work.text.input_tokens_mean) for bucket in buckets] == [(0.7, 1000.0), (0.3, 4000.0)]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"reserve_kind": "none"}, "none"),
        ({"reserve_kind": "whole"}, "whole"),
        ({"reserve_kind": "parts", "growth": 0.1, "growth_source": "plan"}, "parts"),
    ],
)
def test_the_reserve_is_what_was_chosen(values: dict[str, object], kind: str) -> None:
    assert plan_request({**FILLED, **values}).workload.reserve.WhichOneof("kind") == kind


def test_reserve_parts_that_nobody_filled_in_stay_absent() -> None:
    values = {**FILLED, "reserve_kind": "parts", "growth": 0.1, "growth_source": "plan", "burst": None}
    parts = plan_request(values).workload.reserve.parts
    assert parts.growth.ratio == pytest.approx(0.1)
    assert not parts.HasField("burst")


@pytest.mark.parametrize(
    ("values", "failover"),
    [
        ({"failover_kind": "replicas", "failover_replicas": 1}, pb.Failover(lost_replica_count=1)),
        ({"failover_kind": "servers", "failover_servers": 0}, pb.Failover(lost_server_count=0)),
        (
            {"failover_kind": "zones", "zones": 3, "failover_zones": 1},
            pb.Failover(zones=pb.ZoneLoss(zone_count=3, lost_zone_count=1)),
        ),
    ],
)
def test_the_loss_to_survive_is_what_was_chosen(values: dict[str, object], failover: pb.Failover) -> None:
    assert plan_request({**FILLED, **values}).workload.failover == failover


def _paths(descriptor: object, prefix: str) -> list[str]:
    found = []
    for field in descriptor.fields:  # type: ignore[attr-defined]
        path = f"{prefix}{field.name}" + ("[0]" if field.is_repeated else "")
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            found += _paths(field.message_type, f"{path}.")
        else:
            found.append(path)
    return found


def test_a_refused_field_of_a_text_workload_is_named_by_a_label_of_the_form() -> None:
    paths = [path for path in _paths(pb.Workload.DESCRIPTOR, "workload.") if ".work." not in path or ".text." in path]
    assert len(paths) > 30
    keys = {path: key_of_field(path) for path in paths}
    words = words_of("en")
    unnamed = [path for path, key in keys.items() if key is None or not words.has(f"field.{key}")]
    assert unnamed == []
