"""``tonnage simulate``: a planned count put through seeded traffic."""

import sys
from collections.abc import Iterator
from typing import Annotated

from rich.console import Console
from rich.progress import Progress
from typer import Option

from tonnage.cli import documents, kit
from tonnage.cli.exits import Exit
from tonnage.cli.flags.asking import Planning, Reading
from tonnage.cli.flags.configuration import ConfigurationFlags
from tonnage.cli.flags.plan import PlanFlags, WorkloadFlags, request_of
from tonnage.cli.flags.simulation import SimulationFlags
from tonnage.cli.flags.workload import DemandFlags, FailoverFlags, ReserveFlags, ServerFlags, SizeFlags, SloFlags
from tonnage.cli.render.simulation import simulation as parts_of
from tonnage.client import messages

app = kit.new_app()
_GOOD = (messages.SIMULATION_VERDICT_CONFIRMED, messages.SIMULATION_VERDICT_FEWER_WOULD_DO)


@kit.command(app)
def simulate(  # noqa: PLR0913 -- one argument a group of flags
    *,
    plan: Annotated[str, Option("--plan", help="A plan kept as JSON, in place of a workload; - is stdin.")] = "",
    traffic: SimulationFlags,
    flags: PlanFlags,
    demand: DemandFlags,
    sizes: SizeFlags,
    slo: SloFlags,
    reserve: ReserveFlags,
    failover: FailoverFlags,
    server: ServerFlags,
    configuration: ConfigurationFlags,
    reading: Reading,
    asking: Planning,
) -> int:
    """Put a planned count through seeded traffic.

    Takes the flags of `tonnage plan`, or a plan. Ends with 1 when the count does not keep what was asked, or nothing
    tells.
    """
    request = traffic.message()
    if plan:
        kept = documents.read_message("--plan", plan, messages.PlanCapacityResponse, inner="plan")
        request.plan.CopyFrom(kept.plan)
    else:
        parts = WorkloadFlags(demand=demand, sizes=sizes, slo=slo, reserve=reserve, failover=failover, server=server)
        request.request.CopyFrom(request_of(flags, parts.message(flags), configuration.message(), reading))
    with asking.client() as client:
        result = _watched(client.simulate_plan(request), quiet=asking.as_json)
    kit.show(result, as_json=asking.as_json, parts=lambda: parts_of(result))
    return Exit.OK if result.simulation.verdict in _GOOD else Exit.NO


def _watched(steps: Iterator[messages.SimulatePlanResponse], *, quiet: bool) -> messages.SimulatePlanResult:
    """Return the result, the share done shown where somebody watches."""
    result = messages.SimulatePlanResult()
    console = Console(file=sys.stderr)
    with Progress(console=console, transient=True, disable=quiet or not sys.stderr.isatty()) as bar:
        task = bar.add_task("simulating", total=1.0)
        for step in steps:
            if step.HasField("result"):
                result = step.result
            else:
                bar.update(task, completed=step.progress_ratio)
    return result
