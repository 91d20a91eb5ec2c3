"""What a model keeps per token and per request: groups of layers that keep the same.

Per token and layer on one rank: heads 2 x max(1, K/tp) x D x b; latent rows (rank + rope) x b,
the same on every rank; a packed 8-bit latent row adds four fp32 scales and keeps the rotary
part at 16 bits; an indexer adds 128 8-bit values and one fp32 scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tonnage.capacity.memory.parameters import full_layer_count, sliding_head_dim, sliding_kv_heads
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from tonnage.capacity.memory.dtypes import CacheFormat
    from tonnage.domain.memory import ModelShape

_PACKED_SCALES_BYTES: Final = 16
_PACKED_ROPE_BYTES: Final = 2
_INDEX_SCALE_BYTES: Final = 4
_CONV_ELEMENT_BYTES: Final = 2
_COMPRESSOR_SPANS: Final = 2
"""A compressor keeps the span being read and the one before it."""
_COMPRESSED_ROW_BYTES: Final = 584
"""448 8-bit values, their 8 scales, and 64 rotary values at 16 bits, of a 512-wide row."""


class CacheKind(StrEnum):
    """What a layer keeps."""

    FULL = "full"
    WINDOW = "window"
    STATE = "state"


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheGroup:
    """Layers that keep the same; bytes are of one layer on one rank."""

    kind: CacheKind
    layer_count: int
    token_bytes: float = 0.0
    """Bytes of one token."""
    window_tokens: int | None = None
    state_bytes: int = 0
    """Bytes of one request's state."""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """All groups of one rank."""

    groups: tuple[CacheGroup, ...]
    equation: str
    """The sum of the growing bytes, with its numbers."""

    @property
    def token_bytes(self) -> float:
        """Return the bytes that grow with every token, on one rank."""
        return sum((g.token_bytes * g.layer_count for g in self.groups if g.kind is CacheKind.FULL), 0.0)

    @property
    def flat(self) -> bool:
        """Tell whether every layer keeps every token."""
        return all(group.kind is CacheKind.FULL for group in self.groups)

    def of(self, kind: CacheKind) -> tuple[CacheGroup, ...]:
        """Return the groups of a kind."""
        return tuple(group for group in self.groups if group.kind is kind)


def _needed(shape: ModelShape, name: str) -> int:
    value = getattr(shape, name)
    if not isinstance(value, int):
        raise InvalidInput.field(f"shape.{name}", None, "is required for the cache and absent", "state it")
    return value


def _head_dim(shape: ModelShape) -> int:
    """Return the stated head size; hidden / heads only where it divides without rest."""
    if shape.head_dim is not None:
        return shape.head_dim
    hidden, heads = _needed(shape, "hidden_size"), _needed(shape, "attention_head_count")
    if hidden % heads:
        raise InvalidInput.field(
            "shape.head_dim", f"{hidden} / {heads}", "is not stated and hidden / heads is not whole", "state head_dim"
        )
    return hidden // heads


def check_split(shape: ModelShape, tensor: int) -> None:
    """Refuse a tensor-parallel size the heads cannot be dealt over; the message names the divisor."""
    heads, kv_heads = shape.attention_head_count, shape.kv_head_count
    if heads is not None and heads % tensor:
        raise InvalidInput.field(
            "parallelism.tensor", tensor, f"does not divide the {heads} attention heads", f"use a divisor of {heads}"
        )
    for count in (kv_heads, shape.sliding_kv_head_count):
        if shape.kv_lora_rank is None and count is not None and count % tensor and tensor % count:
            raise InvalidInput.field(
                "parallelism.tensor",
                tensor,
                f"neither divides the {count} key-value heads nor is a multiple of them",
                f"use a divisor or a multiple of {count}",
            )


