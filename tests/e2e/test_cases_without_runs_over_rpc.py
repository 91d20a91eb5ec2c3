"""Cases that need no stored run, asked of a planning server: memory, and counts from stated rates."""

from __future__ import annotations

import csv
import json
import math
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from builders_planning import a_planning_server, a_reserve

from tonnage.store.memory import MemoryStore
from tonnage.v1 import memory_pb2, planning_service_pb2, workload_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from builders_planning import Stubs

GIB = 1 << 30


@pytest.fixture(scope="module")
def servers() -> Iterator[Stubs]:
    with a_planning_server(MemoryStore()) as found:
        yield found


@pytest.fixture(scope="module")
def cases(shared: Path) -> Path:
    return shared / "cases" / "files"


@pytest.fixture(scope="module")
def expected(cases: Path) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((cases / "expected.json").read_text())
    return answers


def near(answer: dict[str, Any]) -> Any:  # noqa: ANN401 -- pytest gives approx no type
    """Return what an expected answer accepts."""
    if "abs_tol" in answer:
        return pytest.approx(answer["value"], abs=answer["abs_tol"])
    return pytest.approx(answer["value"], rel=answer["rel_tol"])


def fit(servers: Stubs, question: memory_pb2.MemoryQuestion) -> memory_pb2.MemoryFit:
    """Ask FitVram."""
    return servers.planning.FitVram(planning_service_pb2.FitVramRequest(question=question), timeout=10).fit


def shape_of(model: dict[str, Any], **more: Any) -> memory_pb2.ModelShape:  # noqa: ANN401 -- fields of a shape
    """Return the shape a case states."""
    return memory_pb2.ModelShape(
        name=model["name"],
        layer_count=model["layers"],
        kv_head_count=model["kv_heads"],
        head_dim=model["head_dim"],
        **more,
    )


def test_s_a1_chunked_prefill_decides_whether_a_long_context_starts(
    servers: Stubs, cases: Path, expected: dict[str, Any]
) -> None:
    case = json.loads((cases / "s_a1_llama8b_rtx3090.json").read_text())
    right = expected["S-A1"]
    for place, trial in enumerate(case["trials"]):
        question = memory_pb2.MemoryQuestion(
            shape=shape_of(case["model"]),
            engine="vllm",
            declared_device=memory_pb2.DeclaredDevice(
                name=case["gpu"]["name"], total_bytes=round(case["gpu"]["total_gib"] * GIB)
            ),
            kv_cache_type="fp16",
            memory_utilization_ratio=case["gpu_memory_utilization"],
            max_model_len=trial["max_len"],
            chunked_prefill=trial["chunked_prefill"],
            block_tokens=case["block_tokens"],
            declared=memory_pb2.DeclaredMemory(
                peak_with_weights_bytes=round(trial["peak_torch_gib"] * GIB),
                runtime_bytes=round(case["runtime_gib"] * GIB),
            ),
        )
        found = fit(servers, question)
        assert found.kv_pool_tokens == near(right["kv_tokens"][place])
        assert found.full_length_requests == near(right["full_length_requests"][place])
        assert (found.verdict != memory_pb2.FIT_VERDICT_DOES_NOT_FIT) is right["fits"][place]["equals"]
        assert found.prefill_mode.startswith("chunked" if trial["chunked_prefill"] else "whole")


def test_s_a2_heads_held_twice_are_counted_twice(servers: Stubs, cases: Path, expected: dict[str, Any]) -> None:
    case = json.loads((cases / "s_a2_moe30b_tp8.json").read_text())
    right = expected["S-A2"]
    question = memory_pb2.MemoryQuestion(
        shape=shape_of(case["model"]),
        engine="vllm",
        accelerator="h100-sxm-80gb",
        parallelism=memory_pb2.Parallelism(tensor=case["parallel"]["tp"], pipeline=case["parallel"]["pp"]),
        kv_cache_type="bf16",
        max_model_len=case["max_len"],
        declared=memory_pb2.DeclaredMemory(
            weights_bytes=round(7.2 * GIB), kv_pool_bytes=round(case["kv_budget_gib_per_gpu"] * GIB)
        ),
    )
    found = fit(servers, question)
    assert found.kv_bytes_per_token == right["kv_bytes_per_token_per_gpu"]["equals"]
    assert found.kv_pool_tokens == near(right["kv_tokens"])
    assert found.full_length_requests == near(right["full_length_requests"])


