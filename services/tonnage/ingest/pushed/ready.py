"""A stream of runs that is ready to be stored, in words without messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tonnage.ingest.requests import BulkRun
    from tonnage.store.base import AppendTables


@dataclass(frozen=True, slots=True)
class Pushed:
    """A whole stream of many runs; ``told`` has every run in its order, those sent twice among them."""

    tables: AppendTables
    told: tuple[BulkRun, ...]
