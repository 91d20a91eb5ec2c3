"""``tonnage plan``: size one workload."""

from tonnage.cli import kit
from tonnage.cli.exits import Exit
from tonnage.cli.flags.asking import Planning, Reading
from tonnage.cli.flags.configuration import ConfigurationFlags
from tonnage.cli.flags.plan import PlanFlags, WorkloadFlags, request_of
from tonnage.cli.flags.workload import DemandFlags, FailoverFlags, ReserveFlags, ServerFlags, SizeFlags, SloFlags
from tonnage.cli.render.plan import plan as parts_of
from tonnage.client import messages

app = kit.new_app()


@kit.command(app)
def plan(  # noqa: PLR0913 -- one argument a group of flags
    *,
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
    """Size a workload: how many servers, which, on what evidence.

    Ends with 1 when nothing measured serves it, or nothing measured speaks of it.
    """
    parts = WorkloadFlags(demand=demand, sizes=sizes, slo=slo, reserve=reserve, failover=failover, server=server)
    request = request_of(flags, parts.message(flags), configuration.message(), reading)
    with asking.client() as client:
        answer = client.plan_capacity(request)
    kit.show(answer, as_json=asking.as_json, parts=lambda: parts_of(answer.plan))
    return Exit.OK if flags.validate_only or answer.plan.verdict == messages.PLAN_VERDICT_FEASIBLE else Exit.NO
