"""The VRAM form as a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage_ui.forms.values import Values, count_of, number_of, put, text_of
from tonnage_ui.messages import pb

if TYPE_CHECKING:
    from collections.abc import Iterator

ENGINES: Final = ("vllm", "sglang", "tensorrt-llm", "llama.cpp", "generic")
DECLARED: Final = (
    "weights",
    "activation",
    "peak_with_weights",
    "runtime",
    "graph",
    "kv_pool",
    "reserved",
)
SWITCHES: Final = ("not_stated", "on", "off")
COUNTS: Final = ("max_model_len", "max_num_seqs", "max_num_batched_tokens", "block_tokens", "request_tokens")
_GIB: Final = 1024**3
_FACTORS: Final = (0.25, 0.5, 1, 2, 4)


def vram_question(values: Values, config_json: bytes | None = None) -> pb.MemoryQuestion:
    """Return the question the form asks; a ``config.json`` wins over the model picked."""
    question = pb.MemoryQuestion()
    if config_json is not None:
        question.config_json = config_json
    else:
        put(question, "model", text_of(values, "model"))
    for field in ("engine", "engine_version", "accelerator", "weight_precision", "kv_cache_type"):
        put(question, field, text_of(values, field))
    for field in (*COUNTS, "accelerator_count", "concurrency"):
        put(question, field, count_of(values, field))
    put(question, "memory_utilization_ratio", number_of(values, "memory_utilization"))
    for field in ("tensor", "pipeline", "expert", "data"):
        put(question.parallelism, field, count_of(values, f"{field}_parallel"))
    for field in ("chunked_prefill", "eager"):
        if text_of(values, field) in {"on", "off"}:
            setattr(question, field, text_of(values, field) == "on")
    for name in DECLARED:
        size_gib = number_of(values, f"declared_{name}")
        if size_gib is not None:
            setattr(question.declared, f"{name}_bytes", round(size_gib * _GIB))
    put(question.declared, "bytes_per_parameter", number_of(values, "bytes_per_parameter"))
    return question


def map_axes(fit_tokens: int, concurrency: int) -> tuple[list[int], list[int]]:
    """Return request lengths and requests at once around a question: a quarter to four times."""
    lengths = sorted({max(1, round(factor * fit_tokens)) for factor in _FACTORS})
    wanted = sorted({max(1, round(factor * concurrency)) for factor in _FACTORS})
    return lengths, wanted


def map_questions(
    question: pb.MemoryQuestion, lengths: list[int], concurrencies: list[int]
) -> Iterator[pb.MemoryQuestion]:
    """Yield the question of each cell, all lengths of the first concurrency first."""
    for concurrency in concurrencies:
        for length in lengths:
            cell = pb.MemoryQuestion()
            cell.CopyFrom(question)
            cell.request_tokens = length
            cell.concurrency = concurrency
            yield cell


def key_of_field(path: str) -> str | None:
    """Return the widget key of a question's field."""
    name = path.removeprefix("question.")
    if name.startswith("parallelism."):
        return f"{name.removeprefix('parallelism.')}_parallel"
    if name.startswith("declared."):
        return f"declared_{name.removeprefix('declared.').removesuffix('_bytes')}"
    return {"memory_utilization_ratio": "memory_utilization", "config_json": "config_json"}.get(name, name)
