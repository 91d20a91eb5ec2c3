"""The handed cases about memory, read from their files, against their expected answers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from builders_memory import a_cache_shape, a_device, a_question, a_shape, declared, gib

from tonnage.capacity.memory import fit
from tonnage.domain.memory import FitVerdict, MemoryTermKind, ModelShape
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from tonnage.domain.memory import MemoryFit

GIB = 1 << 30


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared / "cases/files/expected.json").read_text("utf-8"))
    return found


def _case(shared: Path, name: str) -> Any:  # noqa: ANN401 -- a case file holds any JSON
    return json.loads((shared / "cases/files" / name).read_text("utf-8"))


def _near(found: float, wish: dict[str, Any]) -> bool:
    if "equals" in wish:
        return bool(found == wish["equals"])
    if "abs_tol" in wish:
        return abs(found - float(wish["value"])) <= float(wish["abs_tol"])
    return abs(found / float(wish["value"]) - 1) <= float(wish["rel_tol"])


def test_a1_the_prefill_mode_decides_and_the_logged_peak_holds_the_weights_once(
    shared: Path, expected: dict[str, Any]
) -> None:
    case, wish = _case(shared, "s_a1_llama8b_rtx3090.json"), expected["S-A1"]
    for index, trial in enumerate(case["trials"]):
        answer = fit(
            a_question(
                shape=a_cache_shape(layer_count=case["model"]["layers"]),
                device=a_device(case["gpu"]["total_gib"]),
                engine_version="0.6.4",
                max_model_len=trial["max_len"],
                chunked_prefill=trial["chunked_prefill"],
                declared=declared(
                    weights_gib=case["model"]["weights_gib"],
                    peak_with_weights_gib=trial["peak_torch_gib"],
                    runtime_gib=case["runtime_gib"],
                ),
            )
        )
        assert answer.kv_pool_tokens is not None
        assert answer.full_length_requests is not None
        assert _near(answer.kv_pool_tokens, wish["kv_tokens"][index])
        assert _near(answer.full_length_requests, wish["full_length_requests"][index])
        assert (answer.verdict is not FitVerdict.DOES_NOT_FIT) is wish["fits"][index]["equals"]
        assert answer.prefill_mode.startswith("chunked" if trial["chunked_prefill"] else "whole")
        assert answer.kv_pool_tokens * answer.kv_bytes_per_token == answer.kv_pool_bytes


def test_a2_four_heads_over_eight_accelerators_are_held_twice(shared: Path, expected: dict[str, Any]) -> None:
    case, wish = _case(shared, "s_a2_moe30b_tp8.json"), expected["S-A2"]
    model = case["model"]
    answer = fit(
        a_question(
            shape=a_cache_shape(
                layer_count=model["layers"], kv_head_count=model["kv_heads"], head_dim=model["head_dim"]
            ),
            tensor_parallel=case["parallel"]["tp"],
            max_model_len=case["max_len"],
            declared=declared(weights_gib=7.5, kv_pool_gib=case["kv_budget_gib_per_gpu"]),
        )
    )
    assert answer.kv_bytes_per_token == wish["kv_bytes_per_token_per_gpu"]["equals"]
    assert answer.kv_pool_tokens is not None
    assert _near(answer.kv_pool_tokens, wish["kv_tokens"])
    assert answer.full_length_requests is not None
    assert _near(answer.full_length_requests, wish["full_length_requests"])
    assert "KV_HEADS_COPIED" in {item.code for item in answer.findings}


def _a3(case: dict[str, Any], count: int, cache: str) -> MemoryFit:
    model = case["model"]
    return fit(
        a_question(
            shape=a_cache_shape(
                layer_count=model["layers"],
                total_parameter_count=round(model["params_b"] * 1e9),
                unquantized_parameter_count=round(model["embed_and_head_params_b"] * 1e9),
            ),
            device=a_device(case["gpu"]["total_gib"]),
            engine="generic",
            engine_version=None,
            tensor_parallel=count,
            weight_precision="awq-int4",
            kv_cache_type=cache,
            memory_utilization_ratio=case["gpu_memory_utilization"],
            max_model_len=None,
            request_tokens=case["workload"]["tokens_per_request"],
            concurrency=case["workload"]["concurrency"],
            declared=declared(runtime_gib=case["runtime_gib_per_gpu"]),
        )
    )


def test_a3_a_model_whose_weights_fit_is_still_refused_for_its_cache(shared: Path, expected: dict[str, Any]) -> None:
    case, wish = _case(shared, "s_a3_llama70b_awq_a10g.json"), expected["S-A3"]
    for count in case["try_gpu_counts"]:
        answer = _a3(case, count, "bf16")
        assert _near(answer.model_weights_bytes / GIB, wish["weights_gib"])
        assert _near(answer.kv_needed_bytes * count / GIB, wish["kv_needed_gib"])
        assert _near(answer.requests_reserved, wish["requests_of_8192"][str(count)])
        assert answer.smallest_accelerator_count == wish["smallest_gpu_count"]["equals"]
        assert (answer.verdict is FitVerdict.DOES_NOT_FIT) is (count < 8)
    four = _a3(case, 4, "bf16")
    assert four.binding_term is MemoryTermKind.KV_CACHE
    assert {item.change for item in four.remedies} >= {"accelerators", "kv_cache_type", "request_tokens"}
    assert _near(_a3(case, 4, "fp8").requests_reserved, wish["requests_4gpu_8bit_cache"])


def test_b1_window_layers_cost_a_fixed_part_and_the_printed_tokens_are_no_rate(
    shared: Path, expected: dict[str, Any]
) -> None:
    case, wish = _case(shared, "s_b1_gemma4_31b_h200.json"), expected["S-B1"]
    model, engine = case["model"], case["engine"]
    shape = ModelShape(
        name=model["name"],
        layer_count=model["full_layers"] + model["window_layers"],
        sliding_layer_count=model["window_layers"],
        kv_head_count=model["full_kv_heads"],
        head_dim=model["full_head_dim"],
        sliding_kv_head_count=model["window_kv_heads"],
        sliding_head_dim=model["window_head_dim"],
        sliding_window=model["window_tokens"],
    )
    for length in ("8192", "32768", "262144"):
        answer = fit(
            a_question(
                shape=shape,
                max_model_len=engine["max_len"],
                max_num_batched_tokens=engine["max_num_batched_tokens"],
                request_tokens=int(length),
                declared=declared(weights_gib=60, kv_pool_gib=case["kv_budget_gib"]),
            )
        )
        assert answer.requests_reserved == wish["requests_reserved"][length]["equals"]
        assert _near(answer.requests_steady, wish["requests_decoding"][length])
        assert answer.kv_bytes_per_token == wish["kib_per_token_growing"]["equals"] * 1024
        assert answer.kv_pool_tokens is None
    request = answer.kv_bytes_per_token * 262_144 + answer.kv_fixed_bytes_per_request
    assert _near(request / GIB, wish["gib_full_length_request_reserved"])
    assert answer.full_length_requests is not None
    assert _near(answer.full_length_requests * 262_144, wish["engine_tokens_explained"])


def test_b2_the_stated_head_size_wins_over_hidden_by_heads(shared: Path, expected: dict[str, Any]) -> None:
    case, wish = _case(shared, "s_b2_qwen3_4b.json"), expected["S-B2"]
    model = case["model"]
    answer = fit(
        a_question(
            shape=a_cache_shape(
                layer_count=model["num_hidden_layers"],
                kv_head_count=model["num_key_value_heads"],
                head_dim=model["head_dim"],
                hidden_size=model["hidden_size"],
                attention_head_count=model["num_attention_heads"],
            ),
            max_model_len=case["tokens"],
            request_tokens=case["tokens"],
            declared=declared(weights_gib=7.5),
        )
    )
    assert answer.kv_bytes_per_token == wish["kv_bytes_per_token"]["equals"]
    assert _near(answer.kv_needed_bytes / GIB, wish["gib_at_32768"])


def test_b3_all_experts_count_and_active_ones_do_not(shared: Path, expected: dict[str, Any]) -> None:
    wish = expected["S-B3"]
    for index, case in enumerate(_case(shared, "s_b3_moe.json")):
        answer = fit(
            a_question(
                shape=ModelShape(
                    name=case["name"],
                    total_parameter_count=round(case["total_params_b"] * 1e9),
                    active_parameter_count=round(case["active_params_b"] * 1e9),
                ),
                device=a_device(case["memory_gb"] * 1e9 / GIB),
                declared=declared(bytes_per_parameter=case["bytes_per_param"]),
            )
        )
        assert _near(answer.model_weights_bytes / 1e9, wish["memory_gb"][index])
        assert answer.verdict is FitVerdict.DOES_NOT_FIT
        assert answer.binding_term is MemoryTermKind.WEIGHTS


def test_b4_weights_are_shared_and_the_generation_decides_the_cache(shared: Path, expected: dict[str, Any]) -> None:
    case, wish = _case(shared, "s_b4_two_72b.json"), expected["S-B4"]
    count = case["gpu"]["count"]
    for index, model in enumerate(case["models"]):
        answer = fit(
            a_question(
                shape=a_cache_shape(
                    layer_count=model["layers"],
                    kv_head_count=model["kv_heads"],
                    head_dim=model["head_dim"],
                    total_parameter_count=round(model["params_b"] * 1e9),
                ),
                device=a_device(case["gpu"]["total_gib"]),
                engine="generic",
                tensor_parallel=count,
                weight_precision="bf16",
                request_tokens=case["tokens_per_request"],
                max_model_len=None,
                declared=declared(runtime_gib=case["runtime_gib_per_gpu"]),
            )
        )
        assert answer.kv_bytes_per_token * count == wish["kv_bytes_per_token"][index]["equals"]
        assert _near(answer.requests_reserved, wish["requests_of_1536"][index])
        assert "FIT_IS_BY_MEMORY_ONLY" in {item.code for item in answer.findings}


def test_e3_two_models_share_one_card_and_each_keeps_its_own_room(shared: Path, expected: dict[str, Any]) -> None:
    case, wish = _case(shared, "s_e3_two_models_one_a100.json"), expected["S-E3"]
    for index, model in enumerate(case["models"]):
        layers = model["kv_bytes_per_token"] // (2 * 8 * 128 * 2)
        answer = fit(
            a_question(
                shape=a_cache_shape(layer_count=layers),
                device=a_device(case["gpu"]["total_gib"]),
                memory_utilization_ratio=model["memory_fraction"],
                max_model_len=model["max_len"],
                declared=declared(weights_gib=model["weights_gib"], runtime_gib=case["runtime_gib_each"]),
            )
        )
        assert answer.kv_pool_tokens is not None
        assert _near(answer.kv_pool_tokens, wish["kv_tokens"][index])


def test_e3_the_second_engine_must_be_given_the_sum_of_both_shares(shared: Path, expected: dict[str, Any]) -> None:
    case, wish = _case(shared, "s_e3_two_models_one_a100.json"), expected["S-E3"]
    first, second = case["models"]
    total = case["gpu"]["total_gib"]
    question = a_question(
        shape=a_cache_shape(layer_count=48),
        device=a_device(total),
        memory_utilization_ratio=second["memory_fraction"],
        max_model_len=second["max_len"],
        foreign_bytes=gib(total * first["memory_fraction"]),
        declared=declared(weights_gib=second["weights_gib"], runtime_gib=case["runtime_gib_each"]),
    )
    refused = fit(question)
    assert refused.verdict is FitVerdict.DOES_NOT_FIT
    remedy = next(item.remedy for item in refused.findings if item.code == "SHARE_COUNTS_OTHER_PROCESSES")
    wanted = wish["second_fraction_if_ceiling_is_global"]["value"]
    assert f"{wanted:.2f}" in remedy
    given = fit(replace(question, memory_utilization_ratio=wanted))
    assert given.kv_pool_tokens is not None
    assert _near(given.kv_pool_tokens, wish["kv_tokens"][1])


def test_e7_a_slice_is_judged_by_its_usable_size_not_its_name(shared: Path, expected: dict[str, Any]) -> None:
    case, wish = _case(shared, "s_e7_mig.json"), expected["S-E7"]
    for piece in case["slices"]:
        answer = fit(
            a_question(
                shape=a_cache_shape(),
                device=a_device(piece["usable_gib"]),
                memory_utilization_ratio=case["gpu_memory_utilization"],
                request_tokens=case["tokens_per_request"],
                declared=declared(weights_gib=case["model"]["weights_gib"], runtime_gib=case["runtime_gib"]),
            )
        )
        assert _near(answer.requests_reserved, wish["requests"][piece["profile"]])


def test_foreign_memory_counts_against_the_share() -> None:
    alone = fit(a_question())
    beside = fit(a_question(foreign_bytes=gib(5)))
    assert alone.kv_pool_bytes - beside.kv_pool_bytes == pytest.approx(gib(5), abs=2 << 20)


def test_a_question_without_any_shape_of_a_cache_is_refused_when_the_weights_fit() -> None:
    with pytest.raises(InvalidInput, match="layer_count"):
        fit(a_question(shape=ModelShape(name="bare", total_parameter_count=10**9), weight_precision="bf16"))


def test_the_shape_of_a_whole_model_gives_six_terms_that_sum_to_the_card() -> None:
    answer = fit(a_question(shape=a_shape(), memory_utilization_ratio=0.95, kv_cache_type="bf16"))
    spent = sum(term.bytes for term in answer.terms if term.kind is not MemoryTermKind.KV_CACHE)
    block = answer.kv_bytes_per_token * answer.block_tokens
    assert len(answer.terms) == 6
    assert 0 <= answer.total_bytes - spent - answer.kv_pool_bytes < block
