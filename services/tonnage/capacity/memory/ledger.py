"""The ledger of the fullest accelerator: what stands between the card's total and the cache pool.

vLLM and the generic engine: pool = u x total - all else. SGLang: what is left after loading
less (1 - f) of what was free before. TensorRT-LLM: a fraction of what is free after loading.
llama.cpp: everything is allocated as asked, the pool is the rest of the card.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tonnage.capacity.memory import overheads
from tonnage.capacity.memory.overheads import Amount, exactly, gib
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
    pool_equation: str

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
    tables = (("position tables", overheads.position_table_bytes(setup)),)
    if setup.engine == "sglang":
        tables += (("load residue", gib_to_bytes(constants.load_residue_sglang.value)),)
    found = rank_weights(setup.question, setup.weights, tables)
    spread = 0.03 if found.counted and not setup.weights.quantized else 0.08
    high = round(found.rank_bytes * (1 + spread))
    if setup.weights.name == "nvfp4":
        high = max(high, round(found.rank_bytes * 1.6))
    origin = Origin.DERIVED
    if declared.bytes_per_parameter is not None:
        origin = Origin.DECLARED
    note = f"{setup.weights.name}: {setup.weights.note}" if setup.weights.note else setup.weights.name
    amount = Amount(
        bytes=found.rank_bytes,
        low_bytes=round(found.rank_bytes * (1 - spread / 3)),
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
    base = Ledger(
        total_bytes=setup.total_bytes,
        budget_bytes=0,
        weights=weights,
        rank=rank,
        runtime=runtime,
        activation=work,
        graphs=graphs,
        graphs_in_budget=True,
        work_in_budget=True,
        foreign_bytes=foreign,
        pool_bytes=0,
        pool_equation="",
    )
    sized = _SIZED[setup.engine](base, setup)
    if declared.kv_pool_bytes is not None:
        text = f"pool = {gib(declared.kv_pool_bytes)} as declared"
        return replace(sized, pool_bytes=declared.kv_pool_bytes, pool_equation=text)
    return sized


def _reserved(setup: Setup) -> int:
    declared = setup.question.declared.reserved_bytes
    return declared if declared is not None else 0


def _sized_by_share(base: Ledger, setup: Setup) -> Ledger:
    """vLLM and generic: a share of the card's total, whoever else uses the card."""
    budget = int(setup.utilization * base.total_bytes) - _reserved(setup)
    in_budget = setup.engine != "vllm" or setup.at_least(*overheads.FIRST_GRAPHS_IN_BUDGET)
    spent = base.weights.bytes + base.activation.bytes + base.runtime.bytes
    spent += base.graphs.bytes if in_budget else 0
    pool = budget - spent - base.foreign_bytes
    parts = [
        f"{setup.utilization:g} x {gib(base.total_bytes)}",
        *([f"reserved {gib(_reserved(setup))}"] if _reserved(setup) else []),
        f"weights {gib(base.weights.bytes)}",
        f"activation {gib(base.activation.bytes)}",
        f"runtime {gib(base.runtime.bytes)}",
        *([f"graphs {gib(base.graphs.bytes)}"] if in_budget and base.graphs.bytes else []),
        *([f"other processes {gib(base.foreign_bytes)}"] if base.foreign_bytes else []),
    ]
    text = "pool = " + " - ".join(parts) + f" = {gib(pool)}"
    return replace(base, budget_bytes=budget, graphs_in_budget=in_budget, pool_bytes=pool, pool_equation=text)


def _sized_after_load(base: Ledger, setup: Setup) -> Ledger:
    """SGLang: free after load less (1 - f) of what was free before; graphs and activations live in that part."""
    before = base.total_bytes - base.runtime.bytes - base.foreign_bytes - _reserved(setup)
    outside = int(before * (1 - setup.utilization))
    pool = before - base.weights.bytes - outside
    text = (
        f"pool = free {gib(before)} - weights {gib(base.weights.bytes)} - {1 - setup.utilization:.3g} x {gib(before)}"
        f" = {gib(pool)}"
    )
    return replace(
        base,
        budget_bytes=base.total_bytes - outside,
        graphs_in_budget=False,
        work_in_budget=False,
        pool_bytes=pool,
        pool_equation=text,
    )


def _sized_of_free(base: Ledger, setup: Setup) -> Ledger:
    """TensorRT-LLM: a fraction of what is free after the engine is loaded."""
    free = base.total_bytes - base.runtime.bytes - base.weights.bytes - base.foreign_bytes - _reserved(setup)
    if setup.question.declared.activation_bytes is not None:
        free -= base.activation.bytes
    pool = int(free * setup.utilization) if free > 0 else free
    text = f"pool = {setup.utilization:g} x (free after load {gib(free)}) = {gib(pool)}"
    inside = setup.question.declared.activation_bytes is not None
    activation = base.activation if inside else exactly(0, "in the runtime's line", Origin.DERIVED)
    return replace(
        base,
        budget_bytes=base.total_bytes - max(0, free - pool),
        activation=activation,
        pool_bytes=pool,
        pool_equation=text,
    )


def _sized_by_rest(base: Ledger, setup: Setup) -> Ledger:
    """llama.cpp: no budget; the rest of the card is what a cache may take."""
    budget = int(setup.utilization * base.total_bytes) - _reserved(setup)
    pool = budget - base.weights.bytes - base.activation.bytes - base.runtime.bytes - base.foreign_bytes
    text = (
        f"rest = {gib(budget)} - weights {gib(base.weights.bytes)} - compute buffer {gib(base.activation.bytes)}"
        f" - runtime {gib(base.runtime.bytes)} = {gib(pool)}"
    )
    return replace(base, budget_bytes=budget, pool_bytes=pool, pool_equation=text)


_SIZED = {
    "vllm": _sized_by_share,
    "generic": _sized_by_share,
    "sglang": _sized_after_load,
    "tensorrt-llm": _sized_of_free,
    "llama.cpp": _sized_by_rest,
}
