"""The main job as a new user does it: ingest real files, plan, take a run back."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tonnage.cli.__main__ import status_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.timeout(240)

LABELS = ["engine=vllm", "accelerator=a10g", "accelerators_per_replica=1", "weight_precision=bf16"]
SETS = [part for label in LABELS for part in ("--set", label)]
WORKLOAD = ["--peak-rps", "5", "--input-tokens", "64", "--output-tokens", "32", "--no-reserve"]


class Shell:
    """Runs command lines against one pair of servers, in this process, which saves its start each time."""

    def __init__(self, found: dict[str, str]) -> None:
        self._environment = {"TONNAGE_PLANNING": found["planning"], "TONNAGE_INGEST": found["ingest"]}

    def run(self, *args: str, status: int = 0, stdin: bytes = b"") -> str:
        """Return what a command printed, on either stream; it must end with ``status``."""
        return "".join(self._streams(args, status, stdin))

    def json(self, *args: str, status: int = 0) -> Any:  # noqa: ANN401 -- a JSON document
        """Return what a command printed as JSON."""
        return json.loads(self._streams((*args, "--json"), status)[0])

    def _streams(self, args: tuple[str, ...], status: int, stdin: bytes = b"") -> tuple[str, str]:
        out, told = io.StringIO(), io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(told),
        ):
            patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            for name, value in self._environment.items():
                patch.setenv(name, value)
            ended = status_of(args)
        assert ended == status, told.getvalue() + out.getvalue()
        return out.getvalue(), told.getvalue()


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    command = [sys.executable, "-m", "tonnage.cli", "serve", "--json", "--planning-port", "0", "--ingest-port", "0"]
    process = subprocess.Popen(
        [*command, "--data", str(tmp_path_factory.mktemp("data"))], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, "serve ended before it was up"
        yield Shell(json.loads(line))
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.fixture
def samples(root: Path, tmp_path: Path) -> Path:
    """Return copies of the sample files without the labels beside them."""
    labels = shutil.ignore_patterns("*.yaml")
    for tool in ("vllm-bench-serve", "guidellm"):
        shutil.copytree(root / "bench_data" / "samples" / tool, tmp_path / tool, ignore=labels)
    (tmp_path / "guidellm" / "notes.txt").write_text("not a benchmark\n")
    return tmp_path


def _ingested(shell: Shell, samples: Path, *flags: str) -> Any:  # noqa: ANN401 -- a JSON document
    return shell.json("ingest", str(samples / "vllm-bench-serve"), str(samples / "guidellm"), *SETS, *flags)


def _evidence(plan: Any) -> set[str]:  # noqa: ANN401 -- a JSON document
    return {item["source"] for item in plan["plan"]["candidates"][0]["evidence"]}


def _model(ingested: Any, shell: Shell) -> str:  # noqa: ANN401 -- a JSON document
    answer = ingested["files"][0]["answer"]
    show = ("runs", "show", answer["runs"][0]["run"], "--min-data-version", answer["data_version"])
    model: str = shell.json(*show)["run"]["configuration"]["model"]
    return model


def test_files_become_a_plan_that_names_them_and_a_retracted_run_leaves_it(shell: Shell, samples: Path) -> None:
    ingested = _ingested(shell, samples)
    assert ingested["skipped"] == [str(samples / "guidellm" / "notes.txt")]
    version = max(int(item["answer"]["data_version"]) for item in ingested["files"])
    again = _ingested(shell, samples)
    outcomes = {run["outcome"] for item in again["files"] for run in item["answer"]["runs"]}
    assert outcomes == {"RUN_OUTCOME_ALREADY_STORED"}
    assert {int(item["answer"]["data_version"]) for item in again["files"]} <= {*range(1, version + 1)}

    asked = ["plan", "--model", _model(ingested, shell), *WORKLOAD, "--min-data-version", str(version)]
    plan = shell.json(*asked, "--slo", "ttft_p50_ms=600")
    assert plan["plan"]["verdict"] == "PLAN_VERDICT_FEASIBLE"
    assert _evidence(plan) & {"concurrency-1.json", "concurrency-2.json", "concurrency-4.json", "benchmarks.json"}
    assert shell.run(*asked, "--slo", "ttft_p50_ms=600").startswith("FEASIBLE")
    refused = shell.run(*asked, "--slo", "ttft_p99_ms=600", status=1)
    assert "needs at least 100" in refused

    kept = samples / "plan.json"
    kept.write_text(json.dumps(plan))
    assert shell.json("replay", str(kept))["same_answer"] is True
    assert shell.json("compare", str(kept), str(kept))["same_answer"] is True
    points = shell.json("explore", *asked[1:], "--slo", "ttft_p50_ms=600", "--vary", "peak_rps=1,5,50")["points"]
    counts = [int(point["best"]["count"]["replica_count"]) for point in points]
    assert counts == sorted(counts)
    assert counts[1] == int(plan["plan"]["candidates"][0]["count"]["replica_count"])
    retest = shell.json("retest", "--model", asked[2], "--engine", "sglang", status=1)
    assert "engine" in {change["field"] for change in retest["items"][0]["changes"]}

    names = [run["run"] for item in ingested["files"] for run in item["answer"]["runs"]]
    gone = shell.json("runs", "retract", *names, "--reason", "test")
    left = shell.json(*asked[:-1], gone["data_version"], "--slo", "ttft_p50_ms=600", status=1)
    assert left["plan"]["verdict"] == "PLAN_VERDICT_NOT_KNOWN"


def test_other_labels_for_the_same_file_are_refused_until_replace(shell: Shell, samples: Path) -> None:
    path = str(samples / "vllm-bench-serve" / "concurrency-1.json")
    shell.run("ingest", path, *SETS, "--namespace", "labels")
    other = [*SETS[:-1], "weight_precision=fp8"]
    told = shell.run("ingest", path, *other, "--namespace", "labels", status=2)
    assert "weight_precision" in told
    assert "1 stored" in shell.run("ingest", path, *other, "--namespace", "labels", "--replace")


def test_what_convert_prints_can_be_ingested(shell: Shell, samples: Path, tmp_path: Path) -> None:
    path = samples / "vllm-bench-serve" / "concurrency-2.json"
    points = shell.json("convert", str(path), *SETS)["points"]
    assert points[0]["concurrency"] == 2
    lines = "".join(json.dumps(point) + "\n" for point in points)
    (tmp_path / "points.jsonl").write_text(lines)
    again = shell.json("convert", str(tmp_path / "points.jsonl"))["points"]
    for point in (*points, *again):
        point.pop("sweep_id", None)
    assert again == points
    out = shell.run("convert", "-", stdin=lines.encode())
    assert "tonnage-table" in out


def test_a_file_nobody_recognises_named_alone_is_refused_with_what_would_be(shell: Shell, samples: Path) -> None:
    told = shell.run("ingest", str(samples / "guidellm" / "notes.txt"), status=2)
    assert "vllm-bench-serve" in told


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("plan --model m --rps 5", "--peak-factor"),
        ("plan --model m --peak-rps nan --input-tokens 1 --output-tokens 1 --slo ttft_p50_ms=1 --no-reserve", "finite"),
        ("plan --model m --peak-rps -1 --input-tokens 1 --output-tokens 1 --slo ttft_p50_ms=1 --no-reserve", "below 0"),
        ("plan --model m --peak-rps 1 --input-tokens 1 --output-tokens 1 --slo ttft_p50_ms=1", "--reserve"),
        ("servers --peak-rps 4 --q-slo 0 --no-reserve", "q_slo_requests_per_s"),
        ("vram --model no-such-model --engine vllm --accelerator h100-sxm-80gb", "no-such-model"),
        ("vram --model meta-llama/Llama-3.1-8B-Instruct --engine vllm --accelerator H100", "h100-sxm-80gb"),
        ("runs show 00000000-0000-0000-0000-000000000000", "00000000"),
        ("curve --model nobody-measured-this", "nobody-measured-this"),
    ],
)
def test_bad_input_is_named_by_the_server_and_ends_with_2(shell: Shell, line: str, words: str) -> None:
    told = shell.run(*line.split(), status=2)
    assert told.startswith("error: ")
    assert words in told


def test_the_small_commands_answer(shell: Shell) -> None:
    count = shell.json(
        *["servers", "--peak-rps", "10", "--q-slo", "3", "--reserve", "0.2", "--reserve-source", "trial"]
    )["count"]
    assert (count["replica_count"], count["equation"].count("ceil")) == ("4", 2)
    line = "demand --rps 2 --peak-factor 3 --peak-factor-source log --input-tokens 100 --output-tokens 50"
    tokens = shell.json(*line.split())["demand"]
    assert (tokens["base_tokens"]["total_tokens_per_s"], tokens["peak_tokens"]["total_tokens_per_s"]) == (300, 900)
    tenants = "utilization --tenant name=a,peak_rps=3,q_slo=4 --tenant name=b,peak_rps=1,q_slo=2 --no-reserve"
    assert shell.json(*tenants.split(), status=1)["total_utilization_ratio"] == 1.25
    fit = "vram --model meta-llama/Llama-3.1-8B-Instruct --engine vllm --accelerator h100-sxm-80gb --max-model-len 8192"
    assert shell.json(*fit.split())["fit"]["verdict"] == "FIT_VERDICT_FITS"
    small = fit.replace("h100-sxm-80gb", "l4-24gb").split()
    assert "meta-llama" in json.dumps(shell.json("models", "llama-3.1-8b"))
    assert shell.run(*small, "--request-tokens", "8192", "--concurrency", "4000", status=1).startswith("DOES NOT FIT")
    assert any(item["id"] == "h100-sxm-80gb" for item in shell.json("gpus", "h100")["accelerators"])
    assert any(item["name"] == "vllm-bench-serve" for item in shell.json("formats")["formats"])


def test_a_file_and_flags_make_one_request(shell: Shell, tmp_path: Path) -> None:
    request = {
        "workload": {
            "model": "nobody-measured-this",
            "demand": {"peak_rate": {"peak_requests_per_s": 5}},
            "buckets": [{"share": 1, "work": {"text": {"input_tokens_mean": 10, "output_tokens_mean": 20}}}],
            "slo": {"latency_limits": [{"metric": "LATENCY_METRIC_TTFT", "statistic": "STATISTIC_P50", "max_ms": 9}]},
            "reserve": {"none": {}},
        }
    }
    path = tmp_path / "w.json"
    path.write_text(json.dumps(request))
    found = shell.json("plan", "--file", str(path), "--peak-rps", "7", "--as-of", "2026-01-02", status=1)["plan"]
    assert found["demand"]["peak_requests_per_s"] == 7
    assert found["request"]["as_of_date"] == "2026-01-02"
