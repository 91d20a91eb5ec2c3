"""Files are read through compression and encodings, or refused with the reason."""

from __future__ import annotations

import gzip
import io

import pyarrow as pa
import pytest
from builders_formats import of_bytes, of_text

from tonnage.errors import InvalidInput, MalformedReport, TooLarge
from tonnage.formats import open_source

TEXT = '{"model_id": "é", "completed": 3, "output_throughput": 1.5}\n'


def content(data: bytes) -> str:
    with of_bytes(data).open_binary() as stream:
        return stream.read().decode()


def zstd(data: bytes) -> bytes:
    """Return a whole zstd frame."""
    packed: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return packed


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        gzip.compress(TEXT.encode(), mtime=0),
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.encode("utf-16"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
        gzip.compress(TEXT.encode("utf-16"), mtime=0),
        zstd(TEXT.encode()),
    ],
    ids=["plain", "gzip", "byte-order mark", "utf-16", "utf-16-le", "utf-16-be", "gzip of utf-16", "zstd"],
)
def test_content_is_the_same_through_compression_and_encoding(data: bytes) -> None:
    assert content(data) == TEXT
    assert of_bytes(data).head.keys == {"model_id", "completed", "output_throughput"}


def test_a_source_can_be_opened_again() -> None:
    source = of_text(TEXT)
    for _ in range(2):
        with source.open_binary() as stream:
            assert stream.read().decode() == TEXT


@pytest.mark.parametrize("data", [b"", b"  \n\t ", gzip.compress(b"", mtime=0), b"\xef\xbb\xbf"])
def test_a_file_without_content_is_refused_as_empty(data: bytes) -> None:
    with pytest.raises(MalformedReport, match="is empty"):
        of_bytes(data)


def test_a_cut_off_gzip_is_refused() -> None:
    with pytest.raises(MalformedReport, match="broken gzip"):
        of_bytes(gzip.compress(TEXT.encode() * 1000)[:-20])


def test_bytes_that_only_look_like_zstd_are_refused() -> None:
    with pytest.raises(MalformedReport, match="broken zstd"):
        of_bytes(b"\x28\xb5\x2f\xfd" + b"nonsense" * 10)


def test_an_archive_is_refused_by_its_kind() -> None:
    with pytest.raises(MalformedReport, match=r"archive.*zip"):
        of_bytes(b"PK\x03\x04" + b"\0" * 100)


def test_what_grows_beyond_the_limit_is_refused() -> None:
    bomb = gzip.compress(b" " * 5_000_000 + TEXT.encode())
    with pytest.raises(TooLarge, match="1000000 bytes"):
        open_source(lambda: io.BytesIO(bomb), filename="x", size_bytes=len(bomb), max_decompressed_bytes=1_000_000)


def test_broken_utf_16_is_refused() -> None:
    with pytest.raises(MalformedReport, match="is not utf-16 text"):
        content(b"\xff\xfe" + TEXT.encode("utf-16-le") + b"\x00")


def test_a_decimal_comma_can_be_declared_in_the_column_map() -> None:
    source = of_text("a;b\n1,5;2\n", column_map={"decimal": ",", "requests_per_s": "a"})
    assert source.options == {"decimal": ","}
    assert source.column_map == {"requests_per_s": "a"}


def test_an_unknown_decimal_mark_is_refused() -> None:
    with pytest.raises(InvalidInput, match="decimal"):
        of_text("a;b\n1;2\n", column_map={"decimal": "'"})


@pytest.mark.parametrize(
    "data", [TEXT.encode(), gzip.compress(TEXT.encode(), mtime=0), zstd(TEXT.encode()), TEXT.encode("utf-16")]
)
def test_closing_a_stream_closes_the_file_under_it(data: bytes) -> None:
    opened: list[io.BytesIO] = []

    def open_raw() -> io.BytesIO:
        opened.append(io.BytesIO(data))
        return opened[-1]

    source = open_source(open_raw, filename="x", size_bytes=len(data))
    with source.open_binary() as stream:
        stream.read()
    assert len(opened) == 2
    assert all(file.closed for file in opened)
