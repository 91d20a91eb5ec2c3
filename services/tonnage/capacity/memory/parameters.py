"""Parameters of a model by part, counted from its shape.

Attention of heads: h(HD + KD + KD_v) + HD_v h. Latent attention: the down and up projections
of queries and of the shared row. Feed-forward: 3 h I with a gate, 2 h I without.
A total that was stated wins; the parts then only say how it is spread.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from tonnage.domain.memory import ModelShape

_UNGATED: Final = frozenset(
    {
        "OPTForCausalLM",
        "GPTBigCodeForCausalLM",
        "Starcoder2ForCausalLM",
        "PhiForCausalLM",
        "FalconForCausalLM",
        "NemotronHForCausalLM",
        "GPT2LMHeadModel",
    }
)
_GATED_OUTPUT: Final = frozenset(
    {"Qwen3NextForCausalLM", "Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration"}
)
"""Attention whose output passes a gate as wide as the queries."""
_DENSE_BESIDE_EXPERTS: Final = frozenset({"Gemma4ForConditionalGeneration"})
_NAMED_TOTAL: Final = ("parameters_source", "model name")
_NAME_ROUNDING: Final = 0.15
"""A name says "31B" for 30.8 or 32.7; a count this close to it is the better figure."""
_ABOVE_ONE_DIGIT: Final = 1.03
_ABOVE_LONGER_NAMES: Final = 1.01
NAMED_LOW: Final = 0.95
NAMED_HIGH: Final = 1.23
"""Nine in ten totals lie between these parts of what a name was taken for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Parameters by how they are kept and split; whole model."""

    ends_count: int
    """Embedding and, unless tied, the output head."""
    head_count: int
    """The output head alone; 0 when tied."""
    expert_count: int
    attention_count: int
    """Attention and recurrent layers, split over the heads."""
    copied_count: int
    """Every accelerator holds all of them: down projections, indexers, routers."""
    dense_count: int
    """Dense and shared feed-forward."""
    key_value_count: int
    """Key and value projections of full layers, never split below one head."""
    window_key_value_count: int
    """The same of window layers."""
    tower_count: int
    stated_total: int | None
    """Total of the text part, where somebody stated it."""

    @property
    def text_count(self) -> int:
        """Return the parameters of the language model."""
        if self.stated_total is not None:
            return self.stated_total
        return self.ends_count + self.expert_count + self.linear_count

    @property
    def linear_count(self) -> int:
        """Return the counted parameters between the ends, experts aside."""
        return (
            self.attention_count
            + self.copied_count
            + self.dense_count
            + self.key_value_count
            + self.window_key_value_count
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attention:
    split: int = 0
    copied: int = 0
    key_value: int = 0
    window_key_value: int = 0


def full_layer_count(shape: ModelShape) -> int:
    """Return how many layers keep every token; raises ``InvalidInput`` when the layers are not stated."""
    if shape.full_layer_count is not None:
        return shape.full_layer_count
    if shape.layer_count is None:
        raise InvalidInput.field("shape.layer_count", None, "is required and absent", "state the number of layers")
    window = shape.sliding_layer_count if shape.sliding_layer_count is not None else 0
    state = shape.state.layer_count if shape.state is not None and not shape.state.parallel else 0
    return max(0, shape.layer_count - window - state)


def _heads(shape: ModelShape, kv_heads: int | None, head_dim: int | None) -> _Attention:
    hidden, heads = shape.hidden_size, shape.attention_head_count
    if hidden is None or heads is None or kv_heads is None or head_dim is None:
        return _Attention()
    value_dim = shape.value_head_dim if shape.value_head_dim is not None else head_dim
    gate = head_dim if shape.architecture in _GATED_OUTPUT else 0
    return _Attention(
        split=hidden * heads * (head_dim + value_dim + gate), key_value=hidden * kv_heads * (head_dim + value_dim)
    )


def _latent(shape: ModelShape) -> _Attention:
    hidden, heads, rank = shape.hidden_size, shape.attention_head_count, shape.kv_lora_rank
    rope, nope, value = shape.qk_rope_head_dim, shape.qk_nope_head_dim, shape.value_head_dim
    if hidden is None or heads is None or rank is None or rope is None or nope is None or value is None:
        return _Attention()
    query_in = shape.q_lora_rank if shape.q_lora_rank is not None else hidden
    copied = hidden * (rank + rope) + (hidden * query_in if shape.q_lora_rank is not None else 0)
    split = heads * (query_in * (nope + rope) + rank * (nope + value) + value * hidden)
    return _Attention(split=split, copied=copied)


def _compressed(shape: ModelShape) -> _Attention:
    """Low-rank queries, one shared key-value row of ``head_dim``, output from all heads, a compressor per layer."""
    hidden, heads, dim, rank = shape.hidden_size, shape.attention_head_count, shape.head_dim, shape.q_lora_rank
    if hidden is None or heads is None or dim is None or rank is None:
        return _Attention()
    return _Attention(split=heads * dim * (rank + hidden) + 2 * hidden * dim, copied=hidden * (rank + dim))


def _indexer(shape: ModelShape) -> int:
    heads, dim, hidden = shape.index_head_count, shape.index_head_dim, shape.hidden_size
    if heads is None or dim is None or hidden is None:
        return 0
    query_in = shape.q_lora_rank if shape.q_lora_rank is not None else hidden
    return query_in * heads * dim + hidden * (dim + heads)


def _attention(shape: ModelShape) -> _Attention:
    full = full_layer_count(shape)
    window = shape.sliding_layer_count if shape.sliding_layer_count is not None else 0
    if shape.compression is not None:
        per_full, full = _compressed(shape), shape.layer_count or 0
        window = 0
    elif shape.kv_lora_rank is not None:
        per_full = _latent(shape)
    else:
        per_full = _heads(shape, shape.kv_head_count, shape.head_dim)
    per_window = _heads(shape, sliding_kv_heads(shape), sliding_head_dim(shape))
    state = 0
    if shape.state is not None and shape.state.parameter_count is not None:
        state = shape.state.parameter_count * shape.state.layer_count
    index = _indexer(shape) * index_layer_count(shape)
    return _Attention(
        split=per_full.split * full + per_window.split * window + state,
        copied=per_full.copied * full + index,
        key_value=per_full.key_value * full,
        window_key_value=per_window.key_value * window,
    )


def index_layer_count(shape: ModelShape) -> int:
    """Return the layers with an indexer; of compressed attention, those of the smallest ratio."""
    if shape.compression is not None:
        kept = [(ratio, layers) for ratio, layers in shape.compression.ratios if ratio]
        return min(kept)[1] if kept else 0
    return shape.index_layer_count if shape.index_layer_count is not None else 0


def sliding_kv_heads(shape: ModelShape) -> int | None:
    """Return the key-value heads of window layers."""
    return shape.sliding_kv_head_count if shape.sliding_kv_head_count is not None else shape.kv_head_count


def sliding_head_dim(shape: ModelShape) -> int | None:
    """Return the head size of window layers."""
    return shape.sliding_head_dim if shape.sliding_head_dim is not None else shape.head_dim


def expert_parameter_count(shape: ModelShape) -> int:
    """Return the parameters of all routed experts; raises ``InvalidInput`` when their size is not stated."""
    if not shape.expert_count or shape.experts is None:
        return 0
    if shape.hidden_size is None or shape.layer_count is None:
        return 0
    layers = shape.experts.layer_count
    if layers is None:
        layers = shape.layer_count - shape.experts.dense_layer_count
    matrices = 2 if shape.architecture in _UNGATED else 3
    width = shape.experts.hidden_size if shape.experts.hidden_size is not None else shape.hidden_size
    return shape.expert_count * matrices * width * shape.experts.intermediate_size * layers


def _dense(shape: ModelShape) -> int:
    hidden, inner, layers = shape.hidden_size, shape.intermediate_size, shape.layer_count
    matrices = 2 if shape.architecture in _UNGATED else 3
    if hidden is None or layers is None:
        return 0
    if shape.experts is None:
        return matrices * hidden * inner * layers if inner is not None else 0
    experts = shape.experts
    expert_layers = experts.layer_count if experts.layer_count is not None else layers - experts.dense_layer_count
    shared = experts.shared_intermediate_size
    if shared is None:
        shared = (experts.shared_count or 0) * experts.intermediate_size
    dense_layers = layers if shape.architecture in _DENSE_BESIDE_EXPERTS else experts.dense_layer_count
    dense = matrices * hidden * inner * dense_layers if inner is not None else 0
    return dense + matrices * hidden * shared * expert_layers + hidden * (shape.expert_count or 0) * expert_layers


@functools.lru_cache(maxsize=256)
def parts(shape: ModelShape) -> Parts:
    """Return the parameters by part."""
    hidden, vocabulary = shape.hidden_size, shape.vocabulary_size
    one_end = hidden * vocabulary if hidden is not None and vocabulary is not None else 0
    head = 0 if shape.tied_embeddings else one_end
    attention = _attention(shape) if shape.layer_count is not None else _Attention()
    counted = Parts(
        ends_count=one_end + head,
        head_count=head,
        expert_count=expert_parameter_count(shape),
        attention_count=attention.split,
        copied_count=attention.copied,
        dense_count=_dense(shape),
        key_value_count=attention.key_value,
        window_key_value_count=attention.window_key_value,
        tower_count=shape.tower.parameter_count if shape.tower is not None else 0,
        stated_total=None,
    )
    return replace(counted, stated_total=_stated_total(shape, counted.text_count))


def _stated_total(shape: ModelShape, counted: int) -> int | None:
    total = shape.total_parameter_count
    if total is None or not named_total(shape):
        return total
    return None if abs(counted / total - 1) <= _NAME_ROUNDING else likely_total(shape)


def named_total(shape: ModelShape) -> bool:
    """Tell whether the total was only read off the model's name."""
    return _NAMED_TOTAL in shape.extra


def likely_total(shape: ModelShape) -> int | None:
    """Return the total; one that was read off a name is raised by what names leave out.

    Of the catalog's models whose total was computed, the median is 3 % above a name of one digit and 1 % above
    a longer one.
    """
    total = shape.total_parameter_count
    if total is None or not named_total(shape):
        return total
    digits = f"{total / 10**9:g}".replace(".", "").lstrip("0")
    return round(total * (_ABOVE_ONE_DIGIT if len(digits) == 1 else _ABOVE_LONGER_NAMES))


def dense_width(shape: ModelShape) -> int | None:
    """Return the stated feed-forward width, else the one that balances the total; None when neither is known."""
    if shape.intermediate_size is not None or shape.experts is not None:
        return shape.intermediate_size
    hidden, layers, total = shape.hidden_size, shape.layer_count, shape.total_parameter_count
    if hidden is None or layers is None or total is None:
        return None
    counted = parts(shape)
    rest = total - counted.ends_count - counted.linear_count
    matrices = 2 if shape.architecture in _UNGATED else 3
    return rest // (matrices * hidden * layers) if rest > 0 else None
