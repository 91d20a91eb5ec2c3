"""The workload form of the Plan page as a request, and which widget a field of the request is.

Widget keys are URL parameters and, where the command line has the same thing, its flags' names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tonnage_ui.forms.configuration import fill_configuration
from tonnage_ui.forms.values import Values, count_of, number_of, put, text_of
from tonnage_ui.messages import pb

if TYPE_CHECKING:
    from collections.abc import Iterable

METRICS: Final = ("ttft", "tpot", "itl", "e2e", "queue")
STATISTICS: Final = ("mean", "p50", "p90", "p95", "p99")
LIMITS: Final = tuple(f"{metric}_{statistic}" for metric in METRICS for statistic in STATISTICS)
DEMAND_KINDS: Final = ("base_and_peak", "peak_rate", "daily_users", "sessions")
RESERVE_KINDS: Final = ("none", "whole", "parts")
RESERVE_PARTS: Final = ("growth", "burst", "drift", "colocation")
FAILOVER_KINDS: Final = ("not_stated", "replicas", "servers", "zones")
CLASSES: Final = ("interactive", "batch", "async_queue", "stream")
POLICIES: Final = ("measured", "interpolated")
MAX_SIZE_COUNT: Final = 6

_DEMAND_FIELDS: Final = {
    "base_and_peak": ("base_requests_per_s", "peak_factor", "peak_factor_source"),
    "peak_rate": ("peak_requests_per_s",),
    "daily_users": (
        "daily_active_users",
        "requests_per_user_per_day",
        "peak_hour_share",
        "peak_within_hour_factor",
        "source",
    ),
    "sessions": ("executing_sessions", "output_tokens_per_s_per_session", "source"),
}
_TEXT_FIELDS: Final = frozenset({"peak_factor_source", "source"})
_KEY_OF_FIELD: Final = {"source": "demand_source"}


def plan_request(values: Values) -> pb.PlanCapacityRequest:
    """Return the request a filled-in form asks; nothing is checked or filled in here."""
    request = pb.PlanCapacityRequest()
    workload = request.workload
    workload.model = text_of(values, "model")
    workload.request_class = pb.RequestClass.Value(_enum("REQUEST_CLASS", text_of(values, "request_class")))
    _fill_demand(workload.demand, values)
    _fill_buckets(workload, values)
    fill_slo(workload.slo, values)
    fill_reserve(workload.reserve, values)
    _fill_failover(workload, values)
    _fill_server(workload, values)
    fill_configuration(request.configuration, values)
    request.policy = pb.CapacityPolicy.Value(_enum("CAPACITY_POLICY", text_of(values, "policy")))
    request.as_of_date = text_of(values, "as_of")
    return request


def size_keys(size_count: int) -> list[tuple[str, str, str, str]]:
    """Return the widget keys of each request size: input, output, cache hits, share."""
    endings = ["", *(f"_{position}" for position in range(2, size_count + 1))]
    return [(f"input_tokens{end}", f"output_tokens{end}", f"prefix_hits{end}", f"share{end}") for end in endings]


def demand_keys(kind: str) -> list[str]:
    """Return the widget keys of one way to state demand."""
    return [_KEY_OF_FIELD.get(field, field) for field in _DEMAND_FIELDS[kind]]


def chosen_limits(values: Values) -> list[str]:
    """Return the latency limits that are switched on, such as "ttft_p90"."""
    chosen = values.get("limits")
    return [name for name in chosen if name in LIMITS] if isinstance(chosen, list | tuple) else []


def fill_slo(slo: pb.Slo, values: Values) -> None:
    """Fill an SLO from the limits that are switched on."""
    for name in chosen_limits(values):
        metric, statistic = name.split("_")
        limit = slo.latency_limits.add(
            metric=pb.LatencyMetric.Value(_enum("LATENCY_METRIC", metric)),
            statistic=pb.Statistic.Value(_enum("STATISTIC", statistic)),
        )
        put(limit, "max_ms", number_of(values, f"{name}_ms"))
    put(slo, "max_failure_ratio", number_of(values, "max_failure_ratio"))
    put(slo, "min_output_tokens_per_s_per_user", number_of(values, "min_tokens_per_s_per_user"))
    slo.allow_statistic_substitution = bool(values.get("allow_substitution"))


def _fill_demand(demand: pb.Demand, values: Values) -> None:
    kind = text_of(values, "demand_kind")
    if kind not in _DEMAND_FIELDS:
        return
    part = getattr(demand, kind)
    part.SetInParent()
    for field in _DEMAND_FIELDS[kind]:
        key = _KEY_OF_FIELD.get(field, field)
        put(part, field, text_of(values, key) if field in _TEXT_FIELDS else number_of(values, key))


def _fill_buckets(workload: pb.Workload, values: Values) -> None:
    size_count = count_of(values, "size_count") or 1
    for input_key, output_key, hits_key, share_key in size_keys(size_count):
        bucket = workload.buckets.add()
        text = bucket.work.text
        text.SetInParent()
        put(text, "input_tokens_mean", number_of(values, input_key))
        put(text, "output_tokens_mean", number_of(values, output_key))
        put(text, "prefix_cache_hit_ratio", number_of(values, hits_key))
        put(bucket, "share", 1.0 if size_count == 1 else number_of(values, share_key))


def fill_reserve(reserve: pb.Reserve, values: Values) -> None:
    """Fill R as it was stated: none, whole or in parts; not stated stays absent."""
    match text_of(values, "reserve_kind"):
        case "none":
            reserve.none.SetInParent()
        case "whole":
            _fill_part(reserve.whole, values, "reserve")
        case "parts":
            reserve.parts.SetInParent()
            for name in RESERVE_PARTS:
                if number_of(values, name) is not None or text_of(values, f"{name}_source"):
                    _fill_part(getattr(reserve.parts, name), values, name)


def _fill_part(part: pb.ReservePart, values: Values, key: str) -> None:
    part.SetInParent()
    put(part, "ratio", number_of(values, key))
    put(part, "source", text_of(values, f"{key}_source"))


def _fill_failover(workload: pb.Workload, values: Values) -> None:
    match text_of(values, "failover_kind"):
        case "replicas":
            put(workload.failover, "lost_replica_count", count_of(values, "failover_replicas"))
        case "servers":
            put(workload.failover, "lost_server_count", count_of(values, "failover_servers"))
        case "zones":
            workload.failover.zones.SetInParent()
            put(workload.failover.zones, "zone_count", count_of(values, "zones"))
            put(workload.failover.zones, "lost_zone_count", count_of(values, "failover_zones"))


def _fill_server(workload: pb.Workload, values: Values) -> None:
    put(workload.server, "accelerators_per_server", count_of(values, "accelerators_per_server"))
    amount = number_of(values, "price_per_hour")
    if amount is None:
        return
    price = workload.server.price_per_hour
    price.amount = amount
    price.currency = text_of(values, "price_currency")
    price.source = text_of(values, "price_source")
    price.as_of_date = text_of(values, "price_date")


def _enum(prefix: str, word: str) -> str:
    """Return the full name of an enum's word; an empty one is unspecified."""
    return f"{prefix}_{(word or 'unspecified').upper()}"


