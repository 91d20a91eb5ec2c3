"""Public cases with answers that a pencil checks: ``../shared/cases``, kinds A, C and E on sizing."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from builders import a_configuration, a_level, a_run
from builders_capacity import a_bucket, a_candidate, a_request, an_slo, codes, text, whole

from tonnage.capacity.contradictions import implied_e2e_ms
from tonnage.capacity.cost import per_million_output_tokens
from tonnage.capacity.curves import Curve, curve_of
from tonnage.capacity.planner import plan
from tonnage.capacity.sizing import server_count
from tonnage.capacity.slo import contradictions, slo_capacity
from tonnage.capacity.utilization import total
from tonnage.domain.measurement import ArrivalKind, Latency, Level
from tonnage.domain.plan import CapacityBound, PlanVerdict
from tonnage.domain.workload import Failover, PeakRate, Reserve, Slo
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def files(shared: Path) -> Path:
    """Return the folder of the cases' input files."""
    return shared / "cases" / "files"


@pytest.fixture(scope="session")
def expected(files: Path) -> dict[str, Any]:
    """Return the checkable answers by case."""
    found: dict[str, Any] = json.loads((files / "expected.json").read_text())
    return found


def rows(path: Path) -> list[dict[str, float]]:
    with path.open(newline="") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def meets(value: float | None, answer: dict[str, Any]) -> bool:
    if value is None:
        return False
    if "equals" in answer:
        return bool(value == answer["equals"])
    return value == pytest.approx(answer["value"], rel=answer.get("rel_tol"), abs=answer.get("abs_tol", 0.0))


def an_output_level(index: int, concurrency: float, output_tokens_per_s: float, **changes: object) -> Level:
    """Return a level of a table that states output tokens/s and no request rate or count."""
    level = a_level(concurrency, 1.0, index=index, output_tokens_per_s=output_tokens_per_s, **changes)
    return replace(level, requests_per_s=None, completed_count=None, failed_count=None, duration_s=None, e2e=Latency())


@pytest.fixture
def a4(files: Path) -> Curve:
    """Return the curve of S-A4: one replica of two accelerators, means alone."""
    made = (
        an_output_level(
            place,
            row["concurrency"],
            row["output_tokens_per_s"],
            work=text(5000.0, 500.0),
            ttft=Latency(mean_ms=row["ttft_ms_mean"]),
            itl=Latency(mean_ms=row["itl_ms_mean"]),
        )
        for place, row in enumerate(rows(files / "s_a4_llama33_70b_2xh100_5000_500.csv"))
    )
    return curve_of([a_run(*made, configuration=a_configuration(accelerators_per_replica=2, tensor_parallel=2))])


def replicas(curve: Curve, slo: Slo, peak: float, reserve: float) -> tuple[int, int | None]:
    q_slo = slo_capacity(curve, slo).q_slo_requests_per_s
    assert q_slo is not None
    per_replica = curve.configuration.accelerators_per_replica
    count = server_count([(peak, q_slo)], whole(reserve), None, per_replica).count
    assert count is not None
    return count.replica_count, count.accelerator_count


def test_s_a4_counts_units_at_each_limit(a4: Curve, expected: dict[str, Any]) -> None:
    right = expected["S-A4"]
    assert meets(slo_capacity(a4, an_slo(ttft_mean=1000)).q_slo_requests_per_s, right["q_slo_rps_ttft_1000"])
    units, gpus = replicas(a4, an_slo(ttft_mean=1000), 10, 0.2)
    assert meets(units, right["units_ttft_1000"])
    assert meets(gpus, right["gpus_ttft_1000"])
    assert meets(replicas(a4, an_slo(ttft_mean=700), 10, 0.2)[0], right["units_ttft_700"])
    assert meets(replicas(a4, an_slo(ttft_mean=500), 10, 0.2)[0], right["units_ttft_500"])


def test_s_a4_refuses_a_percentile_that_a_table_of_means_lacks(a4: Curve) -> None:
    found = slo_capacity(a4, an_slo(ttft_p95=1000))
    assert (found.bound, codes(found.findings)) == (CapacityBound.NONE, ["STATISTIC_NOT_MEASURED"])
    assert "of ttft it has mean" in found.reason


