"""The smallest changes that turn a verdict, each found by asking the model again."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.capacity.memory.core import Core, evaluate
from tonnage.domain.memory import FitVerdict, Remedy
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from tonnage.capacity.memory.constants import Constants
    from tonnage.domain.memory import MemoryQuestion

_COUNTS: Final = (1, 2, 4, 8, 16, 32, 64)
_HIGHEST_UTILIZATION: Final = 0.95
_NARROWER_WEIGHTS: Final = {"fp8": 1.0, "int4": 0.5}
"""Types to try, and the fewest bytes of a parameter in them."""
_SHARE_SHOWN: Final = 100


def _holds(core: Core) -> bool:
    return core.verdict is not FitVerdict.DOES_NOT_FIT


def _try(question: MemoryQuestion, constants: Constants) -> Core | None:
    """Return the evaluation of a changed question, or None where the change is impossible."""
    try:
        return evaluate(question, constants)
    except InvalidInput:
        return None


def split_over(question: MemoryQuestion, count: int) -> MemoryQuestion:
    """Return the question over ``count`` accelerators: tensor parallel within the stated pipeline stages.

    Bytes the caller declared for one accelerator are declared for this split only and
    scale with it: weights by the split, the rest not at all.
    """
    pipeline = question.pipeline_parallel if count % question.pipeline_parallel == 0 else 1
    declared = question.declared
    before = question.tensor_parallel * question.pipeline_parallel
    if declared.weights_bytes is not None:
        declared = replace(declared, weights_bytes=-(-declared.weights_bytes * before // count))
    declared = replace(declared, kv_pool_bytes=None, peak_with_weights_bytes=None)
    return replace(
        question,
        tensor_parallel=count // pipeline,
        pipeline_parallel=pipeline,
        accelerator_count=count,
        declared=declared,
    )


def smallest_count(core: Core, constants: Constants) -> int | None:
    """Return the smallest power of two of accelerators that fits, up to 64; None when none does.

    A declared pool or logged peak says nothing about another split, so only the asked one counts.
    """
    question = core.setup.question
    asked = question.tensor_parallel * question.pipeline_parallel
    declared = question.declared
    if declared.kv_pool_bytes is not None or declared.peak_with_weights_bytes is not None:
        return asked if _holds(core) else None
    for count in _COUNTS:
        if count == asked:
            if _holds(core):
                return count
            continue
        if _weights_alone_exceed(core, count) or _cannot_hold(core, _at_best(core, count), 1 / count):
            continue
        other = _try(split_over(question, count), constants)
        if other is not None and _holds(other):
            return count
    return None


def _weights_alone_exceed(core: Core, count: int) -> bool:
    """Tell, without asking the model, that an even share of the weights is above a whole accelerator."""
    rank = core.ledger.rank
    return rank is not None and rank.model_bytes > count * core.ledger.total_bytes


def _at_best(core: Core, count: int) -> float:
    """Return a pool no split over ``count`` accelerators exceeds: the card less an even share of the weights."""
    rank = core.ledger.rank
    return core.ledger.total_bytes - (rank.model_bytes / count if rank is not None else 0)


def _cannot_hold(core: Core, pool_bytes: float, share: float) -> bool:
    """Tell, without asking the model, that ``share`` of the need does not go into a pool that is never exceeded.

    Only the need while decoding counts: what does not fit there fits nowhere. ``share`` is the
    smallest part of it a change can leave on one accelerator.
    """
    used = core.setup.question.tensor_parallel * core.setup.question.pipeline_parallel
    whole = 1 if share == 1 else used
    return pool_bytes <= 0 or core.needed_bytes(steady=True) * min(1.0, share * whole) > pool_bytes


def _by_accelerators_and_length(core: Core, constants: Constants) -> Remedy | None:
    """Return the smallest count at which shorter requests fit, where no count holds the asked ones."""
    asked = core.setup.question.tensor_parallel * core.setup.question.pipeline_parallel
    for count in _COUNTS:
        if count <= asked or _weights_alone_exceed(core, count):
            continue
        other = _try(split_over(core.setup.question, count), constants)
        longest = other.longest(core.concurrency) if other is not None and other.pool_bytes > 0 else None
        if longest is not None:
            text = f"split the model over {count} accelerators and shorten requests to {longest:,} tokens"
            return Remedy(change="accelerators", value=str(count), message=text)
    return None


def _by_cache_type(core: Core, constants: Constants) -> Remedy | None:
    if core.setup.cache.element_bytes <= 1:
        return None
    wanted = "q8_0" if core.setup.engine == "llama.cpp" else "fp8"
    if core.needed_bytes(steady=True) / core.setup.cache.element_bytes > core.pool_bytes:
        return None
    other = _try(replace(core.setup.question, kv_cache_type=wanted), constants)
    if other is None or not _holds(other):
        return None
    tokens = other.request_tokens
    fits = f": {other.requests(tokens):,} requests of {tokens:,} tokens fit" if tokens is not None else ""
    return Remedy(
        change="kv_cache_type", value=wanted, message=f"keep the cache in 8 bits{fits}; check the quality first"
    )


def _by_length(core: Core) -> Remedy | None:
    longest = core.longest(core.concurrency)
    if longest is None:
        return None
    text = f"shorten requests to {longest:,} tokens at {core.concurrency:,} at once"
    return Remedy(change="request_tokens", value=str(longest), message=text)


def _by_concurrency(core: Core) -> Remedy | None:
    tokens = core.request_tokens
    if tokens is None:
        return None
    fits = core.requests(tokens)
    if not 0 < fits < core.concurrency:
        return None
    return Remedy(
        change="concurrency",
        value=str(fits),
        message=f"admit {fits:,} requests of {tokens:,} tokens at once, queue the rest",
    )


def _by_utilization(core: Core, constants: Constants) -> Remedy | None:
    used = core.setup.utilization
    if core.setup.engine == "llama.cpp" or used >= _HIGHEST_UTILIZATION:
        return None
    lacking = core.needed_bytes(steady=True) - core.pool_bytes
    share = math.ceil((used + lacking / core.setup.total_bytes) * _SHARE_SHOWN + 1) / _SHARE_SHOWN
    if share > _HIGHEST_UTILIZATION:
        return None
    other = _try(replace(core.setup.question, memory_utilization_ratio=share), constants)
    if other is None or not _holds(other):
        return None
    text = f"let the engine use {share:g} of the card; graphs and warm-up lie outside that share"
    return Remedy(change="memory_utilization_ratio", value=f"{share:g}", message=text)


def _by_sequences(core: Core, constants: Constants) -> Remedy | None:
    wanted = max(core.concurrency, 16)
    if core.setup.sequences <= wanted or core.pool is None:
        return None
    spared = core.ledger.activation.bytes + core.ledger.graphs.bytes
    if _cannot_hold(core, core.ledger.pool_bytes + spared, 1):
        return None
    other = _try(replace(core.setup.question, max_num_seqs=wanted), constants)
    if other is None or not _holds(other):
        return None
    text = f"lower max_num_seqs from {core.setup.sequences:,} to {wanted:,}: the sampler's warm-up shrinks with it"
    return Remedy(change="max_num_seqs", value=str(wanted), message=text)


def _by_weights(core: Core, constants: Constants) -> Remedy | None:
    declared = core.setup.question.declared
    if declared.weights_bytes is not None or declared.bytes_per_parameter is not None:
        return None
    for name, least_bytes in _NARROWER_WEIGHTS.items():
        kept = min(1.0, least_bytes / core.setup.weights.ends_bytes)
        if _cannot_hold(core, core.ledger.pool_bytes + core.ledger.weights.bytes * (1 - kept), 1):
            continue
        other = _try(replace(core.setup.question, weight_precision=name, inventory=None), constants)
        if other is None or other.ledger.weights.bytes >= core.ledger.weights.bytes or not _holds(other):
            continue
        return Remedy(change="weight_precision", value=name, message=f"load {name} weights; check the quality first")
    return None


def _by_accelerators(core: Core, count: int | None) -> Remedy | None:
    asked = core.setup.question.tensor_parallel * core.setup.question.pipeline_parallel
    if count is None or count == asked:
        return None
    return Remedy(change="accelerators", value=str(count), message=f"split the model over {count} accelerators")


def remedies(core: Core, count: int | None, constants: Constants) -> tuple[Remedy, ...]:
    """Return the ways out of a verdict that is not "fits"; none for one that is."""
    if core.verdict is FitVerdict.FITS:
        return ()
    found: list[Remedy | None] = [_by_accelerators(core, count)]
    if core.verdict is FitVerdict.DOES_NOT_FIT:
        if count is None and core.longest(core.concurrency) is None:
            found.append(_by_accelerators_and_length(core, constants))
        found += [_by_cache_type(core, constants), _by_length(core), _by_concurrency(core)]
        found += [_by_utilization(core, constants), _by_sequences(core, constants), _by_weights(core, constants)]
    elif core.late_risk is not None:
        share = 0.9 if core.setup.utilization > 0.9 else 0.85  # noqa: PLR2004 -- the default share and the step below it
        text = "leave more outside the budget for graphs and warm-up, or start without graphs"
        found.append(Remedy(change="memory_utilization_ratio", value=f"{share:g}", message=text))
    return tuple(item for item in found if item is not None)
