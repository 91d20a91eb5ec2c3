"""``tonnage curve``: what was measured of one configuration."""

from typing import Annotated

from typer import Option

from tonnage.cli import kit, values
from tonnage.cli.exits import Exit
from tonnage.cli.flags.asking import Planning, Reading
from tonnage.cli.flags.configuration import ConfigurationFlags
from tonnage.cli.flags.plan import Policy
from tonnage.cli.flags.workload import SizeFlags, SloFlags
from tonnage.cli.render.curve import curve as parts_of
from tonnage.client import messages

app = kit.new_app()


@kit.command(app)
def curve(  # noqa: PLR0913 -- one argument a group of flags
    *,
    configuration: ConfigurationFlags,
    sizes: SizeFlags,
    slo: SloFlags,
    reading: Reading,
    asking: Planning,
    model: Annotated[str, Option(help="Model id.")] = "",
    sweep: Annotated[str, Option(help="A sweep by its id; the newest when left out.")] = "",
    policy: Annotated[Policy, Option(help="Which capacity of the curve is used.")] = Policy.MEASURED,
) -> int:
    """Show a measured curve, and what it carries inside an SLO.

    Ends with 1 when a limit is given and no load keeps it.
    """
    request = values.made(
        messages.GetCurveRequest,
        {},
        namespace=reading.namespace,
        configuration=configuration.message(model),
        work=sizes.work(),
        slo=slo.message(),
        policy=messages.CapacityPolicy.Value(f"CAPACITY_POLICY_{policy.value.upper()}"),
        sweep_id=sweep,
        min_data_version=reading.min_data_version,
    )
    with asking.client() as client:
        answer = client.get_curve(request)
    kit.show(answer, as_json=asking.as_json, parts=lambda: parts_of(answer))
    nothing = answer.HasField("capacity") and not answer.capacity.HasField("q_slo_requests_per_s")
    return Exit.NO if nothing else Exit.OK
