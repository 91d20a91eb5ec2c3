"""Pairs between the wire and the domain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import AudioWork, EmbeddingWork, ImageWork, TextWork, VideoWork
from tonnage.domain.plan import CapacityPolicy, PlanRequest
from tonnage.domain.workload import (
    BaseAndPeak,
    DailyUsers,
    DemandBucket,
    Failover,
    LatencyLimit,
    Money,
    PeakRate,
    RequestClass,
    Reserve,
    ReservePart,
    ServerShape,
    Sessions,
    Slo,
    Workload,
)
from tonnage.errors import InvalidInput
from tonnage.planning.codec.plan import decode_normalized, encode_normalized
from tonnage.planning.codec.presence import day, member
from tonnage.planning.codec.workload import decode_failover, decode_money, decode_workload, encode_workload
from tonnage.v1 import workload_pb2

RATES = st.floats(0.001, 1e6)
RATIOS = st.floats(0, 10)
SOURCES = st.sampled_from(["a log", "house rule"])
PARTS = st.builds(ReservePart, ratio=RATIOS, source=SOURCES)

DEMANDS = st.one_of(
    st.builds(BaseAndPeak, base_requests_per_s=RATES, peak_factor=st.floats(1, 100), peak_factor_source=SOURCES),
    st.builds(PeakRate, peak_requests_per_s=RATES, base_requests_per_s=st.sampled_from([None, 0.0, 0.001])),
    st.builds(
        DailyUsers,
        daily_active_users=RATES,
        requests_per_user_per_day=RATES,
        peak_hour_share=st.floats(0.05, 1),
        peak_within_hour_factor=st.one_of(st.none(), st.floats(1, 10)),
        source=SOURCES,
    ),
    st.builds(Sessions, executing_sessions=RATES, output_tokens_per_s_per_session=RATES, source=SOURCES),
)
WORKS = st.one_of(
    st.builds(
        TextWork,
        input_tokens_mean=st.floats(1, 1e6),
        output_tokens_mean=st.floats(1, 1e6),
        prefix_cache_hit_ratio=st.one_of(st.none(), st.floats(0, 1)),
    ),
    st.builds(ImageWork, megapixels=RATES, step_count=st.one_of(st.none(), RATES)),
    st.builds(AudioWork, audio_s=RATES),
    st.builds(VideoWork, frame_count=RATES, megapixels=RATES),
    st.builds(EmbeddingWork, input_tokens_mean=RATES, items_per_request=RATES),
)
LIMITS = st.lists(
    st.builds(
        LatencyLimit,
        metric=st.sampled_from(["ttft", "tpot", "itl", "e2e", "queue"]),
        statistic=st.sampled_from(["mean", "p50", "p90", "p95", "p99"]),
        max_ms=st.floats(1, 1e6),
    ),
    max_size=4,
    unique_by=lambda limit: (limit.metric, limit.statistic),
).map(tuple)
RESERVES = st.one_of(
    st.just(Reserve()),
    st.builds(Reserve, whole=PARTS),
    st.builds(
        Reserve, growth=PARTS, burst=st.one_of(st.none(), PARTS), drift=PARTS, from_parts=st.sampled_from([True])
    ),
)
FAILOVERS = st.sampled_from(
    [
        None,
        Failover(lost_replica_count=0),
        Failover(lost_replica_count=2),
        Failover(lost_server_count=1),
        Failover(zone_count=3, lost_zone_count=1),
        Failover(zone_count=3, lost_zone_count=0),
    ]
)
MONEY = Money(currency="USD", amount=0.0, source="price list", as_of_date="2026-11-01")
WORKLOADS = st.builds(
    Workload,
    model=st.sampled_from(["a model", "example/llama-8b"]),
    demand=DEMANDS,
    buckets=WORKS.map(lambda work: (DemandBucket(work=work, share=1.0),)),
    slo=st.builds(
        Slo,
        latency_limits=LIMITS,
        max_failure_ratio=st.sampled_from([None, 0.0, 0.01]),
        min_output_tokens_per_s_per_user=st.sampled_from([None, 20.0]),
        allow_statistic_substitution=st.booleans(),
    ),
    reserve=RESERVES,
    request_class=st.sampled_from(list(RequestClass)),
    failover=FAILOVERS,
    server=st.builds(
        ServerShape, accelerators_per_server=st.sampled_from([None, 8]), price_per_hour=st.sampled_from([None, MONEY])
    ),
)


@given(WORKLOADS)
def test_a_workload_comes_back_from_the_wire_as_it_went(workload: Workload) -> None:
    assert decode_workload(encode_workload(workload)) == workload


@given(WORKLOADS, st.sampled_from(list(CapacityPolicy)))
def test_a_normalized_request_comes_back_as_it_went(workload: Workload, policy: CapacityPolicy) -> None:
    for configuration, fingerprint in (
        (Configuration(), None),
        (Configuration(engine="vllm", prefix_caching=False), None),
        (Configuration(), "0123456789abcdef0123456789abcdef"),
    ):
        request = PlanRequest(
            namespace="default",
            workload=workload,
            configuration=configuration,
            fingerprint=fingerprint,
            as_of_date="2026-11-30",
            policy=policy,
        )
        assert decode_normalized(encode_normalized(request)) == request


@pytest.mark.parametrize("text", ["2026-1-1", "2026-13-01", "20261130", "2026-W01-1", "", "2026-11-30Z"])
def test_what_is_no_day_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        day("as_of_date", text)


def test_an_enum_number_that_is_not_stated_or_not_known_is_told_apart() -> None:
    with pytest.raises(InvalidInput, match="is not stated"):
        member({1: "ttft"}, 0, "metric")
    with pytest.raises(InvalidInput, match="does not know"):
        member({1: "ttft"}, 9, "metric")


@pytest.mark.parametrize(
    "money",
    [
        workload_pb2.Money(currency="USD", source="a list", as_of_date="2026-11-01"),
        workload_pb2.Money(currency="dollars", amount=1, source="a list", as_of_date="2026-11-01"),
        workload_pb2.Money(currency="USD", amount=1, as_of_date="2026-11-01"),
        workload_pb2.Money(currency="USD", amount=1, source="a list"),
        workload_pb2.Money(currency="USD", amount=-1, source="a list", as_of_date="2026-11-01"),
    ],
)
def test_money_that_cannot_be_compared_later_is_refused(money: workload_pb2.Money) -> None:
    with pytest.raises(InvalidInput):
        decode_money(money)


@pytest.mark.parametrize(
    ("zones", "lost"), [(3, 4), (0, 0), (2**31 - 1, 1)], ids=["more lost than there are", "none", "too many"]
)
def test_zones_that_cannot_be_are_refused(zones: int, lost: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        decode_failover(workload_pb2.Failover(zones=workload_pb2.ZoneLoss(zone_count=zones, lost_zone_count=lost)))
    assert refused.value.violations[0].path.startswith("failover.zones.")
