"""``tonnage explore``: one plan, varied over ranges."""

import sys
from collections.abc import Iterator
from typing import Annotated

from rich.console import RenderableType
from typer import Option

from tonnage.cli import kit, output, values
from tonnage.cli.exits import Exit
from tonnage.cli.flags.asking import Planning, Reading
from tonnage.cli.flags.configuration import ConfigurationFlags
from tonnage.cli.flags.plan import PlanFlags, WorkloadFlags, request_of
from tonnage.cli.flags.workload import DemandFlags, FailoverFlags, ReserveFlags, ServerFlags, SizeFlags, SloFlags
from tonnage.cli.output import UNKNOWN, field, number, table, word
from tonnage.cli.render import words
from tonnage.client import messages

app = kit.new_app()


@kit.command(app)
def explore(  # noqa: PLR0913 -- one argument a group of flags
    *,
    vary: Annotated[
        list[str],
        Option(
            metavar="NAME=LOW:HIGH:COUNT",
            help="What is varied, one to three times: peak_rps, peak_factor, reserve, input_tokens, output_tokens, "
            "lost_replicas or a limit as ttft_p90_ms; values as 1,2,3 or 10:100:5 or 1:1000:4:geometric.",
        ),
    ],
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
    """Plan one workload over ranges of what may change.

    Takes the flags of `tonnage plan`. Ends with 1 when no point can be served.
    """
    parts = WorkloadFlags(demand=demand, sizes=sizes, slo=slo, reserve=reserve, failover=failover, server=server)
    base = request_of(flags, parts.message(flags), configuration.message(), reading)
    request = messages.ExplorePlansRequest(base=base, axes=[values.axis(text) for text in vary])
    with asking.client() as client:
        points = list(_watched(client.explore_plans(request), quiet=asking.as_json))
    if asking.as_json:
        output.print_json({"points": [output.as_dict(point) for point in points]})
    else:
        kit.draw([_table([text.partition("=")[0] for text in vary], points)])
    served = any(point.verdict == messages.PLAN_VERDICT_FEASIBLE for point in points)
    return Exit.OK if served else Exit.NO


def _watched(
    points: Iterator[messages.ExplorePlansResponse], *, quiet: bool
) -> Iterator[messages.ExplorePlansResponse]:
    """Pass points on, and count them where somebody watches."""
    watched = not quiet and sys.stderr.isatty()
    for point in points:
        if watched:
            print(f"\r{point.index + 1} of {point.total_count}", end="", file=sys.stderr)  # noqa: T201 -- progress
        yield point
    if watched:
        print("\r\x1b[K", end="", file=sys.stderr)  # noqa: T201 -- progress ends


def _table(names: list[str], points: list[messages.ExplorePlansResponse]) -> RenderableType:
    columns = (
        *names,
        "verdict",
        "replicas",
        "servers",
        "accelerators",
        "an hour",
        "decides",
        "configuration or why not",
    )
    rows = [(*map(number, point.values), *_answer(point)) for point in points]
    figures = (*range(len(names)), *range(len(names) + 1, len(names) + 4))
    return table("", columns, rows, right=figures)


def _answer(point: messages.ExplorePlansResponse) -> tuple[str, ...]:
    verdict = word(messages.PlanVerdict, point.verdict)
    if not point.HasField("best"):
        return (verdict, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, point.reason)
    best = point.best
    bound = "≤ " if best.upper_bound else ""
    return (
        verdict,
        f"{bound}{best.count.replica_count}",
        f"{bound}{best.count.server_count}",
        number(field(best.count, "accelerator_count")),
        words.money(best.cost.per_hour),
        words.bottleneck(best.bottleneck),
        words.configuration(best.configuration, with_model=False),
    )
