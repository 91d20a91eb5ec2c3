"""``tonnage doctor``: what the servers stand on, looked at before they start."""

import subprocess
import sys
from typing import Annotated

from typer import Option

from tonnage.cli import kit

app = kit.new_app()


@kit.command(app)
def doctor(
    *,
    store: Annotated[
        str | None, Option(help="URL of the store: lake:///path/to/folder.", envvar="TONNAGE_STORE")
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print one JSON document.")] = False,
) -> int:
    """Check settings, store, certificates, tokens, ports, clock and disk.

    Ends with 1 when something is wrong. Reads the TONNAGE_ variables the servers read. Nothing is started or changed.
    """
    words = [f"--store={store}"] if store is not None else []
    shown = ["--json"] if as_json else []
    command = [sys.executable, "-m", "tonnage.doctor", *words, *shown]
    return subprocess.run(command, check=False).returncode  # noqa: S603 -- our own program
