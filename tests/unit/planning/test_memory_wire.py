"""What a memory question says on the wire reaches the ledger, and what the ledger says reaches the reply."""

from __future__ import annotations

import json

import pytest

from tonnage.errors import InvalidInput
from tonnage.planning.codec.memory import decode_axes, decode_question, encode_fit, encode_map
from tonnage.planning.usecase.fit import fit, memory_map
from tonnage.v1 import memory_pb2

GIB = 1 << 30


def _question(**changes: object) -> memory_pb2.MemoryQuestion:
    stated: dict[str, object] = {
        "model": "meta-llama/Llama-3.1-8B-Instruct",
        "engine": "vllm",
        "engine_version": "0.19.0",
        "accelerator": "h100-sxm-80gb",
        "max_model_len": 8192,
    }
    return memory_pb2.MemoryQuestion(**{**stated, **changes})  # type: ignore[arg-type]


def _answer(**changes: object) -> memory_pb2.MemoryFit:
    return encode_fit(fit(decode_question(_question(**changes))))


def test_memory_of_other_processes_leaves_the_pool() -> None:
    lost = _answer().kv_pool_bytes - _answer(foreign_bytes=2 * GIB).kv_pool_bytes
    assert lost == pytest.approx(2 * GIB, rel=1e-3)


def test_an_index_gives_the_bytes_of_the_whole_model() -> None:
    index = json.dumps({"metadata": {"total_size": 16_060_522_496}, "weight_map": {}}).encode()
    assert _answer(checkpoint_headers=[index]).model_weights_bytes == 16_060_522_496


def test_a_header_that_is_cut_off_is_refused_by_its_entry() -> None:
    with pytest.raises(InvalidInput, match=r"checkpoint_headers\[0\]"):
        _answer(checkpoint_headers=[(99).to_bytes(8, "little") + b"{"])


def test_a_draft_widens_what_a_hybrid_keeps_a_request() -> None:
    hybrid = {"model": "Qwen/Qwen3.6-27B", "request_tokens": 4096}
    alone, drafted = _answer(**hybrid), _answer(**hybrid, draft_token_count=3)
    assert drafted.kv_fixed_bytes_per_request > alone.kv_fixed_bytes_per_request


def test_adapters_drafts_and_towers_change_the_weights() -> None:
    plain = _answer().terms[0].bytes
    assert _answer(lora_slot_count=2, lora_rank=16).terms[0].bytes > plain
    assert _answer(draft_weights_bytes=GIB).terms[0].bytes == pytest.approx(plain + GIB, abs=2)
    seeing = _answer(model="Qwen/Qwen3.6-27B").terms[0].bytes
    assert _answer(model="Qwen/Qwen3.6-27B", language_only=True).terms[0].bytes < seeing


def test_printed_tokens_are_the_engines_count_and_absent_rows_stay_absent() -> None:
    flat, mixed = _answer(), _answer(model="openai/gpt-oss-20b")
    assert flat.printed_tokens == flat.kv_pool_tokens
    assert mixed.printed_tokens > 0
    assert not mixed.HasField("kv_pool_tokens")


def test_a_map_says_for_each_length_how_many_fit() -> None:
    asked = decode_question(_question())
    lengths, counts = decode_axes(memory_pb2.MemoryMapAxes(request_tokens=[1024, 8192], concurrencies=[1, 50, 5000]))
    found = encode_map(memory_map(asked, lengths, counts))
    assert list(found.concurrencies) == [1, 50, 5000]
    assert [column.request_tokens for column in found.columns] == [1024, 8192]
    assert [list(column.verdicts) for column in found.columns] == [[1, 1, 3], [1, 2, 3]]
    assert found.columns[1].largest_reserved_count == _answer(request_tokens=8192).requests_reserved


@pytest.mark.parametrize(
    ("axes", "path"),
    [
        ({"request_tokens": [1]}, r"map\.concurrencies"),
        ({"request_tokens": [0], "concurrencies": [1]}, r"map\.request_tokens\[0\]"),
        ({"request_tokens": [1], "concurrencies": [1, -2]}, r"map\.concurrencies\[1\]"),
    ],
)
def test_a_map_without_sense_names_its_axis(axes: dict[str, list[int]], path: str) -> None:
    asked = decode_question(_question())
    with pytest.raises(InvalidInput, match=path):
        memory_map(asked, *decode_axes(memory_pb2.MemoryMapAxes(**axes)))


def test_a_length_nobody_means_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"request_tokens\[0\]"):
        decode_axes(memory_pb2.MemoryMapAxes(request_tokens=[1 << 62], concurrencies=[1]))
