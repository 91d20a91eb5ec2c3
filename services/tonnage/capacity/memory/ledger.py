"""The ledger of the fullest accelerator: what stands between the card's total and the cache pool.

vLLM and the generic engine: pool = u x total - all else. SGLang: what is left after loading
less (1 - f) of what was free before. TensorRT-LLM: a fraction of what is free after loading.
llama.cpp: everything is allocated as asked, the pool is the rest of the card.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tonnage.capacity.memory import overheads
from tonnage.capacity.memory.overheads import Amount, exactly, gib
from tonnage.capacity.memory.parameters import NAMED_HIGH, NAMED_LOW, named_total
from tonnage.capacity.memory.weights import RankWeights, rank_weights
from tonnage.domain.finding import Origin
from tonnage.errors import InvalidInput
from tonnage.units import gib_to_bytes

if TYPE_CHECKING:
    from tonnage.capacity.memory.constants import Constants
    from tonnage.capacity.memory.defaults import Setup


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Bytes on the fullest accelerator."""

    total_bytes: int
    budget_bytes: int
    weights: Amount
    rank: RankWeights | None
    runtime: Amount
    activation: Amount
    graphs: Amount
    graphs_in_budget: bool
    """Captured graphs are subtracted before the pool is sized."""
    work_in_budget: bool
    """Activations are subtracted before the pool is sized; else they live in what is left outside."""
    foreign_bytes: int
    pool_bytes: int
    """Room for the cache; negative when the rest does not fit."""

    @property
    def outside_bytes(self) -> int:
        """Return what the engine leaves free of budget, less what it puts there all the same."""
        left = self.total_bytes - self.budget_bytes
        left -= 0 if self.graphs_in_budget else self.graphs.bytes
        return left - (0 if self.work_in_budget else self.activation.bytes)


def _weights(setup: Setup, constants: Constants) -> tuple[Amount, RankWeights | None]:
    declared = setup.question.declared
    if declared.weights_bytes is not None:
        return exactly(declared.weights_bytes, "declared"), None
    tables: tuple[tuple[str, int], ...] = (("position tables", overheads.position_table_bytes(setup)),)
    if setup.engine == "sglang":
        tables = (*tables, ("load residue", gib_to_bytes(constants.load_residue_sglang.value)))
    tables = (*tables, ("adapter slots", overheads.adapter_bytes(setup)))
    drafts = setup.question.draft_weights_bytes
    tables = (*tables, ("draft model", drafts if drafts is not None else 0))
    found = rank_weights(setup.question, setup.weights, tables)
    spread = 0.03 if found.counted and not setup.weights.quantized else 0.08
    high = round(found.rank_bytes * (1 + spread))
    if setup.weights.name == "nvfp4":
        high = max(high, round(found.rank_bytes * 1.6))
    origin = Origin.DERIVED
    if declared.bytes_per_parameter is not None:
        origin = Origin.DECLARED
    note = f"{setup.weights.name}: {setup.weights.note}" if setup.weights.note else setup.weights.name
    low = round(found.rank_bytes * (1 - spread / 3))
    if named_total(setup.shape) and not found.counted:
        low, high = round(found.rank_bytes * NAMED_LOW), round(found.rank_bytes * NAMED_HIGH)
    amount = Amount(
        bytes=found.rank_bytes,
        low_bytes=low,
        high_bytes=high,
        origin=origin,
        note=f"{note}; {found.stage}",
    )
    return amount, found


def _peak(setup: Setup, weights: Amount | None, constants: Constants) -> tuple[Amount, Amount]:
    """Return weights and activation; a logged peak holds the weights, so they are taken off it once."""
    declared = setup.question.declared
    peak = declared.peak_with_weights_bytes
    if peak is None:
        assert weights is not None  # noqa: S101 -- only a declared peak may stand without weights
        if declared.activation_bytes is not None:
            return weights, exactly(declared.activation_bytes, "declared")
        return weights, overheads.activation(setup, constants)
    if declared.activation_bytes is not None:
        raise InvalidInput.field(
            "declared.activation_bytes",
            declared.activation_bytes,
            "contradicts declared.peak_with_weights_bytes, which holds it",
            "give one of the two",
        )
    if weights is None or weights.bytes > peak:
        return exactly(peak, "logged peak with the weights in it"), exactly(0, "inside the weights' line")
    return weights, exactly(peak - weights.bytes, "logged peak less the weights in it")


def _try_weights(setup: Setup, constants: Constants) -> tuple[Amount | None, RankWeights | None]:
    if setup.question.declared.peak_with_weights_bytes is None:
        return _weights(setup, constants)
    try:
        return _weights(setup, constants)
    except InvalidInput:
        # The logged peak holds the weights; a shape too small to count them loses nothing.
        return None, None


class _Sized(NamedTuple):
    """The pool an engine makes of a card, and what it subtracts first."""

    pool_bytes: int
    budget_bytes: int
    activation: Amount
    graphs_in_budget: bool = True
    work_in_budget: bool = True


class _Spent(NamedTuple):
    """What stands on the card before a pool is sized."""

    total_bytes: int
    weights_bytes: int
    runtime_bytes: int
    activation: Amount
    graph_bytes: int
    foreign_bytes: int


