"""Memory beside weights and cache: activations, runtime, graphs; each with the range it was seen in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage.capacity.memory.parameters import dense_width
from tonnage.capacity.memory.towers import encoder_bytes
from tonnage.capacity.memory.version import Version
from tonnage.domain.finding import Origin
from tonnage.errors import InvalidInput
from tonnage.units import GIB, gib_to_bytes

if TYPE_CHECKING:
    from tonnage.capacity.memory.constants import Constants, Fitted
    from tonnage.capacity.memory.defaults import Setup
    from tonnage.domain.memory import ModelShape

_NEW_SAMPLER: Final = Version(0, 17)
_NEW_RUNTIME: Final = Version(0, 18)
FIRST_GRAPHS_IN_BUDGET: Final = Version(0, 21)
FEW_SEQUENCES: Final = 256
_LARGE_MODEL_PARAMETERS: Final = 40 * 10**9
_ACCELERATORS_PER_HOST: Final = 8
_NO_LINK: Final = frozenset(
    {"rtx", "geforce", "l4", "l40", "l40s", "l20", "a10", "a10g", "a40", "t4", "arc", "rx", "radeon", "jetson", "gb10"}
)
_STATE_ROW_WIDTHS: Final = 4
_LLAMA_CPP_HIDDEN: Final = 20
"""fp32 values of the hidden size a token of the micro-batch needs beside its logits (two models, four logs)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Bytes on one accelerator with their range; ``known`` is False when the shape does not say enough."""

    bytes: int
    low_bytes: int
    high_bytes: int
    origin: Origin
    note: str
    known: bool = True


def exactly(size: int, note: str, origin: Origin = Origin.DECLARED) -> Amount:
    """Return an amount without a range."""
    return Amount(bytes=size, low_bytes=size, high_bytes=size, origin=origin, note=note)


def _fitted(found: Fitted, note: str) -> Amount:
    return Amount(
        bytes=gib_to_bytes(found.value),
        low_bytes=gib_to_bytes(found.low),
        high_bytes=gib_to_bytes(found.high),
        origin=Origin.FITTED if found.log_count else Origin.ASSUMED,
        note=f"{note} ({found.log_count} logs)" if found.log_count else note,
    )


def forward_bytes(setup: Setup) -> int | None:
    """Return the forward phase of one step in the layer that needs most; None where the shape has no sizes for it."""
    found = [size for size in (_feed_forward_bytes(setup), _state_step_bytes(setup)) if size is not None]
    return max(found, default=None)


def _state_step_bytes(setup: Setup) -> int | None:
    """Return what a recurrent layer holds in a prefill step, over tp.

    Projected, convolved, scanned and gated rows are about four times the convolution's channels;
    the scan keeps a state in fp32 at the end of every chunk, and the one it starts from.
    """
    state = setup.shape.state
    if state is None:
        return None
    rows = _STATE_ROW_WIDTHS * setup.step_tokens * state.conv_channels * setup.model_element_bytes
    chunks = -(-setup.step_tokens // state.chunk_tokens) if state.chunk_tokens is not None else 1
    return (rows + 2 * chunks * state.ssm_elements * 4) // setup.question.tensor_parallel


def _feed_forward_bytes(setup: Setup) -> int | None:
    """Return step tokens x (3 I + h + 2 q) x element bytes, I and q over tp.

    q is heads x head size. Three start-ups without chunked prefill agree within 2 %.
    """
    shape = setup.shape
    hidden, heads = shape.hidden_size, shape.attention_head_count
    inner = _active_width(shape)
    if hidden is None or inner is None or heads is None:
        return None
    query = heads * shape.head_dim if shape.head_dim is not None else hidden
    width = (3 * inner + 2 * query) / setup.question.tensor_parallel + hidden
    return round(setup.step_tokens * width * setup.model_element_bytes)


def _active_width(shape: ModelShape) -> int | None:
    """Return the feed-forward width one token passes through."""
    if shape.experts is None:
        return dense_width(shape)
    experts = shape.experts
    per_token = experts.per_token_count if experts.per_token_count is not None else 1
    shared = experts.shared_intermediate_size
    if shared is None:
        shared = (experts.shared_count or 0) * experts.intermediate_size
    return per_token * experts.intermediate_size + shared


def _sampler_bytes(setup: Setup, constants: Constants) -> tuple[int, Fitted] | None:
    """Return the sampler's warm-up: every rank holds the logits of all sequences, whatever tp is.

    Two of the bytes per entry are the logits in the model's type, so fp32 models need two more.
    """
    shape = setup.shape
    if shape.vocabulary_size is None or shape.hidden_size is None or setup.version is None:
        return None
    rate = constants.sampler_bytes_new if setup.version >= _NEW_SAMPLER else constants.sampler_bytes_old
    per_entry = rate.value + (setup.model_element_bytes - 2)
    sequences = min(setup.sequences, setup.step_tokens)
    hidden = constants.hidden_factor * setup.step_tokens * shape.hidden_size * setup.model_element_bytes
    return round(per_entry * sequences * shape.vocabulary_size + hidden), rate


def _vllm_activation(setup: Setup, constants: Constants) -> Amount:
    sampler, forward = _sampler_bytes(setup, constants), forward_bytes(setup)
    if sampler is None and forward is None:
        return Amount(
            bytes=0, low_bytes=0, high_bytes=0, origin=Origin.ASSUMED, note="the shape has no sizes for it", known=False
        )
    sampler_bytes = sampler[0] if sampler is not None else 0
    forward_size = forward if forward is not None else 0
    spread = forward_size if setup.shape.experts is not None or setup.weights.quantized else 0
    spread += max(0, encoder_bytes(setup) - max(sampler_bytes, forward_size))
    if sampler is not None and sampler_bytes >= forward_size:
        rate = sampler[1]
        return Amount(
            bytes=sampler_bytes,
            low_bytes=round(sampler_bytes * rate.low / rate.value),
            high_bytes=round(sampler_bytes * rate.high / rate.value) + spread,
            origin=Origin.FITTED,
            note=f"sampler warm-up of {min(setup.sequences, setup.step_tokens):,} sequences; not divided by tp",
        )
    return Amount(
        bytes=forward_size,
        low_bytes=round(forward_size * 0.9),
        high_bytes=round(forward_size * 1.2) + spread,
        origin=Origin.FITTED,
        note=f"forward pass of {setup.step_tokens:,} tokens in one step",
    )


def _plain_activation(setup: Setup) -> Amount:
    """Return forward pass and fp32 logits of one step's sequences."""
    forward, vocabulary = forward_bytes(setup), setup.shape.vocabulary_size
    if forward is None and vocabulary is None:
        return Amount(
            bytes=0, low_bytes=0, high_bytes=0, origin=Origin.ASSUMED, note="the shape has no sizes for it", known=False
        )
    logits = 4 * setup.sequences * vocabulary if vocabulary is not None else 0
    size = (forward if forward is not None else 0) + logits
    return Amount(
        bytes=size,
        low_bytes=size // 2,
        high_bytes=size * 2,
        origin=Origin.ASSUMED,
        note=f"forward pass of {setup.step_tokens:,} tokens and logits of {setup.sequences:,} sequences",
    )


