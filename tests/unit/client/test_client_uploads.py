"""How files and runs leave."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from tonnage.client import messages, uploads

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_leaves_as_metadata_and_then_chunks_that_are_its_bytes(tmp_path: Path) -> None:
    data = bytes(range(256)) * 3000
    path = tmp_path / "a.json"
    path.write_bytes(data)
    seen: list[tuple[int, int | None]] = []
    with uploads.opened(path, lambda sent, total: seen.append((sent, total))) as upload:
        head, *chunks = uploads.report_messages(upload, uploads.metadata(upload, {"given": {"engine": "vllm"}}))
    assert (head.metadata.filename, head.metadata.size_bytes, dict(head.metadata.given)) == (
        "a.json",
        len(data),
        {"engine": "vllm"},
    )
    assert b"".join(item.chunk for item in chunks) == data
    assert max(len(item.chunk) for item in chunks) == uploads.CHUNK_BYTES
    assert seen[-1] == (len(data), len(data))
    assert [sent for sent, _ in seen] == sorted(sent for sent, _ in seen)


def test_an_open_stream_has_no_size_and_stays_open() -> None:
    stream = io.BytesIO(b"abc")
    with uploads.opened(stream, None) as upload:
        head = uploads.metadata(upload, {"filename": "given.csv"})
        assert [item.chunk for item in list(uploads.convert_messages(upload, head))[1:]] == [b"abc"]
    assert not head.HasField("size_bytes")
    assert head.filename == "given.csv"
    assert not stream.closed


def test_what_reading_raised_is_kept() -> None:
    class Torn(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError(5, "disk gone", size)

    with uploads.opened(Torn(), None) as upload:  # type: ignore[arg-type]  # only read is asked for
        with pytest.raises(OSError, match="disk gone"):
            list(uploads.report_messages(upload, uploads.metadata(upload, {})))
        assert upload.error is not None


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (200, [100, 100]), (201, [100, 100, 1])])
def test_runs_leave_in_batches_after_the_metadata(count: int, sizes: list[int]) -> None:
    head, *batches = uploads.runs_messages((messages.Run() for _ in range(count)), messages.IngestRunsMetadata())
    assert head.HasField("metadata")
    assert [len(item.batch.runs) for item in batches] == sizes