def _a10g_question(case: dict[str, Any], gpu_count: int, kv_cache_type: str) -> memory_pb2.MemoryQuestion:
    model, wish = case["model"], case["workload"]
    kept = round(model["embed_and_head_params_b"] * 1e9)
    quantized = model["params_b"] * 1e9 - kept
    bits = model["weight_bits"] + model["bits_per_group"] / model["group_size"]
    weights = quantized * bits / 8 + kept * model["embed_and_head_bits"] / 8
    return memory_pb2.MemoryQuestion(
        shape=shape_of(
            model,
            total_parameter_count=round(model["params_b"] * 1e9),
            unquantized_parameter_count=kept,
            attention_head_count=64,
            hidden_size=8192,
        ),
        engine="vllm",
        declared_device=memory_pb2.DeclaredDevice(
            name=case["gpu"]["name"], total_bytes=round(case["gpu"]["total_gib"] * GIB)
        ),
        parallelism=memory_pb2.Parallelism(tensor=gpu_count),
        weight_precision="awq-int4",
        kv_cache_type=kv_cache_type,
        memory_utilization_ratio=case["gpu_memory_utilization"],
        max_model_len=wish["tokens_per_request"],
        request_tokens=wish["tokens_per_request"],
        concurrency=wish["concurrency"],
        declared=memory_pb2.DeclaredMemory(
            weights_bytes=round(weights / gpu_count),
            activation_bytes=0,
            graph_bytes=0,
            reserved_bytes=0,
            runtime_bytes=round(case["runtime_gib_per_gpu"] * GIB),
        ),
    )


def test_s_a3_weights_that_fit_are_not_a_model_that_fits(servers: Stubs, cases: Path, expected: dict[str, Any]) -> None:
    case = json.loads((cases / "s_a3_llama70b_awq_a10g.json").read_text())
    right = expected["S-A3"]
    for count in case["try_gpu_counts"]:
        found = fit(servers, _a10g_question(case, count, "fp16"))
        assert found.requests_reserved == near(right["requests_of_8192"][str(count)]), count
        fits = found.verdict != memory_pb2.FIT_VERDICT_DOES_NOT_FIT
        assert fits is (count == right["smallest_gpu_count"]["equals"]), count
        assert found.kv_needed_bytes * count / GIB == near(right["kv_needed_gib"])
        if not fits:
            assert found.binding_term == memory_pb2.MEMORY_TERM_KIND_KV_CACHE
            assert found.remedies
    four = fit(servers, _a10g_question(case, 4, "fp8"))
    assert four.requests_reserved == near(right["requests_4gpu_8bit_cache"])


def test_s_a3_the_ways_out_name_more_cards_a_smaller_cache_and_shorter_requests(
    servers: Stubs, cases: Path, expected: dict[str, Any]
) -> None:
    case = json.loads((cases / "s_a3_llama70b_awq_a10g.json").read_text())
    question = _a10g_question(case, 4, "fp16")
    question.declared.ClearField("weights_bytes")
    found = fit(servers, question)
    assert found.verdict == memory_pb2.FIT_VERDICT_DOES_NOT_FIT
    assert found.model_weights_bytes / GIB == near(expected["S-A3"]["weights_gib"])
    assert found.smallest_accelerator_count == expected["S-A3"]["smallest_gpu_count"]["equals"]
    assert {remedy.change for remedy in found.remedies} >= {"accelerators", "kv_cache_type", "request_tokens"}


def test_s_b2_the_stated_head_size_is_used(servers: Stubs, cases: Path, expected: dict[str, Any]) -> None:
    case = json.loads((cases / "s_b2_qwen3_4b.json").read_text())
    model = case["model"]
    shape = memory_pb2.ModelShape(
        name=model["name"],
        layer_count=model["num_hidden_layers"],
        hidden_size=model["hidden_size"],
        attention_head_count=model["num_attention_heads"],
        kv_head_count=model["num_key_value_heads"],
        head_dim=model["head_dim"],
    )
    question = memory_pb2.MemoryQuestion(
        shape=shape,
        engine="generic",
        accelerator="h100-sxm-80gb",
        kv_cache_type="bf16",
        request_tokens=case["tokens"],
        concurrency=1,
        declared=memory_pb2.DeclaredMemory(weights_bytes=round(7.5 * GIB)),
    )
    found = fit(servers, question)
    assert found.kv_bytes_per_token == expected["S-B2"]["kv_bytes_per_token"]["equals"]
    assert found.kv_needed_bytes / GIB == near(expected["S-B2"]["gib_at_32768"])
    question.shape.ClearField("head_dim")
    question.shape.hidden_size = 2_561
    with pytest.raises(grpc.RpcError) as refused:
        fit(servers, question)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "question.shape.head_dim" in str(refused.value.details())


