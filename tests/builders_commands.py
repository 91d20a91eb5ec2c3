"""Fakes, answers and files for tests of the commands."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import grpc

from tonnage.client import messages
from tonnage.client.testing import FakeServers, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

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


@contextmanager
def faked(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServers]:
    """Serve fakes that the commands find; files that begin with "run" are read."""
    with FakeServers() as servers:
        monkeypatch.setenv("TONNAGE_PLANNING", servers.target)
        monkeypatch.setenv("TONNAGE_INGEST", servers.target)
        servers.reader = read_runs
        yield servers


def a_run(sweep: str = "") -> messages.Run:
    """Return a run of one level with a finding."""
    run = messages.Run(tool="vllm-bench-serve", metric_definitions="vllm-serve-1", sweep_id=sweep)
    run.configuration.engine = "vllm"
    level = run.levels.add(concurrency=2, requests_per_s=1.5, completed_count=12, location="line 1")
    level.work.text.input_tokens_mean = 64
    level.ttft.p50_ms = 251.5
    level.findings.add(code="TOO_FEW", severity=messages.SEVERITY_WARNING, message="few", remedy="more")
    return run


def read_runs(head: messages.ReportMetadata, data: bytes) -> list[messages.Run] | None:
    """Read files that begin with "run"; the rest nobody knows."""
    if data.startswith(b"busy"):
        raise Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED", "busy")
    if data.startswith(b"broken"):
        raise Refused.field("report", "line 1 is broken; mend it", reason="MALFORMED_REPORT")
    return [a_run(head.sweep_id or head.default_sweep_id or data.decode())] if data.startswith(b"run") else None


def a_plan(verdict: Any = messages.PLAN_VERDICT_FEASIBLE) -> messages.PlanCapacityResponse:  # noqa: ANN401 -- an enum's value
    """Return a plan that serves, or one that refuses."""
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


def files(folder: Path, **content: str) -> Path:
    """Write files into a folder and return it."""
    folder.mkdir(exist_ok=True)
    for name, text in content.items():
        (folder / name).write_text(text)
    return folder
