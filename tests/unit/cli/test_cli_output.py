"""JSON for programs, words for people."""

from __future__ import annotations

import io
import json

import pytest

from tonnage.cli import exits, output
from tonnage.cli.exits import Exit
from tonnage.client import errors, messages, wire


def test_json_shows_a_zero_and_leaves_out_the_unknown() -> None:
    found = output.as_dict(messages.ServerCount(replica_count=0, accelerator_count=0))
    assert (found["replica_count"], found["accelerator_count"]) == ("0", "0")
    assert "installed_accelerator_count" not in found


def test_json_has_our_names_and_reads_back() -> None:
    stream = io.StringIO()
    output.print_json(messages.Finding(code="A", message="é"), stream)
    assert json.loads(stream.getvalue())["code"] == "A"
    assert "é" in stream.getvalue()


def test_a_nan_is_never_printed_as_a_number() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        output.print_json({"x": float("nan")}, io.StringIO())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0, "0"),
        (0.123456, "0.1235"),
        (1234.5, "1,234"),
        (999.94, "999.9"),
        (-2000, "-2,000"),
        (1e-9, "1e-09"),
    ],
)
def test_figures_have_four_digits_and_the_unknown_a_dash(value: float | None, text: str) -> None:
    assert output.number(value) == text


def test_enums_are_words() -> None:
    assert output.word(messages.PlanVerdict, messages.PLAN_VERDICT_NOT_KNOWN) == "not known"
    assert output.word(messages.RunOutcome, messages.RUN_OUTCOME_ALREADY_STORED) == "already stored"
    assert output.word(messages.PlanVerdict, 99) == "99"


def test_what_could_steer_a_terminal_is_taken_out_and_markup_is_text() -> None:
    assert output.clean("a\x1b[31mb\u202e") == "a�[31mb�"
    stream = io.StringIO()
    output.console(stream).print(output.table("", ("[bold]x",), [("[red]a[/red] :smile:",)]))
    assert "[red]a[/red] :smile:" in stream.getvalue()


ENDS = {
    errors.BadInput: Exit.BAD_INPUT,
    errors.NotFound: Exit.BAD_INPUT,
    errors.Conflict: Exit.BAD_INPUT,
    errors.TooLarge: Exit.BAD_INPUT,
    errors.Denied: Exit.BAD_INPUT,
    errors.NotReady: Exit.UNREACHABLE,
    errors.NotAvailable: Exit.UNREACHABLE,
    errors.Overloaded: Exit.UNREACHABLE,
    errors.Cancelled: Exit.UNREACHABLE,
    errors.Unavailable: Exit.UNREACHABLE,
    errors.DeadlineExceeded: Exit.UNREACHABLE,
    errors.ServerFault: Exit.UNREACHABLE,
}


def test_every_error_of_the_client_has_an_exit_status() -> None:
    def below(kind: type[errors.ClientError]) -> set[type[errors.ClientError]]:
        return {kind}.union(*(below(child) for child in kind.__subclasses__()))

    assert below(errors.ClientError) - {errors.ClientError} == set(ENDS)
    assert {kind: exits.status_of(kind("m")) for kind in ENDS} == ENDS


def test_a_refused_field_is_told_with_its_flag() -> None:
    details = wire.Details(
        violations=(wire.Violation("workload.model", "is required; state it"), wire.Violation("x", "y"))
    )
    lines = list(exits.lines_of(errors.BadInput("m", details=details), {"workload.model": "--model"}))
    assert lines == ["workload.model: is required; state it (--model)", "x: y"]


def test_nobody_there_is_told_with_the_cure_and_a_reason_of_the_servers_without() -> None:
    away = list(exits.lines_of(errors.Unavailable("no answer")))
    assert len(away) == 2
    assert "tonnage serve" in away[1]
    locked = errors.Unavailable("locked", details=wire.Details(reason="STORE_LOCKED"))
    assert list(exits.lines_of(locked)) == ["locked"]


def test_a_fault_of_the_server_is_told_with_its_request() -> None:
    assert "req-9" in list(exits.lines_of(errors.ServerFault("m", request_id="req-9")))[1]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, output.UNKNOWN), (0, "0.00 GiB"), (81_920, "81,920 B"), (15 << 30, "15.00 GiB"), (-(1 << 30), "-1.00 GiB")],
)
def test_bytes_are_shown_in_gib_unless_that_would_read_as_nothing(value: int | None, text: str) -> None:
    assert output.gib(value) == text
