"""The command group: a table of commands whose modules are loaded when they are run."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

if TYPE_CHECKING:
    from collections.abc import Sequence

_HERE: Final = "tonnage.cli.commands"

# name: (module, its Typer, what `tonnage --help` says). A test holds the words to the commands' own.
COMMANDS: Final = {
    "serve": ("serve", "app", "Run both servers, and with --ui the pages."),
    "demo": ("demo", "app", "Serve the sample runs and print a first plan."),
    "ingest": ("ingest", "app", "Store benchmark files of any supported load tool."),
    "convert": ("convert", "app", "Read one file as ingest would, and store nothing."),
    "formats": ("convert", "formats_app", "List what can be read, and how each tool means its metrics."),
    "plan": ("plan", "app", "Size a workload: how many servers, which, on what evidence."),
    "vram": ("vram", "app", "Say whether a model fits, how many requests, what binds."),
    "demand": ("counts", "demand_app", "Turn demand into tokens/s, in and out apart."),
    "utilization": ("counts", "utilization_app", "Add up what several tenants take of the same accelerators."),
    "servers": ("counts", "servers_app", "Count servers from stated demand and capacity."),
    "curve": ("curve", "app", "Show a measured curve, and what it carries inside an SLO."),
    "explore": ("explore", "app", "Plan one workload over ranges of what may change."),
    "simulate": ("simulate", "app", "Put a planned count through seeded traffic."),
    "compare": ("compare", "compare_app", "Say what differs between two plans, and what that comes to."),
    "replay": ("compare", "replay_app", "Compute a plan again from what it holds."),
    "retest": ("retest", "app", "Say what changed since it was measured, and what to run again."),
    "accuracy": ("accuracy", "app", "Judge our own models by what somebody measured."),
    "models": ("catalog", "models_app", "List the models whose shape is known, or read a config.json."),
    "gpus": ("catalog", "gpus_app", "List the accelerators that are known."),
    "runs": ("runs", "app", "List, show and retract stored runs."),
    "doctor": ("doctor", "app", "Check settings, store, certificates, tokens, ports, clock and disk."),
    "token": ("token", "app", "Make, list and revoke the tokens of a file."),
    "store": ("store", "app", "Look after a data folder: check, back up, restore, migrate, export."),
}


class LazyGroup(TyperGroup):
    """Knows every command by name and words; loads one when it is run or completed."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 -- Typer's own
        super().__init__(**attributes)
        self.commands = {
            name: TyperCommand(name=name, callback=None, help=words, rich_markup_mode=None)
            for name, (_, _, words) in COMMANDS.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:  # noqa: ANN401 -- Typer's own
        """Return the command itself in place of its entry."""
        name, entry, rest = super().resolve_command(ctx, args)
        return name, load(name) if entry is not None and name is not None else entry, rest


def load(name: str) -> Any:  # noqa: ANN401 -- Typer's command classes are vendored
    """Return a command, ready to run."""
    module, attribute, _ = COMMANDS[name]
    command = get_command(getattr(import_module(f"{_HERE}.{module}"), attribute))
    command.name = name
    return command


app = typer.Typer(
    cls=LazyGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    epilog="Ends with 0 for yes, 1 when the answer is no, 2 on bad input, 3 when a service cannot be reached.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata  # noqa: PLC0415 -- costs a tenth of the time help has

        typer.echo(f"tonnage {metadata.version('tonnage')}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the release.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """How many GPU servers an inference workload needs, from measured runs, and how sure that is."""


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit status; usage errors pass as Typer's exceptions."""
    status: int | None = get_command(app).main(args=list(args), prog_name="tonnage", standalone_mode=False)
    return status or 0
