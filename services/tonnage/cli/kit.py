"""How a command is declared, and how an answer is shown: JSON when asked for, else tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from tonnage.cli import output
from tonnage.cli.flags.expand import flattened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from google.protobuf.message import Message
    from rich.console import RenderableType


def new_app(help_text: str = "") -> typer.Typer:
    """Return an empty command, or a group when several functions are added.

    Help is plain: rich help takes twice as long to load, and people wait for it.
    """
    return typer.Typer(
        rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False, help=help_text or None
    )


def command(app: typer.Typer, name: str | None = None) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add a function, with its groups of flags spread, to an app; it returns the exit status."""

    def add(function: Callable[..., int]) -> Callable[..., int]:
        app.command(name=name)(flattened(function))
        return function

    return add


def show(answer: Message, *, as_json: bool, parts: Callable[[], Iterable[RenderableType]]) -> None:
    """Print an answer as asked; ``parts`` is only walked for people."""
    if as_json:
        output.print_json(answer)
    else:
        draw(parts())


def draw(parts: Iterable[RenderableType]) -> None:
    """Print what people read."""
    console = output.console()
    for part in parts:
        console.print(part)