def _row(kv_heads: int, key_dim: int, value_dim: int, tensor: int, kind: CacheFormat) -> float:
    return max(1, kv_heads // tensor) * (key_dim + value_dim) * kind.element_bytes


def _latent_row(shape: ModelShape, kind: CacheFormat) -> float:
    rank, rope = _needed(shape, "kv_lora_rank"), _needed(shape, "qk_rope_head_dim")
    if kind.packed_latent:
        return float(rank + _PACKED_SCALES_BYTES + rope * _PACKED_ROPE_BYTES)
    return (rank + rope) * kind.element_bytes


def _layers_on_rank(count: int, pipeline: int) -> int:
    return -(-count // pipeline)


def _full(shape: ModelShape, tensor: int, pipeline: int, kind: CacheFormat) -> tuple[CacheGroup, str]:
    count = _layers_on_rank(_sharing(shape, full_layer_count(shape)), pipeline)
    if shape.kv_lora_rank is not None:
        row = _latent_row(shape, kind)
        text = f"{count} layers x latent row of {float(row):g} B (the same on every rank)"
    else:
        heads, dim = _needed(shape, "kv_head_count"), _head_dim(shape)
        value = shape.value_head_dim if shape.value_head_dim is not None else dim
        row = _row(heads, dim, value, tensor, kind)
        split = f"max(1, {heads}/{tensor})" if tensor > 1 else str(heads)
        widths = f"2 x {dim}" if value == dim else f"({dim} + {value})"
        text = f"{count} layers x {split} KV heads x {widths} x {float(kind.element_bytes):g} B"
    return CacheGroup(kind=CacheKind.FULL, layer_count=count, token_bytes=row, name="full attention"), text


def _sharing(shape: ModelShape, full: int) -> int:
    """Return the full layers that own a cache: the last layers of some models read earlier ones."""
    shared, layers = shape.kv_shared_layer_count, shape.layer_count
    if not shared or not layers:
        return full
    return max(1, full - shared * full // layers)


def _window(shape: ModelShape, tensor: int, pipeline: int, kind: CacheFormat) -> CacheGroup | None:
    count = shape.sliding_layer_count
    if not count:
        return None
    heads, dim = sliding_kv_heads(shape), sliding_head_dim(shape)
    if heads is None or dim is None:
        raise InvalidInput.field("shape.sliding_head_dim", None, "is required for window layers and absent", "state it")
    value = shape.value_head_dim if shape.value_head_dim is not None else dim
    layers = shape.layer_count or count
    shared = shape.kv_shared_layer_count * count // layers if shape.kv_shared_layer_count else 0
    return CacheGroup(
        kind=CacheKind.WINDOW,
        layer_count=_layers_on_rank(count - shared, pipeline),
        token_bytes=_row(heads, dim, value, tensor, kind),
        window_tokens=_needed(shape, "sliding_window"),
        name="window attention",
    )


def _index(shape: ModelShape, pipeline: int) -> CacheGroup | None:
    if not shape.index_layer_count or shape.compression is not None:
        return None
    dim = _needed(shape, "index_head_dim")
    return CacheGroup(
        kind=CacheKind.FULL,
        layer_count=_layers_on_rank(shape.index_layer_count, pipeline),
        token_bytes=float(dim + _INDEX_SCALE_BYTES),
        name="indexer",
    )


def state_group(shape: ModelShape, tensor: int, pipeline: int, model_bytes: int, drafts: int) -> CacheGroup | None:
    """Return the recurrent layers: elements and convolution columns of one request, over the tensor-parallel size."""
    state = shape.state
    if state is None:
        return None
    element = state.ssm_element_bytes if state.ssm_element_bytes is not None else model_bytes
    columns = state.conv_kernel - 1 + drafts
    whole = state.ssm_elements * element + columns * state.conv_channels * _CONV_ELEMENT_BYTES
    return CacheGroup(
        kind=CacheKind.STATE,
        layer_count=_layers_on_rank(state.layer_count, pipeline),
        state_bytes=-(-whole // tensor),
        name="recurrent state",
    )


def _compressed(shape: ModelShape, pipeline: int) -> tuple[tuple[CacheGroup, ...], str]:
    """Compressed attention: one row every ratio tokens, a window of raw rows and the compressor's fp32 state.

    Rows are 8-bit with a 16-bit rotary part; a layer with a ratio up to the indexer's keeps
    indexer rows at the same ratio. The compressor keeps a key and a score of the row's
    width, in fp32, for two spans and for every token of the step.
    """
    compression = shape.compression
    if compression is None:
        return (), ""
    dim, window = _needed(shape, "head_dim"), _needed(shape, "sliding_window")
    index = (shape.index_head_dim if shape.index_head_dim is not None else 0) + _INDEX_SCALE_BYTES
    groups, texts = [], []
    small = min((ratio for ratio, _ in compression.ratios if ratio), default=0)
    for ratio, count in compression.ratios:
        layers = _layers_on_rank(count, pipeline)
        if ratio:
            row = (_COMPRESSED_ROW_BYTES + (index if ratio == small else 0)) / ratio
            compressor = 4 * _COMPRESSOR_SPANS * 2 * (dim + (shape.index_head_dim or 0 if ratio == small else 0))
            groups.append(CacheGroup(kind=CacheKind.FULL, layer_count=layers, token_bytes=row, name=f"rows 1:{ratio}"))
            groups.append(
                CacheGroup(
                    kind=CacheKind.WINDOW,
                    layer_count=layers,
                    token_bytes=float(compressor),
                    window_tokens=ratio * _COMPRESSOR_SPANS,
                    name=f"compressor 1:{ratio}",
                )
            )
            texts.append(f"{layers} layers x {float(row):.4g} B (1:{ratio})")
        groups.append(
            CacheGroup(
                kind=CacheKind.WINDOW,
                layer_count=layers,
                token_bytes=float(_COMPRESSED_ROW_BYTES),
                window_tokens=window,
                name="window rows",
            )
        )
    return tuple(groups), " + ".join(texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """What the layout depends on beside the shape."""

    tensor: int
    pipeline: int
    model_element_bytes: int = 2
    draft_tokens: int = 0


def layout(shape: ModelShape, kind: CacheFormat, split: Split) -> Layout:
    """Return what one rank keeps; raises ``InvalidInput`` naming a size that is missing or does not divide."""
    check_split(shape, split.tensor)
    if shape.compression is not None:
        groups, text = _compressed(shape, split.pipeline)
        return Layout(groups=groups, equation=text)
    found: list[CacheGroup] = []
    text = "no layer keeps every token"
    if full_layer_count(shape) > 0:
        group, text = _full(shape, split.tensor, split.pipeline, kind)
        found.append(group)
    window = _window(shape, split.tensor, split.pipeline, kind)
    index = _index(shape, split.pipeline)
    if index is not None:
        text += f" + {index.layer_count} indexer layers x {float(index.token_bytes):g} B"
    state = state_group(shape, split.tensor, split.pipeline, split.model_element_bytes, split.draft_tokens)
    found += [group for group in (index, window, state) if group is not None]
    return Layout(groups=tuple(found), equation=text)
