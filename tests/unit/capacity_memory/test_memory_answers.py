"""Ledgers, verdicts, ways out, findings and the map."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders_memory import a_device, a_question, a_shape, declared, gib

from tonnage import catalog
from tonnage.capacity.memory import fit, memory_map
from tonnage.capacity.memory.core import evaluate
from tonnage.domain.memory import FitVerdict, MemoryFit, MemoryTermKind
from tonnage.errors import InvalidInput

GIB = 1 << 30
H100 = a_device(79.19, id="h100-sxm-80gb", architecture="Hopper")


def _bytes(answer: MemoryFit, kind: MemoryTermKind) -> float:
    return next(term.bytes for term in answer.terms if term.kind is kind) / GIB


def _codes(answer: MemoryFit) -> set[str]:
    return {item.code for item in answer.findings}


def test_the_pool_of_a_known_server_is_what_its_log_says() -> None:
    answer = fit(
        a_question(shape=catalog.model("meta-llama/Llama-3.1-8B-Instruct"), device=H100, memory_utilization_ratio=0.95)
    )
    assert answer.kv_pool_bytes / GIB == pytest.approx(58.11, rel=0.001)
    assert answer.printed_tokens == pytest.approx(476_016, rel=0.001)
    assert answer.full_length_requests == pytest.approx(58.11, rel=0.001)


def test_the_samplers_peak_is_not_divided_by_tensor_parallelism() -> None:
    one, four = (fit(a_question(device=H100, tensor_parallel=size)) for size in (1, 4))
    assert _bytes(one, MemoryTermKind.ACTIVATION) == _bytes(four, MemoryTermKind.ACTIVATION)


def test_the_sampler_shrank_and_the_runtime_grew_with_the_release() -> None:
    old, new = (fit(a_question(device=H100, engine_version=version)) for version in ("0.15", "0.19"))
    assert _bytes(old, MemoryTermKind.ACTIVATION) > 2 * _bytes(new, MemoryTermKind.ACTIVATION)
    assert _bytes(old, MemoryTermKind.RUNTIME) < _bytes(new, MemoryTermKind.RUNTIME)


def test_a_longer_context_may_start_where_a_shorter_one_is_refused() -> None:
    verdicts = []
    for length in (20_000, 29_000, 35_000):
        answer = fit(a_question(device=a_device(23.58, id="rtx-3090"), engine_version="0.6.4", max_model_len=length))
        verdicts.append(answer.verdict is not FitVerdict.DOES_NOT_FIT)
        if length < 32_768:
            assert "PREFILL_NOT_CHUNKED" in _codes(answer)
    assert verdicts == [True, False, True]


def test_graphs_outside_a_high_share_are_a_late_risk() -> None:
    shape = catalog.model("openai/gpt-oss-20b")
    high = fit(a_question(shape=shape, device=H100, memory_utilization_ratio=0.95))
    assert high.verdict is FitVerdict.TIGHT
    assert "LATE_FAILURE_RISK" in _codes(high)
    usual = fit(a_question(shape=shape, device=H100, memory_utilization_ratio=0.9))
    assert "LATE_FAILURE_RISK" not in _codes(usual)
    eager = fit(a_question(shape=shape, device=H100, memory_utilization_ratio=0.95, eager=True))
    assert eager.verdict is FitVerdict.FITS


def test_less_than_a_tenth_to_spare_is_tight() -> None:
    room = fit(a_question()).requests_reserved
    assert fit(a_question(concurrency=room)).verdict is FitVerdict.TIGHT
    assert fit(a_question(concurrency=room + 1)).verdict is FitVerdict.DOES_NOT_FIT
    assert fit(a_question(concurrency=room // 2)).verdict is FitVerdict.FITS


def test_weights_above_the_card_bind() -> None:
    answer = fit(a_question(shape=catalog.model("meta-llama/Llama-3.1-70B-Instruct"), device=H100))
    assert answer.verdict is FitVerdict.DOES_NOT_FIT
    assert answer.binding_term is MemoryTermKind.WEIGHTS
    assert answer.smallest_accelerator_count == 2


def test_every_remedy_turns_the_verdict_when_taken() -> None:
    question = a_question(device=H100, request_tokens=8192, concurrency=60)
    answer = fit(question)
    assert answer.verdict is FitVerdict.DOES_NOT_FIT
    taken = {
        "accelerators": lambda value: replace(question, tensor_parallel=int(value)),
        "kv_cache_type": lambda value: replace(question, kv_cache_type=value),
        "request_tokens": lambda value: replace(question, request_tokens=int(value)),
        "concurrency": lambda value: replace(question, concurrency=int(value)),
        "memory_utilization_ratio": lambda value: replace(question, memory_utilization_ratio=float(value)),
        "weight_precision": lambda value: replace(question, weight_precision=value),
        "max_num_seqs": lambda value: replace(question, max_num_seqs=int(value)),
    }
    assert len(answer.remedies) >= 4
    for remedy in answer.remedies:
        assert fit(taken[remedy.change](remedy.value)).verdict is not FitVerdict.DOES_NOT_FIT, remedy


def test_a_wish_no_count_holds_still_gets_a_way_out() -> None:
    answer = fit(a_question(shape=catalog.model("meta-llama/Llama-3.1-70B-Instruct"), device=H100, concurrency=10_000))
    assert answer.smallest_accelerator_count is None
    assert any(item.change == "accelerators" and "shorten" in item.message for item in answer.remedies)


def test_more_accelerators_may_fit_worse_and_the_grown_term_is_named() -> None:
    question = a_question(
        shape=catalog.model("Qwen/Qwen3-0.6B"), device=a_device(3.2, id="h100-sxm-80gb"), max_num_seqs=64
    )
    assert fit(question).verdict is not FitVerdict.DOES_NOT_FIT
    two = fit(replace(question, tensor_parallel=2))
    assert two.verdict is FitVerdict.DOES_NOT_FIT
    assert two.smallest_accelerator_count == 1
    assert "runtime" in next(item.message for item in two.findings if item.code == "SMALLER_SPLIT_FITS")


def test_the_equation_holds_its_numbers() -> None:
    text = fit(a_question(request_tokens=8192, concurrency=20)).equation
    for part in (
        "0.9 x 79.19 GiB",
        "32 layers x 8 KV heads x 2 x 128 x 2 B",
        "131,072 B",
        "need = 20 x 1,073,741,824 B",
    ):
        assert part in text


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm", "llama.cpp", "generic"])
def test_every_engine_answers_with_tokens_times_bytes(engine: str) -> None:
    answer = fit(a_question(engine=engine, engine_version=None, memory_utilization_ratio=None))
    assert answer.kv_pool_tokens is not None
    gap = answer.kv_pool_bytes - answer.kv_pool_tokens * answer.kv_bytes_per_token
    assert 0 <= gap < answer.kv_bytes_per_token * answer.block_tokens
    assert answer.verdict is FitVerdict.FITS
    assert len(answer.terms) == 6


def test_sglang_takes_its_share_of_what_was_free() -> None:
    answer = fit(a_question(engine="sglang", memory_utilization_ratio=0.8))
    before = 79.19 - _bytes(answer, MemoryTermKind.RUNTIME)
    assert answer.kv_pool_bytes / GIB == pytest.approx(0.8 * before - _bytes(answer, MemoryTermKind.WEIGHTS), abs=0.01)


def test_tensorrt_takes_a_fraction_of_what_is_free_after_loading() -> None:
    answer = fit(a_question(engine="tensorrt-llm", memory_utilization_ratio=0.9))
    free = 79.19 - _bytes(answer, MemoryTermKind.RUNTIME) - _bytes(answer, MemoryTermKind.WEIGHTS)
    assert answer.kv_pool_bytes / GIB == pytest.approx(0.9 * free, abs=0.01)
    assert "POOL_IS_INTENT" in _codes(answer)


def test_a_logged_peak_with_declared_activation_contradicts() -> None:
    with pytest.raises(InvalidInput, match="contradicts"):
        fit(a_question(declared=declared(peak_with_weights_gib=17, activation_gib=2)))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"tensor_parallel": 3}, "parallelism.tensor"),
        ({"tensor_parallel": 4, "accelerator_count": 2}, "accelerator_count"),
        ({"pipeline_parallel": 64}, "parallelism.pipeline"),
        ({"kv_cache_type": "fp3"}, "kv_cache_type"),
        ({"weight_precision": "gguf"}, "weight_precision"),
        ({"engine": "none"}, "engine"),
    ],
)
def test_an_impossible_question_names_its_field(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        fit(a_question(**changes))
    assert caught.value.context["field"] == field


def test_idle_accelerators_are_said() -> None:
    assert "ACCELERATORS_UNUSED" in _codes(fit(a_question(accelerator_count=4)))


def test_a_shape_without_widths_says_that_activations_are_missing() -> None:
    shape = a_shape(hidden_size=None, vocabulary_size=None, intermediate_size=None)
    assert "ACTIVATION_NOT_KNOWN" in _codes(fit(a_question(shape=shape)))


def test_the_map_agrees_with_single_answers() -> None:
    question = a_question(device=H100)
    lengths, wishes = (1024, 8192, 65_536), (1, 50, 400)
    found = memory_map(question, lengths, wishes)
    for column, row in zip(found.columns, found.verdicts, strict=True):
        for wish, verdict in zip(wishes, row, strict=True):
            single = fit(replace(question, request_tokens=column.request_tokens, concurrency=wish))
            assert verdict is single.verdict


def test_the_map_of_whole_prompts_shrinks_its_pool() -> None:
    question = a_question(device=a_device(23.58, id="rtx-3090"), engine_version="0.6.4", chunked_prefill=False)
    found = memory_map(question, (4096, 20_000, 29_000), (1,))
    pools = [column.pool_bytes for column in found.columns]
    assert pools[0] > pools[1] > pools[2]
    assert {column.prefill_mode for column in found.columns} == {"whole"}


@pytest.mark.parametrize(
    ("lengths", "wishes"), [((), (1,)), ((1,), ()), ((0,), (1,)), ((1,), (-1,)), ((1,) * 600, (1,) * 600)]
)
def test_a_map_without_sense_is_refused(lengths: tuple[int, ...], wishes: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput):
        memory_map(a_question(), lengths, wishes)


def test_the_longest_request_is_the_last_that_fits() -> None:
    core = evaluate(a_question(device=H100, concurrency=30))
    longest = core.longest(30)
    assert longest is not None
    assert 30 * core.request_bytes(longest) <= core.pool_bytes < 30 * core.request_bytes(longest + 1)
    assert core.longest(10**9) is None


def test_a_declared_pool_is_used_as_it_is() -> None:
    answer = fit(a_question(declared=declared(kv_pool_gib=3)))
    assert answer.kv_pool_bytes == gib(3)
