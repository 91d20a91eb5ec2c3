"""``tonnage convert`` and ``tonnage formats``: what a file says, and what can be read."""

from collections.abc import Iterator
from typing import Annotated

from rich.console import RenderableType
from rich.text import Text
from typer import Argument

from tonnage.cli import kit, output
from tonnage.cli.commands.ingest import packed
from tonnage.cli.commands.runs import levels
from tonnage.cli.exits import Exit
from tonnage.cli.flags.asking import Ingest
from tonnage.cli.flags.upload import LabelFlags
from tonnage.cli.output import table
from tonnage.cli.render import points, words
from tonnage.cli.render.findings import findings
from tonnage.cli.upload.maps import MapFile
from tonnage.cli.upload.push import Sender
from tonnage.client import messages
from tonnage.client.errors import BadInput

app = kit.new_app()
formats_app = kit.new_app()


@kit.command(app)
def convert(
    *, file: Annotated[str, Argument(help="A file, or - for stdin.")], labels: LabelFlags, asking: Ingest
) -> int:
    """Read one file as ingest would, and store nothing.

    With --json the points come flat, under the names of our own table.
    """
    parcels = packed([file], labels)
    if not parcels[0].file.alone:
        raise BadInput.field("FILE", f"{file} is not one file; name one")
    map_file = MapFile.of(labels.save_map, [parcels[0].labels.column_map])
    with asking.client() as client:
        answer = client.convert_report(parcels[0].source(), **parcels[0].options(Sender()))
    if map_file is not None:
        map_file.write()
    if asking.as_json:
        output.print_json(points.document(answer))
    else:
        kit.draw(_parts(answer))
    return Exit.OK


def _parts(answer: messages.ConvertReportResponse) -> Iterator[RenderableType]:
    yield Text(f"{answer.format}, report {answer.report_id}", style="bold")
    for run in answer.runs:
        yield Text(words.configuration(run.configuration))
        yield levels(run)
        if run.missing_for_plan:
            yield f"missing for a plan: {', '.join(run.missing_for_plan)}"
        yield from findings([*run.findings, *(item for level in run.levels for item in level.findings)])
    yield from findings(answer.findings, "Findings on the file")


@kit.command(formats_app)
def formats(*, asking: Ingest) -> int:
    """List what can be read, and how each tool means its metrics."""
    with asking.client() as client:
        answer = client.list_formats()
    kit.show(answer, as_json=asking.as_json, parts=lambda: _formats(answer))
    return Exit.OK


def _formats(answer: messages.ListFormatsResponse) -> Iterator[RenderableType]:
    rows = [(item.name, item.title, item.recognised_by, item.metric_definitions) for item in answer.formats]
    yield table("", ("format", "what", "recognised by", "definitions"), rows)
    for item in answer.formats:
        cells = [(definition.metric, definition.tool_field, definition.definition) for definition in item.definitions]
        if cells:
            yield table(f"\n{item.name}", ("metric", "its name there", "what it means there"), cells)
