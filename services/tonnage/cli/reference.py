"""``python -m tonnage.cli.reference`` prints the reference of every command in Markdown."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tonnage.cli.app import COMMANDS, load

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = """# The command line

Every command is a thin client of the two servers. Errors are told on standard error as
`error: field: problem; cure`, never as a traceback.

| ends with | when |
| --- | --- |
| 0 | the answer is yes, or the work is done |
| 1 | the answer is no: not feasible, does not fit, over the limit, nothing known |
| 2 | bad input: a flag, a file, a name nobody has, a token that is not known |
| 3 | a service cannot be reached, or cannot answer now |
| 70 | a fault of the command itself; never means no |
| 130 | interrupted |

Servers are found by `--planning` and `--ingest`, else by `TONNAGE_PLANNING` and `TONNAGE_INGEST`, else at
127.0.0.1:7051 and 127.0.0.1:7052. `TONNAGE_TOKEN` or `--token-file` proves who asks; `TONNAGE_TLS_CA` or
`--tls-ca` turns TLS on. `tonnage --install-completion` teaches the shell to complete commands and flags.
"""


def page() -> str:
    """Return the whole reference."""
    return "\n".join([_HEAD, *(line for name in COMMANDS for line in _command(name))]) + "\n"


def _command(name: str) -> Iterator[str]:
    command = load(name)
    inner: dict[str, Any] = getattr(command, "commands", {})
    yield f"## `tonnage {name}`\n"
    yield _words(command.help)
    if not inner:
        yield from _parameters(command)
    for inner_name, item in inner.items():
        yield f"### `tonnage {name} {inner_name}`\n"
        yield _words(item.help)
        yield from _parameters(item)


def _words(text: str | None) -> str:
    return (text or "").strip() + "\n"


def _parameters(command: Any) -> Iterator[str]:  # noqa: ANN401 -- Typer's command classes are vendored
    rows = [_row(item) for item in command.params if "--help" not in item.opts]
    if rows:
        yield "| flag | takes | default | meaning |\n| --- | --- | --- | --- |"
        yield "\n".join(rows) + "\n"


def _row(item: Any) -> str:  # noqa: ANN401 -- the same
    names = f"`{item.metavar or item.name.upper()}`"
    if item.param_type_name == "option":
        names = ", ".join(f"`{name}`" for name in (*item.opts, *item.secondary_opts))
    help_text = (item.help or "").replace("|", "\\|")
    if item.required:
        help_text = f"{help_text} Required.".strip()
    return f"| {names} | {_takes(item)} | {_default(item)} | {help_text} |"


def _takes(item: Any) -> str:  # noqa: ANN401 -- the same
    if getattr(item, "is_flag", False) or getattr(item, "is_bool_flag", False):
        return ""
    words = (item.metavar or item.bare_type()).replace("|", " or ")
    return f"`{words}`, repeated" if item.multiple or item.nargs == -1 else f"`{words}`"


def _default(item: Any) -> str:  # noqa: ANN401 -- the same
    value = item.default
    return "" if value in (None, "", False, [], ()) else f"`{value}`"


if __name__ == "__main__":
    sys.stdout.write(page())
