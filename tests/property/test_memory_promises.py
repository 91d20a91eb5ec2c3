"""What always holds of a memory answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders_memory import a_device, a_question, a_shape
from hypothesis import assume, given
from hypothesis import strategies as st

from tonnage.capacity.memory import fit
from tonnage.domain.memory import FitVerdict, MemoryQuestion
from tonnage.errors import InvalidInput

ORDER = (FitVerdict.FITS, FitVerdict.TIGHT, FitVerdict.DOES_NOT_FIT)

questions = st.builds(
    lambda heads, window, total, share, engine, tensor, length, concurrency: a_question(
        shape=a_shape(
            kv_head_count=heads,
            sliding_layer_count=24 if window else None,
            sliding_window=window,
        ),
        device=a_device(total, id="h100-sxm-80gb"),
        engine=engine,
        engine_version=None,
        memory_utilization_ratio=share,
        tensor_parallel=tensor,
        max_model_len=131_072,
        request_tokens=length,
        concurrency=concurrency,
    ),
    heads=st.sampled_from([1, 2, 4, 8, 32]),
    window=st.sampled_from([None, 128, 4096]),
    total=st.floats(8, 200),
    share=st.floats(0.3, 0.95),
    engine=st.sampled_from(["vllm", "sglang", "tensorrt-llm", "llama.cpp", "generic"]),
    tensor=st.sampled_from([1, 2, 4, 8]),
    length=st.integers(1, 131_072),
    concurrency=st.integers(1, 5000),
)


def _never_better(before: MemoryQuestion, after: MemoryQuestion) -> None:
    assert ORDER.index(fit(after).verdict) >= ORDER.index(fit(before).verdict)


@given(questions, st.integers(0, 50_000))
def test_longer_requests_never_fit_better(question: MemoryQuestion, more: int) -> None:
    assert question.request_tokens is not None
    _never_better(question, replace(question, request_tokens=question.request_tokens + more))


@given(questions, st.integers(0, 5000))
def test_more_requests_never_fit_better(question: MemoryQuestion, more: int) -> None:
    assert question.concurrency is not None
    _never_better(question, replace(question, concurrency=question.concurrency + more))


@given(questions)
def test_more_bits_never_fit_better(question: MemoryQuestion) -> None:
    _never_better(replace(question, kv_cache_type="fp8"), replace(question, kv_cache_type="bf16"))
    _never_better(replace(question, weight_precision="fp8"), replace(question, weight_precision="bf16"))


@given(questions, st.integers(1, 2000))
def test_more_sequences_never_fit_better(question: MemoryQuestion, more: int) -> None:
    before = replace(question, max_num_seqs=256)
    _never_better(before, replace(question, max_num_seqs=256 + more))


@given(questions)
def test_the_same_question_gives_the_same_answer(question: MemoryQuestion) -> None:
    assert repr(fit(question)) == repr(fit(replace(question)))


@given(questions)
def test_shown_numbers_multiply(question: MemoryQuestion) -> None:
    answer = fit(question)
    if answer.kv_pool_tokens is not None and answer.kv_pool_bytes >= 0:
        gap = answer.kv_pool_bytes - answer.kv_pool_tokens * answer.kv_bytes_per_token
        assert 0 <= gap < answer.kv_bytes_per_token * answer.block_tokens
    assert answer.requests_steady >= answer.requests_reserved >= 0


@given(questions)
def test_the_longest_request_fits_at_the_asked_concurrency(question: MemoryQuestion) -> None:
    longest = fit(question).max_request_tokens
    assume(longest is not None)
    assert fit(replace(question, request_tokens=longest)).verdict is not FitVerdict.DOES_NOT_FIT


@given(questions)
def test_the_smallest_count_fits_or_there_is_none(question: MemoryQuestion) -> None:
    answer = fit(question)
    if answer.verdict is not FitVerdict.DOES_NOT_FIT:
        assert answer.smallest_accelerator_count is not None
        assert answer.smallest_accelerator_count <= question.tensor_parallel


@given(st.integers(1, 64), st.integers(1, 64))
def test_a_split_is_refused_exactly_when_the_heads_do_not_divide(heads: int, tensor: int) -> None:
    question = a_question(
        shape=a_shape(attention_head_count=heads, kv_head_count=heads, total_parameter_count=None),
        tensor_parallel=tensor,
    )
    if heads % tensor:
        with pytest.raises(InvalidInput, match=str(heads)):
            fit(question)
    else:
        fit(question)
