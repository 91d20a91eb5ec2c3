"""Commands that plan and count: what they ask, what they print, how they end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from builders_commands import WORKLOAD, a_plan, faked

from tonnage.cli.__main__ import status_of
from tonnage.client import messages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tonnage.client.testing import FakeServers


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServers]:
    with faked(monkeypatch) as servers:
        yield servers


def test_a_plan_that_is_feasible_ends_with_0_and_says_the_verdict_first(
    fake: FakeServers, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.answer("PlanCapacity", a_plan())
    assert status_of(["plan", *WORKLOAD, "--no-reserve"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("FEASIBLE  4 replicas, 2 servers")
    assert all(text in out for text in ("concurrency-1.json", "WARNED", "take care", "data version 7"))
    request = fake.requests[0][1]
    assert isinstance(request, messages.PlanCapacityRequest)
    assert request.workload.reserve.WhichOneof("kind") == "none"
    assert request.workload.buckets[0].share == 1


@pytest.mark.parametrize("verdict", ["NOT_FEASIBLE", "NOT_KNOWN", "CONTRADICTION"])
def test_a_plan_whose_answer_is_no_ends_with_1_and_says_why(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], verdict: str
) -> None:
    fake.answer("PlanCapacity", a_plan(getattr(messages, f"PLAN_VERDICT_{verdict}")))
    assert status_of(["plan", *WORKLOAD]) == 1
    out = capsys.readouterr().out
    assert all(
        text in out for text in (verdict.replace("_", " "), "NO_MEASURED_RUN", "nothing was measured", "measure it")
    )


def test_a_plan_in_json_reads_back_as_the_servers_answer(fake: FakeServers, capsys: pytest.CaptureFixture[str]) -> None:
    fake.answer("PlanCapacity", a_plan())
    assert status_of(["plan", *WORKLOAD, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["plan"]
    assert (found["verdict"], found["candidates"][0]["count"]["replica_count"]) == ("PLAN_VERDICT_FEASIBLE", "4")


@pytest.mark.parametrize(("verdict", "status"), [("FITS", 0), ("TIGHT", 0), ("DOES_NOT_FIT", 1)])
def test_a_model_that_does_not_fit_ends_with_1(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], verdict: str, status: int
) -> None:
    fit = messages.MemoryFit(verdict=getattr(messages, f"FIT_VERDICT_{verdict}"), total_bytes=80 << 30)
    fit.terms.add(kind=messages.MEMORY_TERM_KIND_WEIGHTS, bytes=15 << 30, origin=messages.ORIGIN_DERIVED)
    fit.remedies.add(change="accelerators", value="2", message="two cards")
    fake.answer("FitVram", messages.FitVramResponse(fit=fit))
    assert status_of(["vram", "--model", "m", "--accelerator", "h100", "--weights", "14.99GiB"]) == status
    out = capsys.readouterr().out
    assert out.startswith(verdict.replace("_", " "))
    assert "15.00 GiB" in out
    assert "two cards" in out
    request = fake.requests[0][1]
    assert isinstance(request, messages.FitVramRequest)
    assert request.question.declared.weights_bytes == 16_095_389_942


def test_tenants_over_the_limit_end_with_1(fake: FakeServers, capsys: pytest.CaptureFixture[str]) -> None:
    answer = messages.ComputeUtilizationResponse(total_utilization_ratio=1.25, limit_ratio=0.8, first_to_breach="a")
    fake.answer("ComputeUtilization", answer)
    args = ["utilization", "--tenant", "name=a,peak_rps=5,q_slo=4", "--replicas", "1", "--no-reserve"]
    assert status_of(args) == 1
    assert "OVER THE LIMIT  125 % of 80 %" in capsys.readouterr().out
    answer.within_limit = True
    assert status_of(args) == 0
    request = fake.requests[0][1]
    assert isinstance(request, messages.ComputeUtilizationRequest)
    assert (request.tenants[0].peak_requests_per_s, request.tenants[0].q_slo_requests_per_s) == (5, 4)


def test_a_loss_nothing_survives_ends_with_1(fake: FakeServers, capsys: pytest.CaptureFixture[str]) -> None:
    fake.answer("EstimateServerCount", messages.EstimateServerCountResponse(impossible=True))
    assert (
        status_of(["servers", "--against", "peak_rps=5,q_slo=4", "--no-reserve", "--zones", "1", "--lost-zones", "1"])
        == 1
    )
    assert "NOT POSSIBLE" in capsys.readouterr().out


def test_a_count_is_told_with_its_sum(fake: FakeServers, capsys: pytest.CaptureFixture[str]) -> None:
    answer = messages.EstimateServerCountResponse()
    answer.count.replica_count, answer.count.server_count, answer.count.equation = 4, 2, "N = ceil(3.2) = 4"
    fake.answer("EstimateServerCount", answer)
    assert status_of(["servers", "--peak-rps", "5", "--q-slo", "2", "--reserve", "0.2", "--reserve-source", "s"]) == 0
    assert "N = ceil(3.2) = 4" in capsys.readouterr().out


def test_demand_without_a_base_shows_dashes(fake: FakeServers, capsys: pytest.CaptureFixture[str]) -> None:
    answer = messages.EstimateTokenDemandResponse()
    answer.demand.peak_tokens.total_tokens_per_s = 150
    fake.answer("EstimateTokenDemand", answer)
    assert status_of(["demand", "--peak-rps", "5", "--bucket", "share=1,input=10,output=20"]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("all"))
    assert row.count("–") == 3
    assert row.rstrip().endswith("150")


def test_a_curve_that_carries_nothing_inside_the_slo_ends_with_1(
    fake: FakeServers, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = messages.GetCurveResponse(sweep_id="s")
    point = answer.points.add(offered_load=2, admissible=False, miss="ttft is too long")
    point.level.ttft.p50_ms = 251.5
    fake.answer("GetCurve", answer)
    assert status_of(["curve", "--model", "m"]) == 0
    answer.capacity.reason = "no load keeps it"
    assert status_of(["curve", "--model", "m", "--slo", "ttft_p50_ms=1"]) == 1
    assert "missed: ttft is too long" in capsys.readouterr().out


def test_points_of_a_range_are_told_as_rows_and_end_with_1_when_none_is_served(
    fake: FakeServers, capsys: pytest.CaptureFixture[str]
) -> None:
    served = messages.ExplorePlansResponse(index=0, total_count=2, values=[5], verdict=messages.PLAN_VERDICT_FEASIBLE)
    served.best.count.replica_count, served.best.upper_bound = 3, True
    refused = messages.ExplorePlansResponse(
        index=1, total_count=2, values=[50], verdict=messages.PLAN_VERDICT_NOT_FEASIBLE, reason="too slow"
    )
    line = ["explore", *WORKLOAD, "--no-reserve", "--vary", "peak_rps=5,50"]
    fake.answer("ExplorePlans", [served, refused])
    assert status_of(line) == 0
    out = capsys.readouterr().out
    assert "≤ 3" in out
    assert "too slow" in out
    request = fake.requests[0][1]
    assert isinstance(request, messages.ExplorePlansRequest)
    assert request.base.workload.model == "m"
    assert list(request.axes[0].values.values) == [5, 50]
    fake.answer("ExplorePlans", [refused])
    assert status_of([*line, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["points"][0]["reason"] == "too slow"


def test_a_simulation_ends_with_1_when_the_count_does_not_hold(
    fake: FakeServers, capsys: pytest.CaptureFixture[str]
) -> None:
    result = messages.SimulatePlanResult()
    result.simulation.verdict, result.simulation.summary = messages.SIMULATION_VERDICT_CONFIRMED, "it holds"
    row = result.simulation.scenarios.add(holds=True)
    row.scenario.burst.height_ratio, row.planned.replica_count, row.planned.queue.p95_ms = 2, 3, 12.5
    steps = [messages.SimulatePlanResponse(progress_ratio=0.5), messages.SimulatePlanResponse(result=result)]
    line = ["simulate", *WORKLOAD, "--no-reserve", "--scenario", "burst=2:60:30", "--scenario", "loss", "--seed", "7"]
    fake.answer("SimulatePlan", steps)
    assert status_of(line) == 0
    out = capsys.readouterr().out
    assert "it holds" in out
    assert "12.5" in out
    request = fake.requests[0][1]
    assert isinstance(request, messages.SimulatePlanRequest)
    assert request.seed == 7
    assert request.scenarios[0].burst.allowed_recovery_s == 30
    assert request.scenarios[1].WhichOneof("kind") == "lost_server"
    result.simulation.verdict = messages.SIMULATION_VERDICT_NOT_HELD
    fake.answer("SimulatePlan", [messages.SimulatePlanResponse(result=result)])
    assert status_of([*line, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["simulation"]["summary"] == "it holds"
    for text in ("storm=2", "burst=2:60:30:1", "loss=0.5", "burst=x"):
        assert status_of([*line, "--scenario", text]) == 2


def test_plans_that_were_kept_are_compared_and_computed_again(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    fake.answer("PlanCapacity", a_plan())
    assert status_of(["plan", *WORKLOAD, "--json"]) == 0
    path.write_text(capsys.readouterr().out)
    difference = messages.PlanDifference(
        kind=messages.DIFFERENCE_KIND_ANSWER, path="candidates[0].count.replica_count", before="4", after="5"
    )
    compared = messages.ComparePlansResponse(differences=[difference])
    compared.change.replica_count = 1
    fake.answer("ComparePlans", compared)
    assert status_of(["compare", str(path), str(path)]) == 1
    assert "+1" in capsys.readouterr().out
    fake.answer("ReplayPlan", messages.ReplayPlanResponse(same_answer=True))
    assert status_of(["replay", str(path)]) == 0
    assert capsys.readouterr().out.startswith("THE SAME ANSWER")
    request = fake.requests[-1][1]
    assert isinstance(request, messages.ReplayPlanRequest)
    assert request.plan == a_plan().plan


@pytest.mark.parametrize(("verdict", "status"), [("STANDS", 0), ("ADVISED", 0), ("REQUIRED", 1)])
def test_what_must_be_measured_again_ends_with_1(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], verdict: str, status: int
) -> None:
    item = messages.RetestItem(verdict=getattr(messages, f"RETEST_VERDICT_{verdict}"), age_days=200)
    item.changes.add(field="engine_version", measured="0.18", planned="0.19", reason="kernels change")
    item.states.add(state=messages.TEST_STATE_PEAK, covered=True)
    item.states_to_run.append(messages.TEST_STATE_SOAK)
    far = messages.RetestItem(verdict=messages.RETEST_VERDICT_REQUIRED)
    fake.answer("CheckRetest", messages.CheckRetestResponse(items=[item, far], total_count=2))
    line = ["retest", "--model", "m", "--condition", "driver_version=570", "--max-age-days", "90"]
    assert status_of(line) == status
    out = capsys.readouterr().out
    assert out.startswith(f"{verdict}  ")
    assert all(text in out for text in ("kernels change", "measured: peak", "to run: soak", "200 days old"))
    request = fake.requests[0][1]
    assert isinstance(request, messages.CheckRetestRequest)
    assert (request.planned_conditions.driver_version, request.max_age_days) == ("570", 90)


def test_nothing_to_retest_ends_with_1(fake: FakeServers) -> None:
    fake.answer("CheckRetest", messages.CheckRetestResponse())
    assert status_of(["retest"]) == 1


def test_nothing_found_in_a_catalog_ends_with_1(fake: FakeServers, capsys: pytest.CaptureFixture[str]) -> None:
    fake.answer("ListModels", messages.ListModelsResponse())
    fake.answer("ListAccelerators", messages.ListAcceleratorsResponse(accelerators=[messages.Accelerator(id="h100")]))
    assert status_of(["models", "zzz"]) == 1
    assert status_of(["gpus", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.partition("\n")[2])["accelerators"][0]["id"] == "h100"
