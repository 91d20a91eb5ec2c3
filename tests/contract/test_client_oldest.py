"""The client on the oldest grpcio and protobuf it claims; the newest are this environment's own."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import asyncio, json
import google.protobuf, grpc
from tonnage.client import IngestClient, PlanningAsyncClient, PlanningClient, errors, messages
from tonnage.client.testing import FakeServers

async def listed(target):
    async with PlanningAsyncClient(target) as client:
        return [item.name async for item in client.runs(messages.ListRunsRequest(page_size=1))]

with FakeServers() as fake, PlanningClient(fake.target) as planning, IngestClient(fake.target) as ingest:
    runs = [messages.Run(tool="t", sweep_id=str(index), metric_definitions="d") for index in range(3)]
    stored = [item.run for item in ingest.ingest_runs(runs).runs]
    fake.answer("ExplorePlans", [messages.ExplorePlansResponse(index=index) for index in range(2)])
    try:
        planning.plan_capacity(messages.PlanCapacityRequest())
    except errors.BadInput as error:
        refused = [violation.field for violation in error.violations]
    print(json.dumps({
        "versions": [grpc.__version__, google.protobuf.__version__],
        "same": sorted(asyncio.run(listed(fake.target))) == sorted(stored),
        "count": len(stored),
        "refused": refused,
        "streamed": [item.index for item in planning.explore_plans(messages.ExplorePlansRequest())],
        "serving": planning.is_serving(),
    }))
"""


def test_the_client_works_on_the_oldest_libraries_it_claims(root: Path) -> None:
    python = root / ".venv-gen" / "bin" / "python"
    if not python.exists():
        pytest.skip("the environment of the oldest versions is not there; make gen or make drift makes it")
    ended = subprocess.run(
        [python, "-c", SCRIPT],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root / "services")},
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    grpcio, protobuf = found.pop("versions")
    claims = dict(re.findall(r'"(grpcio|protobuf)>=([\d.]+)"', (root / "pyproject.toml").read_text()))
    assert grpcio.startswith(claims["grpcio"] + "."), grpcio
    assert protobuf.startswith(claims["protobuf"] + "."), protobuf
    assert found == {"same": True, "count": 3, "refused": ["workload.model"], "streamed": [0, 1], "serving": True}
