"""``tonnage retest``: does what was measured still carry what is planned."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

from rich.console import RenderableType
from rich.text import Text
from typer import Option

from tonnage.cli import kit, output, values
from tonnage.cli.exits import Exit
from tonnage.cli.flags.asking import Planning, Reading
from tonnage.cli.flags.configuration import ConfigurationFlags
from tonnage.cli.output import UNKNOWN, number, table, word
from tonnage.cli.output import field as optional
from tonnage.cli.render import words
from tonnage.cli.render.findings import findings
from tonnage.client import messages

app = kit.new_app()

_LARGEST_PAGE = 1000
_STYLES = {messages.RETEST_VERDICT_STANDS: "bold green", messages.RETEST_VERDICT_ADVISED: "bold yellow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetestFlags:
    """What is planned, beside its configuration."""

    model: Annotated[str, Option(help="Model id.")] = ""
    condition: Annotated[
        list[str], Option(metavar="driver_version=570", help="What will be around it, repeated; as in Conditions.")
    ] = field(default_factory=list)
    sample_set: Annotated[str, Option(help="Request samples that will be used.")] = ""
    as_of: Annotated[str, Option(metavar="YYYY-MM-DD", help="Date the check is made for; today by default.")] = ""
    max_age_days: Annotated[int | None, Option(help="Age beyond which a run is old; 180 when left out.")] = None
    limit: Annotated[int, Option(help="Configurations shown at most; 0 shows all.", min=0)] = 5

    def conditions(self) -> messages.Conditions | None:
        """Return the conditions stated, or None."""
        found = messages.Conditions()
        for key, value in values.pairs("--condition", self.condition).items():
            values.set_path("--condition", found, key, value)
        return found if found.ListFields() else None


@kit.command(app)
def retest(*, flags: RetestFlags, configuration: ConfigurationFlags, reading: Reading, asking: Planning) -> int:
    """Say what changed since it was measured, and what to run again.

    Without a planned configuration every stored one is checked for its age and its states. Ends with 1
    when the nearest has to be measured again before it is planned on, or nothing was measured.
    """
    planned = configuration.message(flags.model)
    request = values.made(
        messages.CheckRetestRequest,
        {"as_of_date": "--as-of"},
        namespace=reading.namespace,
        min_data_version=reading.min_data_version,
        planned=planned if planned.ListFields() else None,
        planned_conditions=flags.conditions(),
        sample_set=flags.sample_set,
        as_of_date=flags.as_of,
        max_age_days=flags.max_age_days,
        page_size=min(flags.limit or _LARGEST_PAGE, _LARGEST_PAGE),
    )
    with asking.client() as client:
        if flags.limit:
            answer = client.check_retest(request)
        else:
            answer = messages.CheckRetestResponse(items=client.retest_items(request))
            answer.total_count = len(answer.items)
    kit.show(answer, as_json=asking.as_json, parts=lambda: _parts(answer))
    return _status(answer, named=bool(planned.ListFields()))


def _status(answer: messages.CheckRetestResponse, *, named: bool) -> int:
    judged = answer.items[:1] if named else answer.items
    required = any(item.verdict == messages.RETEST_VERDICT_REQUIRED for item in judged)
    return Exit.NO if required or not answer.items else Exit.OK


def _parts(answer: messages.CheckRetestResponse) -> Iterator[RenderableType]:
    if not answer.items:
        yield "nothing was measured that could be compared"
    for item in answer.items:
        yield from _item(item)
    yield from findings(answer.findings)
    yield f"{len(answer.items)} of {answer.total_count} configurations" + (
        f", as of {answer.as_of_date}, data version {answer.data_version}" if answer.as_of_date else ""
    )


def _item(item: messages.RetestItem) -> Iterator[RenderableType]:
    verdict = word(messages.RetestVerdict, item.verdict).upper()
    style = _STYLES.get(item.verdict, "bold red")
    age = number(optional(item, "age_days"))
    line = f"  {output.clean(words.configuration(item.configuration))}, {age} days old"
    yield Text.assemble((verdict, style), line)
    if item.changes:
        rows = [
            (change.field, change.measured or UNKNOWN, change.planned or UNKNOWN, change.reason)
            for change in item.changes
        ]
        yield table("", ("what changed", "measured", "planned", "why it matters"), rows)
    yield f"measured: {_states(state.state for state in item.states if state.covered)}"
    yield f"to run: {_states(item.states_to_run)}"
    yield from findings(item.findings)
    yield ""


def _states(states: object) -> str:
    names = [word(messages.TestState, state) for state in states]  # type: ignore[attr-defined]
    return ", ".join(names) or UNKNOWN
