"""``tonnage runs``: what is stored, and taking it out of the answers."""

from collections.abc import Iterator
from typing import Annotated

from rich.console import RenderableType
from rich.text import Text
from typer import Argument, Option

from tonnage.cli import kit, output, values
from tonnage.cli.exits import Exit
from tonnage.cli.flags.asking import Ingest, Planning, Reading
from tonnage.cli.flags.configuration import ConfigurationFlags
from tonnage.cli.output import UNKNOWN, facts, field, number, table, word
from tonnage.cli.render import words
from tonnage.cli.render.findings import findings
from tonnage.client import messages

app = kit.new_app("List, show and retract stored runs.")

_LARGEST_PAGE = 1000


@kit.command(app, "list")
def list_(  # noqa: PLR0913 -- flags of one list
    *,
    configuration: ConfigurationFlags,
    reading: Reading,
    asking: Planning,
    model: Annotated[str, Option(help="Model id.")] = "",
    tool: Annotated[str, Option(help="Load tool, as `tonnage formats` names it.")] = "",
    sweep: Annotated[str, Option(help="Sweep id.")] = "",
    retired: Annotated[bool, Option("--retired", help="Also runs that were retracted or superseded.")] = False,
    limit: Annotated[int, Option(help="Runs listed at most; 0 lists all.", min=0)] = 50,
) -> int:
    """List runs, newest first.

    Ends with 1 when there is none.
    """
    request = values.made(
        messages.ListRunsRequest,
        {},
        namespace=reading.namespace,
        min_data_version=reading.min_data_version,
        filter=configuration.message(model),
        tool=tool,
        sweep_id=sweep,
        include_retired=retired,
        page_size=min(limit or _LARGEST_PAGE, _LARGEST_PAGE),
    )
    with asking.client() as client:
        rows = (
            [run for _, run in zip(range(limit), client.runs(request), strict=False)]
            if limit
            else list(client.runs(request))
        )
    if asking.as_json:
        output.print_json({"runs": [output.as_dict(item) for item in rows]})
    else:
        kit.draw([_table(rows)] if rows else ["no runs are stored that match"])
    return Exit.OK if rows else Exit.NO


def _table(rows: list[messages.Run]) -> RenderableType:
    cells = [
        (
            item.name,
            item.filename or UNKNOWN,
            item.tool,
            item.sweep_id or UNKNOWN,
            words.configuration(item.configuration),
            _when(item, "measured_at"),
        )
        for item in rows
    ]
    return table("", ("run", "file", "tool", "sweep", "configuration", "measured"), cells, whole=(0,))


def _when(item: messages.Run, name: str) -> str:
    stamp = field(item, name)
    return UNKNOWN if stamp is None else stamp.ToDatetime().strftime("%Y-%m-%d %H:%M:%S UTC")


@kit.command(app, "show")
def show(
    reading: Reading, asking: Planning, run: Annotated[str, Argument(help="namespaces/NAMESPACE/runs/RUN, or the id.")]
) -> int:
    """Show one run with its levels and findings."""
    request = values.made(
        messages.GetRunRequest, {}, name=full_name(run, reading.namespace), min_data_version=reading.min_data_version
    )
    with asking.client() as client:
        answer = client.get_run(request)
    kit.show(answer, as_json=asking.as_json, parts=lambda: _run(answer))
    return Exit.OK


def full_name(run: str, namespace: str) -> str:
    """Return a run's name for its id."""
    return run if "/" in run else f"namespaces/{namespace or 'default'}/runs/{run}"


def _run(answer: messages.GetRunResponse) -> Iterator[RenderableType]:
    run = answer.run
    yield Text(run.name, style="bold")
    yield facts(_facts(answer))
    yield levels(run)
    yield from findings([*run.findings, *(item for level in run.levels for item in level.findings)])


def _facts(answer: messages.GetRunResponse) -> Iterator[tuple[str, str]]:
    run = answer.run
    if answer.retired:
        yield "retired", answer.retired.lower()
    yield "configuration", words.configuration(run.configuration)
    yield "tool", f"{run.tool} {run.tool_version} ({run.metric_definitions})"
    yield "file", f"{run.filename or UNKNOWN}, report {run.report_id or UNKNOWN}"
    yield "sweep", run.sweep_id or UNKNOWN
    yield "replicas", number(field(run, "replicas_under_test"))
    yield "measured", _when(run, "measured_at")
    yield "ingested", _when(run, "ingested_at")
    yield "state", word(messages.TestState, run.state) if run.state else UNKNOWN
    if run.missing_for_plan:
        yield "missing for a plan", ", ".join(run.missing_for_plan)
    if run.source:
        yield "source", run.source


def levels(run: messages.Run) -> RenderableType:
    """Return the levels of a run, as measured."""
    columns = (
        "",
        "size",
        "concurrency",
        "offered/s",
        "requests/s",
        "tokens/s out",
        "done",
        "failed",
        "TTFT p50",
        "p90",
        "p99",
        "TPOT p50",
        "e2e p50",
        "use",
    )
    cells = [
        (
            str(level.index),
            words.work(level.work),
            *(
                number(field(level, name))
                for name in (
                    "concurrency",
                    "offered_requests_per_s",
                    "requests_per_s",
                    "output_tokens_per_s",
                    "completed_count",
                    "failed_count",
                )
            ),
            *(number(field(level.ttft, name)) for name in ("p50_ms", "p90_ms", "p99_ms")),
            number(field(level.tpot, "p50_ms")),
            number(field(level.e2e, "p50_ms")),
            "no" if field(level, "usable") is False else "yes",
        )
        for level in run.levels
    ]
    return table("Levels of the whole system under test, latencies in ms", columns, cells, right=(0, *range(2, 13)))


@kit.command(app, "retract")
def retract(  # noqa: PLR0913 -- flags of one call
    *,
    asking: Ingest,
    runs: Annotated[list[str], Argument(help="Run names, or ids.")],
    reason: Annotated[str, Option(help="Why; kept with the event.")],
    namespace: Annotated[str, Option(help="Namespace of bare ids.")] = "",
    by: Annotated[str, Option(help="Who retracts.")] = "",
    request_id: Annotated[str, Option(help="Makes the call safe to repeat.")] = "",
    dry_run: Annotated[bool, Option("--dry-run", help="Check, and retract nothing.")] = False,
) -> int:
    """Take runs out of every answer; nothing is deleted."""
    request = messages.RetractRunsRequest(
        runs=[full_name(run, namespace) for run in runs],
        reason=reason,
        request_id=request_id,
        retracted_by=by,
        validate_only=dry_run,
    )
    with asking.client() as client:
        answer = client.retract_runs(request)
    kit.show(answer, as_json=asking.as_json, parts=lambda: _retracted(answer, len(runs), dry_run=dry_run))
    return Exit.OK


def _retracted(answer: messages.RetractRunsResponse, count: int, *, dry_run: bool) -> Iterator[str]:
    verb = "could be retracted" if dry_run else "retracted"
    again = f", {len(answer.already_retracted)} were before" if answer.already_retracted else ""
    yield f"{count} {verb}{again}; data version {answer.data_version}"
