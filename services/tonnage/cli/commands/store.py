"""``tonnage store``: looking after a data folder; no server is asked."""

import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from tonnage.cli import kit
from tonnage.cli.exits import Exit
from tonnage.cli.processes.site import Site

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
        Option(help="URL of the store where --data is not given: lake:///path/to/folder.", envvar="TONNAGE_STORE"),
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
def migrate(*, flags: StoreFlags) -> int:
    """Bring a store of an earlier release up to this one, as ingest does when it starts."""
    return _run("migrate", flags)


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


def _run(work: str, flags: StoreFlags, *words: str) -> int:
    """Run the store's own program, as the command line knows no store; its words and status pass through."""
    command = [sys.executable, "-m", "tonnage.store", work, *flags.words(), *words]
    status = subprocess.run(command, check=False).returncode  # noqa: S603 -- our own program, no shell
    return status if status >= 0 else Exit.FAULT
