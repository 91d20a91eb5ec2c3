"""Weights on one accelerator, against what engines logged."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders_memory import a_cache_shape, a_device, a_question, a_shape, declared

from tonnage import catalog
from tonnage.capacity.memory import fit
from tonnage.capacity.memory.parameters import dense_width, parts
from tonnage.domain.memory import MemoryFit, MemoryTermKind, WeightInventory
from tonnage.errors import InvalidInput

GIB = 1 << 30
H100 = {"id": "h100-sxm-80gb", "name": "H100 SXM", "architecture": "Hopper"}


def _weights(answer: MemoryFit) -> float:
    return next(term.bytes for term in answer.terms if term.kind is MemoryTermKind.WEIGHTS) / GIB


@pytest.mark.parametrize(
    ("model", "precision", "tensor", "pipeline", "logged_gib", "within"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "bf16", 1, 1, 14.99, 0.002),
        ("meta-llama/Llama-3.1-8B-Instruct", "bf16", 2, 1, 7.51, 0.002),
        ("meta-llama/Llama-3.1-8B-Instruct", "bf16", 4, 1, 3.77, 0.002),
        ("meta-llama/Llama-3.1-8B-Instruct", "bf16", 1, 4, 4.26, 0.002),
        ("meta-llama/Llama-3.1-8B-Instruct", "fp8", 1, 1, 8.49, 0.002),
        ("meta-llama/Llama-3.1-8B-Instruct", "gptq-int4", 1, 1, 5.38, 0.005),
        ("meta-llama/Llama-3.1-8B-Instruct", "fp32", 1, 1, 29.98, 0.002),
        ("meta-llama/Llama-3.3-70B-Instruct", "fp8", 2, 1, 33.88, 0.002),
        ("Qwen/Qwen3-0.6B", "bf16", 2, 1, 0.567, 0.005),
        ("google/gemma-4-31B-it", "bf16", 1, 1, 58.99, 0.01),
        ("openai/gpt-oss-20b", "mxfp4", 2, 1, 7.01, 0.01),
        ("Qwen/Qwen3.8-27B", "fp8", 2, 1, 14.28, 0.01),
    ],
)
def test_weights_are_what_engines_logged(
    model: str, precision: str, tensor: int, pipeline: int, logged_gib: float, within: float
) -> None:
    answer = fit(
        a_question(
            shape=catalog.model(model),
            device=a_device(179.19, **H100),
            weight_precision=precision,
            tensor_parallel=tensor,
            pipeline_parallel=pipeline,
        )
    )
    assert _weights(answer) == pytest.approx(logged_gib, rel=within)


def test_a_tied_embedding_counts_once() -> None:
    free, tied = parts(a_shape(tied_embeddings=False)), parts(a_shape(tied_embeddings=True))
    assert free.ends_count == 2 * tied.ends_count


def test_key_value_projections_are_copied_beyond_the_heads() -> None:
    shape = a_shape(attention_head_count=64, kv_head_count=2, total_parameter_count=None)
    two = _weights(fit(a_question(shape=shape, tensor_parallel=2)))
    four = _weights(fit(a_question(shape=shape, tensor_parallel=4)))
    assert four > two / 2


def test_experts_are_divided_over_the_whole_group() -> None:
    model = catalog.model("Qwen/Qwen3-30B-A3B")
    alone = _weights(fit(a_question(shape=model, tensor_parallel=2)))
    spread = _weights(fit(a_question(shape=model, tensor_parallel=2, data_parallel=2, expert_parallel=4)))
    assert spread < alone * 0.6


def test_exact_bytes_of_a_checkpoint_win() -> None:
    found = WeightInventory(total_bytes=10 * GIB, embedding_bytes=2 * GIB, replicated_bytes=GIB, source="index")
    answer = fit(a_question(inventory=found, tensor_parallel=2))
    tables = 131_072 * 128 * 2 / GIB
    assert _weights(answer) == pytest.approx(2 / 2 + 1 + 7 / 2 + tables)


def test_an_inventory_smaller_than_its_parts_is_refused() -> None:
    with pytest.raises(InvalidInput, match="below the sum"):
        fit(a_question(inventory=WeightInventory(total_bytes=10, expert_bytes=20)))


def test_one_file_of_many_is_not_taken_for_the_model() -> None:
    ends = 2 * 128_256 * 4096 * 2
    one_file = WeightInventory(total_bytes=ends // 2, embedding_bytes=ends // 2, source="model-00001-of-00004")
    with pytest.raises(InvalidInput, match="all files of the checkpoint"):
        fit(a_question(inventory=one_file))


def test_the_width_of_a_shape_that_states_none_balances_the_total() -> None:
    whole = a_shape(total_parameter_count=None)
    count = parts(whole).text_count
    lacking = replace(whole, intermediate_size=None, total_parameter_count=count)
    assert dense_width(lacking) == pytest.approx(14_336, abs=1)


def test_a_total_below_its_parts_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"shape\.total_parameter_count"):
        fit(a_question(shape=a_shape(total_parameter_count=10**8)))


def test_unquantized_parameters_stay_at_16_bits() -> None:
    shape = a_cache_shape(total_parameter_count=10 * 10**9, unquantized_parameter_count=10**9)
    answer = fit(a_question(shape=shape, weight_precision="int8"))
    assert answer.model_weights_bytes == 9 * 10**9 + 2 * 10**9


def test_declared_weights_win_and_say_so() -> None:
    answer = fit(a_question(declared=declared(weights_gib=12)))
    term = next(term for term in answer.terms if term.kind is MemoryTermKind.WEIGHTS)
    assert (term.bytes, term.origin.value) == (12 * GIB, "declared")


def test_a_shape_without_a_total_or_sizes_is_asked_for_one() -> None:
    with pytest.raises(InvalidInput, match=r"shape\.total_parameter_count"):
        fit(a_question(shape=a_cache_shape()))


def test_an_index_alone_scales_what_lies_between_the_ends() -> None:
    plain = fit(a_question(tensor_parallel=2))
    scaled = fit(a_question(tensor_parallel=2, inventory=WeightInventory(total_bytes=20 * 10**9, source="index")))
    assert plain.model_weights_bytes == 16_060_000_000
    assert scaled.model_weights_bytes == 20 * 10**9
    assert _weights(scaled) == pytest.approx(20e9 / GIB / 2, rel=0.02)


def test_an_index_smaller_than_the_ends_is_of_another_model() -> None:
    with pytest.raises(InvalidInput, match="index"):
        fit(a_question(inventory=WeightInventory(total_bytes=10**9)))


def test_llama_cpp_deals_layers_and_leaves_the_embedding_on_the_host() -> None:
    whole = _weights(fit(a_question(engine="llama.cpp", engine_version=None)))
    assert whole == pytest.approx((8.03e9 - 128_256 * 4096) * 2 / GIB, rel=0.001)
    half = _weights(fit(a_question(engine="llama.cpp", engine_version=None, tensor_parallel=2)))
    head = 128_256 * 4096 * 2 / GIB
    assert half == pytest.approx((whole - head) / 2 + head, rel=0.001)
