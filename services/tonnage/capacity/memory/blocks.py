"""How engines cut the pool: blocks, shared pages of mixed layers, separate pools, cells.

vLLM gathers mixed layers in groups of equal size and lets one block id reserve a page in
every layer of a group; SGLang sizes one pool per kind; llama.cpp allocates cells as asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from tonnage.capacity.memory.layout import CacheGroup, CacheKind

if TYPE_CHECKING:
    from tonnage.capacity.memory.layout import Layout

_NEARLY_EQUAL: Final = 5 / 4
"""Layer counts within this factor share groups of the larger size."""

_CELL_PADDING: Final = 256


def ceil_div(value: int, by: int) -> int:
    """Return value / by, rounded up."""
    return -(-value // by)


class Pool(Protocol):
    """A cache pool of one rank."""

    @property
    def block_tokens(self) -> int:
        """Return the tokens of one block."""

    def request_bytes(self, tokens: int, *, steady: bool) -> int:
        """Return what one request of a length takes: as admitted, or while decoding (steady)."""

    def usable_bytes(self, pool_bytes: int) -> int:
        """Return the pool after rounding down to whole blocks."""

    def tokens(self, pool_bytes: int) -> int | None:
        """Return the tokens the pool holds; None where layers differ and no flat number exists."""

    def printed_tokens(self, pool_bytes: int, max_len: int) -> int:
        """Return the token count the engine prints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatPool:
    """Every layer keeps every token: blocks of ``block_tokens`` rows over all layers."""

    token_bytes: float
    block_tokens: int

    @property
    def block_bytes(self) -> int:
        """Return the bytes of one block over all layers."""
        return math.ceil(self.token_bytes * self.block_tokens)

    def request_bytes(self, tokens: int, *, steady: bool) -> int:
        """Return whole blocks of the request; steady use is the same."""
        del steady
        return ceil_div(tokens, self.block_tokens) * self.block_bytes

    def usable_bytes(self, pool_bytes: int) -> int:
        """Return whole blocks."""
        return max(0, pool_bytes) // self.block_bytes * self.block_bytes

    def tokens(self, pool_bytes: int) -> int:
        """Return the tokens of whole blocks."""
        return max(0, pool_bytes) // self.block_bytes * self.block_tokens

    def printed_tokens(self, pool_bytes: int, max_len: int) -> int:
        """Return the same; here the printed count is a count of rows."""
        del max_len
        return self.tokens(pool_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PageGroup:
    """One kind of layers inside a shared pool."""

    kind: CacheKind
    group_count: int
    block_tokens: int
    window_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPool:
    """Mixed layers over one pool of pages (vLLM)."""

    groups: tuple[_PageGroup, ...]
    block_bytes: int
    block_tokens: int
    step_tokens: int
    state_pages: int
    prints_requests: bool
    """Newer releases print requests x length as tokens, older ones blocks / groups x block."""

    def request_blocks(self, tokens: int, *, steady: bool) -> int:
        """Return the block ids one request holds over all groups."""
        return sum(group.group_count * self._blocks(group, tokens, steady=steady) for group in self.groups)

    def _blocks(self, group: _PageGroup, tokens: int, *, steady: bool) -> int:
        if group.kind is CacheKind.STATE:
            return self.state_pages
        whole = ceil_div(tokens, group.block_tokens)
        if group.window_tokens is None:
            return whole
        step = 1 if steady else self.step_tokens
        return ceil_div(min(group.window_tokens - 1 + step, tokens), group.block_tokens) + 1

    def request_bytes(self, tokens: int, *, steady: bool) -> int:
        """Return the pages of the request's block ids."""
        return self.request_blocks(tokens, steady=steady) * self.block_bytes

    def usable_bytes(self, pool_bytes: int) -> int:
        """Return whole blocks."""
        return max(0, pool_bytes) // self.block_bytes * self.block_bytes

    def tokens(self, pool_bytes: int) -> None:
        """Return None: a token costs another amount at every length."""
        del pool_bytes

    def printed_tokens(self, pool_bytes: int, max_len: int) -> int:
        """Return what the release prints; neither meaning counts rows."""
        blocks = max(0, pool_bytes) // self.block_bytes
        if self.prints_requests:
            return blocks * max_len // self.request_blocks(max_len, steady=False)
        return blocks // sum(group.group_count for group in self.groups) * self.block_tokens


def _group_size(counts: list[int]) -> int:
    smallest, largest = min(counts), max(counts)
    return largest if largest < smallest * _NEARLY_EQUAL else smallest


def _state_block(attention: CacheGroup, state: CacheGroup, block: int) -> int:
    """Return the attention block stretched until its page holds one state: a multiple of the engine's block."""
    rows = math.ceil(state.state_bytes / attention.token_bytes)
    return ceil_div(rows, block) * block


def shared_pool(
    found: Layout, *, block_tokens: int, step_tokens: int, state_pages: int, prints_requests: bool
) -> SharedPool:
    """Return the pool of mixed layers: pages of one size, groups of one layer count."""
    attention = [group for group in found.groups if group.kind is not CacheKind.STATE]
    states = found.of(CacheKind.STATE)
    block = block_tokens
    for state in states:
        for group in attention:
            block = max(block, _state_block(group, state, block_tokens))
    page = max([int(group.token_bytes * block) for group in attention] + [state.state_bytes for state in states])
    size = _group_size([group.layer_count for group in found.groups])
    pages = tuple(_paged(group, page, block, size) for group in found.groups)
    return SharedPool(
        groups=pages,
        block_bytes=size * page,
        block_tokens=max(group.block_tokens for group in pages),
        step_tokens=step_tokens,
        state_pages=state_pages,
        prints_requests=prints_requests,
    )


def _paged(group: CacheGroup, page: int, block: int, size: int) -> _PageGroup:
    """Return the group with pages of the common size: narrower rows get longer blocks."""
    tokens = block
    if group.kind is not CacheKind.STATE:
        tokens = max(block, int(page // group.token_bytes) // block * block)
    return _PageGroup(
        kind=group.kind,
        group_count=ceil_div(group.layer_count, size),
        block_tokens=tokens,
        window_tokens=group.window_tokens,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SeparatePools:
    """One pool per kind: full rows, window rows at a fixed ratio, state slots (SGLang and the generic engine)."""

    groups: tuple[CacheGroup, ...]
    block_tokens: int
    step_tokens: int
    window_ratio: float | None
    """Window tokens kept for every full token; None keeps exactly what requests need."""
    state_share: float | None
    """State pool as a share of the rest; None keeps exactly what requests need."""
    prints_requests: bool = False
    """The engine prints requests x length as tokens."""

    def _sum(self, kind: CacheKind) -> float:
        return sum((g.token_bytes * g.layer_count for g in self.groups if g.kind is kind), 0.0)

    def request_bytes(self, tokens: int, *, steady: bool) -> int:
        """Return full rows, the window (and, when admitted, the step before it), and the state."""
        total = 0.0
        rounded = ceil_div(tokens, self.block_tokens) * self.block_tokens
        for group in self.groups:
            if group.kind is CacheKind.STATE:
                total += group.layer_count * group.state_bytes
            elif group.window_tokens is None:
                total += rounded * group.token_bytes * group.layer_count
            else:
                kept = group.window_tokens if steady else group.window_tokens - 1 + self.step_tokens
                held = min(rounded, ceil_div(kept, self.block_tokens) * self.block_tokens)
                total += held * group.token_bytes * group.layer_count
        return math.ceil(total)

    def usable_bytes(self, pool_bytes: int) -> int:
        """Return the pool itself."""
        return max(0, pool_bytes)

    def tokens(self, pool_bytes: int) -> None:
        """Return None: a token costs another amount at every length."""
        del pool_bytes

    def printed_tokens(self, pool_bytes: int, max_len: int) -> int:
        """Return the tokens of the full pool."""
        if self.prints_requests:
            return max(0, pool_bytes) * max_len // self.request_bytes(max_len, steady=False)
        rest = float(max(0, pool_bytes))
        if self.state_share is not None and any(group.kind is CacheKind.STATE for group in self.groups):
            rest /= 1 + self.state_share
        ratio = self.window_ratio if self.window_ratio is not None else 0.0
        rate = self._sum(CacheKind.FULL) + ratio * self._sum(CacheKind.WINDOW)
        return int(rest // rate) if rate else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPool:
    """Cells as asked (llama.cpp): full rows per token, a padded window and one state per slot."""

    groups: tuple[CacheGroup, ...]
    step_tokens: int
    block_tokens: int = 1

    def request_bytes(self, tokens: int, *, steady: bool) -> int:
        """Return one slot's cells; a slot holds the window and a micro-batch, padded, however long it runs."""
        del steady
        total = 0.0
        for group in self.groups:
            if group.kind is CacheKind.STATE:
                total += group.layer_count * group.state_bytes
            elif group.window_tokens is None:
                total += tokens * group.token_bytes * group.layer_count
            else:
                cells = ceil_div(group.window_tokens + self.step_tokens, _CELL_PADDING) * _CELL_PADDING
                total += min(tokens, cells) * group.token_bytes * group.layer_count
        return math.ceil(total)

    def usable_bytes(self, pool_bytes: int) -> int:
        """Return the pool itself."""
        return max(0, pool_bytes)

    def tokens(self, pool_bytes: int) -> int | None:
        """Return the cells where every layer keeps every token."""
        if any(group.kind is not CacheKind.FULL for group in self.groups):
            return None
        rate = sum((group.token_bytes * group.layer_count for group in self.groups), 0.0)
        return int(max(0, pool_bytes) // rate)

    def printed_tokens(self, pool_bytes: int, max_len: int) -> int:
        """Return the cells asked for; this engine prints no other count."""
        del pool_bytes
        return max_len
