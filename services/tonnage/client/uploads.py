"""Turning files and runs into the messages of an upload."""

from __future__ import annotations

import io
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypedDict

from tonnage.client.errors import BadInput
from tonnage.v1 import ingest_service_pb2 as ingest_pb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tonnage.v1.run_pb2 import Run

CHUNK_BYTES: Final = 256 << 10
RUNS_PER_BATCH: Final = 100
ARROW_ROWS_PER_MESSAGE: Final = 10_000
ARROW_MESSAGE_BYTES: Final = (16 << 20) - (64 << 10)
# The marker that ends an IPC stream (continuation, then no length).
_END_OF_STREAM: Final = b"\xff\xff\xff\xff\x00\x00\x00\x00"

ReportSource = str | os.PathLike[str] | IO[bytes] | bytes
ArrowSource: TypeAlias = "bytes | Iterable[bytes | ArrowBatch]"


class ReportOptions(TypedDict, total=False):
    """What may be said beside a file; see ``ReportMetadata``."""

    namespace: str
    request_id: str
    filename: str
    format: str
    given: Mapping[str, str]
    column_map: Mapping[str, str]
    sweep_id: str
    default_sweep_id: str
    replace: bool
    ingested_by: str
    ci_job: str


class RunsOptions(TypedDict, total=False):
    """What may be said beside runs; see ``IngestRunsMetadata``."""

    namespace: str
    request_id: str
    ingested_by: str
    ci_job: str


@dataclass(slots=True)
class Upload:
    """An open file on its way out; ``error`` keeps what reading it raised.

    gRPC takes the chunks in a thread of its own and tells nobody what went wrong there.
    """

    file: IO[bytes]
    filename: str
    size_bytes: int | None
    on_progress: Callable[[int, int | None], None] | None = None
    error: OSError | None = None

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes, reporting how many went out."""
        sent_bytes = 0
        while chunk := self._read():
            sent_bytes += len(chunk)
            yield chunk
            if self.on_progress is not None:
                self.on_progress(sent_bytes, self.size_bytes)

    def _read(self) -> bytes:
        try:
            return self.file.read(CHUNK_BYTES)
        except OSError as error:
            self.error = error
            raise


@contextmanager
def opened(source: ReportSource, on_progress: Callable[[int, int | None], None] | None) -> Iterator[Upload]:
    """Open a path, bytes or a binary file; a file that came open stays open. Raises ``OSError``."""
    if isinstance(source, bytes):
        yield Upload(io.BytesIO(source), "", len(source), on_progress)
    elif isinstance(source, (str, os.PathLike)):
        path = Path(source)
        with path.open("rb") as file:
            yield Upload(file, path.name, os.fstat(file.fileno()).st_size, on_progress)
    else:
        yield Upload(source, Path(str(getattr(source, "name", ""))).name, None, on_progress)


def metadata(upload: Upload, options: ReportOptions, *, validate_only: bool = False) -> ingest_pb.ReportMetadata:
    """Return the first message of an upload; a name given in ``options`` wins over the file's own."""
    head = ingest_pb.ReportMetadata(validate_only=validate_only, **options)
    if not head.filename:
        head.filename = upload.filename
    if upload.size_bytes is not None:
        head.size_bytes = upload.size_bytes
    return head


def report_messages(upload: Upload, head: ingest_pb.ReportMetadata) -> Iterator[ingest_pb.IngestReportRequest]:
    """Yield the metadata, then the chunks."""
    yield ingest_pb.IngestReportRequest(metadata=head)
    for chunk in upload.chunks():
        yield ingest_pb.IngestReportRequest(chunk=chunk)


def convert_messages(upload: Upload, head: ingest_pb.ReportMetadata) -> Iterator[ingest_pb.ConvertReportRequest]:
    """Yield the metadata, then the chunks, of a dry run."""
    yield ingest_pb.ConvertReportRequest(metadata=head)
    for chunk in upload.chunks():
        yield ingest_pb.ConvertReportRequest(chunk=chunk)


def runs_messages(runs: Iterable[Run], head: ingest_pb.IngestRunsMetadata) -> Iterator[ingest_pb.IngestRunsRequest]:
    """Yield the metadata, then the runs in batches."""
    yield ingest_pb.IngestRunsRequest(metadata=head)
    for batch in batched(runs, RUNS_PER_BATCH):
        yield ingest_pb.IngestRunsRequest(batch=ingest_pb.RunBatch(runs=batch))


class Watched:
    """Messages on their way out; ``error`` keeps what making them raised.

    gRPC takes them in a thread of its own and tells nobody what went wrong there.
    """

    def __init__(self, messages: Iterator[ingest_pb.IngestRunsRequest]) -> None:
        self._messages = messages
        self.error: Exception | None = None

    def __iter__(self) -> Iterator[ingest_pb.IngestRunsRequest]:
        """Yield the messages."""
        try:
            yield from self._messages
        except Exception as error:
            self.error = error
            raise


class ArrowBatch(Protocol):
    """A pyarrow ``RecordBatch``, as far as it is used."""

    num_rows: int
    nbytes: int
    schema: Any

    def serialize(self) -> Any:  # noqa: ANN401 -- a pyarrow Buffer
        """Return the batch as an encapsulated IPC message."""
        ...

    def slice(self, offset: int = 0, length: int | None = None) -> ArrowBatch:
        """Return some of the rows."""
        ...


def arrow_messages(source: ArrowSource, head: ingest_pb.IngestRunsMetadata) -> Iterator[ingest_pb.IngestRunsRequest]:
    """Yield the metadata, then tables: whole IPC streams as they are, batches in messages of at most 10,000 rows.

    Raises ``BadInput`` for what is no table and for columns that do not travel batch by batch.
    """
    yield ingest_pb.IngestRunsRequest(metadata=head)
    for data in _streams(source):
        if len(data) > ARROW_MESSAGE_BYTES:
            raise BadInput.field("source", f"holds a table of {len(data)} bytes; {ARROW_MESSAGE_BYTES} fit a message")
        yield ingest_pb.IngestRunsRequest(arrow_ipc=data)


def _streams(source: ArrowSource) -> Iterator[bytes]:
    if isinstance(source, bytes):
        yield source
        return
    held: Any = source
    for item in held.to_batches() if hasattr(held, "to_batches") else held:
        if isinstance(item, bytes):
            yield item
        elif hasattr(item, "serialize"):
            yield from map(_stream, _sliced(item))
        else:
            raise BadInput.field("source", f"holds a {type(item).__name__}; give tables, batches or IPC streams")


def _sliced(batch: ArrowBatch) -> Iterator[ArrowBatch]:
    row_bytes = max(1, batch.nbytes // max(1, batch.num_rows))
    step = max(1, min(ARROW_ROWS_PER_MESSAGE, ARROW_MESSAGE_BYTES // (2 * row_bytes)))
    for offset in range(0, batch.num_rows, step):
        yield batch.slice(offset, step)


def _stream(batch: ArrowBatch) -> bytes:
    """Return one batch as a whole IPC stream: schema, batch, end."""
    for item in batch.schema:
        if hasattr(item.type, "index_type"):
            problem = f"column {item.name} is dictionary-encoded; cast it to its values, or send IPC streams as bytes"
            raise BadInput.field("source", problem)
    return b"".join((bytes(batch.schema.serialize()), bytes(batch.serialize()), _END_OF_STREAM))


def batched(runs: Iterable[Run], size: int) -> Iterator[Sequence[Run]]:
    """Yield lists of at most ``size``."""
    batch: list[Run] = []
    for run in runs:
        batch.append(run)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
