"""Weights one accelerator holds: what is split, what is copied, which pipeline stage is the fullest."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tonnage.capacity.memory.checkpoint import only_total, refuse_partial
from tonnage.capacity.memory.parameters import Parts, likely_total, parts, sliding_kv_heads
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from tonnage.capacity.memory.dtypes import WeightFormat
    from tonnage.domain.memory import MemoryQuestion, ModelShape, WeightInventory

_PADDED_WIDTH: Final = 128
_PADDED_HIDDEN: Final = 256
"""MXFP4 expert kernels on Hopper and Blackwell pad an expert's width and the hidden size to whole tiles."""
_FP4_WIDE_SCALES: Final = 5 / 8
_SPLIT_BY_LAYERS: Final = "llama.cpp"
"""Deals whole layers to accelerators and leaves the input embedding on the host."""
_LATENT_KINDS: Final = frozenset({"int4"})
"""4-bit builds of latent-attention models leave attention at 16 bits: the latent is absorbed into it at run time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankWeights:
    """Bytes on the accelerator of the fullest pipeline stage, and of the whole model."""

    rank_bytes: int
    model_bytes: int
    stage: str
    counted: bool
    """False when they rest on a total alone, or on bytes the caller declared."""
    parts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Split:
    tensor: int
    attention: int
    """Ranks the attention is dealt over: fewer than tensor where it runs data-parallel inside the group."""
    pipeline: int
    experts: int
    kv_heads: int | None
    window_kv_heads: int | None

    def heads(self, count: int | None) -> int:
        """Return over how many ranks key and value projections are split."""
        return min(self.attention, count) if count is not None else self.attention


def _split(question: MemoryQuestion) -> _Split:
    tensor = question.tensor_parallel
    inside = question.engine == "sglang" and 1 < question.data_parallel <= tensor
    attention = tensor // question.data_parallel if inside else tensor
    experts = tensor * question.data_parallel if question.expert_parallel > 1 else tensor
    if question.engine == _SPLIT_BY_LAYERS:
        return _Split(
            tensor=1,
            attention=1,
            pipeline=tensor * question.pipeline_parallel,
            experts=1,
            kv_heads=question.shape.kv_head_count,
            window_kv_heads=sliding_kv_heads(question.shape),
        )
    return _Split(
        tensor=tensor,
        attention=max(1, attention),
        pipeline=question.pipeline_parallel,
        experts=max(experts, question.expert_parallel),
        kv_heads=question.shape.kv_head_count,
        window_kv_heads=sliding_kv_heads(question.shape),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bytes:
    """Bytes of the whole model by how they are split."""

    embedding: float
    head: float
    experts: float
    attention: float
    split: float
    copied: float
    key_value: float
    window_key_value: float
    tower: float

    @property
    def total(self) -> float:
        layers = self.attention + self.split + self.copied + self.key_value + self.window_key_value
        return self.embedding + self.head + self.experts + layers + self.tower


def _expert_rate(question: MemoryQuestion, kind: WeightFormat) -> float:
    """Return bytes per expert parameter.

    SGLang holds the scales of 4-bit experts in DeepSeek's 8-bit checkpoints as fp32 except where the card
    computes in 4 bits itself (``layers/quantization/fp8.py`` of release 0.5.23): 4 + 32/32 bits.
    """
    wide = kind.name == "fp8-mxfp4" and question.engine == "sglang"
    if wide and not (question.device.architecture or "").startswith("Blackwell"):
        return _FP4_WIDE_SCALES
    return kind.expert_bytes


def _padding(question: MemoryQuestion, kind: WeightFormat, tensor: int) -> float:
    """Return what padding multiplies the experts' bytes by."""
    experts, hidden = question.shape.experts, question.shape.hidden_size
    if kind.name != "mxfp4" or question.device.architecture not in {"Hopper", "Blackwell"}:
        return 1.0
    if experts is None or hidden is None:
        return 1.0
    width = experts.intermediate_size / tensor
    return _tiled(width, _PADDED_WIDTH) / width * _tiled(hidden, _PADDED_HIDDEN) / hidden


def _tiled(size: float, tile: int) -> float:
    return math.ceil(size / tile) * tile


def _from_parts(question: MemoryQuestion, count: Parts, kind: WeightFormat) -> _Bytes:
    """Price each part; what a stated total holds beyond the counted parts goes to the split ones."""
    linear = count.text_count - count.ends_count - count.expert_count
    if linear < 0:
        raise InvalidInput.field(
            "shape.total_parameter_count",
            count.text_count,
            f"is below the {count.ends_count + count.expert_count} of its embedding, head and experts",
            "check the shape",
        )
    host = question.engine == _SPLIT_BY_LAYERS and count.head_count > 0
    known = count.linear_count
    scale = linear / known if known else 0.0
    rest = 0.0 if known else linear * kind.dense_bytes
    latent = question.shape.kv_lora_rank is not None and kind.name in _LATENT_KINDS
    attention = (kind.ends_bytes if latent else kind.attention_bytes) * scale
    return _Bytes(
        embedding=0.0 if host else (count.ends_count - count.head_count) * kind.ends_bytes,
        head=count.head_count * kind.ends_bytes,
        experts=count.expert_count * _expert_rate(question, kind) * _padding(question, kind, question.tensor_parallel),
        attention=count.attention_count * attention,
        split=count.dense_count * kind.dense_bytes * scale + rest,
        copied=count.copied_count * attention,
        key_value=count.key_value_count * attention,
        window_key_value=count.window_key_value_count * attention,
        tower=0.0 if question.language_only else count.tower_count * kind.ends_bytes,
    )


