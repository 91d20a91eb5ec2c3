"""Large JSON is cut to what a summary needs, and taken apart without being held."""

from __future__ import annotations

import io
import json

import pytest
from builders_formats import of_bytes, of_text

from tonnage.errors import MalformedReport
from tonnage.formats.reading.jsontext import elements, lines, loads, whole_document
from tonnage.formats.reading.skim import closed_prefix, skimmed

DOCUMENT = {
    "model": 'a "quoted" [name] {x}, \\ and more',
    "numbers": list(range(5000)),
    "nested": [[1, 2, [3]]] * 3000,
    "texts": ['with ] and , and \\" inside'] * 2000,
    "after": {"kept": True, "few": [1, 2, 3]},
    "none": [],
}


def cut(text: str, chunk_bytes: int = 1 << 20) -> dict[str, list[object]]:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size or chunk_bytes, chunk_bytes))

    found: dict[str, list[object]] = json.loads(b"".join(skimmed(Slow(text.encode()), kept_count=10)))
    return found


@pytest.mark.parametrize("chunk_bytes", [1 << 20, 1000, 37])
def test_arrays_are_cut_and_all_else_stays_wherever_chunks_end(chunk_bytes: int) -> None:
    found = cut(json.dumps(DOCUMENT), chunk_bytes)
    assert found["model"] == DOCUMENT["model"]
    assert found["after"] == DOCUMENT["after"]
    assert found["none"] == []
    assert found["numbers"] == list(range(10))
    assert len(found["nested"]) == len(found["texts"]) == 10


def test_a_document_without_long_arrays_is_unchanged() -> None:
    text = json.dumps({"a": [1, {"b": [2, 3]}], "c": "d"})
    assert b"".join(skimmed(io.BytesIO(text.encode()))).decode() == text


@pytest.mark.parametrize("text", ['{"a": [1, 2', '{"a": "never closed', '[{"a": 1}'])
def test_a_cut_off_document_is_refused(text: str) -> None:
    with pytest.raises(MalformedReport, match="middle"):
        list(skimmed(io.BytesIO(text.encode())))


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(MalformedReport, match="nests"):
        list(skimmed(io.BytesIO(b"[" * 5000)))


def test_a_large_file_gives_its_summary() -> None:
    text = json.dumps({"completed": 7, "itls": [[0.001] * 30] * 60_000, "duration": 2.5})
    assert len(text) > 8 << 20
    found = whole_document(of_text(text))
    assert isinstance(found, dict)
    assert (found["completed"], found["duration"]) == (7, 2.5)
    assert len(found["itls"]) == 1000


def test_a_large_array_is_read_element_by_element() -> None:
    rows = [{"n": number, "text": "x" * 300, "list": [1, 2]} for number in range(30_000)]
    text = json.dumps(rows, indent=1)
    assert len(text) > 8 << 20
    found = list(elements(of_text(text)))
    assert [value for _, value in found] == rows
    assert found[3][0] == "[3]"


@pytest.mark.parametrize("end", ["", ", {", ", {]"])
def test_a_large_array_that_breaks_off_is_refused(end: str) -> None:
    text = "[" + ", ".join(['{"text": "' + "x" * 300 + '"}'] * 30_000) + end
    with pytest.raises(MalformedReport):
        list(elements(of_text(text)))


def test_lines_are_numbered_as_in_the_file() -> None:
    assert list(lines(of_text('{"a": 1}\n\n{"a": 2}'))) == [(1, {"a": 1}), (3, {"a": 2})]


def test_a_broken_line_is_named() -> None:
    with pytest.raises(MalformedReport, match="line 2"):
        list(lines(of_text('{"a": 1}\n{"a": \n')))


def test_numbers_too_long_for_a_machine_are_refused() -> None:
    with pytest.raises(MalformedReport):
        loads("1" * 10_000, "here")


def test_text_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(MalformedReport):
        list(lines(of_bytes(b'{"a": 1}\n{"a": "\xff\xfe"}\n')))


def test_a_prefix_closes_what_it_opened() -> None:
    assert json.loads(closed_prefix('{"a": 1, "b": [1, 2, {"c": 3, "d') or "") == {"a": 1, "b": [1, 2, {"c": 3}]}
    assert closed_prefix('{"a') is None
