"""The VRAM ledger as slices of a bar, figures and rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage_ui import numbers
from tonnage_ui.messages import count_of, enum_word, number_of, pb
from tonnage_ui.presenters.plan import Figure, Headline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage_ui.words import Words

_TONES: Final = {"fits": "success", "tight": "warning", "does_not_fit": "error"}
_LEVELS: Final = {"fits": 2, "tight": 1, "does_not_fit": 0}


@dataclass(frozen=True, slots=True)
class Slice:
    """One term of the ledger."""

    name: str
    gib: float
    detail: str
    origin: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """One accelerator's need, term by term, against the card and the engine's budget, GiB."""

    rank: str
    slices: tuple[Slice, ...]
    total_gib: float
    budget_gib: float


@dataclass(frozen=True, slots=True)
class Cell:
    """One question of the map and its answer; ``level`` is 2 fits, 1 tight, 0 does not fit."""

    column: int
    row: int
    level: int
    label: str


@dataclass(frozen=True, slots=True)
class FitMap:
    """Request length across, requests at once upwards."""

    lengths: tuple[str, ...]
    concurrencies: tuple[str, ...]
    cells: tuple[Cell, ...]


def headline(fit: pb.MemoryFit, words: Words) -> Headline:
    """Return the verdict with the term that binds."""
    verdict = enum_word(fit, "verdict")
    binding = words.known("term", enum_word(fit, "binding_term"))
    return Headline(_TONES.get(verdict, "info"), words.known("fit", verdict), words("vram.binding", term=binding))


def figures(fit: pb.MemoryFit, words: Words) -> list[Figure]:
    """Return what fits, in large letters."""
    return [
        Figure(
            words("vram.requests_reserved"), numbers.count(fit.requests_reserved), words("vram.requests_reserved_help")
        ),
        Figure(words("vram.requests_steady"), numbers.count(fit.requests_steady), words("vram.requests_steady_help")),
        Figure(words("vram.longest"), numbers.count(count_of(fit, "max_request_tokens")), words("vram.longest_help")),
        Figure(
            words("vram.smallest"),
            numbers.count(count_of(fit, "smallest_accelerator_count")),
            words("vram.smallest_help"),
        ),
    ]


def ledger(fit: pb.MemoryFit, words: Words) -> Ledger:
    """Return the ledger of the worst accelerator."""
    return Ledger(
        rank=fit.rank,
        slices=tuple(
            Slice(
                words.known("term", enum_word(term, "kind")),
                numbers.as_gib(term.bytes),
                numbers.gib(term.bytes),
                words.known("origin", enum_word(term, "origin")),
            )
            for term in fit.terms
        ),
        total_gib=numbers.as_gib(fit.total_bytes),
        budget_gib=numbers.as_gib(fit.budget_bytes),
    )


def term_rows(fit: pb.MemoryFit, words: Words) -> list[dict[str, str]]:
    """Return every term with its interval, origin and parts."""
    return [
        {
            words("column.term"): words.known("term", enum_word(term, "kind")),
            words("column.size_gib"): numbers.gib(term.bytes),
            words("column.interval"): _interval(term),
            words("column.origin"): words.known("origin", enum_word(term, "origin")),
            words("column.parts"): numbers.text(
                ", ".join(f"{part.name} {numbers.size(part.bytes)}" for part in term.parts)
            ),
            words("column.note"): numbers.text(term.note),
        }
        for term in fit.terms
    ]


def cache_rows(fit: pb.MemoryFit, words: Words) -> list[dict[str, str]]:
    """Return the cache's numbers: those shown together multiply."""
    pairs = (
        ("kv_pool", numbers.gib(fit.kv_pool_bytes)),
        ("kv_needed", numbers.gib(fit.kv_needed_bytes)),
        ("kv_per_token", f"{numbers.count(fit.kv_bytes_per_token)} B"),
        ("kv_per_request", f"{numbers.count(fit.kv_fixed_bytes_per_request)} B"),
        ("kv_pool_tokens", numbers.count(count_of(fit, "kv_pool_tokens"))),
        ("block_tokens", numbers.count(fit.block_tokens)),
        ("full_length", numbers.number(number_of(fit, "full_length_requests"))),
        ("model_weights", numbers.gib(fit.model_weights_bytes)),
        ("prefill_mode", words.known("prefill", fit.prefill_mode)),
    )
    return [{words("column.figure"): words(f"cache.{key}"), words("column.value"): value} for key, value in pairs]


def remedy_rows(fit: pb.MemoryFit, words: Words) -> list[dict[str, str]]:
    """Return the changes that would turn the verdict."""
    return [
        {
            words("column.change"): words.known("remedy", remedy.change),
            words("column.new_value"): remedy.value,
            words("column.effect"): remedy.message,
        }
        for remedy in fit.remedies
    ]


def fit_map(lengths: Sequence[int], concurrencies: Sequence[int], fits: Sequence[pb.MemoryFit], words: Words) -> FitMap:
    """Return the map of answers given row by row: all lengths of the first concurrency first."""
    columns = len(lengths)
    cells = tuple(
        Cell(
            position % columns, position // columns, _LEVELS.get(enum_word(fit, "verdict"), 0), _cell_label(fit, words)
        )
        for position, fit in enumerate(fits)
    )
    return FitMap(
        tuple(numbers.count(length) for length in lengths),
        tuple(numbers.count(concurrency) for concurrency in concurrencies),
        cells,
    )


def _cell_label(fit: pb.MemoryFit, words: Words) -> str:
    return words(f"fit_short.{enum_word(fit, 'verdict')}")


def _interval(term: pb.MemoryTerm) -> str:
    low, high = count_of(term, "low_bytes"), count_of(term, "high_bytes")
    if low is None or high is None:
        return numbers.DASH
    return f"{numbers.gib(low)} … {numbers.gib(high)}"
