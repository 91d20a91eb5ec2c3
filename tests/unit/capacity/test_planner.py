"""The whole plan."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from builders import a_configuration, a_level, a_run
from builders_capacity import (
    LADDER,
    MODEL,
    a_bucket,
    a_candidate,
    a_curve,
    a_request,
    an_slo,
    codes,
    levels,
    text,
    whole,
)

from tonnage.capacity.curves import curve_of
from tonnage.capacity.planner import CandidateCurves, SweepCurve, plan
from tonnage.domain.configuration import Configuration
from tonnage.domain.finding import Origin
from tonnage.domain.measurement import AudioWork
from tonnage.domain.plan import Bottleneck, CapacityPolicy, Plan, PlanRequest, PlanVerdict
from tonnage.domain.workload import (
    BaseAndPeak,
    DemandBucket,
    Failover,
    Money,
    PeakRate,
    Reserve,
    ServerShape,
    Slo,
)
from tonnage.errors import InvalidInput

PRICE = Money(currency="USD", amount=2.0, source="quote", as_of_date="2026-01-01")


def planned(request: PlanRequest | None = None, *candidates: CandidateCurves) -> Plan:
    return plan(request or a_request(), candidates or (a_candidate(a_curve()),), 3, "0.1")


def other(**changes: object) -> CandidateCurves:
    configuration = a_configuration(**changes)
    return a_candidate(a_curve(*LADDER, configuration=configuration))


def test_a_plan_holds_counts_evidence_and_what_was_assumed() -> None:
    found = planned()
    assert (found.verdict, found.data_version, found.release) == (PlanVerdict.FEASIBLE, 3, "0.1")
    best = found.candidates[0]
    assert (best.count.replica_count, best.count.accelerator_count) == (2, 2)  # 10 x 1.2 / 9
    assert (best.bottleneck, best.origin, best.upper_bound) == (Bottleneck.TTFT, Origin.MEASURED, False)
    assert best.utilization_ratio == pytest.approx(10 / 9 / 2)
    assert best.assumed_fields == (
        "accelerator",
        "accelerators_per_replica",
        "engine",
        "engine_version",
        "tensor_parallel",
        "weight_precision",
    )
    assert [(item.quantity, item.point_index) for item in best.evidence] == [("q_slo", 4), ("curve", None)]
    assert all(item.run for item in best.evidence)
    assert found.summary == (
        f"10 requests/s of {MODEL} at peak take 2 replicas (2 x h100-sxm-80gb) on 2 servers of vllm 0.19, "
        "with a reserve of 0.2."
    )


def test_the_policy_of_the_request_is_followed() -> None:
    found = planned(a_request(policy=CapacityPolicy.INTERPOLATED))
    assert found.candidates[0].origin is Origin.INTERPOLATED


def test_exact_demand_reaches_the_ceiling() -> None:
    demand = BaseAndPeak(base_requests_per_s=1.1, peak_factor=1.1, peak_factor_source="log")
    request = a_request(demand=demand, reserve=Reserve(), slo=Slo())
    one = planned(request, a_candidate(a_curve((1, 1.21, 10.0))))
    assert one.candidates[0].count.replica_count == 1  # in floats 1.1 x 1.1 / 1.21 is above 1


def test_a_lower_bound_on_capacity_is_an_upper_bound_on_servers() -> None:
    found = planned(a_request(slo=an_slo(ttft_p95=5000.0)))
    assert found.candidates[0].upper_bound
    assert "at most 2 replicas" in found.summary
    assert "LIMIT_NOT_REACHED" in codes(found.candidates[0].findings)


def test_an_slo_the_lowest_load_misses_is_not_feasible() -> None:
    found = planned(a_request(slo=an_slo(ttft_p95=10.0)))
    assert found.verdict is PlanVerdict.NOT_FEASIBLE
    rejection = found.rejections[0]
    assert (rejection.code, rejection.bottleneck) == ("SLO_NOT_MET", Bottleneck.TTFT)
    assert "more replicas do not mend" in rejection.remedy
    assert rejection.evidence[0].run
    assert found.summary.startswith("Nothing measured serves 10 requests/s")


def test_a_statistic_nobody_measured_is_not_known() -> None:
    found = planned(a_request(slo=an_slo(ttft_p99=500.0)))
    assert (found.verdict, found.rejections[0].code) == (PlanVerdict.NOT_KNOWN, "STATISTIC_NOT_MEASURED")


def test_a_model_nobody_measured_is_not_known() -> None:
    found = planned(a_request(model="nobody/measured-this"))
    assert (found.verdict, found.candidates, found.rejections) == (PlanVerdict.NOT_KNOWN, (), ())
    assert codes(found.findings) == ["NO_MEASURED_RUN"]


def test_a_modality_nobody_measured_is_not_known() -> None:
    found = planned(a_request(buckets=(DemandBucket(work=AudioWork(audio_s=30.0)),)))
    assert (found.verdict, found.rejections[0].code) == (PlanVerdict.NOT_KNOWN, "NO_MEASURED_RUN")
    assert "no stored run is of audio work" in found.rejections[0].reason


def test_a_stated_field_must_be_what_was_measured() -> None:
    asked = Configuration(accelerator="b200-sxm-180gb", engine="vllm")
    found = planned(a_request(configuration=asked))
    assert (found.verdict, found.candidates) == (PlanVerdict.NOT_KNOWN, ())
    assert codes(found.findings) == ["CONFIGURATION_NOT_MEASURED"]
    assert "differs in accelerator (h100-sxm-80gb)" in found.findings[0].message


def test_what_a_run_leaves_open_is_not_what_was_asked() -> None:
    found = planned(a_request(configuration=Configuration(kv_cache_type="fp8")))
    assert "kv_cache_type (not stated)" in found.findings[0].message


def test_a_fingerprint_picks_one_configuration() -> None:
    wanted = other(engine_version="0.20")
    found = planned(a_request(fingerprint=wanted.fingerprint), other(), wanted)
    assert [item.configuration for item in found.candidates] == [wanted.configuration]


def test_two_names_of_the_model_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"contradicts workload\.model"):
        planned(a_request(configuration=Configuration(model="another/model")))


def test_runs_that_do_not_say_what_they_ran_on_are_not_planned_on() -> None:
    found = planned(a_request(), other(accelerator=None, weight_precision=None))
    rejection = found.rejections[0]
    assert (found.verdict, rejection.code) == (PlanVerdict.NOT_KNOWN, "IDENTITY_INCOMPLETE")
    assert "accelerator, weight_precision" in rejection.reason
    assert rejection.evidence


def test_a_configuration_whose_runs_were_all_retracted_is_not_known() -> None:
    empty = CandidateCurves(configuration=a_configuration(), sweeps=())
    assert planned(a_request(), empty).rejections[0].code == "NO_MEASURED_RUN"


def test_an_unusable_curve_is_rejected_with_its_own_reason() -> None:
    found = planned(a_request(), a_candidate(a_curve(replicas_under_test=None)))
    assert found.rejections[0].code == "REPLICAS_UNDER_TEST_NOT_KNOWN"


def test_contradicting_limits_come_before_any_count() -> None:
    found = planned(a_request(slo=an_slo(ttft_p95=600, tpot_p95=40, e2e_p95=4000), buckets=(a_bucket(500, 200),)))
    assert (found.verdict, found.candidates, found.rejections) == (PlanVerdict.CONTRADICTION, (), ())
    assert codes(found.findings) == ["CONTRADICTING_LIMITS"]
    assert found.findings[0].path == "workload.slo.latency_limits"


def test_a_loss_nothing_survives_is_a_rejection() -> None:
    found = planned(a_request(failover=Failover(zone_count=2, lost_zone_count=2)))
    assert (found.verdict, found.rejections[0].code) == (PlanVerdict.NOT_FEASIBLE, "FAILOVER_IMPOSSIBLE")
    assert found.rejections[0].bottleneck is Bottleneck.FAILOVER


def test_a_bad_failover_is_refused_with_its_full_path() -> None:
    with pytest.raises(InvalidInput) as caught:
        planned(a_request(failover=Failover()))
    assert caught.value.violations[0].path == "workload.failover"


def test_findings_carry_full_paths() -> None:
    found = planned(a_request(reserve=Reserve(from_parts=True)))
    assert {item.path for item in found.findings} == {
        f"workload.reserve.parts.{name}" for name in ("growth", "burst", "drift", "colocation")
    }
    paths = {item.path for item in found.candidates[0].findings}
    assert paths == {"workload.server.accelerators_per_server", "workload.server.price_per_hour"}


def test_buckets_are_each_sized_by_their_own_sweep() -> None:
    long = curve_of([a_run(a_level(4, 1.5, work=text(8000.0, 100.0)), run_id="2")])
    request = a_request(buckets=(a_bucket(1000, 100, 0.6), a_bucket(8000, 100, 0.4)), slo=Slo(), reserve=Reserve())
    best = planned(request, a_candidate(a_curve(), long)).candidates[0]
    assert [row.capacity.q_slo_requests_per_s for row in best.buckets] == [10.0, 1.5]
    assert [row.peak_requests_per_s for row in best.buckets] == [6.0, 4.0]
    assert best.count.exact_replicas == pytest.approx(6 / 10 + 4 / 1.5)
    assert best.bottleneck is Bottleneck.THROUGHPUT


def test_one_bucket_without_a_capacity_rejects_and_is_named() -> None:
    request = a_request(buckets=(a_bucket(1000, 100, 0.6), a_bucket(8000, 100, 0.4)))
    found = planned(request)
    assert found.rejections[0].code == "LENGTHS_NOT_MEASURED"
    assert found.rejections[0].reason.startswith("8000 in / 100 out tokens: ")


def test_unmeasured_lengths_are_predicted_with_tightened_limits() -> None:
    found = planned(a_request(buckets=(a_bucket(2000, 100),)))
    row = found.candidates[0].buckets[0]
    # TTFT p95 <= 500 ms at twice the input asks for 250 ms of what was measured: concurrency 8, 6 requests/s, halved.
    assert row.capacity.q_slo_requests_per_s == pytest.approx(3.0)
    assert found.candidates[0].origin is Origin.PREDICTED
    assert row.measured_work == text(1000.0, 100.0)


def test_the_newest_sweep_speaks_alone() -> None:
    old, new = a_curve(), a_curve((1, 0.5, 50.0), (2, 0.9, 900.0), tool="guidellm")
    times = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC))
    sweeps = tuple(
        SweepCurve(curve=curve, work=curve.work, sweep_id=curve.tool, newest=time)
        for curve, time in zip((old, new), times, strict=True)
    )
    best = planned(a_request(), CandidateCurves(configuration=a_configuration(), sweeps=sweeps)).candidates[0]
    assert best.buckets[0].capacity.q_slo_requests_per_s == 0.5
    assert "OTHER_SWEEPS_NOT_USED" in codes(best.findings)


def test_cost_ranks_before_accelerators_before_fingerprint() -> None:
    server = ServerShape(accelerators_per_server=8, price_per_hour=PRICE)
    wide = other(accelerators_per_replica=8, tensor_parallel=8)
    narrow, twin = other(), other(engine_version="0.20")
    found = planned(a_request(server=server, demand=PeakRate(peak_requests_per_s=50.0)), wide, narrow, twin)
    costs = [item.cost.per_hour.amount for item in found.candidates if item.cost is not None]
    assert costs == [2.0, 2.0, 14.0]
    prints = [item.configuration.fingerprint for item in found.candidates]
    assert prints[:2] == sorted([narrow.fingerprint, twin.fingerprint])
    assert prints[2] == wide.fingerprint
    unpriced = planned(a_request(), wide, narrow)
    assert [item.count.accelerator_count for item in unpriced.candidates] == [2, 16]


def test_one_price_for_unlike_accelerators_is_said() -> None:
    server = ServerShape(accelerators_per_server=8, price_per_hour=PRICE)
    found = planned(a_request(server=server), other(), other(accelerator="h200-sxm-141gb"))
    assert codes(found.findings) == ["ONE_PRICE_FOR_UNLIKE_SERVERS"]


def test_the_cost_of_a_token_is_taken_at_the_planned_utilization() -> None:
    server = ServerShape(accelerators_per_server=1, price_per_hour=PRICE)
    cost = planned(a_request(server=server)).candidates[0].cost
    assert cost is not None
    assert cost.per_million_output_tokens is not None
    assert cost.per_hour.amount == 4.0
    assert cost.per_million_output_tokens.amount == pytest.approx(4.0 / (10 * 100 * 3600) * 1e6)
    assert cost.utilization_ratio == pytest.approx(10 / 9 / 2)


def test_only_as_many_candidates_as_asked_are_shown() -> None:
    found = planned(a_request(max_candidate_count=1), other(), other(engine_version="0.20"))
    assert (len(found.candidates), codes(found.findings)) == (1, ["CANDIDATES_CUT"])


def test_no_demand_needs_nothing_and_says_so() -> None:
    found = planned(a_request(demand=PeakRate(peak_requests_per_s=0.0), server=ServerShape(price_per_hour=PRICE)))
    best = found.candidates[0]
    assert (best.count.replica_count, best.utilization_ratio) == (0, 0.0)
    assert best.cost is not None
    assert best.cost.per_million_output_tokens is None
    assert "NO_DEMAND" in codes(best.findings)


def test_the_order_of_candidates_and_runs_never_matters() -> None:
    made = [other(), other(engine_version="0.20"), other(accelerator=None), other(engine="sglang")]
    assert planned(a_request(), *made) == planned(a_request(), *made[::-1])
    files = [a_run(level, run_id=str(place)) for place, level in enumerate(levels())]
    forwards, backwards = (a_candidate(curve_of(runs)) for runs in (files, files[::-1]))
    assert planned(a_request(), forwards) == planned(a_request(), backwards)


def test_the_reserve_is_shown_apart() -> None:
    best = planned(a_request(reserve=whole(0.5))).candidates[0]
    assert (best.reserve.ratio, [item.part for item in best.reserve.parts]) == (0.5, ["whole"])


def test_retired_levels_change_the_answer() -> None:
    run = a_run(*levels())
    shorter = replace(run, levels=run.levels[:3])
    best = planned(a_request(), a_candidate(curve_of([shorter]))).candidates[0]
    assert best.buckets[0].capacity.q_slo_requests_per_s == 3.5
