"""``tonnage ingest``: store benchmark files of any supported load tool."""

import asyncio
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn
from typer import Argument, Option

from tonnage.cli import exits, kit, output
from tonnage.cli.exits import Exit
from tonnage.cli.flags.asking import Ingest
from tonnage.cli.flags.upload import LabelFlags
from tonnage.cli.render import uploads as render
from tonnage.cli.upload.discover import discover
from tonnage.cli.upload.labels import LabelBook
from tonnage.cli.upload.maps import MapFile
from tonnage.cli.upload.push import Outcome, Parcel, Sender, push
from tonnage.client import ClientError, messages
from tonnage.client.errors import Unavailable

app = kit.new_app()


@kit.command(app)
def ingest(  # noqa: PLR0913 -- flags of one command
    *,
    paths: Annotated[list[str], Argument(metavar="PATH...", help="Files, folders, patterns, or - for stdin.")],
    labels: LabelFlags,
    asking: Ingest,
    replace: Annotated[
        bool, Option("--replace", help="Supersede an upload of the same file with other labels.")
    ] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Read, check and tell, but store nothing.")] = False,
    request_id: Annotated[
        str, Option(help="Makes the upload safe to repeat; several files get it with their path's digest.")
    ] = "",
    by: Annotated[str, Option(help="Who pushes: a person, a team.")] = "",
    ci_job: Annotated[str, Option(help="CI job that pushes.")] = "",
) -> int:
    """Store benchmark files of any supported load tool.

    Files of one folder are one sweep unless they or --sweep say otherwise; folders that name one load
    level, as concurrency_4, are one sweep with their siblings. In folders and patterns, files nobody
    recognises are skipped and listed; a file named alone is refused.

    tonnage.yaml beside the files says what they do not: `set:` holds labels as --set does, `map:` columns
    as --map does, and `sweep:`, `namespace:` and `format:` one text each. A nearer folder's wins over a
    farther one's, up to the folder that was named; flags win over both.
    """
    parcels = packed(paths, labels, request_id)
    map_file = MapFile.of(labels.save_map, (item.labels.column_map for item in parcels))
    sender = Sender(replace=replace, dry_run=dry_run, by=by, ci_job=ci_job)
    outcomes = asyncio.run(_send(asking, parcels, sender))
    if map_file is not None and any(item.error is None for item in outcomes):
        map_file.write()
    if asking.as_json:
        output.print_json(render.as_document(outcomes))
    else:
        kit.draw(render.uploads(outcomes))
    return told(outcomes)


def packed(paths: Sequence[str], flags: LabelFlags, request_id: str = "") -> list[Parcel]:
    """Return the files meant, each with its labels."""
    files, book = discover(paths), LabelBook(flags.labels())
    single = len(files) == 1
    return [
        Parcel(
            file=item,
            labels=book.of(item),
            request_id=request_id if single or not request_id else f"{request_id}/{_digest(item.shown)}",
        )
        for item in files
    ]


def _digest(text: str) -> str:
    """Return a path as a request id may hold it: short, and the same each time."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


async def _send(asking: Ingest, parcels: list[Parcel], sender: Sender) -> list[Outcome]:
    async with asking.async_client() as client:
        with _progress(parcels, hidden=asking.as_json) as advance:
            return await push(client, parcels, sender, advance)


@contextmanager
def _progress(parcels: Sequence[Parcel], *, hidden: bool) -> Iterator[Callable[[int], None]]:
    """Show the bytes leaving, where somebody watches."""
    total = sum(item.file.path.stat().st_size for item in parcels if item.file.path is not None)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    console = Console(file=sys.stderr)
    with Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal) as bar:
        task = bar.add_task(f"{len(parcels)} files", total=total or None)
        yield lambda count: bar.advance(task, count)


def told(outcomes: Sequence[Outcome]) -> int:
    """Tell of every failure on stderr, and return the gravest status."""
    failed = [item for item in outcomes if item.error is not None and not item.skipped]
    away = [item for item in failed if isinstance(item.error, Unavailable)]
    for item in failed:
        if item not in away:
            exits.tell(f"{item.parcel.file.shown}: {line}" for line in _lines(item))
    if away:
        exits.tell(_lines(away[0]))
        exits.tell([f"{len(away)} files were not sent; the same command again sends what is not stored"])
    statuses = [_status(item) for item in failed]
    if any(_refused(item) for item in outcomes):
        statuses.append(Exit.BAD_INPUT)
    if all(item.skipped for item in outcomes):
        exits.tell(["no reader recognises any of the files; see `tonnage formats`"])
        statuses.append(Exit.BAD_INPUT)
    return max(statuses, default=Exit.OK)


def _lines(item: Outcome) -> Iterable[str]:
    return exits.lines_of(item.error) if isinstance(item.error, ClientError) else [str(item.error)]


def _status(item: Outcome) -> Exit:
    return exits.status_of(item.error) if isinstance(item.error, ClientError) else Exit.BAD_INPUT


def _refused(item: Outcome) -> bool:
    """Tell whether a run of an accepted file was not stored."""
    runs = item.answer.runs if item.answer is not None else ()
    return any(run.outcome == messages.RUN_OUTCOME_REFUSED for run in runs)
