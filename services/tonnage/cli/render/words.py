"""Short words for parts that several answers share: configurations, sizes, loads, limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.cli.output import UNKNOWN, field, number, word
from tonnage.client import messages

if TYPE_CHECKING:
    from collections.abc import Iterable

_PARALLEL: Final = (
    ("tensor_parallel", "TP"),
    ("pipeline_parallel", "PP"),
    ("expert_parallel", "EP"),
    ("data_parallel", "DP"),
)
_PLAIN: Final = ("model", "weight_precision", "engine", "engine_version", "accelerator", "accelerators_per_replica")


def configuration(item: messages.Configuration, *, with_model: bool = True) -> str:
    """Return a configuration on one line; what is not stated is left out."""
    cards, accelerator = field(item, "accelerators_per_replica"), item.accelerator
    parts = [
        item.model if with_model else "",
        f"{item.engine} {item.engine_version}".strip(),
        item.weight_precision,
        f"{cards}x {accelerator or 'accelerator not stated'}" if cards is not None else accelerator,
        *(f"{short}{size}" for name, short in _PARALLEL if (size := field(item, name)) is not None),
        *_rest(item),
    ]
    return ", ".join(part for part in parts if part) or UNKNOWN


def _rest(item: messages.Configuration) -> Iterable[str]:
    shown = {*_PLAIN, "fingerprint", *(name for name, _ in _PARALLEL)}
    for descriptor, value in item.ListFields():
        if descriptor.name not in shown:
            yield f"{descriptor.name}={value}"


def work(size: messages.WorkSize) -> str:
    """Return a request size on one line."""
    kind = size.WhichOneof("work")
    if kind is None:
        return UNKNOWN
    if kind == "text":
        text = size.text
        cached = field(text, "prefix_cache_hit_ratio")
        sizes = f"{number(field(text, 'input_tokens_mean'))} in / {number(field(text, 'output_tokens_mean'))} out"
        return sizes if cached is None else f"{sizes}, cache hit {number(cached)}"
    inner = getattr(size, kind)
    return f"{kind} " + ", ".join(f"{item.name} {number(value)}" for item, value in inner.ListFields())


def limits(slo: messages.Slo) -> str:
    """Return the limits of an SLO on one line."""
    parts = [
        f"{word(messages.LatencyMetric, item.metric)} {word(messages.Statistic, item.statistic)}"
        f" ≤ {number(item.max_ms)} ms"
        for item in slo.latency_limits
    ]
    if slo.HasField("max_failure_ratio"):
        parts.append(f"failures ≤ {number(slo.max_failure_ratio)}")
    if slo.HasField("min_output_tokens_per_s_per_user"):
        parts.append(f"tokens/s per user ≥ {number(slo.min_output_tokens_per_s_per_user)}")
    return ", ".join(parts) or UNKNOWN


def money(amount: messages.Money) -> str:
    """Return an amount with currency and where it comes from."""
    if not amount.HasField("amount"):
        return UNKNOWN
    source = ", ".join(part for part in (amount.source, amount.as_of_date) if part)
    return f"{number(amount.amount)} {amount.currency}" + (f" ({source})" if source else "")


def q_slo(capacity: messages.SloCapacity) -> str:
    """Return a capacity on one line: the rate, what kind of number it is, and why."""
    rate = field(capacity, "q_slo_requests_per_s")
    if rate is None:
        return f"none: {capacity.reason or 'no load keeps the limits'}"
    bound = "at least " if capacity.bound == messages.CAPACITY_BOUND_AT_LEAST else ""
    return f"{bound}{number(rate)} requests/s a replica, {word(messages.Origin, capacity.origin)}"


def bottleneck(value: int) -> str:
    """Return what decides, or a dash."""
    return UNKNOWN if value == messages.BOTTLENECK_UNSPECIFIED else word(messages.Bottleneck, value)
