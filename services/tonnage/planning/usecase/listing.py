"""Lists of what is stored, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from tonnage.errors import InvalidInput
from tonnage.planning.usecase.book import matching
from tonnage.planning.usecase.names import normalized
from tonnage.rpc import paging
from tonnage.store.base import Page, RunFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.domain.configuration import Configuration
    from tonnage.domain.measurement import Run
    from tonnage.store.base import ConfigurationFacts, Retirement, Snapshot

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAsked:
    """What is listed; fields of ``configuration`` that are stated must match."""

    namespace: str
    configuration: Configuration
    fingerprint: str | None
    page_size: int
    page_token: str
    tool: str | None = None
    sweep_id: str | None = None
    include_retired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Generic[Row]):
    """One page, the token of the next one (empty at the end), and the whole count."""

    rows: tuple[Row, ...]
    next_page_token: str
    total_count: int
    data_version: int


def cut(rows: Sequence[Row], size: int, token: str, digest: str, data_version: int) -> Listing[Row]:
    """Return one page of rows that are all in memory.

    Raises ``InvalidInput`` for a size out of range, ``PageTokenStale`` for a token of another query or version.
    """
    limit = paging.page_size(size)
    after = paging.decode_token(token, data_version=data_version, digest=digest)
    begin = _begin(after, token)
    end = begin + limit
    following = str(end) if end < len(rows) else None
    return Listing(
        rows=tuple(rows[begin:end]),
        next_page_token=paging.encode_token(following, data_version=data_version, digest=digest),
        total_count=len(rows),
        data_version=data_version,
    )


def _begin(after: str | None, token: str) -> int:
    if after is None:
        return 0
    if not (after.isascii() and after.isdigit()):
        raise InvalidInput.field("page_token", token, "is not a page token of this list", "begin again without a token")
    return int(after)


def configurations(asked: ListAsked, snapshot: Snapshot) -> Listing[ConfigurationFacts]:
    """Return configurations with live runs, by model, accelerator, engine, then fingerprint."""
    selector = normalized(asked.configuration)
    found = matching(snapshot.configurations(asked.namespace), selector, asked.fingerprint)
    digest = paging.query_digest("configurations", asked.namespace, selector, asked.fingerprint)
    return cut(sorted(found, key=_place), asked.page_size, asked.page_token, digest, snapshot.data_version)


def _place(facts: ConfigurationFacts) -> tuple[str, str, str, str]:
    stated = facts.configuration
    return stated.model or "", stated.accelerator or "", stated.engine or "", facts.fingerprint


def runs(asked: ListAsked, snapshot: Snapshot) -> Listing[Run]:
    """Return runs without levels, newest first."""
    chosen = RunFilter(
        configuration=normalized(asked.configuration),
        fingerprint=asked.fingerprint,
        tool=asked.tool,
        sweep_id=asked.sweep_id,
        include_retired=asked.include_retired,
    )
    digest = paging.query_digest("runs", asked.namespace, chosen)
    version = snapshot.data_version
    limit = paging.page_size(asked.page_size)
    after = paging.decode_token(asked.page_token, data_version=version, digest=digest)
    listed = snapshot.runs(asked.namespace, chosen, Page(limit=limit, after=after))
    rows = cast("tuple[tuple[Run, Retirement | None], ...]", listed.rows)
    return Listing(
        rows=tuple(run for run, _ in rows),
        next_page_token=paging.encode_token(listed.next_after, data_version=version, digest=digest),
        total_count=listed.total_count,
        data_version=version,
    )
