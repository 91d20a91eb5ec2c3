"""``tonnage demand``, ``utilization`` and ``servers``: the formulas on stated figures."""

from dataclasses import dataclass, field
from typing import Annotated

from typer import Option

from tonnage.cli import documents, kit, values
from tonnage.cli.exits import Exit
from tonnage.cli.flags.asking import Planning, Reading
from tonnage.cli.flags.workload import DemandFlags, FailoverFlags, ReserveFlags, SizeFlags
from tonnage.cli.render import counts as render
from tonnage.client import messages

demand_app = kit.new_app()
servers_app = kit.new_app()
utilization_app = kit.new_app()

_TENANT_KEYS = {"peak_rps": "peak_requests_per_s", "q_slo": "q_slo_requests_per_s"}


@kit.command(demand_app)
def demand(demand_flags: DemandFlags, sizes: SizeFlags, asking: Planning) -> int:
    """Turn demand into tokens/s, in and out apart."""
    request = messages.EstimateTokenDemandRequest(demand=demand_flags.message(), buckets=sizes.buckets())
    with asking.client() as client:
        answer = client.estimate_token_demand(request)
    kit.show(answer, as_json=asking.as_json, parts=lambda: render.demand(answer))
    return Exit.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class CountFlags:
    """Demand against capacity, and the shape of replicas and servers."""

    peak_rps: Annotated[float | None, Option(help="Requests/s at peak.")] = None
    q_slo: Annotated[float | None, Option(help="Requests/s one replica sustains inside the SLO.")] = None
    against: Annotated[
        list[str], Option(metavar="peak_rps=5,q_slo=2", help="One class of requests, repeated; several are summed.")
    ] = field(default_factory=list)
    accelerators_per_replica: Annotated[int | None, Option(help="Accelerators one replica occupies.")] = None
    accelerators_per_server: Annotated[int | None, Option(help="Accelerators of one server.")] = None

    def buckets(self) -> list[messages.DemandAgainstCapacity]:
        """Return the classes stated."""
        single = self.peak_rps is not None or self.q_slo is not None
        values.only_one([("--against", bool(self.against)), ("--peak-rps and --q-slo", single)])
        if single:
            stated = {"peak_requests_per_s": self.peak_rps, "q_slo_requests_per_s": self.q_slo}
            return [values.made(messages.DemandAgainstCapacity, {}, **stated)]
        return [_against(text) for text in self.against]


def _against(text: str) -> messages.DemandAgainstCapacity:
    found = messages.DemandAgainstCapacity()
    for key, value in values.pairs("--against", text.split(",")).items():
        values.set_path("--against", found, _TENANT_KEYS.get(key, key), values.figure("--against", value))
    return found


@kit.command(servers_app)
def servers(counts: CountFlags, reserve: ReserveFlags, failover: FailoverFlags, asking: Planning) -> int:
    """Count servers from stated demand and capacity.

    Ends with 1 when no count survives the loss asked for.
    """
    request = values.made(
        messages.EstimateServerCountRequest,
        {},
        reserve=reserve.message(),
        failover=failover.message(),
        accelerators_per_replica=counts.accelerators_per_replica,
        accelerators_per_server=counts.accelerators_per_server,
    )
    request.buckets.extend(counts.buckets())
    with asking.client() as client:
        answer = client.estimate_server_count(request)
    kit.show(answer, as_json=asking.as_json, parts=lambda: render.servers(answer))
    return Exit.NO if answer.impossible else Exit.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilizationFlags:
    """Who shares the accelerators."""

    file: Annotated[
        str,
        Option("--file", "-f", help="Request in YAML or JSON, for tenants whose capacity is looked up; - is stdin."),
    ] = ""
    tenant: Annotated[
        list[str], Option(metavar="name=chat,peak_rps=5,q_slo=2", help="One tenant, repeated; added to the file's.")
    ] = field(default_factory=list)
    replicas: Annotated[int | None, Option(help="Replicas that share the load; 1 when left out.")] = None
    effective_capacity: Annotated[float | None, Option(help="Learned from mixed runs; 1 when left out.")] = None


@kit.command(utilization_app)
def utilization(flags: UtilizationFlags, reserve: ReserveFlags, reading: Reading, asking: Planning) -> int:
    """Add up what several tenants take of the same accelerators.

    Ends with 1 when the sum is over the limit.
    """
    request = messages.ComputeUtilizationRequest()
    if flags.file:
        request = documents.read_message("--file", flags.file, messages.ComputeUtilizationRequest)
    request.MergeFrom(
        values.made(
            messages.ComputeUtilizationRequest,
            {"replica_count": "--replicas"},
            namespace=reading.namespace,
            min_data_version=reading.min_data_version,
            replica_count=flags.replicas,
            effective_capacity_ratio=flags.effective_capacity,
        )
    )
    request.tenants.extend(tenant(text) for text in flags.tenant)
    if (stated := reserve.message()) is not None:
        request.reserve.CopyFrom(stated)
    with asking.client() as client:
        answer = client.compute_utilization(request)
    kit.show(answer, as_json=asking.as_json, parts=lambda: render.utilization(answer))
    return Exit.OK if answer.within_limit else Exit.NO


def tenant(text: str) -> messages.Tenant:
    """Return one ``name=chat,peak_rps=5,q_slo=2`` text."""
    found = messages.Tenant()
    for key, value in values.pairs("--tenant", text.split(",")).items():
        content = value if key == "name" else values.figure("--tenant", value)
        values.set_path("--tenant", found, _TENANT_KEYS.get(key, key), content)
    return found
