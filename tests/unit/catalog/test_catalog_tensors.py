"""Exact bytes from checkpoint headers; the layouts here are the ones the formats' own libraries write."""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tonnage import catalog
from tonnage.errors import InvalidInput


def _safetensors(tensors: dict[str, int]) -> bytes:
    at, header = 0, {"__metadata__": {"format": "pt"}}
    entries: dict[str, object] = dict(header)
    for name, size in tensors.items():
        entries[name] = {"dtype": "F16", "shape": [size // 2], "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def _gguf(tensors: list[tuple[str, tuple[int, ...], int]], version: int = 3) -> bytes:
    metadata = [
        _text("general.architecture") + struct.pack("<I", 8) + _text("llama"),
        _text("llama.context_length") + struct.pack("<II", 4, 4096),
        _text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + _text("a") + _text("b"),
        _text("some.numbers") + struct.pack("<IIQ", 9, 5, 3) + struct.pack("<iii", 1, 2, 3),
    ]
    body = b"".join(metadata)
    for name, shape, kind in tensors:
        body += _text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        body += struct.pack("<IQ", kind, 0)
    return b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata)) + body


SAFETENSORS = {
    "model.embed_tokens.weight": 800,
    "lm_head.weight": 800,
    "model.layers.0.mlp.experts.3.up_proj.weight": 400,
    "model.layers.0.mlp.shared_experts.up_proj.weight": 200,
    "model.layers.0.input_layernorm.weight": 10,
    "model.layers.0.self_attn.q_proj.weight": 100,
    "visual.patch_embed.weight": 50,
}
GGUF = [
    ("token_embd.weight", (64, 100), 1),
    ("blk.0.ffn_up_exps.weight", (64, 32, 4), 39),
    ("blk.0.attn_norm.weight", (64,), 0),
    ("blk.0.attn_q.weight", (64, 64), 8),
]


def test_tensors_of_a_safetensors_header_are_told_apart() -> None:
    found = catalog.inventory([_safetensors(SAFETENSORS)])
    assert found.total_bytes == 2360
    assert (found.embedding_bytes, found.expert_bytes, found.replicated_bytes, found.tower_bytes) == (1600, 400, 10, 50)


def test_several_files_are_summed_and_agree_with_their_index() -> None:
    index = json.dumps({"metadata": {"total_size": 4720}, "weight_map": {}}).encode()
    one = _safetensors(SAFETENSORS)
    assert catalog.inventory([one, one]).total_bytes == catalog.inventory([index, one, one]).total_bytes == 4720
    with pytest.raises(InvalidInput, match="index says 4720"):
        catalog.inventory([index, one])


def test_an_index_alone_gives_the_total() -> None:
    index = json.dumps({"metadata": {"total_size": 16_060_522_496}, "weight_map": {}}).encode()
    assert catalog.inventory([index]).total_bytes == 16_060_522_496


def test_quantized_blocks_of_a_gguf_header_are_priced() -> None:
    found = catalog.inventory([_gguf(GGUF)])
    assert found.embedding_bytes == 64 * 100 * 2
    assert found.expert_bytes == 64 * 32 * 4 // 32 * 17
    assert found.replicated_bytes == 64 * 4
    assert found.total_bytes == 64 * 100 * 2 + 64 * 32 * 4 // 32 * 17 + 64 * 4 + 64 * 64 // 32 * 34


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "lacks|holds no tensors"),
        (b"{}", "total_size"),
        (b"{", "whole JSON"),
        (json.dumps({"metadata": {"total_size": -5}}).encode(), "total_size"),
        (json.dumps({"metadata": {"total_size": True}}).encode(), "total_size"),
        (struct.pack("<Q", 1 << 60) + b"{}", "lacks"),
        (struct.pack("<Q", 2) + b"[]", "not an object"),
        (_gguf(GGUF, version=9), "version 9"),
        (_gguf([("x", (33,), 8)]), "blocks of 32"),
        (_gguf([("x", (32,), 99)]), "unknown type 99"),
        (_gguf([("x", (1,) * 9, 0)]), "9 dimensions"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 40, 0), "counts"),
    ],
)
def test_a_broken_header_says_what_is_broken(data: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        catalog.inventory([data])


def test_no_header_is_refused() -> None:
    with pytest.raises(InvalidInput, match="checkpoint_headers"):
        catalog.inventory([])


@pytest.mark.parametrize("whole", [_safetensors(SAFETENSORS), _gguf(GGUF)])
def test_every_cut_of_a_header_is_refused(whole: bytes) -> None:
    for end in range(0, len(whole), 7):
        with pytest.raises(InvalidInput):
            catalog.inventory([whole[:end]])


def _outcome(data: bytes) -> str:
    try:
        return str(catalog.inventory([data]).total_bytes)
    except InvalidInput as error:
        return error.violations[0].path


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused_by_name(data: bytes) -> None:
    for start in (b"", b"GGUF" + struct.pack("<IQQ", 3, 2, 2), struct.pack("<Q", len(data))):
        found = _outcome(start + data)
        assert found.isdigit() or found.startswith("checkpoint_headers")
