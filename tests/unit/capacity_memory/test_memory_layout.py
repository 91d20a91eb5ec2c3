"""What layers keep, checked against byte counts that engines logged."""

from __future__ import annotations

import pytest
from builders_memory import a_cache_shape

from tonnage import catalog
from tonnage.capacity.memory.dtypes import cache_format, weight_format
from tonnage.capacity.memory.layout import CacheKind, Layout, Split, layout
from tonnage.errors import InvalidInput


def _kept(model: str, kind: str = "bf16", *, tensor: int = 1, drafts: int = 0) -> Layout:
    return layout(catalog.model(model), cache_format(kind), Split(tensor=tensor, pipeline=1, draft_tokens=drafts))


@pytest.mark.parametrize(
    ("model", "kind", "tensor", "token_bytes"),
    [
        # Each figure stands in a start-up log or in the handed check column.
        ("meta-llama/Llama-3.1-8B-Instruct", "bf16", 1, 131_072),
        ("meta-llama/Llama-3.1-8B-Instruct", "fp8", 1, 65_536),
        ("meta-llama/Llama-3.1-8B-Instruct", "fp32", 1, 262_144),
        ("meta-llama/Llama-3.1-70B-Instruct", "bf16", 2, 163_840),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "bf16", 8, 24_576),
        ("deepseek-ai/DeepSeek-V3", "fp8", 1, 35_136),
        ("deepseek-ai/DeepSeek-V3", "bf16", 8, 70_272),
        ("deepseek-ai/DeepSeek-V3.2-Exp", "fp8_ds_mla", 8, 48_068),
        ("deepseek-ai/DeepSeek-V3.2-Exp", "fp8", 8, 43_188),
        ("deepseek-ai/DeepSeek-R1", "q8_0", 1, 37_332),
        ("facebook/opt-125m", "fp16", 1, 36_864),
        ("Qwen/Qwen3.6-27B", "q8_0", 1, 34_816),
    ],
)
def test_bytes_a_token_are_what_engines_logged(model: str, kind: str, tensor: int, token_bytes: int) -> None:
    assert _kept(model, kind, tensor=tensor).token_bytes == token_bytes


def test_the_state_of_a_hybrid_does_not_grow_and_is_split() -> None:
    (state,) = _kept("Qwen/Qwen3.6-27B").of(CacheKind.STATE)
    assert state.state_bytes == 3_207_168
    (half,) = _kept("Qwen/Qwen3.6-27B", tensor=2).of(CacheKind.STATE)
    assert half.state_bytes == 3_207_168 // 2


def test_drafts_widen_the_convolution_only() -> None:
    (plain,) = _kept("Qwen/Qwen3.6-27B").of(CacheKind.STATE)
    (drafted,) = _kept("Qwen/Qwen3.6-27B", drafts=3).of(CacheKind.STATE)
    assert drafted.state_bytes - plain.state_bytes == 3 * 10_240 * 2


def test_key_and_value_rows_may_differ() -> None:
    kept = layout(a_cache_shape(head_dim=192, value_head_dim=128), cache_format("bf16"), Split(tensor=1, pipeline=1))
    assert kept.token_bytes == 32 * 8 * (192 + 128) * 2


def test_layers_that_share_a_cache_are_counted_once() -> None:
    own = _kept("google/gemma-4-E4B-it").of(CacheKind.FULL)[0].layer_count
    assert own < 7


def test_a_head_size_that_is_derived_must_divide() -> None:
    shape = a_cache_shape(head_dim=None, hidden_size=2560, attention_head_count=33)
    with pytest.raises(InvalidInput, match="not whole"):
        layout(shape, cache_format("bf16"), Split(tensor=1, pipeline=1))


@pytest.mark.parametrize(("heads", "kv_heads", "tensor"), [(40, 8, 16), (14, 2, 4), (32, 6, 4)])
def test_an_impossible_split_names_the_divisor(heads: int, kv_heads: int, tensor: int) -> None:
    shape = a_cache_shape(attention_head_count=heads, kv_head_count=kv_heads)
    with pytest.raises(InvalidInput, match="divisor") as caught:
        layout(shape, cache_format("bf16"), Split(tensor=tensor, pipeline=1))
    assert caught.value.context["field"] == "parallelism.tensor"


def test_a_missing_size_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"shape\.kv_head_count"):
        layout(a_cache_shape(kv_head_count=None), cache_format("bf16"), Split(tensor=1, pipeline=1))


def test_compressed_attention_grows_slowly_and_keeps_much() -> None:
    kept = _kept("deepseek-ai/DeepSeek-V4-Flash", "fp8_ds_mla")
    assert 3_700 < kept.token_bytes < 3_900
    assert sum(group.token_bytes * group.layer_count for group in kept.of(CacheKind.WINDOW)) > 300_000


@pytest.mark.parametrize("name", ["fp7", "", "4bit please"])
def test_types_nobody_knows_are_refused_by_field(name: str) -> None:
    with pytest.raises(InvalidInput, match="kv_cache_type"):
        cache_format(name)
    with pytest.raises(InvalidInput, match="weight_precision"):
        weight_format(name)
