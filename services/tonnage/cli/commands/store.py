"""``tonnage store``: looking after a data folder; no server is asked."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from rich.console import RenderableType
from typer import Argument, Option

from tonnage.cli import kit
from tonnage.cli.exits import Exit
from tonnage.cli.flags.asking import Ingest
from tonnage.cli.output import table, word
from tonnage.cli.processes.site import Site
from tonnage.client import messages

app = kit.new_app("Look after a data folder: check, back up, restore, migrate, export.")
_DATA = Path("tonnage-data")


class Format(StrEnum):
    """How an export is written."""

    PARQUET = "parquet"
    CSV = "csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFlags:
    """Which store, and how the answer is shown."""

    data: Annotated[Path | None, Option(help=f"Folder of the store; {_DATA} when left out.")] = None
    store: Annotated[
        str | None,
        Option(
            help="URL of the store where --data is not given: a folder's or a shared one's.",
            envvar="TONNAGE_STORE",
        ),
    ] = None
    as_json: Annotated[bool, Option("--json", help="Print one JSON document.")] = False

    def words(self) -> list[str]:
        """Return them as the store's own program takes them."""
        return [f"--store={self._url()}", *(["--json"] if self.as_json else [])]

    def _url(self) -> str:
        if self.data is not None:
            return Site(data=self.data).store_url
        return self.store or Site(data=_DATA).store_url


@kit.command(app)
def info(*, flags: StoreFlags) -> int:
    """Show what a store holds and what it takes on disk."""
    return _run("info", flags)


@kit.command(app)
def check(*, flags: StoreFlags) -> int:
    """Check every file and row; ends with 1 when something is damaged.

    Nothing is changed, and ingest may run. What is damaged is named with what to do.
    """
    return _run("check", flags)


@kit.command(app)
def backup(
    *, destination: Annotated[Path, Argument(help="Folder that is not there yet, or empty.")], flags: StoreFlags
) -> int:
    """Copy the whole store as of now, while ingest goes on.

    Every file is read back and compared; a store that is damaged is not backed up, and ends with 1.
    """
    return _run("backup", flags, str(destination.absolute()))


@kit.command(app)
def restore(*, source: Annotated[Path, Argument(help="Folder of a backup.")], flags: StoreFlags) -> int:
    """Make a store from a backup, in a folder that is not there yet or empty."""
    return _run("restore", flags, str(source.absolute()))


@kit.command(app)
def migrate(
    *,
    to: Annotated[
        str | None,
        Option(help="URL of an empty store, in a folder or on PostgreSQL and S3: copy everything there and compare."),
    ] = None,
    flags: StoreFlags,
) -> int:
    """Bring a store of an earlier release up to this one, as ingest does when it starts; or copy it with --to.

    A copy is compared by counts and digests before it is committed, and the source stays as it is. Ingest must not run.
    """
    return _run("migrate", flags, *([] if to is None else [f"--to={to}"]))


@kit.command(app)
def export(
    *,
    destination: Annotated[Path, Argument(help="Folder that is not there yet, or empty.")],
    namespace: Annotated[str | None, Option(help="Of this one only.")] = None,
    file_format: Annotated[
        Format, Option("--format", help="In CSV a text that looks like a formula gets an apostrophe.")
    ] = Format.PARQUET,
    include_retired: Annotated[bool, Option("--include-retired", help="Retracted and superseded runs too.")] = False,
    flags: StoreFlags,
) -> int:
    """Write runs and points as plain files, while ingest goes on."""
    chosen = [] if namespace is None else [f"--namespace={namespace}"]
    retired = ["--include-retired"] if include_retired else []
    return _run("export", flags, "--format", file_format, *chosen, *retired, str(destination.absolute()))


@kit.command(app)
def reread(
    *,
    reports: Annotated[list[str] | None, Argument(help="Report ids; every kept file when left out.")] = None,
    namespace: Annotated[str, Option(help="Whose files; empty means default.")] = "",
    dry_run: Annotated[bool, Option("--dry-run", help="Read and tell, and change nothing.")] = False,
    by: Annotated[str, Option(help="Who asks; kept with the events.")] = "",
    asking: Ingest,
) -> int:
    """Read kept raw files again with the readers of the running ingest server.

    A file that says something else than what is stored gets new rows, and the old ones are superseded; the rest is
    left as it is, so the same command again changes nothing.
    """
    request = messages.RereadReportsRequest(
        namespace=namespace, report_ids=reports or [], validate_only=dry_run, reread_by=by
    )
    found = messages.RereadReportsResponse()
    with asking.client() as client:
        while True:
            page = client.reread_reports(request)
            found.reports.extend(page.reports)
            found.data_version = page.data_version
            if not page.next_page_token:
                break
            request.page_token = page.next_page_token
    kit.show(found, as_json=asking.as_json, parts=lambda: _reread(found))
    return Exit.OK


def _reread(found: messages.RereadReportsResponse) -> Iterator[RenderableType]:
    rows = [
        (item.report_id[:12], item.filename, word(messages.RereadOutcome, item.outcome), item.format, item.reason)
        for item in found.reports
    ]
    yield table("", ("report", "file", "outcome", "read as", "why"), rows)
    yield f"{len(rows)} files read; data version {found.data_version}"


def _run(work: str, flags: StoreFlags, *words: str) -> int:
    """Run the store's own program, as the command line knows no store; its words and status pass through."""
    command = [sys.executable, "-m", "tonnage.store", work, *flags.words(), *words]
    status = subprocess.run(command, check=False).returncode  # noqa: S603 -- our own program, no shell
    return status if status >= 0 else Exit.FAULT