def test_s_b3_all_experts_take_memory(servers: Stubs, cases: Path, expected: dict[str, Any]) -> None:
    right = expected["S-B3"]
    for place, case in enumerate(json.loads((cases / "s_b3_moe.json").read_text())):
        question = memory_pb2.MemoryQuestion(
            shape=memory_pb2.ModelShape(
                name=case["name"],
                total_parameter_count=round(case["total_params_b"] * 1e9),
                active_parameter_count=round(case["active_params_b"] * 1e9),
            ),
            engine="generic",
            declared_device=memory_pb2.DeclaredDevice(name="a box", total_bytes=round(case["memory_gb"] * 1e9)),
            declared=memory_pb2.DeclaredMemory(bytes_per_parameter=case["bytes_per_param"]),
        )
        found = fit(servers, question)
        assert found.model_weights_bytes / 1e9 == near(right["memory_gb"][place])
        assert (found.verdict != memory_pb2.FIT_VERDICT_DOES_NOT_FIT) is right["fits"][place]["equals"]


def _count(
    servers: Stubs,
    demand: float,
    capacity: float,
    reserve: workload_pb2.Reserve,
    failover: workload_pb2.Failover | None = None,
) -> planning_service_pb2.EstimateServerCountResponse:
    request = planning_service_pb2.EstimateServerCountRequest(
        buckets=[planning_service_pb2.DemandAgainstCapacity(peak_requests_per_s=demand, q_slo_requests_per_s=capacity)],
        reserve=reserve,
        failover=failover,
    )
    return servers.planning.EstimateServerCount(request, timeout=10)


def test_s_a6_no_server_comes_from_rounding_noise(servers: Stubs, cases: Path, expected: dict[str, Any]) -> None:
    with (cases / "s_a6_ceil.csv").open() as file:
        rows = [(float(row["d_peak"]), float(row["q_slo"]), float(row["r"])) for row in csv.DictReader(file)]
    for (demand, capacity, ratio), right in zip(rows, expected["S-A6"]["n"], strict=True):
        if right["equals"] == "INVALID_ARGUMENT":
            with pytest.raises(grpc.RpcError) as refused:
                _count(servers, demand, capacity, a_reserve(ratio))
            assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            continue
        answer = _count(servers, demand, capacity, a_reserve(ratio))
        assert answer.count.replica_count == right["equals"]
        assert ("NO_DEMAND" in [finding.code for finding in answer.findings]) is (demand == 0)


def test_s_e6_losing_a_zone_is_a_condition_of_its_own(servers: Stubs, cases: Path, expected: dict[str, Any]) -> None:
    with (cases / "s_e6_zones.csv").open() as file:
        rows = list(csv.DictReader(file))
    none = workload_pb2.Reserve(none=workload_pb2.NoReserve())
    for row, right in zip(rows, expected["S-E6"]["n"], strict=True):
        zones = workload_pb2.ZoneLoss(zone_count=int(row["zones"]), lost_zone_count=int(row["zones_lost"]))
        answer = _count(servers, float(row["instances_needed"]), 1, none, workload_pb2.Failover(zones=zones))
        if right.get("equals") == "impossible":
            assert answer.impossible
            assert not answer.HasField("count")
            continue
        assert answer.count.replica_count in right.get("one_of", [right.get("equals")])
    without = _count(servers, 40, 4, a_reserve(0.2))
    assert without.count.replica_count == math.ceil(12)
    three = workload_pb2.Failover(zones=workload_pb2.ZoneLoss(zone_count=3, lost_zone_count=1))
    assert _count(servers, 40, 4, a_reserve(0.2), three).count.replica_count == 18
