"""What was under test: identity that is hashed, and conditions that are kept and compared."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass, field, fields
from typing import Final

from tonnage import checks

PLAN_FIELDS: Final = ("model", "accelerator", "accelerators_per_replica", "engine", "weight_precision")
_TEXT_FIELDS: Final = (
    "model",
    "model_revision",
    "weight_precision",
    "kv_cache_type",
    "engine",
    "engine_version",
    "accelerator",
    "speculative_decoding",
    "serving_mode",
)
_COUNT_FIELDS: Final = (
    "accelerators_per_replica",
    "tensor_parallel",
    "pipeline_parallel",
    "expert_parallel",
    "data_parallel",
    "max_model_len",
    "max_num_seqs",
    "max_num_batched_tokens",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Identity of what was tested; None means not stated, which is not any value.

    ``engine_version`` holds major and minor alone; the patch is a condition.
    """

    model: str | None = None
    model_revision: str | None = None
    weight_precision: str | None = None
    kv_cache_type: str | None = None
    engine: str | None = None
    engine_version: str | None = None
    accelerator: str | None = None
    accelerators_per_replica: int | None = None
    tensor_parallel: int | None = None
    pipeline_parallel: int | None = None
    expert_parallel: int | None = None
    data_parallel: int | None = None
    speculative_decoding: str | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    prefix_caching: bool | None = None
    chunked_prefill: bool | None = None
    serving_mode: str | None = None
    lora_adapter_count: int | None = None

    def __post_init__(self) -> None:
        """Hold counts to 1 or more and names to readable ones."""
        for key in _TEXT_FIELDS:
            checks.name(key, getattr(self, key))
        for key in _COUNT_FIELDS:
            checks.count(key, getattr(self, key))
        checks.count("lora_adapter_count", self.lora_adapter_count, least=0)

    def stated(self) -> dict[str, str | int | bool]:
        """Return the fields that are stated, by name, in order of name."""
        return {key: value for key in FIELD_NAMES if (value := getattr(self, key)) is not None}

    @property
    def fingerprint(self) -> str:
        """Return a stable hash of the stated fields, 32 hex digits."""
        return _fingerprint(self)

    def missing_for_plan(self) -> tuple[str, ...]:
        """Return the fields a plan needs that are not stated."""
        return tuple(key for key in PLAN_FIELDS if getattr(self, key) is None)

    def conflicts_with(self, asked: Configuration) -> tuple[str, ...]:
        """Return the fields ``asked`` states differently; what either leaves open is no conflict here."""
        return tuple(key for key, value in asked.stated().items() if getattr(self, key) != value)

    def left_open_by(self, asked: Configuration) -> tuple[str, ...]:
        """Return the fields stated here that ``asked`` leaves open."""
        return tuple(key for key in self.stated() if getattr(asked, key) is None)


@functools.lru_cache(maxsize=8192)
def _fingerprint(configuration: Configuration) -> str:
    canonical = json.dumps(configuration.stated(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


FIELD_NAMES: Final = tuple(sorted(item.name for item in fields(Configuration)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What was around the test: kept and compared, never hashed."""

    driver_version: str | None = None
    runtime_version: str | None = None
    engine_patch_version: str | None = None
    host: str | None = None
    image: str | None = None
    topology: str | None = None
    provider: str | None = None
    labels: tuple[tuple[str, str], ...] = field(default=())
