"""The command line a page hands out asks exactly what the page asked."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest
from builders_ui import Services, serve, some_services
from google.protobuf import json_format

from tonnage.cli.__main__ import status_of
from tonnage.client import messages as pb
from tonnage_ui.forms.command import curve_command, explore_command, plan_command, retest_command, vram_command
from tonnage_ui.forms.explore import explore_request
from tonnage_ui.forms.plan import plan_request
from tonnage_ui.forms.retest import retest_request
from tonnage_ui.forms.vram import vram_question
from tonnage_ui.presenters.reproduce import grpcurl

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE = {
    "model": "meta-llama/Llama-3.1-8B-Instruct",
    "input_tokens": 1000.0,
    "output_tokens": 100.5,
    "demand_kind": "base_and_peak",
    "base_requests_per_s": 5.0,
    "peak_factor": 3.25,
    "peak_factor_source": "gateway log, 'busiest' minute",
    "limits": ["ttft_p90", "e2e_p50"],
    "ttft_p90_ms": 500.0,
    "e2e_p50_ms": 9000.5,
    "reserve_kind": "none",
    "as_of": "2026-11-30",
}
FORMS = {
    "base": BASE,
    "peak": {**BASE, "demand_kind": "peak_rate", "peak_requests_per_s": 12.5},
    "users": {
        **BASE,
        "demand_kind": "daily_users",
        "daily_active_users": 10000.0,
        "requests_per_user_per_day": 4.0,
        "peak_hour_share": 0.12,
        "demand_source": "analytics",
    },
    "sessions": {
        **BASE,
        "demand_kind": "sessions",
        "executing_sessions": 40.0,
        "output_tokens_per_s_per_session": 25.0,
        "demand_source": "traces",
    },
    "mix": {
        **BASE,
        "size_count": 2,
        "share": 0.7,
        "prefix_hits": 0.25,
        "input_tokens_2": 4000.0,
        "output_tokens_2": 10.0,
        "share_2": 0.3,
    },
    "limits": {**BASE, "max_failure_ratio": 0.01, "min_tokens_per_s_per_user": 20.0, "allow_substitution": True},
    "whole": {**BASE, "reserve_kind": "whole", "reserve": 0.2, "reserve_source": "agreed"},
    "parts": {
        **BASE,
        "reserve_kind": "parts",
        "growth": 0.1,
        "growth_source": "plan",
        "burst": 0.0,
        "burst_source": "log",
    },
    "zones": {**BASE, "failover_kind": "zones", "zones": 3, "failover_zones": 1},
    "replicas": {**BASE, "failover_kind": "replicas", "failover_replicas": 2},
    "server": {
        **BASE,
        "failover_kind": "servers",
        "failover_servers": 1,
        "accelerators_per_server": 8,
        "price_per_hour": 22.5,
        "price_currency": "USD",
        "price_source": "price list",
        "price_date": "2026-11-01",
    },
    "configuration": {
        **BASE,
        "accelerator": "h100-sxm-80gb",
        "engine": "vllm",
        "engine_version": "0.19",
        "weight_precision": "bf16",
        "tensor_parallel": 2,
        "policy": "interpolated",
        "request_class": "async_queue",
    },
}


@pytest.fixture
def services() -> Iterator[tuple[Services, str]]:
    services = some_services()
    server, target = serve(services)
    yield services, target
    server.stop(None).wait()


def _run(line: str, target: str) -> None:
    program, *arguments = shlex.split(line)
    assert program == "tonnage"
    assert status_of([*arguments, "--planning", target, "--json"]) == 0


@pytest.mark.parametrize("name", FORMS)
def test_the_plan_line_asks_what_the_form_asks(
    services: tuple[Services, str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, target = services
    request = plan_request(FORMS[name])
    _run(plan_command(request), target)
    capsys.readouterr()
    sent = asked.requests[-1]
    for message in (sent, request):
        message.workload.slo.latency_limits.sort(key=lambda limit: limit.metric)
    assert _stated(sent) == _stated(request)


def _stated(request: pb.PlanCapacityRequest) -> dict[str, object]:
    """Return the request without empty parts: an empty message states nothing."""
    return _trimmed(json.loads(json_format.MessageToJson(request)))


def _trimmed(tree: dict[str, object]) -> dict[str, object]:
    trimmed = {key: _trimmed(value) if isinstance(value, dict) else value for key, value in tree.items()}
    return {key: value for key, value in trimmed.items() if value != {} or key == "none"}


def test_the_curve_line_asks_what_the_page_asks(
    services: tuple[Services, str], capsys: pytest.CaptureFixture[str]
) -> None:
    asked, target = services
    request = pb.GetCurveRequest(
        configuration=pb.Configuration(fingerprint="f" * 16),
        work=pb.WorkSize(text=pb.TextWork(input_tokens_mean=64.5, output_tokens_mean=32)),
        policy=pb.CAPACITY_POLICY_MEASURED,
    )
    _run(curve_command(request), target)
    capsys.readouterr()
    assert asked.requests[-1] == request


def test_the_vram_line_asks_what_the_form_asks(
    services: tuple[Services, str], capsys: pytest.CaptureFixture[str]
) -> None:
    asked, target = services
    question = vram_question(
        {
            "model": "meta-llama/Llama-3.1-8B-Instruct",
            "accelerator": "h100-sxm-80gb",
            "accelerator_count": 2,
            "engine": "vllm",
            "tensor_parallel": 2,
            "memory_utilization": 0.9,
            "request_tokens": 8192,
            "concurrency": 16,
            "chunked_prefill": "off",
            "eager": "on",
            "declared_weights": 14.99,
            "declared_graph": 1.5,
            "bytes_per_parameter": 2.0,
        }
    )
    _run(vram_command(question), target)
    capsys.readouterr()
    assert asked.requests[-1].question == question


def test_the_grpcurl_line_carries_the_request() -> None:
    request = plan_request(BASE)
    program, plain, flag, body, target, method = shlex.split(
        grpcurl("PlanningService/PlanCapacity", request, "127.0.0.1:7051")
    )
    assert (program, plain, flag, target) == ("grpcurl", "-plaintext", "-d", "127.0.0.1:7051")
    assert method == "tonnage.v1.PlanningService/PlanCapacity"
    assert json_format.Parse(body, pb.PlanCapacityRequest()) == request


@pytest.mark.parametrize("varied", ["peak_rps", "reserve", "ttft_p90_ms"])
def test_the_explore_line_asks_what_the_page_asks(
    services: tuple[Services, str], varied: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, target = services
    form = {**BASE, "vary": varied, "vary_low": 0.5, "vary_high": 100.0, "vary_count": 3, "vary_geometric": True}
    request = explore_request(form)
    _run(explore_command(request), target)
    capsys.readouterr()
    assert asked.requests[-1].axes == request.axes


def test_the_retest_line_asks_of_the_same_configuration(
    services: tuple[Services, str], capsys: pytest.CaptureFixture[str]
) -> None:
    asked, target = services
    request = retest_request({"model": "m", "engine": "vllm", "max_age_days": 30}, 10)
    program, *arguments = shlex.split(retest_command(request))
    assert program == "tonnage"
    status_of([*arguments, "--planning", target, "--json"])
    capsys.readouterr()
    assert (asked.requests[-1].planned, asked.requests[-1].max_age_days) == (request.planned, 30)
