"""Every error of the client has a state of its own with something to do."""

from __future__ import annotations

import pytest

from tonnage.client import ClientError, errors
from tonnage.client.wire import Details, Violation
from tonnage_ui.forms.plan import key_of_field
from tonnage_ui.presenters.fault import fault
from tonnage_ui.words import words_of

WORDS = words_of("en")


def _kinds(kind: type[ClientError]) -> list[type[ClientError]]:
    return [kind, *(below for child in kind.__subclasses__() for below in _kinds(child))]


@pytest.mark.parametrize("kind", _kinds(ClientError))
def test_every_error_has_a_title_and_something_to_do(kind: type[ClientError]) -> None:
    shown = fault(kind("detail"), "127.0.0.1:1", WORDS)
    assert shown.title
    assert shown.advice
    assert shown.message == "detail"


def test_kinds_of_error_are_told_apart() -> None:
    titles = {fault(kind("x"), "t", WORDS).title for kind in _kinds(ClientError)[1:]}
    assert len(titles) == len(_kinds(ClientError)) - 1


def test_an_outage_names_the_address_and_offers_to_try_again() -> None:
    shown = fault(errors.Unavailable("gone"), "10.0.0.1:7051", WORDS)
    assert "10.0.0.1:7051" in shown.advice
    assert shown.is_outage
    assert not fault(errors.BadInput("x"), "t", WORDS).is_outage


def test_a_refused_field_is_shown_by_its_label_and_its_path() -> None:
    path = "workload.demand.base_and_peak.peak_factor"
    refused = errors.BadInput("x", details=Details(violations=(Violation(path, "is not stated"),)))
    assert fault(refused, "t", WORDS, key_of_field).fields == (
        (f"Peak factor (peak ÷ base) ({path})", "is not stated"),
    )
    assert fault(refused, "t", WORDS).fields == ((path, "is not stated"),)