def ledger(setup: Setup, constants: Constants) -> Ledger:
    """Return the ledger; raises ``InvalidInput`` naming a size that is missing or contradicts another."""
    declared = setup.question.declared
    found, rank = _try_weights(setup, constants)
    weights, work = _peak(setup, found, constants)
    runtime = overheads.runtime(setup, constants)
    if declared.runtime_bytes is not None:
        runtime = exactly(declared.runtime_bytes, "declared")
    graphs = overheads.graphs(setup, constants)
    if declared.graph_bytes is not None:
        graphs = exactly(declared.graph_bytes, "declared")
    foreign = setup.question.foreign_bytes if setup.question.foreign_bytes is not None else 0
    spent = _Spent(setup.total_bytes, weights.bytes, runtime.bytes, work, graphs.bytes, foreign)
    sized = _SIZED[setup.engine](setup, spent)
    return Ledger(
        total_bytes=setup.total_bytes,
        budget_bytes=sized.budget_bytes,
        weights=weights,
        rank=rank,
        runtime=runtime,
        activation=sized.activation,
        graphs=graphs,
        graphs_in_budget=sized.graphs_in_budget,
        work_in_budget=sized.work_in_budget,
        foreign_bytes=foreign,
        pool_bytes=declared.kv_pool_bytes if declared.kv_pool_bytes is not None else sized.pool_bytes,
    )


def _reserved(setup: Setup) -> int:
    declared = setup.question.declared.reserved_bytes
    return declared if declared is not None else 0


def _sized_by_share(setup: Setup, spent: _Spent) -> _Sized:
    """Size the pool as a share of the card, whoever else uses it (vLLM and the generic engine)."""
    budget = int(setup.utilization * spent.total_bytes) - _reserved(setup)
    in_budget = setup.engine != "vllm" or setup.at_least(*overheads.FIRST_GRAPHS_IN_BUDGET)
    pool = budget - spent.weights_bytes - spent.activation.bytes - spent.runtime_bytes - spent.foreign_bytes
    pool -= spent.graph_bytes if in_budget else 0
    return _Sized(pool, budget, spent.activation, graphs_in_budget=in_budget)


def _before(setup: Setup, spent: _Spent) -> int:
    return spent.total_bytes - spent.runtime_bytes - spent.foreign_bytes - _reserved(setup)


def _sized_after_load(setup: Setup, spent: _Spent) -> _Sized:
    """SGLang: free after load less (1 - f) of what was free before; graphs and activations live in that part."""
    before = _before(setup, spent)
    outside = int(before * (1 - setup.utilization))
    return _Sized(
        before - spent.weights_bytes - outside,
        spent.total_bytes - outside,
        spent.activation,
        graphs_in_budget=False,
        work_in_budget=False,
    )


def _sized_of_free(setup: Setup, spent: _Spent) -> _Sized:
    """TensorRT-LLM: a fraction of what is free after the engine is loaded; its arena is part of the runtime."""
    free = _before(setup, spent) - spent.weights_bytes
    stated = setup.question.declared.activation_bytes is not None
    free -= spent.activation.bytes if stated else 0
    pool = int(free * setup.utilization) if free > 0 else free
    work = spent.activation if stated else exactly(0, "in the runtime's line", Origin.DERIVED)
    return _Sized(pool, spent.total_bytes - max(0, free - pool), work)


def _sized_by_rest(setup: Setup, spent: _Spent) -> _Sized:
    """llama.cpp: no budget; the rest of the card is what a cache may take."""
    budget = int(setup.utilization * spent.total_bytes) - _reserved(setup)
    pool = budget - spent.weights_bytes - spent.activation.bytes - spent.runtime_bytes - spent.foreign_bytes
    return _Sized(pool, budget, spent.activation)


_SIZED = {
    "vllm": _sized_by_share,
    "generic": _sized_by_share,
    "sglang": _sized_after_load,
    "tensorrt-llm": _sized_of_free,
    "llama.cpp": _sized_by_rest,
}


def pool_equation(setup: Setup, found: Ledger) -> str:
    """Return how the pool came about, with its numbers."""
    declared = setup.question.declared.kv_pool_bytes
    if declared is not None:
        return f"pool = {gib(declared)} as declared"
    share = f"{setup.utilization:g}"
    spent = [("weights", found.weights.bytes), ("activation", found.activation.bytes), ("runtime", found.runtime.bytes)]
    beside = [("reserved", _reserved(setup)), ("other processes", found.foreign_bytes)]
    if setup.engine == "sglang":
        taken = [("total less runtime", found.total_bytes - found.runtime.bytes), ("weights", found.weights.bytes)]
        left = found.total_bytes - found.budget_bytes
        text = " - ".join(f"{name} {gib(size)}" for name, size in [*taken, *((n, s) for n, s in beside if s)])
        return f"pool = {text} - (1 - {share}) of it before loading {gib(left)} = {gib(found.pool_bytes)}"
    start = gib(found.total_bytes)
    spent += [("graphs", found.graphs.bytes)] if found.graphs_in_budget else []
    text = " - ".join(f"{name} {gib(size)}" for name, size in [*spent, *beside] if size)
    if setup.engine == "tensorrt-llm":
        return f"pool = {share} x ({start} - {text}) = {gib(found.pool_bytes)}"
    return f"pool = {share} x {start} - {text} = {gib(found.pool_bytes)}"