def test_s_a4_measured_rows_agree_with_their_own_latencies(a4: Curve) -> None:
    for level in a4.levels:
        ttft, itl = level.qualified.values["ttft_mean_ms"], level.qualified.values["itl_mean_ms"]
        in_flight = level.requests_per_s * implied_e2e_ms(ttft, itl, 500) / 1000
        assert in_flight == pytest.approx(level.offered_load, rel=0.006)


def test_s_a4_is_planned_as_sixteen_accelerators(a4: Curve) -> None:
    request = a_request(slo=an_slo(ttft_mean=1000.0), buckets=(a_bucket(5000, 500),))
    best = plan(request, [a_candidate(a4)], 1, "0.1").candidates[0]
    assert (best.count.replica_count, best.count.accelerator_count) == (8, 16)


def test_s_a5_the_row_with_the_highest_concurrency_is_not_the_fastest(files: Path, expected: dict[str, Any]) -> None:
    made = (
        an_output_level(
            place,
            row["concurrency"],
            row["output_tokens_per_s_per_gpu"] * row["gpus"],
            work=text(1024.0, 8192.0),
            tpot=Latency(mean_ms=row["tpot_ms"]),
        )
        for place, row in enumerate(rows(files / "s_a5_tp8_1k_8k.csv"))
    )
    configuration = a_configuration(accelerators_per_replica=8, tensor_parallel=8)
    curve = curve_of([a_run(*made, configuration=configuration)])
    found = slo_capacity(curve, an_slo(tpot_mean=10))
    right = expected["S-A5"]
    assert meets(found.q_slo_requests_per_s, right["q_slo_rps"])
    assert meets(found.offered_load, right["row_concurrency"])
    units, gpus = replicas(curve, an_slo(tpot_mean=10), 2, 0.2)
    assert meets(units, right["units"])
    assert meets(gpus, right["gpus"])
    assert codes(curve.findings) == ["SATURATED"]


def test_s_a6_no_server_from_rounding_noise(files: Path, expected: dict[str, Any]) -> None:
    for row, answer in zip(rows(files / "s_a6_ceil.csv"), expected["S-A6"]["n"], strict=True):
        if answer["equals"] == "INVALID_ARGUMENT":
            with pytest.raises(InvalidInput):
                server_count([(row["d_peak"], row["q_slo"])], whole(row["r"]))
            continue
        result = server_count([(row["d_peak"], row["q_slo"])], whole(row["r"]))
        assert result.count is not None
        assert meets(result.count.replica_count, answer), row
        assert ("NO_DEMAND" in codes(result.findings)) is (row["d_peak"] == 0)


def test_s_c6_four_rates_are_four_rungs(files: Path, expected: dict[str, Any]) -> None:
    found = json.loads((files / "s_c6_four_rates_one_file.json").read_text())
    made = (
        replace(
            a_level(
                1,
                stage["completed"] / stage["duration_s"],
                index=place,
                completed_count=stage["completed"],
                ttft=Latency(p95_ms=stage["ttft_p95_ms"]),
                work=text(256.0, 256.0),
                e2e=Latency(),
            ),
            concurrency=None,
            offered_requests_per_s=stage["rate"],
        )
        for place, stage in enumerate(found["benchmarks"])
    )
    curve = curve_of([a_run(*made, arrival_kind=ArrivalKind.OPEN)])
    right = expected["S-C6"]
    assert meets(len(curve.levels), right["rows"])
    for level, rate, saturated in zip(curve.levels, right["rps"], right["saturated"], strict=True):
        assert meets(level.requests_per_s, rate)
        assert level.saturated is saturated["equals"]
    assert meets(slo_capacity(curve, an_slo(ttft_p95=500)).q_slo_requests_per_s, right["q_slo"])
    assert meets(replicas(curve, an_slo(ttft_p95=500), 30, 0.2)[0], right["n"])


def test_s_e1_idle_hours_raise_the_price(files: Path, expected: dict[str, Any]) -> None:
    found = json.loads((files / "s_e1_cost.json").read_text())
    for share in found["utilizations"]:
        price = per_million_output_tokens(found["gpu_hour_usd"], found["output_tokens_per_s_at_slo"], share)
        assert meets(price, expected["S-E1"]["usd_per_million"][str(share)])
    assert per_million_output_tokens(found["gpu_hour_usd"], found["output_tokens_per_s_at_slo"], 0.0) is None


