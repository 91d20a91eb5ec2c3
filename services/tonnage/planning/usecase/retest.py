"""What has to be measured again, nearest configuration first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tonnage.capacity import notes
from tonnage.capacity.retest import Planned, RetestItem, check, nearness
from tonnage.errors import at
from tonnage.planning.usecase.listing import Listing, cut
from tonnage.planning.usecase.names import normalized
from tonnage.rpc import paging

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from tonnage.domain.finding import Finding
    from tonnage.planning.usecase.book import CurveBook
    from tonnage.store.base import ConfigurationFacts, Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class RetestAsked:
    """What is planned, and which page; ``planned`` with nothing stated checks every configuration against itself."""

    namespace: str
    planned: Planned
    fingerprint: str | None
    as_of: date
    max_age_days: int
    page_size: int
    page_token: str


def retest(asked: RetestAsked, snapshot: Snapshot, book: CurveBook) -> tuple[Listing[RetestItem], tuple[Finding, ...]]:
    """Return measured configurations against what is planned, fewest grave changes first.

    Raises ``AmbiguousName`` for a card that means several.
    """
    with at("planned"):
        wanted = normalized(asked.planned.configuration)
    planned = replace(asked.planned, configuration=wanted)
    known = snapshot.configurations(asked.namespace)
    if asked.fingerprint is not None:
        known = [facts for facts in known if facts.fingerprint == asked.fingerprint]
    elif wanted.model is not None:
        known = [facts for facts in known if facts.configuration.model == wanted.model]
    near = sorted(known, key=lambda facts: (nearness(facts.configuration, wanted), facts.fingerprint))
    digest = paging.query_digest("retest", asked.namespace, planned, asked.fingerprint, asked.as_of, asked.max_age_days)
    page = cut(near, asked.page_size, asked.page_token, digest, snapshot.data_version)
    items = tuple(_checked(facts, planned, asked, snapshot, book) for facts in page.rows)
    listing = Listing(
        rows=items,
        next_page_token=page.next_page_token,
        total_count=page.total_count,
        data_version=page.data_version,
    )
    return listing, _overall(near, asked, wanted.model)


def _checked(
    facts: ConfigurationFacts, planned: Planned, asked: RetestAsked, snapshot: Snapshot, book: CurveBook
) -> RetestItem:
    held = book.held(snapshot, asked.namespace, facts)
    sweeps = [(item.curve, sweep.runs) for item, sweep in zip(held.curves.sweeps, held.sweeps, strict=True)]
    return check(facts.configuration, sweeps, planned, asked.as_of, asked.max_age_days)


def _overall(near: Sequence[ConfigurationFacts], asked: RetestAsked, model: str | None) -> tuple[Finding, ...]:
    if near:
        return ()
    what = f"fingerprint {asked.fingerprint}" if asked.fingerprint is not None else model or "any model"
    return (
        notes.error(
            "NO_MEASURED_RUN",
            f"no live run of {what} is stored in {asked.namespace}, so everything is to be measured",
            path="planned",
            remedy="measure low, typical, peak, burst and soak",
        ),
    )
