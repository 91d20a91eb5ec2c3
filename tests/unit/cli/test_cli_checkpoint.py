"""What the command line sends of a checkpoint's files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tonnage.cli.commands.vram import DeclaredFlags, MapFlags, QuestionFlags, checkpoint_head, question_of
from tonnage.client.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path


def test_of_a_safetensors_file_only_the_header_is_sent(tmp_path: Path) -> None:
    header = json.dumps({"a.weight": {"dtype": "BF16", "shape": [4], "data_offsets": [0, 8]}}).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    assert checkpoint_head(path) == len(header).to_bytes(8, "little") + header


@pytest.mark.parametrize("content", [b'{"metadata": {"total_size": 8}}', b"GGUF\x03\x00\x00\x00" + bytes(40)])
def test_an_index_and_a_gguf_head_are_sent_whole(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert checkpoint_head(path) == content


@pytest.mark.parametrize("content", [None, b"\xff" * 64])
def test_a_file_that_is_no_checkpoint_names_the_flag(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput, match="--checkpoint"):
        checkpoint_head(path)


def test_every_file_and_what_stands_beside_the_model_is_in_the_question(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors.index.json"
    path.write_bytes(b"{}")
    flags = QuestionFlags(
        checkpoint=[path, path],
        draft_tokens=2,
        draft_weights="1GiB",
        others_memory="2GiB",
        lora_slots=3,
        lora_rank=8,
        language_only=False,
    )
    found = question_of(flags, DeclaredFlags())
    assert list(found.checkpoint_headers) == [b"{}", b"{}"]
    assert (found.draft_token_count, found.draft_weights_bytes, found.foreign_bytes) == (2, 1 << 30, 2 << 30)
    assert (found.lora_slot_count, found.lora_rank) == (3, 8)
    assert found.HasField("language_only")
    assert not question_of(QuestionFlags(), DeclaredFlags()).HasField("language_only")


def test_a_map_needs_both_axes() -> None:
    assert MapFlags().message() is None
    both = MapFlags(map_lengths=[1024], map_concurrencies=[1, 8]).message()
    assert both is not None
    assert (list(both.request_tokens), list(both.concurrencies)) == ([1024], [1, 8])
    with pytest.raises(BadInput, match="--map-concurrencies"):
        MapFlags(map_lengths=[1024]).message()
    with pytest.raises(BadInput, match="--map-lengths"):
        MapFlags(map_lengths=[1 << 70], map_concurrencies=[1]).message()
