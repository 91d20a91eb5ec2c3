"""The memory answer: ledger, verdict, what fits, ways out, and the sum with its numbers in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage.capacity.memory.constants import DEFAULT, Constants
from tonnage.capacity.memory.core import Core, evaluate
from tonnage.capacity.memory.findings import findings
from tonnage.capacity.memory.layout import CacheKind
from tonnage.capacity.memory.ledger import pool_equation
from tonnage.capacity.memory.overheads import Amount, gib
from tonnage.capacity.memory.remedies import remedies, smallest_count
from tonnage.domain.finding import Origin
from tonnage.domain.memory import FitVerdict, MemoryFit, MemoryPart, MemoryTerm, MemoryTermKind

if TYPE_CHECKING:
    from tonnage.domain.memory import MemoryQuestion


def _term(kind: MemoryTermKind, amount: Amount, parts: tuple[MemoryPart, ...] = ()) -> MemoryTerm:
    return MemoryTerm(
        kind=kind,
        bytes=amount.bytes,
        origin=amount.origin,
        low_bytes=amount.low_bytes,
        high_bytes=amount.high_bytes,
        note=amount.note,
        parts=parts,
    )


def _cache_term(core: Core) -> MemoryTerm:
    tokens = core.request_tokens
    if core.layout is None or tokens is None:
        note = "no length is known" if core.layout is not None else "the shape has no layers; the weights alone decide"
        return MemoryTerm(kind=MemoryTermKind.KV_CACHE, bytes=0, origin=Origin.ASSUMED, note=note)
    steady = core.needed_bytes(steady=True)
    needed = core.needed_bytes()
    parts = tuple(
        MemoryPart(
            name=group.name,
            bytes=int(group.token_bytes * group.layer_count)
            if group.kind is not CacheKind.STATE
            else group.state_bytes,
            note=_group_note(core, group.kind, group.layer_count, group.window_tokens),
        )
        for group in core.layout.groups
    )
    return MemoryTerm(
        kind=MemoryTermKind.KV_CACHE,
        bytes=needed,
        origin=Origin.DERIVED,
        low_bytes=min(steady, needed),
        high_bytes=needed,
        note=f"{core.concurrency:,} x {tokens:,} tokens, as admitted; the low end is while decoding",
        parts=parts,
    )


def _group_note(core: Core, kind: CacheKind, layers: int, window: int | None) -> str:
    if kind is CacheKind.STATE:
        return f"bytes of one request and layer; {layers} layers on this rank"
    if window is not None:
        reserved = window - 1 + core.setup.step_tokens
        return f"bytes a token over {layers} layers; window of {window:,}, up to {reserved:,} tokens while prefilling"
    return f"bytes a token over {layers} layers; grows with every token"


def _reserved(core: Core) -> MemoryTerm:
    found = core.ledger
    outside = found.total_bytes - found.budget_bytes
    inside = 0 if found.graphs_in_budget else found.graphs.bytes
    inside += 0 if found.work_in_budget else found.activation.bytes
    size = max(0, outside - inside) + found.foreign_bytes
    origin = Origin.DECLARED if core.setup.question.memory_utilization_ratio is not None else Origin.ASSUMED
    note = f"what the engine leaves of the card at {core.setup.utilization:g}"
    if found.foreign_bytes:
        note += f", and {gib(found.foreign_bytes)} of other processes"
    return MemoryTerm(kind=MemoryTermKind.RESERVED, bytes=size, origin=origin, note=note)


def _terms(core: Core) -> tuple[MemoryTerm, ...]:
    found = core.ledger
    parts = tuple(MemoryPart(name=name, bytes=size) for name, size in (found.rank.parts if found.rank else ()))
    return (
        _term(MemoryTermKind.WEIGHTS, found.weights, parts),
        _term(MemoryTermKind.RUNTIME, found.runtime),
        _term(MemoryTermKind.ACTIVATION, found.activation),
        _cache_term(core),
        _term(MemoryTermKind.BATCH, found.graphs),
        _reserved(core),
    )


def _binding(core: Core) -> MemoryTermKind:
    """Return the term that decides: the first whose sum leaves the budget, else the cache."""
    found = core.ledger
    left = found.budget_bytes - found.foreign_bytes
    for kind, amount in (
        (MemoryTermKind.WEIGHTS, found.weights),
        (MemoryTermKind.RUNTIME, found.runtime),
        (MemoryTermKind.ACTIVATION, found.activation),
        (MemoryTermKind.BATCH, found.graphs),
    ):
        if kind is MemoryTermKind.BATCH and not found.graphs_in_budget:
            continue
        left -= amount.bytes
        if left <= 0:
            return kind
    if core.verdict is FitVerdict.TIGHT and core.late_risk is not None:
        return MemoryTermKind.BATCH
    return MemoryTermKind.KV_CACHE


def _fixed_bytes(core: Core) -> int:
    """Return what a request of the asked length holds beside its growing rows, as admitted."""
    tokens = core.request_tokens
    if core.layout is None or core.layout.flat or tokens is None:
        return 0
    return max(0, core.request_bytes(tokens) - int(core.layout.token_bytes * tokens))


def _equation(core: Core) -> str:
    lines = [pool_equation(core.setup, core.ledger)]
    tokens = core.request_tokens
    if core.layout is not None and core.pool is not None:
        rate = float(core.layout.token_bytes)
        lines.append(f"bytes a token = {core.layout.equation} = {rate:,.10g} B on one accelerator")
        held = core.pool.tokens(core.ledger.pool_bytes)
        if held is not None:
            lines.append(f"{held:,} tokens x {rate:,.10g} B = {gib(max(0, core.pool_bytes))} of pool in whole blocks")
        if tokens is not None:
            each, need = core.request_bytes(tokens), core.needed_bytes()
            extra = "" if core.layout.flat else f" ({_fixed_bytes(core):,} B of it does not grow)"
            lines.append(f"a request of {tokens:,} tokens takes {each:,} B{extra}")
            lines.append(f"need = {core.concurrency:,} x {each:,} B = {gib(need)} of {gib(core.pool_bytes)}")
    return "; ".join(lines)


def _mode(core: Core) -> str:
    stated = "" if core.setup.question.chunked_prefill is not None else " (assumed)"
    step = f"{core.setup.step_tokens:,} tokens a step"
    return f"chunked: {step}{stated}" if core.setup.chunked else f"whole prompts: up to {step}{stated}"


def _rank(core: Core) -> str:
    found, question = core.ledger.rank, core.setup.question
    size = question.tensor_parallel * question.pipeline_parallel
    if size == 1:
        return "0: the only one"
    stage = found.stage if found is not None else "every rank"
    if stage == "every rank":
        return f"0: all {size} hold the same"
    last = stage == "the last pipeline stage"
    index = (question.pipeline_parallel - 1) * question.tensor_parallel if last else 0
    return f"{index}: {stage} holds the most"


def fit(question: MemoryQuestion, constants: Constants = DEFAULT) -> MemoryFit:
    """Return whether the question's wish fits, what fits, and what would change the answer.

    The ledger is of the fullest accelerator. Raises ``InvalidInput`` naming the field for
    impossible splits (with the divisor), unknown types, and shapes that do not say enough.
    """
    core = evaluate(question, constants)
    count = smallest_count(core, constants)
    found, tokens = core.ledger, core.request_tokens
    max_len = core.setup.max_len
    longest = core.request_bytes(max_len) if max_len is not None else 0
    return MemoryFit(
        verdict=core.verdict,
        total_bytes=found.total_bytes,
        budget_bytes=found.budget_bytes,
        terms=_terms(core),
        kv_pool_bytes=core.pool_bytes,
        kv_bytes_per_token=round(core.layout.token_bytes) if core.layout is not None else 0,
        kv_fixed_bytes_per_request=_fixed_bytes(core),
        block_tokens=core.pool.block_tokens if core.pool is not None else core.setup.block_tokens,
        requests_reserved=core.requests(tokens) if tokens is not None else 0,
        requests_steady=core.requests(tokens, steady=True) if tokens is not None else 0,
        kv_needed_bytes=core.needed_bytes(),
        binding_term=_binding(core),
        equation=_equation(core),
        prefill_mode=_mode(core),
        rank=_rank(core),
        model_weights_bytes=_model_weights(core),
        kv_pool_tokens=core.pool.tokens(found.pool_bytes) if core.pool is not None else None,
        full_length_requests=max(0, core.pool_bytes) / longest if longest else None,
        max_request_tokens=core.longest(core.concurrency),
        printed_tokens=_printed(core),
        smallest_accelerator_count=count,
        remedies=remedies(core, count, constants),
        assumed=core.setup.assumed,
        findings=findings(core, count),
    )


def _printed(core: Core) -> int | None:
    if core.pool is None or core.setup.max_len is None:
        return None
    return core.pool.printed_tokens(core.ledger.pool_bytes, core.setup.max_len)


def _model_weights(core: Core) -> int:
    """Return the whole model's bytes; of a declared rank, the split times it."""
    if core.ledger.rank is not None:
        return core.ledger.rank.model_bytes
    question = core.setup.question
    return core.ledger.weights.bytes * question.tensor_parallel * question.pipeline_parallel
