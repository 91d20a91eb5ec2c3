"""Flags of commands that plan, and the request they make together with a file."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from typer import Option

from tonnage.cli import documents, requests, values
from tonnage.cli.flags.asking import Reading
from tonnage.cli.flags.workload import DemandFlags, FailoverFlags, ReserveFlags, ServerFlags, SizeFlags, SloFlags
from tonnage.client import messages


class Policy(StrEnum):
    """Which capacity of a curve is used."""

    MEASURED = "measured"
    INTERPOLATED = "interpolated"


class Depth(StrEnum):
    """How hard the planner works."""

    BASE = "base"
    CONFIDENCE = "confidence"
    CHECKED = "checked"


class RequestClass(StrEnum):
    """Which constraint binds."""

    INTERACTIVE = "interactive"
    BATCH = "batch"
    ASYNC_QUEUE = "async-queue"
    STREAM = "stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFlags:
    """What is asked of the planner itself."""

    file: Annotated[
        str,
        Option("--file", "-f", help="Request or workload in YAML or JSON, by the names of docs/api.md; - is stdin."),
    ] = ""
    model: Annotated[str, Option(help="Model id, for example meta-llama/Llama-3.1-8B-Instruct.")] = ""
    request_class: Annotated[RequestClass | None, Option(help="Which constraint binds.")] = None
    policy: Annotated[Policy | None, Option(help="Which capacity of a curve is used; measured by default.")] = None
    depth: Annotated[Depth | None, Option(help="How hard the planner works; base by default.")] = None
    as_of: Annotated[str, Option(metavar="YYYY-MM-DD", help="Date the plan is made for; today by default.")] = ""
    max_candidates: Annotated[int | None, Option(help="Configurations returned at most.")] = None
    validate_only: Annotated[bool, Option("--validate-only", help="Check the request, plan nothing.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFlags:
    """The groups of flags a workload is made of."""

    demand: DemandFlags
    sizes: SizeFlags
    slo: SloFlags
    reserve: ReserveFlags
    failover: FailoverFlags
    server: ServerFlags

    def message(self, flags: PlanFlags) -> messages.Workload:
        """Return what they state."""
        workload = values.made(
            messages.Workload,
            {},
            model=flags.model,
            demand=requests.stated(self.demand.message()),
            slo=self.slo.message(),
            reserve=self.reserve.message(),
            failover=self.failover.message(),
            server=self.server.message(),
            request_class=enum_of("RequestClass", flags.request_class),
        )
        workload.buckets.extend(self.sizes.buckets())
        return workload


def request_of(
    flags: PlanFlags, workload: messages.Workload, configuration: messages.Configuration, reading: Reading
) -> messages.PlanCapacityRequest:
    """Return the file's request with what the flags state put over it."""
    request = messages.PlanCapacityRequest()
    if flags.file:
        request = documents.read_message("--file", flags.file, messages.PlanCapacityRequest, inner="workload")
    top = values.made(
        messages.PlanCapacityRequest,
        {"as_of_date": "--as-of", "max_candidate_count": "--max-candidates"},
        namespace=reading.namespace,
        min_data_version=reading.min_data_version,
        workload=requests.stated(workload),
        configuration=requests.stated(configuration),
        policy=enum_of("CapacityPolicy", flags.policy),
        depth=enum_of("Depth", flags.depth),
        as_of_date=flags.as_of,
        validate_only=flags.validate_only or None,
        max_candidate_count=flags.max_candidates,
    )
    requests.overlay(request, top)
    return request


def enum_of(name: str, value: StrEnum | None) -> int | None:
    """Return the number of an enum's word: ("CapacityPolicy", measured) is CAPACITY_POLICY_MEASURED."""
    if value is None:
        return None
    stem = "".join(f"_{char}" if char.isupper() else char.upper() for char in name).lstrip("_")
    number: int = getattr(messages, f"{stem}_{value.value.upper().replace('-', '_')}")
    return number
