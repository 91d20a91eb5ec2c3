"""``tonnage accuracy``: how well our own models predict what somebody measured; no server is asked."""

import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from tonnage.cli import kit

app = kit.new_app("Judge our own models by what somebody measured.")
_AS_JSON = Option("--json", help="Print one JSON document instead of Markdown.")


class Left(StrEnum):
    """What is left out."""

    POINT = "point"
    BUCKET = "bucket"
    CONFIGURATION = "configuration"


@kit.command(app)
def vram(
    *, csv: Annotated[Path, Argument(help="Start-up logs, one a row.")], as_json: Annotated[bool, _AS_JSON] = False
) -> int:
    """Judge the memory model by start-up logs."""
    return _run("vram", str(csv), as_json=as_json)


@kit.command(app)
def curves(
    *,
    train: Annotated[Path, Option(help="Runs that may be known.")],
    test: Annotated[Path, Option(help="Runs that are predicted; may be the same file with --leave-out.")],
    leave_out: Annotated[
        list[Left] | None, Option(help="Take this of each test row out of what is known; repeated, each in turn.")
    ] = None,
    as_json: Annotated[bool, _AS_JSON] = False,
) -> int:
    """Judge predicted curves by published runs.

    Rows that equal the test row are taken out of all sources, with or without --leave-out.
    """
    left = [text for item in leave_out or [] for text in ("--leave-out", item.value)]
    return _run("curves", "--train", str(train), "--test", str(test), *left, as_json=as_json)


def _run(*words: str, as_json: bool) -> int:
    """Run the check in a process of its own: the command line knows no maths; its words and status pass through."""
    command = [sys.executable, "-m", "tonnage.accuracy", *words, *(["--json"] if as_json else [])]
    return subprocess.run(command, check=False).returncode  # noqa: S603 -- our own program, no shell
