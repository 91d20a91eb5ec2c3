"""``tonnage serve``: both servers, and the pages, on one data folder."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Option

from tonnage.cli import exits, kit
from tonnage.cli.exits import Exit
from tonnage.cli.processes import site as sites
from tonnage.cli.processes.child import NotRunning
from tonnage.cli.processes.running import Running, running
from tonnage.cli.processes.site import Site

app = kit.new_app()


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFlags:
    """Where the data is and where the servers listen."""

    data: Annotated[Path, Option(help="Folder of the store; made when absent.")] = Path("tonnage-data")
    host: Annotated[str, Option(help="Address to listen on.")] = sites.LOOPBACK
    planning_port: Annotated[int, Option(help="0 lets the system choose.", min=0, max=65535)] = sites.PLANNING_PORT
    ingest_port: Annotated[int, Option(help="0 lets the system choose.", min=0, max=65535)] = sites.INGEST_PORT
    ui_port: Annotated[int, Option(help="Port of the pages; another when taken.", min=0, max=65535)] = sites.UI_PORT
    log_level: Annotated[str, Option(help="debug, info, warning or error; info tells of every call.")] = "warning"
    token_file: Annotated[Path | None, Option(help="File with the bearer token every call must carry.")] = None
    tls_cert_file: Annotated[Path | None, Option(help="PEM certificate chain; turns TLS on.")] = None
    tls_key_file: Annotated[Path | None, Option(help="PEM private key of the certificate.")] = None
    tls_ca: Annotated[Path | None, Option(help="PEM authorities that signed it; needed with TLS.")] = None
    as_json: Annotated[bool, Option("--json", help="Print the addresses as one line of JSON.")] = False

    def site(self) -> Site:
        """Return the site they describe."""
        names = (
            "data", "host", "planning_port", "ingest_port", "ui_port", "log_level", "token_file", "tls_cert_file",
            "tls_key_file", "tls_ca",
        )  # fmt: skip
        return Site(**{name: getattr(self, name) for name in names})


@kit.command(app)
def serve(*, flags: SiteFlags, ui: Annotated[bool, Option("--ui", help="Serve the pages too.")] = False) -> int:
    """Run both servers, and with --ui the pages.

    Prints the addresses once all are healthy, and runs until interrupted. When one ends by itself the
    others are ended too, with its last log line; nothing is started again.
    """
    try:
        asyncio.run(_serve(flags, with_ui=ui))
    except NotRunning as error:
        return exits.tell_not_running(error)
    return Exit.OK


async def _serve(flags: SiteFlags, *, with_ui: bool) -> None:
    async with running(flags.site(), with_ui=with_ui) as up:
        tell_addresses(up, as_json=flags.as_json)
        await up.wait()


def tell_addresses(up: Running, *, as_json: bool) -> None:
    """Print where everything is."""
    rows = {**up.addresses, "data": str(up.site.data.resolve())}
    if as_json:
        print(json.dumps({"event": "serving", **rows}), flush=True)  # noqa: T201 -- output
    else:
        for name, value in rows.items():
            print(f"{name:<9} {value}", flush=True)  # noqa: T201 -- output
