"""Tables are read as declared; what is ambiguous is refused, never guessed."""

from __future__ import annotations

import numpy as np
import pytest
from builders_formats import of_bytes, of_text

from tonnage.errors import MalformedReport
from tonnage.formats.reading.columnar import batches
from tonnage.formats.reading.tables import plain, rows, without_thousands


def test_rows_carry_their_line_and_empty_cells_are_absent() -> None:
    assert list(rows(of_text("a,b\r\n1,\r\n\r\n2,x\r\n"))) == [
        ("row 2", {"a": "1", "b": None}),
        ("row 4", {"a": "2", "b": "x"}),
    ]


def test_a_quoted_cell_may_hold_the_delimiter() -> None:
    assert next(rows(of_text('a,b\n"x, y",1\n')))[1] == {"a": "x, y", "b": "1"}


def test_a_row_of_another_length_is_refused_with_both_lengths() -> None:
    with pytest.raises(MalformedReport, match=r"header's 2 cells.*3 cells.*decimal comma"):
        list(rows(of_text("a,b\n1,2,5\n")))


def test_a_column_named_twice_is_refused() -> None:
    with pytest.raises(MalformedReport, match="twice"):
        list(rows(of_text("a,a\n1,2\n")))


def test_a_decimal_comma_is_read_when_declared_and_refused_when_not() -> None:
    text = "a;b\n1.234,5;2\n"
    assert next(rows(of_text(text, options={"decimal": ","})))[1]["a"] == "1234.5"
    with pytest.raises(MalformedReport, match="declare decimal=,"):
        list(rows(of_text(text)))


@pytest.mark.parametrize(("cell", "value"), [("1,234.5", "1234.5"), ("1,234", "1234"), ("1,23", "1,23"), ("x", "x")])
def test_thousands_are_taken_off_where_they_are_thousands(cell: str, value: str) -> None:
    assert without_thousands(cell) == value


def test_a_comma_of_thousands_is_no_decimal_comma() -> None:
    assert plain("1,234", ".", "x") == "1,234"


def test_text_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(MalformedReport, match="UTF-8"):
        list(rows(of_bytes(b"a,b\n\xff,1\n")))


def test_columns_come_in_batches_with_absent_cells_as_nan() -> None:
    source = of_text("a,b,name\n1,,x\n2.5,3,\n")
    (batch,) = batches(source, ("a", "b", "absent"), ("name",))
    assert batch.numbers("a").tolist() == [1.0, 2.5]
    assert np.isnan(batch.numbers("b")).tolist() == [True, False]
    assert np.isnan(batch.numbers("absent")).all()
    assert batch.texts("name").tolist() == ["x", ""]
    assert batch.texts("absent").tolist() == ["", ""]


@pytest.mark.parametrize("text", ["a,b\n1,2,3\n", "a,b\nx,2\n"])
def test_a_broken_row_among_columns_is_refused(text: str) -> None:
    with pytest.raises(MalformedReport, match="row"):
        list(batches(of_text(text), ("a", "b")))
