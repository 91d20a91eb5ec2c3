"""The protocol of a reader: what it is handed, and what it yields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run

HEAD_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The start of a file, decompressed and decoded, from which readers tell whether it is theirs.

    ``document`` is the whole JSON object or the first element where the file is small or the head
    suffices to parse it; ``keys`` are the top-level JSON keys seen; ``columns`` the header cells of a table.
    """

    text: str
    document: object | None = None
    keys: frozenset[str] = frozenset()
    columns: tuple[str, ...] = ()
    kind: str = "text"
    filename: str = ""
    binary: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A reader's claim on a file: higher ``score`` is surer (100 is a unique mark), ``why`` is for people."""

    score: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """How one tool means a metric: ours, the tool's own name for it, and the words."""

    metric: str
    tool_field: str
    definition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file to read: ``open_binary`` gives fresh decompressed UTF-8 bytes each time."""

    open_binary: Callable[[], IO[bytes]]
    filename: str
    size_bytes: int
    head: Head
    column_map: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class Format(Protocol):
    """Reads the files of one load tool."""

    name: str
    title: str
    recognised_by: str
    metric_definitions: str
    definitions: Sequence[Definition]

    def recognises(self, head: Head) -> Match | None:
        """Tell from the first bytes whether the file is ours."""
        ...

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield what the file says, in our units, each level with where it stands.

        Raises ``MalformedReport`` naming the place; memory stays bounded for per-request files.
        """
        ...
