"""``tonnage token``: the tokens of a file; running servers read it again by themselves."""

import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from tonnage.cli import kit

app = kit.new_app("Make, list and revoke the tokens of a file.")


class Scope(StrEnum):
    """What a token opens; admin opens everything."""

    PLAN = "plan"
    READ = "read"
    INGEST = "ingest"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFlags:
    """Which file, and how the answer is shown."""

    file: Annotated[Path, Option(help="Token file; made when absent.", envvar="TONNAGE_TOKENS_FILE")] = Path(
        "tonnage-tokens.json"
    )
    as_json: Annotated[bool, Option("--json", help="Print one JSON document.")] = False


@kit.command(app)
def create(
    *,
    name: Annotated[str, Argument(help="Who will use it; stands in logs.")],
    scope: Annotated[list[Scope], Option(help="What it opens; give it more than once for several.")],
    namespace: Annotated[list[str] | None, Option(help="A namespace it reaches; all when left out.")] = None,
    days: Annotated[float | None, Option(help="Days until it expires; never when left out.")] = None,
    flags: TokenFlags,
) -> int:
    """Make a token and print its secret, once; the file holds a digest of it."""
    words = [f"--scope={item.value}" for item in scope] + [f"--namespace={item}" for item in namespace or ()]
    expiry = [] if days is None else [f"--days={days}"]
    return _run(flags, "create", *words, *expiry, "--", name)


@kit.command(app, "list")
def list_tokens(*, flags: TokenFlags) -> int:
    """List tokens with what they open and whether they still do."""
    return _run(flags, "list")


@kit.command(app)
def revoke(*, name: Annotated[str, Argument(help="Name of the token.")], flags: TokenFlags) -> int:
    """Revoke a token; servers refuse it within a second or two."""
    return _run(flags, "revoke", "--", name)


def _run(flags: TokenFlags, *words: str) -> int:
    """Run the tokens' own program, which needs tonnage[server], and return its exit status."""
    command = [sys.executable, "-m", "tonnage.rpc.tokens", f"--file={flags.file}"]
    shown = ["--json"] if flags.as_json else []
    return subprocess.run([*command, *shown, *words], check=False).returncode  # noqa: S603 -- our own program
