"""One evaluation of a memory question: setup, ledger, pool and what fits in it; the base of all answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from tonnage.capacity.memory.blocks import CellPool, FlatPool, Pool, SeparatePools, shared_pool
from tonnage.capacity.memory.constants import DEFAULT, Constants
from tonnage.capacity.memory.defaults import FIRST_TWO_STEPS, Setup, setup
from tonnage.capacity.memory.layout import Layout, Split, layout
from tonnage.capacity.memory.ledger import Ledger, ledger
from tonnage.domain.memory import FitVerdict
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from tonnage.domain.memory import MemoryQuestion

SPARE: Final = 1 / 10
"""Less of the pool to spare than this is tight."""
_LONGEST: Final = 1 << 40
_STATE_FP32: Final = 4
_SGLANG_WINDOW_RATIO: Final = 4 / 5
_SGLANG_STATE_SHARE: Final = 9 / 10


@dataclass(frozen=True)
class Core:
    """Everything the answer is read from; ``pool`` is None when the shape says nothing of a cache."""

    setup: Setup
    ledger: Ledger
    layout: Layout | None
    pool: Pool | None

    @property
    def pool_bytes(self) -> int:
        """Return the pool in whole blocks; the raw, negative figure when the rest does not fit."""
        raw = self.ledger.pool_bytes
        return raw if raw < 0 or self.pool is None else self.pool.usable_bytes(raw)

    @cached_property
    def request_tokens(self) -> int | None:
        """Return the length of the asked request; the engine's longest when none was asked."""
        asked = self.setup.question.request_tokens
        return asked if asked is not None else self.setup.max_len

    @property
    def concurrency(self) -> int:
        """Return the requests wanted at once."""
        asked = self.setup.question.concurrency
        return asked if asked is not None else 1

    def request_bytes(self, tokens: int, *, steady: bool = False) -> int:
        """Return what one request of a length takes on one rank."""
        return self.pool.request_bytes(tokens, steady=steady) if self.pool is not None else 0

    def requests(self, tokens: int, *, steady: bool = False) -> int:
        """Return how many requests of a length fit at once."""
        each = self.request_bytes(tokens, steady=steady)
        return max(0, self.pool_bytes) // each if each else 0

    def needed_bytes(self, *, steady: bool = False) -> int:
        """Return the cache of the whole wish."""
        tokens = self.request_tokens
        return 0 if tokens is None else self.concurrency * self.request_bytes(tokens, steady=steady)

    @cached_property
    def verdict(self) -> FitVerdict:
        """Return whether the wish fits: as admitted with a tenth to spare, else tightly, else not."""
        room = self.pool_bytes
        if room <= 0 or self.ledger.weights.bytes > self.ledger.budget_bytes:
            return FitVerdict.DOES_NOT_FIT
        needed = self.needed_bytes()
        if needed > room and self.needed_bytes(steady=True) > room:
            return FitVerdict.DOES_NOT_FIT
        if self.request_tokens is not None and self.request_bytes(self.request_tokens) > room:
            return FitVerdict.DOES_NOT_FIT
        if needed > (1 - SPARE) * room or self.late_risk is not None:
            return FitVerdict.TIGHT
        return FitVerdict.FITS

    @cached_property
    def late_risk(self) -> str | None:
        """Return why a start may fail after the pool was sized: what lies outside the budget is small."""
        if self.setup.engine not in {"vllm", "sglang"} or self.setup.question.declared.graph_bytes == 0:
            return None
        found = self.ledger
        left = found.outside_bytes
        if self.setup.engine == "vllm":
            if self.setup.eager or found.graphs_in_budget or self.setup.utilization <= _USUAL_UTILIZATION:
                return None
            needed = found.activation.bytes
            left -= _DRIVER_BYTES
            if left < needed:
                return (
                    f"{left / (1 << 30):.2f} GiB stay outside the budget after graphs and driver, and warming the"
                    f" sampler takes up to {needed / (1 << 30):.2f} GiB"
                )
            return None
        if left < 0:
            return f"activations and graphs need {-left / (1 << 30):.2f} GiB more than the fraction leaves outside"
        return None

    def longest(self, concurrency: int) -> int | None:
        """Return the longest request that fits ``concurrency`` times; None when one token does not."""
        if self.pool is None or concurrency * self.request_bytes(1) > self.pool_bytes:
            return None
        limit = self.setup.shape.max_position_embeddings
        low, high = 1, limit if limit is not None else _LONGEST
        if self.setup.question.request_tokens is not None:
            high = max(high, self.setup.question.request_tokens)
        while low < high:
            middle = (low + high + 1) // 2
            if concurrency * self.request_bytes(middle) <= self.pool_bytes:
                low = middle
            else:
                high = middle - 1
        return low


