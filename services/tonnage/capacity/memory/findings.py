"""What a reader of a memory answer should know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage.capacity.memory.overheads import gib
from tonnage.capacity.memory.towers import encoder_bytes
from tonnage.domain.finding import Finding, Severity
from tonnage.domain.memory import FitVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.capacity.memory.core import Core

_LONG_AGAINST_WISH = 4
_UNIFIED = ("gb10", "jetson")


def _by_memory_only(core: Core) -> Iterator[Finding]:
    if core.verdict is not FitVerdict.DOES_NOT_FIT:
        yield Finding(
            code="FIT_IS_BY_MEMORY_ONLY",
            severity=Severity.INFO,
            message="this says what fits, not how fast it is; throughput and latency need a measured run",
            remedy="measure this configuration at the lengths that are wanted",
        )


def _late(core: Core) -> Iterator[Finding]:
    if core.late_risk is not None:
        yield Finding(
            code="LATE_FAILURE_RISK",
            severity=Severity.WARNING,
            message=f"the pool can be sized and the start still fail: {core.late_risk}",
            path="memory_utilization_ratio",
            remedy="lower the utilization or max_num_seqs, or start without graphs",
        )


def _activation(core: Core) -> Iterator[Finding]:
    if not core.ledger.activation.known:
        yield Finding(
            code="ACTIVATION_NOT_KNOWN",
            severity=Severity.WARNING,
            message="the shape has no hidden size, widths or vocabulary, so activations are not in the sum",
            path="shape.hidden_size",
            remedy="state the sizes, or declare activation_bytes",
        )


def _towers(core: Core) -> Iterator[Finding]:
    size = encoder_bytes(core.setup) if core.setup.engine == "vllm" else 0
    if size:
        yield Finding(
            code="ENCODER_NOT_IN_SUM",
            severity=Severity.WARNING,
            message=(
                f"the model takes images or audio; its encoder may need up to {gib(size)} in a step, which is in the"
                " range of the activation and not in its figure"
            ),
            path="language_only",
            remedy="say language_only where such inputs are off, limit their size, or declare activation_bytes",
        )


def _prefill(core: Core) -> Iterator[Finding]:
    if not core.setup.chunked:
        yield Finding(
            code="PREFILL_NOT_CHUNKED",
            severity=Severity.WARNING,
            message="whole prompts are prefilled at once, so activations grow with max_model_len and the pool shrinks",
            path="chunked_prefill",
            remedy="turn chunked prefill on, or lower max_model_len",
        )


def _weights(core: Core) -> Iterator[Finding]:
    if core.setup.weights.name == "nvfp4" and core.setup.question.inventory is None and core.ledger.rank is not None:
        yield Finding(
            code="QUANTIZED_LAYERS_NOT_KNOWN",
            severity=Severity.WARNING,
            message="NVFP4 builds keep very different parts at 16 bits; weights may be up to 60 % above this figure",
            path="weight_precision",
            remedy="give the checkpoint's safetensors index, or declare the weights",
        )
    declared = core.setup.question.declared
    if core.ledger.rank is not None and not core.ledger.rank.counted and declared.bytes_per_parameter is None:
        yield Finding(
            code="WEIGHTS_FROM_TOTAL",
            severity=Severity.INFO,
            message="weights are the stated total times the bytes of its type; no part was counted",
            path="shape.total_parameter_count",
        )


def _heads(core: Core) -> Iterator[Finding]:
    heads, tensor = core.setup.shape.kv_head_count, core.setup.question.tensor_parallel
    if core.setup.shape.kv_lora_rank is not None and tensor > 1:
        yield Finding(
            code="LATENT_CACHE_COPIED",
            severity=Severity.INFO,
            message="the latent cache row is the same on every rank; tensor parallelism does not divide it",
            path="parallelism.tensor",
        )
    elif heads is not None and tensor > heads:
        yield Finding(
            code="KV_HEADS_COPIED",
            severity=Severity.WARNING,
            message=f"{heads} key-value heads over {tensor} accelerators: each head is held {tensor // heads} times",
            path="parallelism.tensor",
            remedy=f"tensor parallelism of {heads} with more replicas holds more requests",
        )


def _state(core: Core) -> Iterator[Finding]:
    kind = core.setup.shape.attention_kind or ""
    if core.setup.shape.state is None and ("hybrid" in kind or "mamba" in kind or kind.startswith("kda")):
        yield Finding(
            code="STATE_SIZE_NOT_KNOWN",
            severity=Severity.WARNING,
            message="recurrent layers keep a state per request whose size is not known; it is not in the sum",
            path="shape.state",
            remedy="give the model's config.json",
        )


def _device(core: Core) -> Iterator[Finding]:
    device = core.setup.question.device
    if device.usable_low_bytes is None and device.usable_high_bytes is None:
        yield Finding(
            code="DEVICE_MEMORY_ASSUMED",
            severity=Severity.WARNING,
            message=f"nobody logged what {device.name} shows; {gib(core.ledger.total_bytes)} was taken",
            path="accelerator",
            remedy="declare the memory the driver reports",
        )
    if device.id.startswith(_UNIFIED):
        yield Finding(
            code="UNIFIED_MEMORY",
            severity=Severity.WARNING,
            message="the host uses the same memory; what is free changes between runs",
            path="accelerator",
            remedy="leave 8 to 16 GiB to the host",
        )


def _foreign(core: Core) -> Iterator[Finding]:
    foreign, total = core.ledger.foreign_bytes, core.ledger.total_bytes
    if foreign and core.setup.engine == "vllm":
        share = core.setup.utilization + foreign / total
        wanted = f"give this engine {share:.2f} to leave it what it has alone"
        yield Finding(
            code="SHARE_COUNTS_OTHER_PROCESSES",
            severity=Severity.WARNING,
            message=f"the share is a ceiling over all that uses the card, and others hold {gib(foreign)}",
            path="memory_utilization_ratio",
            remedy=wanted if share <= 1 else "the card is too small for both",
        )


def _length(core: Core) -> Iterator[Finding]:
    if core.request_tokens is None and core.layout is not None:
        yield Finding(
            code="REQUEST_LENGTH_NOT_STATED",
            severity=Severity.WARNING,
            message="neither a request's length nor the model's longest is known, so no need is in the sum",
            path="request_tokens",
            remedy="state request_tokens or max_model_len",
        )


def _rest(core: Core) -> Iterator[Finding]:
    wish, longest = core.setup.question.request_tokens, core.setup.max_len
    if wish is not None and longest is not None and longest >= _LONG_AGAINST_WISH * wish:
        yield Finding(
            code="CONTEXT_FAR_ABOVE_REQUESTS",
            severity=Severity.INFO,
            message=f"max_model_len {longest:,} is {longest // wish} times the {wish:,} tokens that are asked for",
            path="max_model_len",
            remedy="a shorter limit guards the pool against one long request",
        )
    if core.setup.engine == "tensorrt-llm":
        yield Finding(
            code="POOL_IS_INTENT",
            severity=Severity.INFO,
            message="this engine takes a fraction of what is free, however little is needed",
            path="memory_utilization_ratio",
        )
    used = core.setup.question.tensor_parallel * core.setup.question.pipeline_parallel
    used *= core.setup.question.data_parallel
    count = core.setup.question.accelerator_count
    if count is not None and count > used:
        yield Finding(
            code="ACCELERATORS_UNUSED",
            severity=Severity.WARNING,
            message=f"the model is split over {used} of {count} accelerators; the others hold nothing of it",
            path="parallelism.tensor",
            remedy="state the tensor-parallel size",
        )


def _smaller_split(core: Core, smallest_count: int | None) -> Iterator[Finding]:
    used = core.setup.question.tensor_parallel * core.setup.question.pipeline_parallel
    if smallest_count is not None and smallest_count < used and core.verdict is not FitVerdict.FITS:
        yield Finding(
            code="SMALLER_SPLIT_FITS",
            severity=Severity.WARNING,
            message=(
                f"{smallest_count} accelerators hold it and {used} do not hold it better: the runtime term grows to"
                f" {gib(core.ledger.runtime.bytes)} with the buffers accelerators talk through"
            ),
            path="parallelism.tensor",
            remedy=f"split over {smallest_count} and run more replicas",
        )


_PARTS = (
    _by_memory_only,
    _late,
    _activation,
    _towers,
    _prefill,
    _weights,
    _heads,
    _state,
    _device,
    _foreign,
    _length,
    _rest,
)


def findings(core: Core, smallest_count: int | None = None) -> tuple[Finding, ...]:
    """Return all findings, gravest first, then by code."""
    found = [item for part in _PARTS for item in part(core)]
    found.extend(_smaller_split(core, smallest_count))
    order = (Severity.ERROR, Severity.WARNING, Severity.INFO)
    return tuple(sorted(found, key=lambda item: (order.index(item.severity), item.code)))
