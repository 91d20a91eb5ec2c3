"""A row of somebody's start-up logs as a question to the memory model, or the reason why it is none.

Required inputs. Weights: a model whose shape is known, the parallel sizes, a precision.
Pool and verdict: those, the memory of the card (stated, or logged for that card), and the
share of it the engine may use: a log that keeps silent about the share seldom has the default.
Tokens and concurrency: a predicted pool, else the logged one. What else a log leaves out
takes the engine's default for the card, as a user's start would.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from tonnage.domain.hardware import Accelerator
from tonnage.domain.memory import DeclaredMemory, MemoryQuestion
from tonnage.errors import InvalidInput
from tonnage.units import gib_to_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tonnage.domain.memory import ModelShape


class Facts(Protocol):
    """What the rows' names mean."""

    def shape(self, name: str) -> ModelShape | None:
        """Return the model of a name, or None when nobody knows it."""

    def device(self, name: str) -> Accelerator | None:
        """Return the card of a name; where a name means several, the one with the least memory; None for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One log."""

    id: str
    family: str
    cells: Mapping[str, str]

    def number(self, column: str) -> float | None:
        """Return a number, None where the cell is empty or the column is not there."""
        text = self.cells.get(column, "").strip()
        if not text:
            return None
        try:
            value = float(text)
        except ValueError as error:
            raise InvalidInput.field(f"{self.id}.{column}", text, "is not a number", "write a number") from error
        if value != value or value in {float("inf"), float("-inf")}:  # noqa: PLR0124 -- NaN is unequal to itself
            raise InvalidInput.field(f"{self.id}.{column}", text, "is not a finite number", "write a number")
        return value

    def whole(self, column: str) -> int | None:
        """Return a whole number above 0."""
        value = self.number(column)
        if value is None:
            return None
        if value != int(value) or value < 1:
            raise InvalidInput.field(f"{self.id}.{column}", value, "is not a whole number above 0", "write one")
        return int(value)

    def text(self, column: str) -> str:
        """Return the cell's text."""
        return self.cells.get(column, "").strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A row as a question; where an input of the pool is lacking only weights and layout are checked."""

    row: Row
    question: MemoryQuestion
    lacks: str
    """Input the pool needs and the log does not state; empty when it has all."""
    precision_known: bool


NOT_STATED: Final = "none"
"""Id of the card that stands in where a log names none."""
_UNIFIED: Final = ("gb10", "jetson")
_COUNT: Final = re.compile(r"^\d+\s*[x×]\s*", re.IGNORECASE)
_STAND_IN_BYTES: Final = 96 << 30
_ASIDE: Final = re.compile(r"\s*\(.*\)\s*$")
_UNKNOWN_PRECISION: Final = "?"
_NEVER_REFUSE: Final = frozenset({"sglang", "tensorrt-llm"})
"""Engines that start with whatever pool is left and cut the context to it."""
_PRECISION_WORDS: Final = (
    # First match wins; words of the quantization column, then of the model's name.
    (re.compile(r"fp8 \+ mxfp4|deepseek_v4"), "fp8-mxfp4"),
    (re.compile(r"mxfp4"), "mxfp4"),
    (re.compile(r"nvfp4|modelopt_fp4"), "nvfp4"),
    (re.compile(r"gguf"), _UNKNOWN_PRECISION),
    (re.compile(r"fp8|float8"), "fp8"),
    (re.compile(r"w8a8|int8|w8a16|8-?bit"), "int8"),
    (re.compile(r"awq|gptq|w4a16|int4|4-?bit|auto_?round|wna16"), "int4"),
    (re.compile(r"quantized"), _UNKNOWN_PRECISION),
    (re.compile(r"bf16|bfloat16"), "bf16"),
)
_DTYPES: Final = {
    "bf16": "bf16",
    "fp16": "fp16",
    "fp32": "fp32",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
}


def _worded(text: str) -> str | None:
    lowered = text.lower()
    for pattern, name in _PRECISION_WORDS:
        if pattern.search(lowered):
            return name
    return None


def precision(row: Row, shape: ModelShape) -> str | None:
    """Return the weights' type; "?" where a log says quantized and not how, None for the checkpoint's own."""
    quantization = row.text("quantization")
    named = _worded(row.text("model").rsplit("/", 1)[-1])
    found = _worded(quantization) if quantization else named
    if quantization and found is None:
        found = named if named is not None else _UNKNOWN_PRECISION
    if found == "fp8" and shape.checkpoint_precision == "fp8-mxfp4":
        return "fp8-mxfp4"
    if found is None:
        return _DTYPES.get(row.text("weight_dtype").lower()) or None
    return found


def _parallel(row: Row, *, experts: bool) -> tuple[int, int] | str:
    """Return tensor and pipeline sizes, or why they are not known."""
    count, tensor, pipeline = row.whole("gpu_count"), row.whole("tp"), row.whole("pp")
    if tensor is None and count == 1:
        tensor = 1
    if tensor is None:
        return "the tensor-parallel size is not stated"
    if count is None and row.text("engine") == "sglang" and experts:
        return "the number of accelerators the experts are spread over is not stated"
    if pipeline is None:
        pipeline = 1
    return tensor, pipeline


def _device(row: Row, facts: Facts) -> tuple[Accelerator, bool]:
    name = _COUNT.sub("", _ASIDE.sub("", row.text("gpu")))
    total = row.number("total_gpu_memory_gib")
    found = facts.device(name) if name else None
    if total is not None:
        size = gib_to_bytes(total)
        known = found if found is not None else Accelerator(id="logged", name=name or "not named", vendor="")
        return (
            Accelerator(
                id=known.id,
                name=known.name,
                vendor=known.vendor,
                architecture=known.architecture,
                usable_low_bytes=size,
                usable_high_bytes=size,
            ),
            True,
        )
    if found is not None and (found.usable_low_bytes is not None or found.usable_high_bytes is not None):
        return found, True
    # Stands in where only weights and layout are checked; no answer about the card is read from it.
    return Accelerator(
        id=NOT_STATED if found is None else found.id,
        name=name,
        vendor="",
        architecture=None if found is None else found.architecture,
        usable_low_bytes=_STAND_IN_BYTES,
        usable_high_bytes=_STAND_IN_BYTES,
    ), False


def asked(row: Row, facts: Facts) -> Asked | str:
    """Return the row as a question, or the input it lacks."""
    name = _ASIDE.sub("", row.text("model_for_check"))
    if not name:
        return "the model is not named"
    shape = facts.shape(name)
    if shape is None:
        return f"no shape is known for {name}"
    sizes = _parallel(row, experts=bool(shape.expert_count))
    if isinstance(sizes, str):
        return sizes
    device, known = _device(row, facts)
    kind = precision(row, shape)
    fraction = row.number("mem_fraction_static")
    question = MemoryQuestion(
        shape=shape,
        device=device,
        engine="llama.cpp" if row.text("engine") == "ik_llama.cpp" else row.text("engine"),
        engine_version=row.text("engine_version") or None,
        tensor_parallel=sizes[0],
        pipeline_parallel=sizes[1],
        data_parallel=(row.whole("dp") or 1) if row.text("engine") == "sglang" else 1,
        weight_precision=None if kind == _UNKNOWN_PRECISION else kind,
        kv_cache_type=row.text("kv_cache_dtype") or None,
        memory_utilization_ratio=row.number("gpu_memory_utilization") if fraction is None else fraction,
        max_model_len=row.whole("max_model_len"),
        max_num_seqs=row.whole("max_num_seqs"),
        max_num_batched_tokens=row.whole("max_num_batched_tokens"),
        request_tokens=1 if row.text("engine") in _NEVER_REFUSE else None,
        declared=DeclaredMemory(),
    )
    built = row.text("engine") == "tensorrt-llm" and kind is None
    if built:
        return "the type the engine was built for is not stated"
    precise = kind != _UNKNOWN_PRECISION
    return Asked(
        row=row,
        question=question,
        lacks=_lacks(row, known=known, precise=precise, unified=device.id.startswith(_UNIFIED)),
        precision_known=precise,
    )


def _lacks(row: Row, *, known: bool, precise: bool, unified: bool) -> str:
    """Return the input the pool needs and the log lacks; a fraction of free memory and a rest have fixed defaults."""
    if not known:
        return "the card or its memory"
    if unified:
        return "what the host leaves free of its unified memory"
    if not precise:
        return "the weights' type"
    if row.text("engine") == "vllm" and row.number("gpu_memory_utilization") is None:
        return "gpu_memory_utilization"
    if row.text("engine") == "sglang" and row.number("mem_fraction_static") is None:
        return "mem_fraction_static"
    return ""
