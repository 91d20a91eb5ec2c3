"""The fleet form as a request: several tenants on the same accelerators."""

from __future__ import annotations

import re
from typing import Final

from tonnage_ui.forms.plan import fill_reserve, fill_slo
from tonnage_ui.forms.values import Values, count_of, number_of, put, text_of
from tonnage_ui.messages import pb

MAX_TENANT_COUNT: Final = 8
_FIELDS: Final = {
    "name": "tenant_name",
    "peak_requests_per_s": "tenant_peak",
    "q_slo_requests_per_s": "tenant_q",
    "configuration": "tenant_configuration",
    "work": "input_tokens",
    "slo": "limits",
}


def prefix(position: int) -> str:
    """Return what the widget keys of a tenant begin with; positions begin at 1."""
    return f"t{position}_"


def utilization_request(values: Values) -> pb.ComputeUtilizationRequest:
    """Return the question the form asks."""
    request = pb.ComputeUtilizationRequest()
    for position in range(1, (count_of(values, "tenant_count") or 1) + 1):
        _fill_tenant(request.tenants.add(), _of(values, position))
    put(request, "replica_count", count_of(values, "replica_count"))
    put(request, "effective_capacity_ratio", number_of(values, "effective_capacity"))
    fill_reserve(request.reserve, values)
    return request


def is_askable(values: Values) -> bool:
    """Tell whether every tenant has a name, a rate, and a capacity that is stated or to be looked up."""
    tenants = [_of(values, position) for position in range(1, (count_of(values, "tenant_count") or 1) + 1)]
    return bool(text_of(values, "reserve_kind")) and all(_is_stated(tenant) for tenant in tenants)


def key_of_field(path: str) -> str | None:
    """Return the label's key of a request's field."""
    found = re.match(r"tenants\[\d+\]\.(\w+)", path)
    return _FIELDS.get(found[1]) if found else {"effective_capacity_ratio": "effective_capacity"}.get(path, path)


def _of(values: Values, position: int) -> Values:
    start = prefix(position)
    return {key.removeprefix(start): value for key, value in values.items() if key.startswith(start)}


def _is_stated(tenant: Values) -> bool:
    has_capacity = number_of(tenant, "q") is not None or bool(text_of(tenant, "configuration"))
    return bool(text_of(tenant, "name")) and number_of(tenant, "peak") is not None and has_capacity


def _fill_tenant(tenant: pb.Tenant, values: Values) -> None:
    tenant.name = text_of(values, "name")
    put(tenant, "peak_requests_per_s", number_of(values, "peak"))
    put(tenant, "q_slo_requests_per_s", number_of(values, "q"))
    if number_of(values, "q") is not None:
        return
    put(tenant.configuration, "fingerprint", text_of(values, "configuration"))
    put(tenant.work.text, "input_tokens_mean", number_of(values, "input_tokens"))
    put(tenant.work.text, "output_tokens_mean", number_of(values, "output_tokens"))
    fill_slo(tenant.slo, values)
