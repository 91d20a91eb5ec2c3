"""The head tells what kind of file it is and what stands at its top."""

from __future__ import annotations

import json

import pytest
from builders_formats import of_bytes, of_text

from tonnage.formats.reading.heads import delimiter_of


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"a": 1}', "json-object"),
        ('{\n "a": [1, 2]\n}\n', "json-object"),
        ('{"a": 1}\n{"a": 2}\n', "json-lines"),
        ('{"a": 1}\r\n{"a": 2}\r\n', "json-lines"),
        ('[{"a": 1}]', "json-array"),
        ("a: 1\nb:\n- 2\n", "yaml"),
        ("# said\n\nversion: '0.2'\n", "yaml"),
        ("a,b\n1,2\n", "table"),
        ("a;b\n1;2\n", "table"),
        ("Running 6s test\nThread Stats\n", "text"),
        ('{"a": 1}\n{"a": broken\n', "json-lines"),
    ],
)
def test_the_kind_follows_from_content(text: str, kind: str) -> None:
    assert of_text(text).head.kind == kind


def test_nan_and_infinity_are_read_where_json_has_none() -> None:
    head = of_text('{"a": NaN, "b": Infinity}').head
    assert head.kind == "json-object"
    assert head.keys == {"a", "b"}


def test_the_first_element_of_an_array_gives_the_keys() -> None:
    head = of_text('[{"a": 1}, {"b": 2}]').head
    assert head.keys == {"a"}
    assert head.first == {"a": 1}


def test_bytes_are_binary_and_parquet_is_told_apart() -> None:
    assert of_bytes(bytes(range(256)) * 10).head.kind == "binary"
    assert of_bytes(b"PAR1" + bytes(100)).head.kind == "parquet"


def test_a_cut_off_object_still_shows_its_first_members() -> None:
    head = of_text('{"model_id": "m", "completed": 3, "itls": [[1, 2], [3').head
    assert {"model_id", "completed"} <= head.keys
    assert not head.document_is_whole


def test_a_large_object_shows_its_first_members_without_being_parsed_whole() -> None:
    text = json.dumps({"model_id": "m", "completed": 3, "lists": [[0.5] * 20] * 100_000})
    head = of_text(text).head
    assert head.kind == "json-object"
    assert {"model_id", "completed"} <= head.keys
    assert not head.document_is_whole


def test_a_yaml_alias_bomb_costs_nothing() -> None:
    bomb = "a: &a [x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(24)
    )
    assert of_text(bomb).head.kind == "yaml"


def test_the_delimiter_is_the_one_that_cuts_most() -> None:
    assert delimiter_of("a;b;c,d") == ";"
    assert delimiter_of("alone") is None
