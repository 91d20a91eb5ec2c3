"""The error tree, the table of codes and the reasons on the wire say the same."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import grpc
import pytest

from tonnage import errors
from tonnage.rpc.status import CODES, code_of
from tonnage.v1 import error_reason_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "ERROR_REASON_"


def tree(top: type[errors.TonnageError] = errors.TonnageError) -> Iterator[type[errors.TonnageError]]:
    """Yield a class and all below it."""
    yield top
    for below in top.__subclasses__():
        yield from tree(below)


KINDS = sorted(set(tree()), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_a_code_of_its_own_row(kind: type[errors.TonnageError]) -> None:
    assert kind in CODES
    assert CODES[kind] is not grpc.StatusCode.OK


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_its_own_reason_on_the_wire(kind: type[errors.TonnageError]) -> None:
    assert "reason" in vars(kind)
    assert PREFIX + kind.reason in error_reason_pb2.ErrorReason.keys()  # noqa: SIM118 -- an enum wrapper, no dict


def test_every_reason_on_the_wire_belongs_to_one_error() -> None:
    sent = sorted(PREFIX + kind.reason for kind in KINDS)
    assert sent == sorted(name for name, number in error_reason_pb2.ErrorReason.items() if number)


def test_the_tree_drawn_at_the_top_of_the_module_is_the_tree() -> None:
    drawn = inspect.getdoc(errors) or ""
    assert [kind.__name__ for kind in KINDS if kind.__name__ not in drawn] == []


def test_the_table_names_no_class_outside_the_tree() -> None:
    assert set(CODES) == set(KINDS)


def test_a_class_without_a_row_takes_the_code_of_its_parent() -> None:
    class Odd(errors.NotStored):
        """Defined by a test."""

    assert code_of(Odd("x")) is grpc.StatusCode.NOT_FOUND
