"""Files go to the reader their content names; others are refused with what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builders_formats import of_text

from tonnage.errors import AmbiguousFormat, UnknownFormat, UnknownName
from tonnage.formats import FORMATS, recognise, sniffing, vllm_serve
from tonnage.formats.base import Head, Match, Source, ToolFormat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run

VLLM = '{"model_id": "m", "completed": 3, "output_throughput": 1.5, "duration": 2.0}'


class Twin(ToolFormat):
    """Claims what vLLM's reader claims."""

    name = "twin"
    title = "Twin"
    recognised_by = "the same"
    metric_definitions = "twin-1"
    expects = ()
    definitions = ()

    def recognises(self, head: Head) -> Match | None:
        """Claim what vLLM's reader claims."""
        return vllm_serve.FORMAT.recognises(head)

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Read as vLLM's reader does."""
        return vllm_serve.FORMAT.read(source)


def test_content_decides_and_the_name_does_not() -> None:
    assert recognise(of_text(VLLM, filename="guidellm.csv")).name == "vllm-bench-serve"


def test_a_tie_is_refused_with_both_names() -> None:
    with pytest.raises(AmbiguousFormat, match=r"vllm-bench-serve.*twin") as caught:
        sniffing.chosen(of_text(VLLM), [*FORMATS, Twin()], None)
    assert caught.value.violations[0].path == "format"


def test_a_named_format_settles_a_tie() -> None:
    assert sniffing.chosen(of_text(VLLM), [*FORMATS, Twin()], "twin").name == "twin"


def test_an_unknown_name_is_refused_with_near_ones() -> None:
    with pytest.raises(UnknownName, match="did you mean vllm-bench-serve"):
        recognise(of_text(VLLM), "vllm-bench-server")


def test_a_named_format_that_the_file_cannot_be_is_refused() -> None:
    with pytest.raises(UnknownFormat, match="is not of guidellm"):
        recognise(of_text(VLLM), "guidellm")


def test_an_unknown_file_is_refused_with_what_was_seen_and_what_is_missing() -> None:
    with pytest.raises(UnknownFormat) as caught:
        recognise(of_text('{"model_id": "m", "duration": 2.0, "total_output_tokens": 5}'))
    message = str(caught.value)
    assert "json-object with duration, model_id, total_output_tokens" in message
    assert "closest is vllm-bench-serve: the file lacks completed, output_throughput, request_throughput" in message
    assert all(reader.name in message for reader in FORMATS)


def test_an_unknown_table_is_refused_with_the_way_to_map_it() -> None:
    with pytest.raises(UnknownFormat, match="--map requests_per_s=THEIRS"):
        recognise(of_text("load,speed\n1,2\n"))


def test_an_unknown_text_is_refused_with_its_start() -> None:
    with pytest.raises(UnknownFormat, match="text starting hello"):
        recognise(of_text("hello\nthere\n"))


def test_a_column_map_makes_a_table_ours() -> None:
    source = of_text("load,speed\n1,2\n", column_map={"concurrency": "load", "requests_per_s": "speed"})
    assert recognise(source).name == "tonnage-table"
    assert recognise(source, "tonnage-table").name == "tonnage-table"
