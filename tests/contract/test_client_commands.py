"""Every command against the client's fakes: how it ends, and what the reference says of it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from builders_commands import WORKLOAD, a_plan, faked

from tonnage.cli.__main__ import status_of
from tonnage.cli.app import COMMANDS, load
from tonnage.cli.reference import page
from tonnage.client import messages
from tonnage.client.testing import FakeServers, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServers]:
    with faked(monkeypatch) as servers:
        yield servers


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
    ["simulate", *WORKLOAD],
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
    assert {line[0] for line in COMMAND_LINES} == set(COMMANDS) - {
        "serve",
        "demo",
        "accuracy",
        "store",
        "token",
        "doctor",
    }


@pytest.mark.parametrize("args", COMMAND_LINES, ids=" ".join)
def test_every_command_takes_json(args: list[str]) -> None:
    command = load(args[0])
    if args[0] == "runs":
        command = command.commands[args[1]]
    assert "--json" in {option for item in command.params for option in item.opts}


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

    fake.answer("PlanCapacity", a_plan())
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
