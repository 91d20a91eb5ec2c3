"""Every command against the client's fakes: what it asks, what it prints, how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from tonnage.cli.__main__ import status_of
from tonnage.cli.app import COMMANDS, load
from tonnage.cli.reference import page
from tonnage.client import messages
from tonnage.client.testing import FakeServers, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORKLOAD = [
    "--model",
    "m",
    "--peak-rps",
    "5",
    "--input-tokens",
    "10",
    "--output-tokens",
    "20",
    "--slo",
    "ttft_p90_ms=500",
]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServers]:
    with FakeServers() as servers:
        monkeypatch.setenv("TONNAGE_PLANNING", servers.target)
        monkeypatch.setenv("TONNAGE_INGEST", servers.target)
        servers.reader = _reader
        yield servers


def _run(sweep: str = "") -> messages.Run:
    run = messages.Run(tool="vllm-bench-serve", metric_definitions="vllm-serve-1", sweep_id=sweep)
    run.configuration.engine = "vllm"
    level = run.levels.add(concurrency=2, requests_per_s=1.5, completed_count=12, location="line 1")
    level.work.text.input_tokens_mean = 64
    level.ttft.p50_ms = 251.5
    level.findings.add(code="TOO_FEW", severity=messages.SEVERITY_WARNING, message="few", remedy="more")
    return run


def _reader(head: messages.ReportMetadata, data: bytes) -> list[messages.Run] | None:
    """Read files that begin with "run"; the rest nobody knows."""
    if data.startswith(b"busy"):
        raise Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED", "busy")
    if data.startswith(b"broken"):
        raise Refused.field("report", "line 1 is broken; mend it", reason="MALFORMED_REPORT")
    return [_run(head.sweep_id or head.default_sweep_id or data.decode())] if data.startswith(b"run") else None


def _plan(verdict: Any = messages.PLAN_VERDICT_FEASIBLE) -> messages.PlanCapacityResponse:  # noqa: ANN401 -- an enum's value
    plan = messages.Plan(verdict=verdict, summary="four of them", plan_id="p1", data_version=7, release="r")
    plan.request.workload.model = "m"
    if verdict == messages.PLAN_VERDICT_FEASIBLE:
        candidate = plan.candidates.add()
        candidate.configuration.accelerator = "h100"
        candidate.count.replica_count, candidate.count.server_count = 4, 2
        candidate.evidence.add(quantity="q_slo", source="concurrency-1.json", run="namespaces/default/runs/x")
    else:
        plan.rejections.add(code="NO_MEASURED_RUN", reason="nothing was measured", remedy="measure it")
    plan.findings.add(code="WARNED", severity=messages.SEVERITY_WARNING, message="take care", remedy="look")
    return messages.PlanCapacityResponse(plan=plan)


def test_a_plan_that_is_feasible_ends_with_0_and_says_the_verdict_first(
    fake: FakeServers, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.answer("PlanCapacity", _plan())
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
    fake.answer("PlanCapacity", _plan(getattr(messages, f"PLAN_VERDICT_{verdict}")))
    assert status_of(["plan", *WORKLOAD]) == 1
    out = capsys.readouterr().out
    assert all(
        text in out for text in (verdict.replace("_", " "), "NO_MEASURED_RUN", "nothing was measured", "measure it")
    )


def test_a_plan_in_json_reads_back_as_the_servers_answer(fake: FakeServers, capsys: pytest.CaptureFixture[str]) -> None:
    fake.answer("PlanCapacity", _plan())
    assert status_of(["plan", *WORKLOAD, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["plan"]
    assert (found["verdict"], found["candidates"][0]["count"]["replica_count"]) == ("PLAN_VERDICT_FEASIBLE", "4")


def test_what_the_server_refuses_ends_with_2_and_names_field_and_flag(
    fake: FakeServers, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_request: messages.PlanCapacityRequest) -> messages.PlanCapacityResponse:
        raise Refused.field("workload.demand.base_and_peak.peak_factor", "is required and absent; state it")

    fake.answer("PlanCapacity", refuse)
    assert status_of(["plan", "--model", "m", "--rps", "5"]) == 2
    told = capsys.readouterr()
    path = "workload.demand.base_and_peak.peak_factor"
    assert told.err == f"error: {path}: is required and absent; state it (--peak-factor)\n"
    assert told.out == ""


@pytest.mark.parametrize(
    "args",
    [
        ["plan", "--rps", "fast"],
        ["plan", "--slo", "fast"],
        ["plan", "--no-such-flag"],
        ["plan", "--file", "/nowhere/w.yaml"],
        ["nonsense"],
        ["vram", "--weights", "12"[:0] + "heavy"],
        ["ingest"],
        ["ingest", "/nowhere/at/all"],
        ["ingest", "--set", "novalue", __file__],
        ["runs", "retract", "x"],
        ["serve", "--planning-port", "99999"],
    ],
)
def test_bad_input_ends_with_2_in_one_line_on_stderr(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(args) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: ")
    assert told.err.count("\n") == 1
    assert "Traceback" not in told.err


COMMAND_LINES = [
    ["plan", *WORKLOAD],
    ["vram", "--model", "m"],
    ["demand", "--peak-rps", "1"],
    ["utilization", "--tenant", "name=a,peak_rps=1,q_slo=2"],
    ["servers", "--peak-rps", "1", "--q-slo", "2"],
    ["curve"],
    ["explore", *WORKLOAD, "--vary", "peak_rps=1,2"],
    ["compare", "PLAN", "PLAN"],
    ["replay", "PLAN"],
    ["retest"],
    ["models"],
    ["gpus"],
    ["runs", "list"],
    ["runs", "show", "x"],
    ["runs", "retract", "x", "--reason", "r"],
    ["formats"],
    ["ingest", __file__],
    ["convert", __file__],
]


@pytest.mark.parametrize("args", COMMAND_LINES, ids=" ".join)
def test_a_service_that_is_not_there_ends_with_3_and_says_what_to_do(
    args: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text('{"plan": {}}')
    args = [str(plan) if part == "PLAN" else part for part in args]
    with FakeServers() as gone:
        pass
    for variable in ("TONNAGE_PLANNING", "TONNAGE_INGEST"):
        monkeypatch.setenv(variable, gone.target)
    assert status_of(args) == 3
    told = capsys.readouterr().err
    assert gone.target in told
    assert "tonnage serve" in told


def test_every_command_that_asks_a_server_is_among_those_lines() -> None:
    assert {line[0] for line in COMMAND_LINES} == set(COMMANDS) - {"serve", "demo", "accuracy"}


@pytest.mark.parametrize("args", COMMAND_LINES, ids=" ".join)
def test_every_command_takes_json(args: list[str]) -> None:
    command = load(args[0])
    if args[0] == "runs":
        command = command.commands[args[1]]
    assert "--json" in {option for item in command.params for option in item.opts}


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


def test_plans_that_were_kept_are_compared_and_computed_again(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    fake.answer("PlanCapacity", _plan())
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
    assert request.plan == _plan().plan


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


def _files(folder: Path, **content: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in content.items():
        (folder / name).write_text(text)
    return folder


def test_a_folder_is_stored_as_one_sweep_and_what_nobody_knows_is_listed(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = _files(tmp_path / "sweep7", a="run 1", b="run 2", readme="hello")
    assert status_of(["ingest", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [item["answer"]["runs"][0]["outcome"] for item in found["files"]] == ["RUN_OUTCOME_STORED"] * 2
    assert found["skipped"] == [str(folder / "readme")]
    assert {kept.run.sweep_id for kept in fake.memory.runs.values()} == {"sweep7"}
    assert status_of(["ingest", str(folder)]) == 0
    out = capsys.readouterr().out
    assert out.count("1 already stored") == 2
    assert f"skipped, since no reader recognises them: {folder / 'readme'}" in out
    assert fake.memory.data_version == 2


def test_a_file_named_alone_that_nobody_knows_ends_with_2(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = _files(tmp_path / "x", readme="hello")
    assert fake.memory.data_version == 0
    assert status_of(["ingest", str(folder / "readme")]) == 2
    assert "no reader recognises readme" in capsys.readouterr().err
    assert status_of(["ingest", str(folder)]) == 2
    assert "no reader recognises any of the files" in capsys.readouterr().err


def test_a_broken_file_ends_with_2_and_the_others_are_stored(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = _files(tmp_path / "x", a="broken", b="run 1")
    assert status_of(["ingest", str(folder)]) == 2
    assert f"error: {folder / 'a'}: report: line 1 is broken; mend it\n" == capsys.readouterr().err
    assert len(fake.memory.runs) == 1


def test_a_dry_run_stores_nothing(fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = _files(tmp_path / "x", a="run 1")
    assert status_of(["ingest", str(folder), "--dry-run"]) == 0
    assert "1 valid" in capsys.readouterr().out
    assert fake.memory.runs == {}


def test_an_overloaded_server_is_asked_again(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked: list[str] = []

    def reader(head: messages.ReportMetadata, data: bytes) -> list[messages.Run] | None:
        asked.append(head.filename)
        return _reader(head, b"busy" if len(asked) == 1 else data)

    fake.reader = reader
    assert status_of(["ingest", str(_files(tmp_path / "x", a="run 1") / "a")]) == 0
    assert asked == ["a", "a"]
    assert "1 stored" in capsys.readouterr().out


def test_labels_request_ids_and_the_sender_reach_the_server(fake: FakeServers, tmp_path: Path) -> None:
    heads: list[messages.ReportMetadata] = []

    def reader(head: messages.ReportMetadata, _data: bytes) -> list[messages.Run]:
        heads.append(head)
        return [_run()]

    fake.reader = reader
    folder = _files(tmp_path / "x", a="1", b="2", **{"tonnage.yaml": "set: {engine: vllm, accelerator: a}\n"})
    args = ["ingest", str(folder), "--set", "accelerator=b", "--map", "ttft_p90_ms=t", "--sweep", "s", "--by", "me"]
    assert (
        status_of([*args, "--request-id", "ci-7", "--ci-job", "j", "--replace", "--namespace", "n", "--format", "f"])
        == 0
    )
    assert [dict(head.given) for head in heads] == [{"engine": "vllm", "accelerator": "b"}] * 2
    assert {
        (head.sweep_id, head.ingested_by, head.ci_job, head.replace, head.namespace, head.format) for head in heads
    } == {("s", "me", "j", True, "n", "f")}
    assert dict(heads[0].column_map) == {"ttft_p90_ms": "t"}
    assert len({head.request_id for head in heads}) == 2
    assert all(head.request_id.startswith("ci-7/") for head in heads)


def test_convert_prints_flat_points_and_findings_with_their_place(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = _files(tmp_path / "x", a="run 1") / "a"
    assert status_of(["convert", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["points"] == [
        {
            "concurrency": 2.0,
            "requests_per_s": 1.5,
            "completed_count": 12,
            "input_tokens_mean": 64.0,
            "modality": "text",
            "ttft_p50_ms": 251.5,
            "tool": "vllm-bench-serve",
            "metric_definitions": "vllm-serve-1",
            "sweep_id": "run 1",
            "engine": "vllm",
        }
    ]
    (finding,) = found["findings"]
    assert (finding["code"], finding["run"], finding["level"], finding["location"]) == ("TOO_FEW", 0, 0, "line 1")
    assert fake.memory.runs == {}
    assert status_of(["convert", str(path.parent)]) == 2


def test_runs_are_listed_shown_and_retracted(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert status_of(["runs", "list"]) == 1
    assert status_of(["ingest", str(_files(tmp_path / "x", a="run 1", b="run 2"))]) == 0
    names = list(fake.memory.runs)
    capsys.readouterr()
    assert status_of(["runs", "list", "--limit", "1", "--json"]) == 0
    assert [item["name"] for item in json.loads(capsys.readouterr().out)["runs"]] == names[-1:]
    assert status_of(["runs", "show", names[0].rpartition("/")[2]]) == 0
    assert "251.5" in capsys.readouterr().out
    assert status_of(["runs", "retract", names[0], "--reason", "wrong", "--dry-run"]) == 0
    assert status_of(["runs", "retract", names[0], "--reason", "wrong"]) == 0
    assert "1 retracted; data version 3" in capsys.readouterr().out
    assert [name for name, kept in fake.memory.runs.items() if kept.retired] == names[:1]
    assert status_of(["runs", "show", "nobody"]) == 2


def test_formats_are_listed(fake: FakeServers, capsys: pytest.CaptureFixture[str]) -> None:
    fake.formats.append(messages.Format(name="vllm-bench-serve", title="vLLM"))
    assert status_of(["formats"]) == 0
    assert "vllm-bench-serve" in capsys.readouterr().out


def test_a_token_of_a_file_that_is_not_there_ends_with_2(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert status_of(["models", "--token-file", str(tmp_path / "none")]) == 2
    assert "--token-file" in capsys.readouterr().err


def test_a_fault_of_the_command_never_looks_like_no(
    fake: FakeServers, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_args: object) -> None:
        raise RuntimeError("broken")

    fake.answer("PlanCapacity", _plan())
    monkeypatch.setattr("tonnage.cli.commands.plan.parts_of", fault)
    assert status_of(["plan", *WORKLOAD]) == 70
    assert "a fault of the command: RuntimeError: broken" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_the_words_of_the_command_list_are_the_commands_own(name: str) -> None:
    assert load(name).help.partition("\n")[0] == COMMANDS[name][2]


def test_the_reference_tells_of_every_command_and_every_flag() -> None:
    text = page()
    for name in COMMANDS:
        command = load(name)
        assert f"## `tonnage {name}`" in text
        inner = list(getattr(command, "commands", {}).values()) or [command]
        for item in inner:
            assert all(
                f"`{option}" in text for flag in item.params if flag.param_type_name == "option" for option in flag.opts
            )


def test_help_loads_neither_grpc_nor_rich() -> None:
    code = (
        "import sys; from tonnage.cli.__main__ import status_of; status_of(['--help']); "
        "print('LOADED', *[name for name in ('grpc', 'google.protobuf', 'rich', 'yaml') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "Size a workload" in out
    assert out.splitlines()[-1].split() == ["LOADED"]