_LABELS: Final[tuple[tuple[str, str], ...]] = (
    (r"workload\.model", "model"),
    (r"workload\.request_class", "request_class"),
    (r"workload\.demand\.\w+\.source", "demand_source"),
    (r"workload\.demand\.\w+\.(\w+)", r"\1"),
    (r"workload\.demand", "demand_kind"),
    (r"workload\.buckets\[\d+\]\.work\.text\.input_tokens_mean", "input_tokens"),
    (r"workload\.buckets\[\d+\]\.work\.text\.output_tokens_mean", "output_tokens"),
    (r"workload\.buckets\[\d+\]\.work\.text\.prefix_cache_hit_ratio", "prefix_hits"),
    (r"workload\.buckets\[\d+\]\.share", "share"),
    (r"workload\.buckets", "share"),
    (r"workload\.slo\.max_failure_ratio", "max_failure_ratio"),
    (r"workload\.slo\.min_output_tokens_per_s_per_user", "min_tokens_per_s_per_user"),
    (r"workload\.slo.*", "limits"),
    (r"workload\.reserve\.whole\.ratio", "reserve"),
    (r"workload\.reserve\.whole\.source", "reserve_source"),
    (r"workload\.reserve\.parts\.(\w+)\.ratio", r"\1"),
    (r"workload\.reserve\.parts\.(\w+)\.source", r"\1_source"),
    (r"workload\.reserve", "reserve_kind"),
    (r"workload\.failover\.zones\.zone_count", "zones"),
    (r"workload\.failover\.zones\.lost_zone_count", "failover_zones"),
    (r"workload\.failover.*", "failover_kind"),
    (r"workload\.server\.accelerators_per_server", "accelerators_per_server"),
    (r"workload\.server\.price_per_hour\.source", "price_source"),
    (r"workload\.server\.price_per_hour\.currency", "price_currency"),
    (r"workload\.server\.price_per_hour\.as_of_date", "price_date"),
    (r"workload\.server\.price_per_hour.*", "price_per_hour"),
    (r"configuration\.(\w+)", r"\1"),
    (r"as_of_date", "as_of"),
)


def key_of_field(path: str) -> str | None:
    """Return the widget key of a request field's path, or None when no widget shows it."""
    return _first_match(_LABELS, path)


def _first_match(table: Iterable[tuple[str, str]], path: str) -> str | None:
    for pattern, key in table:
        found = re.fullmatch(pattern, path)
        if found is not None:
            return found.expand(key)
    return None
