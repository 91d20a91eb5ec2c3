"""Turning files and runs into the messages of an upload."""

from __future__ import annotations

import io
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, TypedDict

from tonnage.v1 import ingest_service_pb2 as ingest_pb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tonnage.v1.run_pb2 import Run

CHUNK_BYTES: Final = 256 << 10
RUNS_PER_BATCH: Final = 100

ReportSource = str | os.PathLike[str] | IO[bytes] | bytes


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
