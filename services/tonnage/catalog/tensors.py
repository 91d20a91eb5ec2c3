"""Exact bytes of a checkpoint's tensors from what its files say first: index, safetensors header or GGUF header.

safetensors: eight bytes of length, then JSON of every tensor's type, shape and offsets. An
index lists the total only. GGUF: magic, version, counts, metadata, then name, shape and type
of every tensor (layouts checked against files that the formats' own libraries wrote).
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Final

from tonnage.catalog.gguf import GGUF_MAGIC, gguf_tensors
from tonnage.domain.memory import WeightInventory
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LARGEST_HEADER_BYTES: Final = 128 << 20
_LENGTH_BYTES: Final = 8
_EMBEDDING_WORDS: Final = ("embed_tokens", "lm_head", "wte.", "word_embeddings", "token_embd", "tok_embeddings")
_TOWER_WORDS: Final = ("visual.", "vision", "audio", "image", "mm_projector", "multi_modal", "v.blk")
_EXPERT_WORDS: Final = (".experts.", "_exps.", "block_sparse_moe.experts")
_COPIED_WORDS: Final = ("norm", "bias", ".gate.weight", "router", "ffn_gate_inp", "rotary", "rope")
_KINDS: Final = ("embedding", "expert", "replicated", "tower", "split")


def _kind(name: str) -> str:
    """Return how a tensor of this name is kept on many accelerators."""
    lowered = name.lower()
    if any(word in lowered for word in _TOWER_WORDS):
        return "tower"
    if any(word in lowered for word in _EMBEDDING_WORDS) or lowered == "output.weight":
        return "embedding"
    if any(word in lowered for word in _EXPERT_WORDS) and "shared" not in lowered:
        return "expert"
    if any(word in lowered for word in _COPIED_WORDS):
        return "replicated"
    return "split"


def _object(text: bytes, path: str) -> dict[str, object]:
    try:
        found = json.loads(text.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InvalidInput.field(path, str(error), "is not whole JSON", "give the header uncut") from error
    if not isinstance(found, dict):
        raise InvalidInput.field(path, type(found).__name__, "is not an object", "give a header or an index")
    return found


def _safetensors(data: bytes, path: str) -> Iterator[tuple[str, int]]:
    """Yield name and bytes of every tensor; the size of one is the distance of its offsets."""
    length = int.from_bytes(data[:_LENGTH_BYTES], "little")
    if length > len(data) - _LENGTH_BYTES:
        missing = length - len(data) + _LENGTH_BYTES
        raise InvalidInput.field(path, f"{len(data)} bytes", f"lacks {missing} bytes of its header", "give it uncut")
    for name, value in _object(data[_LENGTH_BYTES : _LENGTH_BYTES + length], path).items():
        if name == "__metadata__":
            continue
        yield name, _distance(value, f"{path}.{name}")


def _distance(value: object, path: str) -> int:
    offsets = value.get("data_offsets") if isinstance(value, dict) else None
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(type(item) is int for item in offsets):  # noqa: PLR2004 -- start and end
        raise InvalidInput.field(f"{path}.data_offsets", offsets, "is not a start and an end", "give the header uncut")
    start, end = offsets
    if not 0 <= start <= end:
        raise InvalidInput.field(f"{path}.data_offsets", offsets, "ends before it starts", "give the header uncut")
    return int(end - start)


def _index_total(found: dict[str, object], path: str) -> int:
    metadata = found.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    if isinstance(total, float) and math.isfinite(total) and total == int(total):
        total = int(total)
    if type(total) is not int or total < 1:
        raise InvalidInput.field(
            f"{path}.metadata.total_size", total, "is not a number of bytes", "give the whole index"
        )
    return total


def inventory(headers: Sequence[bytes]) -> WeightInventory:
    """Return the bytes of a checkpoint from its headers, or from its index alone.

    Each entry is one file's start (safetensors or GGUF), or a ``model.safetensors.index.json``;
    which it is shows in the content. Raises ``InvalidInput`` naming the entry.
    """
    if not headers:
        raise InvalidInput.field("checkpoint_headers", None, "is empty", "give an index or the headers of all files")
    sums = dict.fromkeys(_KINDS, 0)
    index_total, tensor_count = 0, 0
    for number, data in enumerate(headers):
        path = f"checkpoint_headers[{number}]"
        if len(data) > LARGEST_HEADER_BYTES:
            raise InvalidInput.field(path, f"{len(data)} bytes", "is too large", "give the header, not the whole file")
        if data[:1] == b"{":
            index_total += _index_total(_object(data, path), path)
            continue
        found = gguf_tensors(data, path) if data[:4] == GGUF_MAGIC else _safetensors(data, path)
        for name, size in found:
            sums[_kind(name)] += size
            tensor_count += 1
    if tensor_count == 0:
        if index_total == 0:
            raise InvalidInput.field("checkpoint_headers", None, "holds no tensors", "give the headers of all files")
        return WeightInventory(total_bytes=index_total, source="safetensors index")
    total = sum(sums.values())
    if index_total and index_total != total:
        problem = f"the index says {index_total} bytes and the headers {total}"
        raise InvalidInput.field("checkpoint_headers", total, problem, "give the headers of all files")
    return WeightInventory(
        total_bytes=total,
        embedding_bytes=sums["embedding"],
        expert_bytes=sums["expert"],
        replicated_bytes=sums["replicated"],
        tower_bytes=sums["tower"],
        source=f"headers of {tensor_count} tensors",
    )
