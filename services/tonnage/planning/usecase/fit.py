"""Whether a model fits: names looked up, then the ledger."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tonnage import catalog
from tonnage.capacity.memory.fit import fit as ledger_of
from tonnage.capacity.memory.grid import memory_map as map_of
from tonnage.domain.hardware import Accelerator
from tonnage.domain.memory import MemoryQuestion
from tonnage.errors import AmbiguousName, InvalidInput, at
from tonnage.planning.usecase.names import ambiguous

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tonnage.capacity.memory.grid import MemoryMap
    from tonnage.domain.finding import Finding
    from tonnage.domain.memory import DeclaredMemory, MemoryFit, ModelShape


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAsked:
    """A memory question before its names are looked up; one model source and one device are set."""

    model: str | None = None
    shape: ModelShape | None = None
    config_json: bytes | None = None
    accelerator: str | None = None
    device_name: str | None = None
    device_bytes: int | None = None
    engine: str
    engine_version: str | None
    weight_precision: str | None
    kv_cache_type: str | None
    declared: DeclaredMemory
    numbers: Mapping[str, Any]
    checkpoint_headers: tuple[bytes, ...] = ()
    """Starts of the checkpoint's files, or its index; empty counts the weights from the shape."""


def fit(asked: MemoryAsked) -> MemoryFit:
    """Return whether the wish fits, what fits, and what would change the answer.

    Raises ``UnknownName`` and ``AmbiguousName`` for names of the catalog, ``InvalidInput`` with the path inside the
    question for shapes, splits and types that cannot be.
    """
    question, findings = _question(asked)
    found = ledger_of(question)
    return replace(found, findings=(*findings, *found.findings)) if findings else found


def memory_map(asked: MemoryAsked, request_tokens: Sequence[int], concurrencies: Sequence[int]) -> MemoryMap:
    """Return which lengths fit how many times at once.

    Raises what ``fit`` raises, and ``InvalidInput`` with the path inside the map for axes that are empty,
    below 1 or too long.
    """
    question, _ = _question(asked)
    with at("map"):
        return map_of(question, request_tokens, concurrencies)


def _question(asked: MemoryAsked) -> tuple[MemoryQuestion, tuple[Finding, ...]]:
    """Return the question with its names looked up, and what a reader should know about the shape."""
    shape, findings = _shape(asked)
    question = MemoryQuestion(
        shape=shape,
        device=_device(asked),
        engine=catalog.normalize_engine(asked.engine),
        engine_version=asked.engine_version,
        weight_precision=None
        if asked.weight_precision is None
        else catalog.normalize_precision(asked.weight_precision),
        kv_cache_type=None if asked.kv_cache_type is None else catalog.normalize_precision(asked.kv_cache_type),
        declared=asked.declared,
        inventory=catalog.inventory(asked.checkpoint_headers) if asked.checkpoint_headers else None,
        **asked.numbers,
    )
    return question, findings


def _shape(asked: MemoryAsked) -> tuple[ModelShape, tuple[Finding, ...]]:
    if asked.shape is not None:
        return asked.shape, ()
    if asked.config_json is not None:
        return catalog.shape_from_config(asked.config_json, "config.json")
    name = asked.model or ""
    try:
        return catalog.model(name), ()
    except AmbiguousName as error:
        raise ambiguous("model", name, error) from error


def _device(asked: MemoryAsked) -> Accelerator:
    if asked.device_name is not None:
        return Accelerator(
            id=asked.device_name,
            name=asked.device_name,
            vendor="",
            usable_low_bytes=asked.device_bytes,
            usable_high_bytes=asked.device_bytes,
            source="declared in the request",
        )
    name = asked.accelerator
    if name is None:
        raise InvalidInput.field("accelerator", None, "is required and absent", "name one, or declare its memory")
    try:
        return catalog.accelerator(name)
    except AmbiguousName as error:
        raise ambiguous("accelerator", name, error) from error