def _from_total(shape: ModelShape, kind: WeightFormat) -> _Bytes:
    total = likely_total(shape)
    if total is None:
        raise InvalidInput.field(
            "shape.total_parameter_count",
            None,
            "is required and absent",
            "state it, or layers and sizes, or the weights",
        )
    wide = shape.unquantized_parameter_count if shape.unquantized_parameter_count is not None else 0
    if wide > total:
        raise InvalidInput.field(
            "shape.unquantized_parameter_count", wide, f"is above the total of {total}", "give a part of the total"
        )
    zero = 0.0
    return _Bytes(
        embedding=wide * kind.ends_bytes,
        head=zero,
        experts=zero,
        attention=zero,
        split=(total - wide) * kind.dense_bytes,
        copied=zero,
        key_value=zero,
        window_key_value=zero,
        tower=zero,
    )


def _from_inventory(found: WeightInventory) -> _Bytes:
    rest = found.total_bytes - found.embedding_bytes - found.expert_bytes - found.replicated_bytes - found.tower_bytes
    if rest < 0:
        raise InvalidInput.field(
            "inventory.total_bytes", found.total_bytes, "is below the sum of its parts", "check them"
        )
    zero = 0.0
    return _Bytes(
        embedding=float(found.embedding_bytes),
        head=zero,
        experts=float(found.expert_bytes),
        attention=zero,
        split=float(rest),
        copied=float(found.replicated_bytes),
        key_value=zero,
        window_key_value=zero,
        tower=float(found.tower_bytes),
    )


def _scaled(whole: _Bytes, total: int) -> _Bytes:
    """Return the counted parts with all but ends and towers scaled to a known total."""
    fixed = whole.embedding + whole.head + whole.tower
    if total <= fixed:
        raise InvalidInput.field(
            "inventory.total_bytes",
            total,
            f"is not above the {fixed:.0f} bytes of the ends",
            "give the index of this model",
        )
    factor = (total - fixed) / (whole.total - fixed)
    return replace(
        whole,
        experts=whole.experts * factor,
        attention=whole.attention * factor,
        split=whole.split * factor,
        copied=whole.copied * factor,
        key_value=whole.key_value * factor,
        window_key_value=whole.window_key_value * factor,
    )


def _spread(whole: _Bytes, split: _Split, layers: int | None) -> tuple[float, str, tuple[tuple[str, int], ...]]:
    """Return the fullest stage's bytes: most layers, and the larger of the two ends."""
    share = -(-layers // split.pipeline) / layers if layers is not None else 1 / split.pipeline
    heads = whole.key_value / split.heads(split.kv_heads) + whole.window_key_value / split.heads(split.window_kv_heads)
    per_layer = share * (whole.attention / split.attention + whole.split / split.tensor + whole.copied + heads)
    experts = share * whole.experts / split.experts
    if split.pipeline == 1:
        ends, stage = whole.embedding + whole.head, "every rank"
    elif whole.head >= whole.embedding:
        ends, stage = whole.head, "the last pipeline stage"
    else:
        # A tied embedding stands on both the first and the last stage.
        ends, stage = whole.embedding, "the first pipeline stage"
    ends /= split.tensor
    towers = whole.tower / split.tensor
    named = (
        ("layers", round(per_layer)),
        ("experts", round(experts)),
        ("embedding and head", round(ends)),
        ("towers", round(towers)),
    )
    shown = tuple((name, size) for name, size in named if size)
    return per_layer + experts + ends + towers, stage, shown


def rank_weights(question: MemoryQuestion, kind: WeightFormat, beside: tuple[tuple[str, int], ...]) -> RankWeights:
    """Return the weights on the fullest rank; ``beside`` are named bytes every rank holds with them.

    Declared bytes per parameter multiply all parameters, experts included.
    Raises ``InvalidInput`` naming the size that is missing.
    """
    shape, declared = question.shape, question.declared
    split = _split(question)
    if declared.bytes_per_parameter is not None:
        return _declared_rate(question, declared.bytes_per_parameter, split)
    count = parts(shape)
    counted = count.ends_count > 0 and (count.linear_count > 0 or count.stated_total is not None)
    if question.inventory is not None and counted and only_total(question.inventory):
        whole = _scaled(_from_parts(question, count, kind), question.inventory.total_bytes)
    elif question.inventory is not None:
        whole = _from_inventory(question.inventory)
        whole = replace(whole, tower=0.0) if question.language_only else whole
        if counted:
            refuse_partial(question.inventory, count.text_count)
    elif shape.unquantized_parameter_count is not None or not counted:
        whole = _from_total(shape, kind)
    else:
        whole = _from_parts(question, count, kind)
    rank, stage, shown = _spread(whole, split, shape.layer_count)
    kept = tuple((name, size) for name, size in beside if size)
    return RankWeights(
        rank_bytes=round(rank) + sum(size for _, size in kept),
        model_bytes=round(whole.total),
        stage=stage,
        counted=counted or question.inventory is not None,
        parts=shown + kept,
    )


def _declared_rate(question: MemoryQuestion, rate: float, split: _Split) -> RankWeights:
    total = question.shape.total_parameter_count
    if total is None:
        raise InvalidInput.field(
            "shape.total_parameter_count", None, "is required with declared.bytes_per_parameter", "state the total"
        )
    model = rate * total
    return RankWeights(
        rank_bytes=round(model / (split.tensor * split.pipeline)),
        model_bytes=round(model),
        stage="every rank",
        counted=False,
    )
