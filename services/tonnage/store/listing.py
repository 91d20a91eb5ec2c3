"""Where a list of runs is cut, for every back end alike: newest first, then by run id."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from tonnage.errors import InvalidInput
from tonnage.store.sweeps import acknowledged_at, sweep_name

if TYPE_CHECKING:
    from tonnage.domain.measurement import Run
    from tonnage.store.base import Page, RunFilter

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Cut:
    """The last row of the page before."""

    ingested_at: datetime
    run_id: str

    @classmethod
    def at(cls, run: Run) -> Cut:
        """Return the cut behind a run."""
        return cls(acknowledged_at(run), run.run_id)

    def text(self) -> str:
        """Return the key as ``Page.after`` carries it."""
        return f"{(self.ingested_at - _EPOCH) // _MICROSECOND}/{self.run_id}"

    def is_before(self, run: Run) -> bool:
        """Tell whether a run comes after the cut."""
        ingested_at = acknowledged_at(run)
        return run.run_id > self.run_id if ingested_at == self.ingested_at else ingested_at < self.ingested_at


def cut_of(page: Page) -> Cut | None:
    """Return where a page starts; raise ``InvalidInput`` for a key that no page gave."""
    if page.limit < 1:
        raise InvalidInput.field("page.limit", page.limit, "is below 1", "give 1 or more")
    if page.after is None:
        return None
    microseconds, slash, run_id = page.after.partition("/")
    try:
        ingested_at = _EPOCH + int(microseconds) * _MICROSECOND
    except (ValueError, OverflowError) as error:
        raise _no_key(page.after) from error
    if not slash or not run_id:
        raise _no_key(page.after)
    return Cut(ingested_at, run_id)


def _no_key(text: str) -> InvalidInput:
    return InvalidInput.field("page.after", text, "is no key of a page", "give next_after of the page before")


def matches(run: Run, chosen: RunFilter) -> bool:
    """Tell whether a run is chosen, its retirement apart."""
    if chosen.configuration is not None and run.configuration.conflicts_with(chosen.configuration):
        return False
    wanted = (
        (chosen.fingerprint, run.configuration.fingerprint),
        (chosen.tool, run.tool),
        (chosen.sweep_id, sweep_name(run)),
    )
    return all(value is None or value == found for value, found in wanted)
