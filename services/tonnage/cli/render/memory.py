"""A memory fit as people read it: the verdict, the ledger, what fits, and ways out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tonnage.cli.output import facts, field, gib, number, table, word
from tonnage.cli.render.findings import findings
from tonnage.client import messages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table

_STYLES = {messages.FIT_VERDICT_FITS: "bold green", messages.FIT_VERDICT_TIGHT: "bold yellow"}


def fit(answer: messages.MemoryFit) -> Iterator[RenderableType]:
    """Yield the parts of a memory fit."""
    style = _STYLES.get(answer.verdict, "bold red")
    yield Text(word(messages.FitVerdict, answer.verdict).upper(), style=style)
    yield _ledger(answer)
    yield facts(_facts(answer))
    if answer.remedies:
        rows = [(item.change, item.value, item.message) for item in answer.remedies]
        yield table("Ways out", ("change", "to", "why"), rows)
    yield from findings(answer.findings)


def _ledger(answer: messages.MemoryFit) -> Table:
    rows = []
    for term in answer.terms:
        interval = f"{gib(term.low_bytes)} to {gib(term.high_bytes)}" if term.HasField("high_bytes") else ""
        name = word(messages.MemoryTermKind, term.kind)
        binds = "  <- binds" if term.kind == answer.binding_term else ""
        rows.append((name + binds, gib(term.bytes), interval, word(messages.Origin, term.origin), term.note))
        rows += [(f"  {part.name}", gib(part.bytes), "", "", part.note) for part in term.parts]
    return table("One accelerator", ("term", "bytes", "interval", "origin", "note"), rows, right=(1,))


def _facts(answer: messages.MemoryFit) -> Iterator[tuple[str, str]]:
    yield "sum", answer.equation
    yield "card", f"{gib(answer.total_bytes)}, of which the engine may use {gib(answer.budget_bytes)}"
    tokens = number(field(answer, "kv_pool_tokens"))
    yield "cache pool", f"{gib(answer.kv_pool_bytes)}, {tokens} tokens, {answer.block_tokens} a block"
    if answer.HasField("printed_tokens") and answer.printed_tokens != answer.kv_pool_tokens:
        yield "engine prints", f"{number(answer.printed_tokens)} tokens, which is no count of rows here"
    fixed = f", {number(answer.kv_fixed_bytes_per_request)} a request" if answer.kv_fixed_bytes_per_request else ""
    yield "cache need", f"{gib(answer.kv_needed_bytes)}; {number(answer.kv_bytes_per_token)} bytes a token{fixed}"
    yield "requests", f"{answer.requests_reserved} as reserved, {answer.requests_steady} while decoding"
    yield "longest request", f"{number(field(answer, 'max_request_tokens'))} tokens at the asked concurrency"
    yield "full length", f"{number(field(answer, 'full_length_requests'))} requests"
    yield "accelerators", f"{number(field(answer, 'smallest_accelerator_count'))} are the fewest that fit"
    yield "prefill", answer.prefill_mode
    yield "ledger of", answer.rank
    if answer.assumed:
        yield "assumed", ", ".join(answer.assumed)


_CELLS = {messages.FIT_VERDICT_FITS: "fits", messages.FIT_VERDICT_TIGHT: "tight"}


def memory_map(found: messages.MemoryMap) -> Iterator[RenderableType]:
    """Yield the map of lengths and concurrencies; nothing where none was asked for."""
    if not found.columns:
        return
    rows = [
        (
            number(column.request_tokens),
            number(column.largest_reserved_count),
            *(_CELLS.get(verdict, "no") for verdict in column.verdicts),
        )
        for column in found.columns
    ]
    names = ("tokens", "at once", *(number(count) for count in found.concurrencies))
    yield table("Length by requests at once", names, rows, right=(0, 1))
