"""The memory question and its ledger; bytes are whole, per accelerator unless said otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING

from tonnage import checks
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from tonnage.domain.finding import Finding, Origin
    from tonnage.domain.hardware import Accelerator
    from tonnage.domain.model import CompressionShape, ExpertShape, StateShape, TowerShape


class MemoryTermKind(StrEnum):
    """The six terms."""

    WEIGHTS = "weights"
    RUNTIME = "runtime"
    ACTIVATION = "activation"
    KV_CACHE = "kv-cache"
    BATCH = "batch"
    RESERVED = "reserved"


class FitVerdict(StrEnum):
    """Does it fit; tight has less than a tenth to spare or a late-failure risk."""

    FITS = "fits"
    TIGHT = "tight"
    DOES_NOT_FIT = "does-not-fit"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """Shape of a model; None is not stated. Counts of parameters are whole-model.

    ``kv_head_count`` and ``head_dim`` are of the layers that keep every token; window layers
    have ``sliding_kv_head_count`` and ``sliding_head_dim`` where they differ. Layers that
    attend at all number ``full_layer_count + sliding_layer_count`` where stated, else all.
    """

    name: str
    total_parameter_count: int | None = None
    active_parameter_count: int | None = None
    layer_count: int | None = None
    hidden_size: int | None = None
    attention_head_count: int | None = None
    kv_head_count: int | None = None
    head_dim: int | None = None
    intermediate_size: int | None = None
    vocabulary_size: int | None = None
    tied_embeddings: bool | None = None
    kv_lora_rank: int | None = None
    qk_rope_head_dim: int | None = None
    sliding_layer_count: int | None = None
    sliding_window: int | None = None
    sliding_kv_head_count: int | None = None
    sliding_head_dim: int | None = None
    unquantized_parameter_count: int | None = None
    attention_kind: str | None = None
    max_position_embeddings: int | None = None
    checkpoint_precision: str | None = None
    expert_count: int | None = None
    architecture: str | None = None
    full_layer_count: int | None = None
    value_head_dim: int | None = None
    q_lora_rank: int | None = None
    qk_nope_head_dim: int | None = None
    index_layer_count: int | None = None
    index_head_count: int | None = None
    index_head_dim: int | None = None
    cross_layer_count: int | None = None
    kv_shared_layer_count: int | None = None
    experts: ExpertShape | None = None
    state: StateShape | None = None
    tower: TowerShape | None = None
    compression: CompressionShape | None = None
    source: str = ""
    extra: tuple[tuple[str, str], ...] = field(default=())

    def __post_init__(self) -> None:
        """Hold counts to 1 or more."""
        checks.required("name", self.name)
        checks.name("name", self.name)
        least_zero = {
            "sliding_layer_count",
            "unquantized_parameter_count",
            "expert_count",
            "kv_lora_rank",
            "q_lora_rank",
            "full_layer_count",
            "index_layer_count",
            "cross_layer_count",
            "kv_shared_layer_count",
        }
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, int) and not isinstance(value, bool):
                checks.count(item.name, value, least=0 if item.name in least_zero else 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredMemory:
    """Terms the caller knows better than the model does."""

    weights_bytes: int | None = None
    activation_bytes: int | None = None
    peak_with_weights_bytes: int | None = None
    runtime_bytes: int | None = None
    graph_bytes: int | None = None
    kv_pool_bytes: int | None = None
    reserved_bytes: int | None = None
    bytes_per_parameter: float | None = None

    def __post_init__(self) -> None:
        """Hold bytes to 0 or more."""
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "bytes_per_parameter":
                checks.positive(item.name, value)
            else:
                checks.count(item.name, value, least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightInventory:
    """Bytes of a checkpoint's tensors as they lie in its files."""

    total_bytes: int
    embedding_bytes: int = 0
    """Input embedding and output head."""
    expert_bytes: int = 0
    """Routed experts."""
    replicated_bytes: int = 0
    """Norms, biases, routers: every accelerator holds all of them."""
    tower_bytes: int = 0
    source: str = ""

    def __post_init__(self) -> None:
        """Hold bytes to 0 or more, the total to 1 or more."""
        checks.count("inventory.total_bytes", self.total_bytes)
        for name in ("embedding_bytes", "expert_bytes", "replicated_bytes", "tower_bytes"):
            checks.count(f"inventory.{name}", getattr(self, name), least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuestion:
    """What is asked; the shape and the device are already resolved."""

    shape: ModelShape
    device: Accelerator
    engine: str = "generic"
    engine_version: str | None = None
    accelerator_count: int | None = None
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    expert_parallel: int = 1
    data_parallel: int = 1
    weight_precision: str | None = None
    kv_cache_type: str | None = None
    memory_utilization_ratio: float | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    chunked_prefill: bool | None = None
    eager: bool | None = None
    block_tokens: int | None = None
    declared: DeclaredMemory = field(default_factory=DeclaredMemory)
    request_tokens: int | None = None
    concurrency: int | None = None
    foreign_bytes: int | None = None
    """Memory other processes hold on the accelerator."""
    draft_token_count: int | None = None
    """Tokens a draft proposes per step; None is no speculative decoding."""
    inventory: WeightInventory | None = None
    """Exact tensor bytes of the checkpoint, where its index or header was read."""
    lora_slot_count: int | None = None
    """Adapters kept on the accelerator at once; stated together with ``lora_rank``."""
    lora_rank: int | None = None
    """Largest rank of an adapter."""
    draft_weights_bytes: int | None = None
    """Weights of a draft model on one accelerator."""
    language_only: bool | None = None
    """Image and audio inputs are off, so towers are not loaded; None means on."""

    def __post_init__(self) -> None:
        """Hold counts and the utilization to their ranges."""
        checks.count("foreign_bytes", self.foreign_bytes, least=0)
        checks.count("draft_token_count", self.draft_token_count, least=0)
        checks.count("draft_weights_bytes", self.draft_weights_bytes, least=0)
        for key, other in (("lora_rank", "lora_slot_count"), ("lora_slot_count", "lora_rank")):
            checks.count(key, getattr(self, key))
            if getattr(self, key) is None and getattr(self, other) is not None:
                raise InvalidInput.field(key, None, f"is required with {other} and absent", "state both")
        for key in (
            "accelerator_count",
            "max_model_len",
            "max_num_seqs",
            "max_num_batched_tokens",
            "block_tokens",
            "request_tokens",
            "concurrency",
        ):
            checks.count(key, getattr(self, key))
        for key in ("tensor", "pipeline", "expert", "data"):
            checks.count(f"parallelism.{key}", getattr(self, f"{key}_parallel"))
        checks.share("memory_utilization_ratio", self.memory_utilization_ratio)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPart:
    """A part of a term."""

    name: str
    bytes: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTerm:
    """One term on one accelerator, with its interval where one is known."""

    kind: MemoryTermKind
    bytes: int
    origin: Origin
    low_bytes: int | None = None
    high_bytes: int | None = None
    note: str = ""
    parts: tuple[MemoryPart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """A change that would turn the verdict."""

    change: str
    value: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFit:
    """The worst accelerator's ledger and what fits in it."""

    verdict: FitVerdict
    total_bytes: int
    budget_bytes: int
    terms: tuple[MemoryTerm, ...]
    kv_pool_bytes: int
    kv_bytes_per_token: int
    kv_fixed_bytes_per_request: int
    block_tokens: int
    requests_reserved: int
    requests_steady: int
    kv_needed_bytes: int
    binding_term: MemoryTermKind
    equation: str
    prefill_mode: str
    rank: str
    model_weights_bytes: int
    kv_pool_tokens: int | None = None
    full_length_requests: float | None = None
    max_request_tokens: int | None = None
    printed_tokens: int | None = None
    """What the engine prints as cache tokens; for mixed layers that is no count of rows."""
    smallest_accelerator_count: int | None = None
    remedies: tuple[Remedy, ...] = ()
    assumed: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
