"""Memory questions and ledgers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tonnage import checks
from tonnage.domain.memory import DeclaredMemory, ModelShape
from tonnage.errors import InvalidInput, at
from tonnage.planning.codec import enums
from tonnage.planning.codec.presence import LARGEST_LENGTH, LARGEST_RATIO, at_most, chosen, optional, text
from tonnage.planning.usecase.fit import MemoryAsked
from tonnage.rpc.codec.finding import encode_finding, encode_origin
from tonnage.v1 import memory_pb2

if TYPE_CHECKING:
    from tonnage.capacity.memory.grid import MemoryMap
    from tonnage.domain.memory import MemoryFit, MemoryTerm

LARGEST_CONFIG_BYTES: Final = 4 << 20
_COUNTS: Final = ("max_model_len", "max_num_seqs", "max_num_batched_tokens", "block_tokens", "concurrency")
_SHAPE_FIELDS: Final = tuple(field.name for field in memory_pb2.ModelShape.DESCRIPTOR.fields if field.name != "name")
_DECLARED_FIELDS: Final = tuple(field.name for field in memory_pb2.DeclaredMemory.DESCRIPTOR.fields)


def decode_question(message: memory_pb2.MemoryQuestion) -> MemoryAsked:
    """Return the question as it was asked; raise ``InvalidInput`` with the path inside it."""
    for name in ("engine", "engine_version", "weight_precision", "kv_cache_type"):
        checks.name(name, getattr(message, name))
    checks.required("engine", message.engine)
    at_most("memory_utilization_ratio", optional(message, "memory_utilization_ratio"), 1)
    with at("declared"):
        declared = _declared(message.declared)
    return MemoryAsked(
        **_model_source(message),
        **_device(message),
        engine=message.engine,
        engine_version=text(message.engine_version),
        weight_precision=text(message.weight_precision),
        kv_cache_type=text(message.kv_cache_type),
        declared=declared,
        numbers=_numbers(message),
        checkpoint_headers=tuple(message.checkpoint_headers),
    )


def _numbers(message: memory_pb2.MemoryQuestion) -> dict[str, Any]:
    """Return the plain figures by their names in the domain; absent parallel sizes are 1."""
    found = {
        name: optional(message, name)
        for name in (
            *_COUNTS,
            "accelerator_count",
            "memory_utilization_ratio",
            "chunked_prefill",
            "eager",
            "request_tokens",
            "foreign_bytes",
            "draft_token_count",
            "lora_slot_count",
            "lora_rank",
            "draft_weights_bytes",
            "language_only",
        )
    }
    for kind in ("tensor", "pipeline", "expert", "data"):
        stated = optional(message.parallelism, kind)
        found[f"{kind}_parallel"] = 1 if stated is None else stated
    return found


def _model_source(message: memory_pb2.MemoryQuestion) -> dict[str, Any]:
    kind = chosen(message, "model_source", "model", "name a catalog model, or give shape or config_json")
    if kind == "shape":
        with at("shape"):
            return {"shape": decode_shape(message.shape)}
    if kind == "config_json":
        return {"config_json": config_json(message.config_json)}
    checks.required("model", message.model)
    checks.name("model", message.model)
    return {"model": message.model}


def config_json(data: bytes) -> bytes:
    """Return a config.json's bytes; raise ``InvalidInput`` when they are empty or far too many."""
    if not data or len(data) > LARGEST_CONFIG_BYTES:
        cure = f"give the bytes of a config.json, at most {LARGEST_CONFIG_BYTES}"
        raise InvalidInput.field("config_json", f"{len(data)} bytes", "is no config.json", cure)
    return data


def decode_shape(message: memory_pb2.ModelShape) -> ModelShape:
    """Return the shape of a model; raise ``InvalidInput`` for a name that is absent or counts below 1."""
    stated = {name: optional(message, name) for name in _SHAPE_FIELDS}
    return ModelShape(name=message.name, source="declared in the request", **stated)


def encode_shape(shape: ModelShape) -> memory_pb2.ModelShape:
    """Return the shape of a model as a message."""
    return memory_pb2.ModelShape(name=shape.name, **{name: getattr(shape, name) for name in _SHAPE_FIELDS})


