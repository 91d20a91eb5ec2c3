"""One table: which scopes open a method, and which methods write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from tonnage.errors import PermissionDenied

if TYPE_CHECKING:
    from tonnage.access import Identity

Reflection = Literal["token", "open", "off"]

# Probes of a platform carry no token, and health tells nothing but up or down.
HEALTH: Final = "/grpc.health.v1.Health/"
REFLECTION: Final = "/grpc.reflection."

_PLAN: Final = frozenset({"plan"})
_READ: Final = frozenset({"read"})
_INGEST: Final = frozenset({"ingest"})
_ADMIN: Final = frozenset({"admin"})

# Any one of the scopes opens the method; admin opens all. A method without a row is closed to everybody.
SCOPES_OF: Final[dict[str, frozenset[str]]] = {
    "/tonnage.v1.PlanningService/PlanCapacity": _PLAN,
    "/tonnage.v1.PlanningService/FitVram": _PLAN,
    "/tonnage.v1.PlanningService/EstimateTokenDemand": _PLAN,
    "/tonnage.v1.PlanningService/ComputeUtilization": _PLAN,
    "/tonnage.v1.PlanningService/EstimateServerCount": _PLAN,
    "/tonnage.v1.PlanningService/ExplorePlans": _PLAN,
    "/tonnage.v1.PlanningService/SimulatePlan": _PLAN,
    "/tonnage.v1.PlanningService/ComparePlans": _PLAN,
    "/tonnage.v1.PlanningService/ReplayPlan": _PLAN,
    "/tonnage.v1.BenchmarkService/ListConfigurations": _READ,
    "/tonnage.v1.BenchmarkService/ListRuns": _READ,
    "/tonnage.v1.BenchmarkService/GetRun": _READ,
    "/tonnage.v1.BenchmarkService/GetCurve": _READ,
    "/tonnage.v1.BenchmarkService/CheckRetest": _READ | _PLAN,
    "/tonnage.v1.CatalogService/ListModels": _PLAN | _READ | _INGEST,
    "/tonnage.v1.CatalogService/GetModel": _PLAN | _READ | _INGEST,
    "/tonnage.v1.CatalogService/ListAccelerators": _PLAN | _READ | _INGEST,
    "/tonnage.v1.IngestService/IngestReport": _INGEST,
    "/tonnage.v1.IngestService/IngestRuns": _INGEST,
    "/tonnage.v1.IngestService/ConvertReport": _INGEST,
    "/tonnage.v1.IngestService/ListFormats": _INGEST | _READ,
    "/tonnage.v1.IngestService/GetIngestion": _INGEST | _READ,
    "/tonnage.v1.IngestService/RetractRuns": _ADMIN,
    "/tonnage.v1.IngestService/RereadReports": _ADMIN,
    "/tonnage.v1.IngestService/FetchReport": _READ,
    "/tonnage.v1.IngestService/RecordPlan": _PLAN,
    "/tonnage.v1.IngestService/GetRecordedPlan": _PLAN | _READ,
}
WRITES: Final = frozenset(
    f"/tonnage.v1.IngestService/{name}"
    for name in ("IngestReport", "IngestRuns", "RetractRuns", "RereadReports", "RecordPlan")
)


def is_open(method: str, reflection: Reflection) -> bool:
    """Tell whether a method is answered without a token."""
    return method.startswith(HEALTH) or (reflection == "open" and method.startswith(REFLECTION))


def check(method: str, identity: Identity) -> None:
    """Raise ``PermissionDenied`` unless a scope of the identity opens the method; any token opens reflection."""
    if method.startswith(REFLECTION):
        return
    scopes = SCOPES_OF.get(method)
    if scopes is not None and identity.may(scopes):
        return
    needed = " or ".join(sorted(scopes | _ADMIN)) if scopes is not None else "an entry in the table of permissions"
    raise PermissionDenied(f"{method} needs the scope {needed}; ask for a token that has it", method=method)
