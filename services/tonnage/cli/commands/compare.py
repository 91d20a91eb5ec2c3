"""``tonnage compare`` and ``tonnage replay``: plans that were kept, against each other and against now."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from rich.console import RenderableType
from rich.text import Text
from typer import Argument

from tonnage.cli import documents, kit
from tonnage.cli.exits import Exit
from tonnage.cli.flags.asking import Planning
from tonnage.cli.output import UNKNOWN, facts, field, number, percent, table, word
from tonnage.cli.render.findings import findings
from tonnage.client import messages

compare_app = kit.new_app()
replay_app = kit.new_app()

_PLAN = "Output of `tonnage plan --json`; - is stdin."


@kit.command(compare_app)
def compare(
    *,
    before: Annotated[str, Argument(help=_PLAN)],
    after: Annotated[str, Argument(help=_PLAN)],
    asking: Planning,
) -> int:
    """Say what differs between two plans, and what that comes to.

    Ends with 1 when the answers differ.
    """
    request = messages.ComparePlansRequest(before_plan=_plan("BEFORE", before), after_plan=_plan("AFTER", after))
    with asking.client() as client:
        answer = client.compare_plans(request)
    kit.show(answer, as_json=asking.as_json, parts=lambda: _compared(answer))
    return Exit.OK if answer.same_answer else Exit.NO


@kit.command(replay_app)
def replay(*, plan: Annotated[str, Argument(help=_PLAN)], asking: Planning) -> int:
    """Compute a plan again from what it holds.

    Ends with 1 when this release gives another answer.
    """
    with asking.client() as client:
        answer = client.replay_plan(messages.ReplayPlanRequest(plan=_plan("PLAN", plan)))
    kit.show(answer, as_json=asking.as_json, parts=lambda: _replayed(answer))
    return Exit.OK if answer.same_answer else Exit.NO


def _plan(argument: str, path: str) -> messages.Plan:
    return documents.read_message(argument, path, messages.PlanCapacityResponse, inner="plan").plan


def _compared(answer: messages.ComparePlansResponse) -> Iterator[RenderableType]:
    yield _verdict(same=answer.same_answer)
    change = answer.change
    if change.ListFields():
        yield facts(
            [
                ("replicas", _signed(field(change, "replica_count"))),
                ("servers", _signed(field(change, "server_count"))),
                ("accelerators", _signed(field(change, "accelerator_count"))),
                ("an hour", f"{_signed(field(change, 'cost_per_hour'))} {change.currency}".strip()),
                ("Q_slo", percent(field(change, "q_slo_ratio"))),
            ]
        )
    yield from _differences(answer.differences)
    yield from findings(answer.findings)


def _replayed(answer: messages.ReplayPlanResponse) -> Iterator[RenderableType]:
    yield _verdict(same=answer.same_answer)
    yield from _differences(answer.differences)
    yield from findings(answer.findings)


def _verdict(*, same: bool) -> Text:
    return Text("THE SAME ANSWER", style="bold green") if same else Text("ANOTHER ANSWER", style="bold red")


def _signed(value: float | None) -> str:
    return UNKNOWN if value is None else ("+" if value > 0 else "") + number(value)


def _differences(items: Sequence[messages.PlanDifference]) -> Iterator[RenderableType]:
    if items:
        rows = [
            (word(messages.DifferenceKind, item.kind), item.path, item.before or UNKNOWN, item.after or UNKNOWN)
            for item in items
        ]
        yield table("What differs", ("of", "where", "before", "after"), rows)
