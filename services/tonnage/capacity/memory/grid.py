"""The context x concurrency map: which lengths fit how many times at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tonnage import checks
from tonnage.capacity.memory.constants import DEFAULT, Constants
from tonnage.capacity.memory.core import SPARE, evaluate
from tonnage.domain.memory import FitVerdict
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.memory.core import Core
    from tonnage.domain.memory import MemoryQuestion

MOST_CELLS: Final = 250_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One request length and what it comes to."""

    request_tokens: int
    request_bytes: int
    """Bytes of one request on one accelerator, as admitted."""
    pool_bytes: int
    largest_reserved_count: int
    """Requests that fit as admitted."""
    largest_steady_count: int
    """Requests that fit while decoding."""
    prefill_mode: str
    """Either chunked or whole; whole prompts shrink the pool as they grow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMap:
    """Verdicts by length (outer) and concurrency (inner), in the asked order."""

    columns: tuple[Column, ...]
    concurrencies: tuple[int, ...]
    verdicts: tuple[tuple[FitVerdict, ...], ...]


def _column(core: Core, tokens: int) -> Column:
    return Column(
        request_tokens=tokens,
        request_bytes=core.request_bytes(tokens),
        pool_bytes=core.pool_bytes,
        largest_reserved_count=core.requests(tokens),
        largest_steady_count=core.requests(tokens, steady=True),
        prefill_mode="chunked" if core.setup.chunked else "whole",
    )


def _verdicts(column: Column, concurrencies: Sequence[int], *, at_risk: bool) -> tuple[FitVerdict, ...]:
    """Return the verdict of each concurrency; the counts at which it turns are the column's, not the cell's."""
    most = column.largest_steady_count if column.largest_reserved_count >= 1 else 0
    each = column.request_bytes
    easy = 0 if at_risk or not each else math.floor((1 - SPARE) * max(0, column.pool_bytes) / each)
    return tuple(
        FitVerdict.DOES_NOT_FIT if count > most else FitVerdict.TIGHT if count > easy else FitVerdict.FITS
        for count in concurrencies
    )


def memory_map(
    question: MemoryQuestion,
    request_tokens: Sequence[int],
    concurrencies: Sequence[int],
    constants: Constants = DEFAULT,
) -> MemoryMap:
    """Return the verdict of every pair of a length and a concurrency.

    Without chunked prefill each length is asked with itself as the engine's longest, since
    the pool depends on it. Raises ``InvalidInput`` for empty or over-large axes and
    whatever ``fit`` refuses.
    """
    checks.not_empty("request_tokens", request_tokens)
    checks.not_empty("concurrencies", concurrencies)
    for index, tokens in enumerate(request_tokens):
        checks.count(f"request_tokens[{index}]", tokens)
    for index, concurrency in enumerate(concurrencies):
        checks.count(f"concurrencies[{index}]", concurrency)
    cells = len(request_tokens) * len(concurrencies)
    if cells > MOST_CELLS:
        raise InvalidInput.field("request_tokens", cells, "makes too many cells", f"ask for at most {MOST_CELLS:,}")
    base = evaluate(replace(question, request_tokens=None, concurrency=None), constants)
    columns, verdicts = [], []
    for tokens in request_tokens:
        core = base
        if not base.setup.chunked:
            core = evaluate(replace(question, max_model_len=tokens, request_tokens=None, concurrency=None), constants)
        column = _column(core, tokens)
        at_risk = core.late_risk is not None
        columns.append(column)
        verdicts.append(_verdicts(column, concurrencies, at_risk=at_risk))
    return MemoryMap(columns=tuple(columns), concurrencies=tuple(concurrencies), verdicts=tuple(verdicts))
