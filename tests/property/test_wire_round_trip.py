"""Whatever goes to the wire comes back equal."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tonnage.domain.configuration import Conditions, Configuration
from tonnage.domain.finding import Evidence, Finding, Origin, Severity
from tonnage.domain.measurement import (
    ArrivalKind,
    AudioWork,
    EmbeddingWork,
    ImageWork,
    Latency,
    Level,
    Quality,
    Run,
    Telemetry,
    TestState,
    TextWork,
    VideoWork,
    Work,
)
from tonnage.rpc.codec.finding import decode_finding, encode_finding
from tonnage.rpc.codec.run import decode_run, decode_work, encode_run, encode_work
from tonnage.v1 import run_pb2

# A run has some hundred fields, each drawn apart.
LARGE = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

numbers = st.none() | st.floats(0, 1e9)
ratios = st.none() | st.floats(0, 1)
counts = st.none() | st.integers(0, 2**53)
positive = st.none() | st.integers(1, 2**31 - 1)
texts = st.text(st.characters(min_codepoint=32, exclude_characters="\x7f", exclude_categories=["Cs"]), max_size=20)
names = texts.filter(bool)
maybe = st.none() | names

evidence = st.builds(
    Evidence,
    origin=st.sampled_from(Origin),
    quantity=texts,
    run=texts,
    point_index=counts.filter(lambda n: n is None or n < 2**31),
)
findings = st.builds(
    Finding,
    code=names,
    severity=st.sampled_from(Severity),
    message=texts,
    path=texts,
    remedy=texts,
    evidence=st.lists(evidence, max_size=2).map(tuple),
)
latencies = st.builds(Latency, mean_ms=numbers, p50_ms=numbers, p90_ms=numbers, p95_ms=numbers, p99_ms=numbers)
works = st.one_of(
    st.builds(TextWork, input_tokens_mean=numbers, output_tokens_mean=numbers, prefix_cache_hit_ratio=ratios),
    st.builds(ImageWork, megapixels=numbers, step_count=numbers, images_per_request=numbers),
    st.builds(AudioWork, audio_s=numbers),
    st.builds(VideoWork, frame_count=numbers, megapixels=numbers),
    st.builds(EmbeddingWork, input_tokens_mean=numbers, items_per_request=numbers),
)
telemetries = st.builds(
    Telemetry,
    accelerator_utilization_ratio=ratios,
    vram_peak_bytes=counts,
    cpu_utilization_ratio=ratios,
    queue_length_mean=numbers,
    batch_size_mean=numbers,
    kv_cache_usage_ratio=ratios,
    power_w=numbers,
)
qualities = st.builds(Quality, suite=names, suite_version=maybe, score=st.none() | st.floats(-1e9, 1e9))


def levels_with(tenants: st.SearchStrategy[tuple[tuple[str, Level], ...]]) -> st.SearchStrategy[Level]:
    """Return levels at position 0 with the given parts."""
    return st.builds(
        Level,
        work=works,
        concurrency=numbers,
        offered_requests_per_s=numbers,
        requests_per_s=numbers,
        output_tokens_per_s=numbers,
        total_tokens_per_s=numbers,
        reported_requests_per_s=numbers,
        duration_s=numbers,
        completed_count=counts,
        failed_count=counts,
        ttft=latencies,
        tpot=latencies,
        itl=latencies,
        e2e=latencies,
        queue=latencies,
        telemetry=st.none() | telemetries,
        quality=st.none() | qualities,
        tenants=tenants,
        location=texts,
        findings=st.lists(findings, max_size=1).map(tuple),
        usable=st.booleans(),
    )


parts = st.dictionaries(names, levels_with(st.just(())), max_size=2).map(lambda held: tuple(held.items()))
configurations = st.builds(
    Configuration,
    model=maybe,
    engine=maybe,
    engine_version=maybe,
    accelerator=maybe,
    weight_precision=maybe,
    accelerators_per_replica=positive,
    tensor_parallel=positive,
    max_model_len=st.none() | st.integers(1, 2**53),
    prefix_caching=st.none() | st.booleans(),
    lora_adapter_count=st.none() | st.integers(0, 1000),
)
labels = st.dictionaries(names, texts, max_size=2).map(lambda held: tuple(sorted(held.items())))
conditions = st.builds(Conditions, driver_version=maybe, host=maybe, labels=labels)
first, last = datetime(1, 1, 2), datetime(9999, 12, 30)  # noqa: DTZ001 -- the bounds must be naive
moments = st.datetimes(first, last, timezones=st.just(UTC))
runs = st.builds(
    Run,
    tool=names,
    metric_definitions=names,
    levels=levels_with(parts).map(lambda level: (level,)),
    tool_version=maybe,
    configuration=configurations,
    conditions=conditions,
    replicas_under_test=positive,
    arrival_kind=st.none() | st.sampled_from(ArrivalKind),
    state=st.sampled_from(TestState),
    state_origin=st.sampled_from(Origin),
    sample_set=maybe,
    measured_at=st.none() | moments,
    sweep_id=maybe,
    findings=st.lists(findings, max_size=2).map(tuple),
    filename=texts,
    ingested_by=maybe,
    ci_job=maybe,
    source=maybe,
)


@LARGE
@given(runs)
def test_a_run_comes_back_from_the_wire_as_it_went(run: Run) -> None:
    sent = run_pb2.Run.FromString(encode_run(run).SerializeToString())
    assert decode_run(sent) == run


@given(works)
def test_a_size_of_any_modality_comes_back(work: Work) -> None:
    assert decode_work(encode_work(work)) == work


@given(findings)
def test_a_finding_comes_back(finding: Finding) -> None:
    assert decode_finding(encode_finding(finding)) == finding