def test_s_e2_a_run_out_of_the_cache_is_not_planned_on(files: Path, expected: dict[str, Any]) -> None:
    found = json.loads((files / "s_e2_prefix.json").read_text())
    same, distinct = (
        curve_of(
            [a_run(a_level(1000, run["requests_per_s"], work=text(run["in"], run["out"], hit)), sweep_id=run["id"])]
        )
        for run, hit in zip(found["runs"], (0.99, 0.0), strict=True)
    )
    request = a_request(
        demand=PeakRate(peak_requests_per_s=found["plan"]["d_peak_rps"]),
        buckets=(a_bucket(128, 128),),
        reserve=whole(found["plan"]["r"]),
        slo=Slo(),
    )
    answer = plan(request, [a_candidate(same, distinct)], 1, "0.1")
    assert meets(answer.candidates[0].count.replica_count, expected["S-E2"]["n"])
    alone = plan(request, [a_candidate(same)], 1, "0.1")
    assert (alone.verdict, alone.rejections[0].code) == (PlanVerdict.NOT_KNOWN, "LENGTHS_NOT_MEASURED")


def test_s_e3_two_models_leave_no_room(files: Path, expected: dict[str, Any]) -> None:
    found = json.loads((files / "s_e3_two_models_one_a100.json").read_text())
    tenants = [(model["name"], model["d_peak"], model["q_slo_alone"]) for model in found["models"]]
    answer = total(tenants, 1, None, Reserve())
    assert meets(answer.total_utilization_ratio, expected["S-E3"]["u_total"])
    assert {"LITTLE_HEADROOM", "PLANNING_APPROXIMATION"} <= set(codes(answer.findings))
    assert not total(tenants, 1, None, whole(0.2)).within_limit


def test_s_e4_the_peak_sizes_and_not_the_mean(files: Path, expected: dict[str, Any]) -> None:
    found = json.loads((files / "s_e4_burst.json").read_text())
    q_slo = found["replica_peak_output_tokens_per_s"] / found["tokens_out"]
    peak = max(found["stages_rps"])
    for reserve, key in ((0.0, "n_r0"), (0.2, "n_r02")):
        count = server_count([(peak, q_slo)], whole(reserve)).count
        assert count is not None
        assert meets(count.replica_count, expected["S-E4"][key])


def test_s_e5_contradicting_limits_come_before_any_count(files: Path, expected: dict[str, Any]) -> None:
    found = json.loads((files / "s_e5_slo.json").read_text())
    limits = found["slo"]
    implied = implied_e2e_ms(limits["ttft_p95_ms"], limits["tpot_p95_ms"], found["out"])
    right = expected["S-E5"]
    assert meets(implied, right["implied_e2e_ms"])
    slo = an_slo(**{name.removesuffix("_ms"): value for name, value in limits.items()})
    clash = contradictions(slo, (a_bucket(found["in"], found["out"]),))
    assert codes(clash) == ["CONTRADICTING_LIMITS"]
    cure = float(clash[0].remedy.split(" ms")[0].rsplit(" ", 1)[-1])
    assert meets(cure, right["tpot_for_4s_ms"])
    answer = plan(a_request(slo=slo, buckets=(a_bucket(found["in"], found["out"]),)), [], 1, "0.1")
    assert (answer.verdict, answer.candidates) == (PlanVerdict.CONTRADICTION, ())


def test_s_e6_losing_a_zone_is_not_a_reserve(files: Path, expected: dict[str, Any]) -> None:
    for row, answer in zip(rows(files / "s_e6_zones.csv"), expected["S-E6"]["n"], strict=True):
        failover = Failover(zone_count=int(row["zones"]), lost_zone_count=int(row["zones_lost"]))
        result = server_count([(row["instances_needed"], 1.0)], Reserve(), failover)
        if answer.get("equals") == "impossible":
            assert result.impossible
            continue
        assert result.count is not None
        allowed = [{"equals": one} for one in answer["one_of"]] if "one_of" in answer else [answer]
        assert any(meets(result.count.replica_count, one) for one in allowed), row


def test_s_e6_a_reserve_does_not_cover_a_zone(files: Path) -> None:
    assert files.is_dir()
    count = server_count([(40.0, 4.0)], whole(0.2), Failover(zone_count=3, lost_zone_count=1)).count
    assert count is not None
    assert (count.needed_replica_count, count.replica_count) == (12, 18)