def _llama_cpp_activation(setup: Setup) -> Amount:
    """Return the compute buffer: micro-batch x (fp32 logits + hidden rows), whole on every device."""
    vocabulary, hidden = setup.shape.vocabulary_size, setup.shape.hidden_size
    if vocabulary is None or hidden is None:
        return Amount(
            bytes=0, low_bytes=0, high_bytes=0, origin=Origin.ASSUMED, note="the shape has no sizes for it", known=False
        )
    size = 4 * setup.step_tokens * (vocabulary + _LLAMA_CPP_HIDDEN // 4 * hidden)
    return Amount(
        bytes=size,
        low_bytes=size,
        high_bytes=size * 3,
        origin=Origin.FITTED,
        note=f"compute buffer of a micro-batch of {setup.step_tokens:,}; larger without flash attention",
    )


def activation(setup: Setup, constants: Constants) -> Amount:
    """Return the peak of a step beside weights and cache."""
    if setup.engine == "vllm":
        return _vllm_activation(setup, constants)
    if setup.engine == "llama.cpp":
        return _llama_cpp_activation(setup)
    return _plain_activation(setup)


def linked(device_id: str) -> bool:
    """Tell whether cards of this kind talk over a fast link whose buffers take memory."""
    return _NO_LINK.isdisjoint(re.split(r"[^a-z0-9]+", device_id.lower()))


def _vllm_runtime(setup: Setup, constants: Constants) -> Amount:
    question = setup.question
    new = setup.version is not None and setup.version >= _NEW_RUNTIME
    if question.tensor_parallel * question.pipeline_parallel > _ACCELERATORS_PER_HOST:
        return _fitted(constants.runtime_nodes, "collectives over several hosts")
    if question.tensor_parallel > 1 and not linked(question.device.id):
        return _fitted(constants.runtime_pair_pcie, "collectives over PCIe")
    if question.tensor_parallel > 1:
        found = constants.runtime_pair_new if new else constants.runtime_pair_old
        return _fitted(constants.runtime_pair_v0 if setup.v0 else found, "collectives")
    if question.pipeline_parallel > 1:
        return _fitted(constants.runtime_stage, "context of a pipeline stage")
    found = constants.runtime_single_new if new else constants.runtime_single_old
    return _fitted(constants.runtime_single_v0 if setup.v0 else found, "context and libraries")


def runtime(setup: Setup, constants: Constants) -> Amount:
    """Return context, collectives and workspaces that no allocator of the engine counts."""
    if setup.engine == "vllm":
        return _vllm_runtime(setup, constants)
    found, note = {
        "sglang": (constants.runtime_sglang, "context and libraries"),
        "tensorrt-llm": (constants.runtime_tensorrt, "context, workspaces and activations before the pool"),
        "llama.cpp": (constants.runtime_llama_cpp, "context of the back end"),
        "generic": (constants.runtime_generic, "no engine named: a guess"),
    }[setup.engine]
    return _fitted(found, note)


def large_graphs(setup: Setup) -> bool:
    """Tell whether captured graphs are of the large kind: experts, or 40 billion parameters and more."""
    total = setup.shape.total_parameter_count
    return setup.shape.expert_count not in {None, 0} or (total is not None and total >= _LARGE_MODEL_PARAMETERS)


def graphs(setup: Setup, constants: Constants) -> Amount:
    """Return what captured graphs take; nothing in eager mode and for engines that capture none."""
    if setup.eager:
        return exactly(0, "eager mode: no graphs", Origin.DERIVED)
    if setup.engine in {"llama.cpp", "generic", "tensorrt-llm"}:
        return exactly(0, "not counted apart for this engine", Origin.ASSUMED)
    if setup.engine == "vllm" and setup.at_least(*FIRST_GRAPHS_IN_BUDGET) and setup.sequences <= FEW_SEQUENCES:
        return _fitted(constants.graphs_few, "graphs of a short list of sizes")
    found = constants.graphs_large if large_graphs(setup) else constants.graphs_dense
    return _fitted(found, "graphs of the default list of sizes")


def position_table_bytes(setup: Setup) -> int:
    """Return the rotary table every rank holds: longest position x rotary width x element bytes (vLLM, SGLang)."""
    shape = setup.shape
    longest = shape.max_position_embeddings
    width = shape.qk_rope_head_dim if shape.qk_rope_head_dim is not None else shape.head_dim
    if setup.engine not in {"vllm", "sglang"} or longest is None or width is None:
        return 0
    if shape.attention_kind == "sliding" and shape.sliding_head_dim is not None:
        width += shape.sliding_head_dim
    return longest * width * setup.model_element_bytes


def adapter_bytes(setup: Setup) -> int:
    """Return what the adapter slots take on one accelerator: two thin matrices beside every linear one.

    Rank x (in + out) for queries, keys, values, output and a gated feed-forward block (Hu et al. 2021), at 16 bits;
    of the two widths the one a rank holds a part of is divided by tp. Raises ``InvalidInput`` for shapes whose
    linear layers are not these.
    """
    question, shape = setup.question, setup.shape
    if question.lora_slot_count is None or question.lora_rank is None:
        return 0
    sizes = (shape.layer_count, shape.hidden_size, shape.attention_head_count, shape.kv_head_count, shape.head_dim)
    layers, hidden, heads, kv_heads, dim = sizes
    inner = shape.intermediate_size
    other = shape.kv_lora_rank is not None or shape.experts is not None or shape.state is not None
    if other or layers is None or hidden is None or heads is None or kv_heads is None or dim is None or inner is None:
        raise InvalidInput.field(
            "lora_rank",
            question.lora_rank,
            "is priced for plain attention with a dense feed-forward block alone",
            "declare the adapters' bytes as declared.reserved_bytes",
        )
    split = 2 * (heads + kv_heads) * dim + 3 * inner
    width = 7 * hidden + split / question.tensor_parallel
    share = -(-layers // question.pipeline_parallel)
    return round(question.lora_slot_count * question.lora_rank * width * share * 2)


def gib(size: float) -> str:
    """Return bytes as "14.99 GiB"."""
    return f"{size / GIB:.2f} GiB"