def _device(message: memory_pb2.MemoryQuestion) -> dict[str, Any]:
    kind = chosen(message, "device", "accelerator", "name a catalog accelerator, or give declared_device")
    if kind == "accelerator":
        checks.required("accelerator", message.accelerator)
        checks.name("accelerator", message.accelerator)
        return {"accelerator": message.accelerator}
    with at("declared_device"):
        device = message.declared_device
        checks.name("name", device.name)
        total = optional(device, "total_bytes")
        checks.required("total_bytes", total)
        checks.count("total_bytes", total)
        return {"device_name": device.name or "declared device", "device_bytes": total}


def _declared(message: memory_pb2.DeclaredMemory) -> DeclaredMemory:
    stated = {name: optional(message, name) for name in _DECLARED_FIELDS}
    at_most("bytes_per_parameter", stated["bytes_per_parameter"], LARGEST_RATIO)
    if stated["peak_with_weights_bytes"] is not None:
        for name in ("weights_bytes", "activation_bytes"):
            if stated[name] is not None:
                raise InvalidInput.field(
                    name, stated[name], "is already in peak_with_weights_bytes", "state one or the other"
                )
    return DeclaredMemory(**stated)


def decode_axes(message: memory_pb2.MemoryMapAxes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return lengths and concurrencies of a map; raise ``InvalidInput`` for figures too large to be meant."""
    for name in ("request_tokens", "concurrencies"):
        for index, value in enumerate(getattr(message, name)):
            at_most(f"{name}[{index}]", value, LARGEST_LENGTH)
    return tuple(message.request_tokens), tuple(message.concurrencies)


def encode_map(found: MemoryMap) -> memory_pb2.MemoryMap:
    """Return a map as a message."""
    columns = [
        memory_pb2.MemoryMapColumn(
            request_tokens=column.request_tokens,
            request_bytes=column.request_bytes,
            pool_bytes=column.pool_bytes,
            largest_reserved_count=column.largest_reserved_count,
            largest_steady_count=column.largest_steady_count,
            prefill_mode=column.prefill_mode,
            verdicts=[enums.FIT_NUMBER[verdict] for verdict in verdicts],
        )
        for column, verdicts in zip(found.columns, found.verdicts, strict=True)
    ]
    return memory_pb2.MemoryMap(concurrencies=found.concurrencies, columns=columns)


def encode_fit(fit: MemoryFit) -> memory_pb2.MemoryFit:
    """Return the ledger as a message."""
    return memory_pb2.MemoryFit(
        verdict=enums.FIT_NUMBER[fit.verdict],
        total_bytes=fit.total_bytes,
        budget_bytes=fit.budget_bytes,
        terms=[_term(item) for item in fit.terms],
        kv_pool_bytes=fit.kv_pool_bytes,
        kv_bytes_per_token=fit.kv_bytes_per_token,
        kv_fixed_bytes_per_request=fit.kv_fixed_bytes_per_request,
        kv_pool_tokens=fit.kv_pool_tokens,
        block_tokens=fit.block_tokens,
        requests_reserved=fit.requests_reserved,
        requests_steady=fit.requests_steady,
        full_length_requests=fit.full_length_requests,
        max_request_tokens=fit.max_request_tokens,
        kv_needed_bytes=fit.kv_needed_bytes,
        binding_term=enums.TERM_NUMBER[fit.binding_term],
        smallest_accelerator_count=fit.smallest_accelerator_count,
        remedies=[
            memory_pb2.Remedy(change=item.change, value=item.value, message=item.message) for item in fit.remedies
        ],
        equation=fit.equation,
        assumed=fit.assumed,
        prefill_mode=fit.prefill_mode,
        findings=[encode_finding(item) for item in fit.findings],
        rank=fit.rank,
        model_weights_bytes=fit.model_weights_bytes,
        printed_tokens=fit.printed_tokens,
    )


def _term(term: MemoryTerm) -> memory_pb2.MemoryTerm:
    return memory_pb2.MemoryTerm(
        kind=enums.TERM_NUMBER[term.kind],
        bytes=term.bytes,
        low_bytes=term.low_bytes,
        high_bytes=term.high_bytes,
        origin=encode_origin(term.origin),
        note=term.note,
        parts=[memory_pb2.MemoryPart(name=item.name, bytes=item.bytes, note=item.note) for item in term.parts],
    )
