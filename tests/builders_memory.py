"""Builders of memory questions that ask only for what matters to a test."""

from __future__ import annotations

from tonnage.domain.hardware import Accelerator
from tonnage.domain.memory import DeclaredMemory, MemoryQuestion, ModelShape

GIB = 1 << 30


def gib(value: float) -> int:
    """Return GiB as bytes."""
    return round(value * GIB)


def a_device(total_gib: float, **changes: object) -> Accelerator:
    """Return a declared card of a size."""
    size = gib(total_gib)
    stated: dict[str, object] = {
        "id": "declared",
        "name": "declared",
        "vendor": "",
        "usable_low_bytes": size,
        "usable_high_bytes": size,
    }
    return Accelerator(**{**stated, **changes})  # type: ignore[arg-type]


def a_shape(**changes: object) -> ModelShape:
    """Return an 8B-class shape with grouped heads."""
    stated: dict[str, object] = {
        "name": "example/eight-b",
        "layer_count": 32,
        "hidden_size": 4096,
        "attention_head_count": 32,
        "kv_head_count": 8,
        "head_dim": 128,
        "intermediate_size": 14336,
        "vocabulary_size": 128256,
        "tied_embeddings": False,
        "total_parameter_count": 8_030_000_000,
        "max_position_embeddings": 131_072,
        "checkpoint_precision": "bf16",
    }
    return ModelShape(**{**stated, **changes})  # type: ignore[arg-type]


def a_cache_shape(**changes: object) -> ModelShape:
    """Return a shape that says nothing but its cache: 32 layers, 8 heads of 128."""
    stated: dict[str, object] = {"name": "example/cache", "layer_count": 32, "kv_head_count": 8, "head_dim": 128}
    return ModelShape(**{**stated, **changes})  # type: ignore[arg-type]


def a_question(**changes: object) -> MemoryQuestion:
    """Return an 8B model on an 80 GB-class card under vLLM."""
    stated: dict[str, object] = {
        "shape": a_shape(),
        "device": a_device(79.19),
        "engine": "vllm",
        "engine_version": "0.19.0",
        "memory_utilization_ratio": 0.9,
        "max_model_len": 8192,
    }
    return MemoryQuestion(**{**stated, **changes})  # type: ignore[arg-type]


def declared(**changes: float) -> DeclaredMemory:
    """Return declared terms; ``*_gib`` become bytes."""
    found: dict[str, object] = {}
    for name, value in changes.items():
        found[name.replace("_gib", "_bytes")] = gib(value) if name.endswith("_gib") else value
    return DeclaredMemory(**found)  # type: ignore[arg-type]
