"""The read-only side of the lake: whether it is there, and its newest snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tonnage.errors import StoreUnavailable
from tonnage.store.migrations import refuse_newer, schema_version
from tonnage.store.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    import duckdb

    from tonnage.store.lake.site import Source


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the feed of one catalog file; another file (a restored store) is another feed."""

    catalog: tuple[int, int]
    snapshot_id: int

    def follows(self, other: Position) -> bool:
        """Tell whether the feed leads from ``other`` to here."""
        return self.catalog == other.catalog and self.snapshot_id >= other.snapshot_id


class Feed:
    """Attaches the lake as soon as it is there."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, source: Source) -> None:
        self._cursor = connection.cursor()
        self._source = source
        self._catalog: tuple[int, int] | None = None

    def position(self) -> Position:
        """Return the newest position.

        Raises ``StoreUnavailable`` while there is no store, ``SchemaTooNew``, or ``duckdb.Error``.
        """
        catalog = self._source.identity()
        if self._catalog != catalog:
            self._attach(catalog)
        found = self._cursor.execute("SELECT id FROM lake.current_snapshot()").fetchone()
        if found is None:
            raise StoreUnavailable(f"the store in {self._source.name} has no snapshot")
        return Position(catalog, int(found[0]))

    def _check_schema(self) -> None:
        """Refuse a store whose schema is not this release's; raise ``SchemaTooNew`` or ``StoreUnavailable``."""
        version = schema_version(self._cursor)
        refuse_newer(version, SCHEMA_VERSION)
        if version < SCHEMA_VERSION:
            raise StoreUnavailable(
                f"the store in {self._source.name} has schema {version}, this release needs {SCHEMA_VERSION}; "
                "start ingest of this release, which brings it up"
            )

    def _attach(self, catalog: tuple[int, int]) -> None:
        self._detach()
        self._source.attach(self._cursor, read_only=True)
        self._catalog = catalog
        try:
            self._check_schema()
        except BaseException:
            self._detach()
            raise

    def _detach(self) -> None:
        if self._catalog is not None:
            self._cursor.execute("DETACH lake")
            self._catalog = None