_USUAL_UTILIZATION: Final = 0.9
_DRIVER_BYTES: Final = 1 << 29
"""What the driver itself holds of a card before anything starts (78.68 of 79.19 GiB are free)."""


def _layout(found: Setup) -> Layout | None:
    shape = found.shape
    if shape.layer_count is None and shape.full_layer_count is None and not shape.sliding_layer_count:
        return None
    question = found.question
    element = _STATE_FP32 if found.engine == "llama.cpp" else found.model_element_bytes
    split = Split(
        tensor=1 if found.engine == "llama.cpp" else question.tensor_parallel,
        pipeline=question.pipeline_parallel * (question.tensor_parallel if found.engine == "llama.cpp" else 1),
        model_element_bytes=element,
        draft_tokens=question.draft_token_count if question.draft_token_count is not None else 0,
    )
    return layout(shape, found.cache, split)


def _steps_in_flight(found: Setup) -> int:
    return 2 if found.engine == "vllm" and found.at_least(*FIRST_TWO_STEPS) else 1


def _pool(found: Setup, kept: Layout) -> Pool:
    if found.engine == "llama.cpp":
        return CellPool(groups=kept.groups, step_tokens=found.step_tokens)
    if kept.flat:
        return FlatPool(token_bytes=kept.token_bytes, block_tokens=found.block_tokens)
    if found.engine == "vllm" and found.shape.compression is None:
        drafts = found.question.draft_token_count if found.question.draft_token_count is not None else 0
        return shared_pool(
            kept,
            block_tokens=found.block_tokens,
            step_tokens=found.step_tokens * _steps_in_flight(found),
            state_pages=(2 if found.at_least(0, 20) else 1) + drafts,
            prints_requests=found.at_least(0, 21),
        )
    sglang = found.engine == "sglang"
    return SeparatePools(
        groups=kept.groups,
        block_tokens=found.block_tokens,
        step_tokens=found.step_tokens * _steps_in_flight(found),
        window_ratio=_SGLANG_WINDOW_RATIO if sglang else None,
        state_share=_SGLANG_STATE_SHARE if sglang else None,
        prints_requests=found.engine == "vllm",
    )


def evaluate(question: MemoryQuestion, constants: Constants = DEFAULT) -> Core:
    """Return one evaluation; raises ``InvalidInput`` naming the field that is missing or impossible.

    A shape without layers has no cache; that is answered only where the weights alone decide.
    """
    found = setup(question)
    _check_counts(question)
    kept = _layout(found)
    spent = ledger(found, constants)
    if kept is None and spent.pool_bytes > 0:
        raise InvalidInput.field(
            "shape.layer_count",
            None,
            "is required and absent: the weights fit, so the cache decides",
            "state the layers",
        )
    return Core(found, spent, kept, _pool(found, kept) if kept is not None else None)


def _check_counts(question: MemoryQuestion) -> None:
    used = question.tensor_parallel * question.pipeline_parallel
    if question.accelerator_count is not None and used > question.accelerator_count:
        raise InvalidInput.field(
            "accelerator_count",
            question.accelerator_count,
            f"is below tensor x pipeline = {used}",
            "give more accelerators or smaller parallel sizes",
        )
    layers = question.shape.layer_count
    if layers is not None and question.pipeline_parallel > layers:
        raise InvalidInput.field(
            "parallelism.pipeline", question.pipeline_parallel, f"is above the {layers} layers", f"use at most {layers}"
        )
    experts = question.shape.expert_count
    if experts and question.expert_parallel > 1 and experts % question.expert_parallel:
        raise InvalidInput.field(
            "parallelism.expert",
            question.expert_parallel,
            f"does not divide the {experts} experts",
            f"use a divisor of {experts}",
        )
