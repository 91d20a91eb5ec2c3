"""The protocol of a reader: what it is handed, and what it yields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run

HEAD_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The start of a file, decompressed and decoded, from which readers tell whether it is theirs.

    ``kind`` is one of empty, json-object, json-lines, json-array, yaml, table, text, parquet, binary.
    ``document`` is the JSON or YAML value: whole when ``document_is_whole``, else what could be read of its
    start; for JSON lines it is the first line's value. ``keys`` are the keys of the document, or of its first
    element where it is a list; ``columns`` the header cells of a table.
    """

    text: str
    document: object | None = None
    document_is_whole: bool = False
    keys: frozenset[str] = frozenset()
    columns: tuple[str, ...] = ()
    kind: str = "text"
    filename: str = ""
    binary: bytes = b""

    @property
    def first(self) -> dict[str, object]:
        """Return the document, or its first element where it is a list; empty when neither is an object."""
        value = self.document
        if isinstance(value, list):
            value = value[0] if value else None
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A reader's claim on a file: higher ``score`` is surer (100 is a unique mark), ``why`` is for people."""

    score: int
    why: str


@dataclass(frozen=True, slots=True)
class Definition:
    """How one tool means a metric: ours, the tool's own name for it, and the words."""

    metric: str
    tool_field: str
    definition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file to read: ``open_binary`` gives fresh decompressed UTF-8 bytes each time.

    ``size_bytes`` is that of the upload, before decompression. ``options`` hold what the caller declares of
    the file (``decimal``: "," for decimal commas).
    """

    open_binary: Callable[[], IO[bytes]]
    filename: str
    size_bytes: int
    head: Head
    column_map: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)


class ToolFormat:
    """What a reader states of itself; helpers take the class, so that a module's parts need no instance."""

    name: ClassVar[str]
    title: ClassVar[str]
    recognised_by: ClassVar[str]
    metric_definitions: ClassVar[str]
    definitions: ClassVar[Sequence[Definition]]
    expects: ClassVar[Sequence[Sequence[str]]]


@runtime_checkable
class Format(Protocol):
    """Reads the files of one load tool.

    ``expects`` lists the keys or columns of each layout, for the hint on a file that nobody recognises.
    """

    @property
    def name(self) -> str:
        """Kebab-case name, stable."""
        ...

    @property
    def title(self) -> str:
        """Name for people."""
        ...

    @property
    def recognised_by(self) -> str:
        """How a file is told from others, for people."""
        ...

    @property
    def metric_definitions(self) -> str:
        """Id of the definitions below; runs of unlike ids are never compared silently."""
        ...

    @property
    def definitions(self) -> Sequence[Definition]:
        """What the tool's metrics mean."""
        ...

    @property
    def expects(self) -> Sequence[Sequence[str]]:
        """Keys or columns of each layout."""
        ...

    def recognises(self, head: Head) -> Match | None:
        """Tell from the first bytes whether the file is ours."""
        ...

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield what the file says, in our units, each level with where it stands.

        Raises ``MalformedReport`` naming the place; memory stays bounded for per-request files.
        """
        ...
