"""``tonnage demo``: the sample runs, a first plan, and the pages."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

from rich.console import RenderableType
from rich.text import Text
from typer import Option

from tonnage.cli import documents, exits, kit
from tonnage.cli.commands.serve import tell_addresses
from tonnage.cli.exits import Exit
from tonnage.cli.processes import site as sites
from tonnage.cli.processes.child import NotRunning
from tonnage.cli.processes.running import Running, running
from tonnage.cli.processes.site import Site
from tonnage.cli.render.plan import plan as plan_parts
from tonnage.cli.upload.discover import discover
from tonnage.cli.upload.labels import LabelBook, Labels
from tonnage.cli.upload.push import Outcome, Parcel, Sender, push
from tonnage.client import IngestAsyncClient, PlanningAsyncClient, messages
from tonnage.client.errors import BadInput

app = kit.new_app()

WORKLOAD: Final = "demo-workload.yaml"
_STORED: Final = {messages.RUN_OUTCOME_STORED, messages.RUN_OUTCOME_ALREADY_STORED}


@kit.command(app)
def demo(
    *,
    data: Annotated[Path, Option(help="Folder of the demo's store.")] = Path(".demo"),
    bench_data: Annotated[Path | None, Option(help="Folder of sample runs; the checkout's when left out.")] = None,
    once: Annotated[bool, Option("--once", help="Stop after the plan.")] = False,
    ui_port: Annotated[int, Option(help="Port of the pages; another when taken.", min=0, max=65535)] = sites.UI_PORT,
) -> int:
    """Serve the sample runs and print a first plan.

    Unless --once is given, the pages are served until interrupted.
    """
    samples = bench_data or sample_folder()
    site = Site(data=data, planning_port=0, ingest_port=0, ui_port=ui_port)
    try:
        return asyncio.run(_demo(site, samples, once=once))
    except NotRunning as error:
        return exits.tell_not_running(error)


def sample_folder() -> Path:
    """Return the sample runs: of the current folder, else of the checkout this package stands in."""
    for place in (Path("bench_data"), Path(__file__).resolve().parents[4] / "bench_data"):
        if (place / WORKLOAD).is_file():
            return place
    raise BadInput.field("--bench-data", f"finds no bench_data/{WORKLOAD}; run it from a checkout of the product")


async def _demo(site: Site, samples: Path, *, once: bool) -> int:
    request = documents.read_message(
        "--bench-data", str(samples / WORKLOAD), messages.PlanCapacityRequest, inner="workload"
    )
    async with running(site, with_ui=not once) as up:
        outcomes = await _ingest(up, samples)
        kit.draw(_ingested(outcomes))
        answers = [item.answer for item in outcomes if item.answer is not None]
        request.min_data_version = max((answer.data_version for answer in answers), default=0)
        async with PlanningAsyncClient(up.addresses["planning"]) as client:
            answer = await client.plan_capacity(request)
        kit.draw(plan_parts(answer.plan))
        if not once:
            tell_addresses(up, as_json=False)
            await up.wait()
    return Exit.OK if answer.plan.verdict == messages.PLAN_VERDICT_FEASIBLE else Exit.NO


async def _ingest(up: Running, samples: Path) -> list[Outcome]:
    files, book = discover([str(samples)]), LabelBook(Labels())
    parcels = [Parcel(file=item, labels=book.of(item)) for item in files if item.path and item.path.name != WORKLOAD]
    async with IngestAsyncClient(up.addresses["ingest"]) as client:
        return await push(client, parcels, Sender(by="demo"), lambda _bytes: None)


def _ingested(outcomes: list[Outcome]) -> Iterator[RenderableType]:
    runs = [run for item in outcomes if item.answer for run in item.answer.runs if run.outcome in _STORED]
    levels = sum(run.level_count for run in runs)
    yield Text(f"{len(runs)} runs with {levels} levels from {sum(item.answer is not None for item in outcomes)} files")
    for item in outcomes:
        if item.error is not None and not item.skipped:
            yield f"{item.parcel.file.shown}: {item.error}"
    yield ""
