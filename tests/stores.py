"""A writer with a reader that follows it, for every back end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tonnage.store.base import Snapshot, StoreReader, StoreWriter


@dataclass(frozen=True)
class Store:
    """A writer, and a reader that follows it."""

    writer: StoreWriter
    reader: StoreReader

    def snapshot(self) -> Snapshot:
        """Return the state that holds everything acknowledged so far."""
        return self.reader.wait_for(self.writer.data_version, 10)
