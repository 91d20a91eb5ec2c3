"""A plan as a headline, figures and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage_ui import numbers
from tonnage_ui.messages import count_of, enum_word, number_of, pb
from tonnage_ui.presenters import configuration as configurations

if TYPE_CHECKING:
    from tonnage_ui.messages import pb
    from tonnage_ui.words import Words

_FIRM: Final = frozenset({"measured", "derived"})
_BOUND_TONES: Final = {"exact": "firm", "at_least": "weak"}
_TONES: Final = {
    "feasible": "success",
    "not_feasible": "error",
    "not_known": "info",
    "contradiction": "error",
}


@dataclass(frozen=True, slots=True)
class Headline:
    """The verdict in large letters; ``tone`` is success, info, warning or error."""

    tone: str
    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class Figure:
    """One number in large letters."""

    label: str
    value: str
    help: str


@dataclass(frozen=True, slots=True)
class Badge:
    """A word on how sure the answer is; ``tone`` is firm, weak or plain."""

    text: str
    tone: str
    help: str


def headline(plan: pb.Plan, words: Words) -> Headline:
    """Return the verdict; a plan on a lower bound of capacity is not shown as settled."""
    verdict = enum_word(plan, "verdict")
    tone = _TONES.get(verdict, "warning")
    key = verdict
    if verdict == "feasible" and plan.candidates and plan.candidates[0].upper_bound:
        tone, key = "warning", "feasible_at_most"
    return Headline(tone, words.known("verdict", key), plan.summary)


def count_figures(candidate: pb.Candidate, words: Words) -> list[Figure]:
    """Return replicas, servers and accelerators, kept apart."""
    count = candidate.count
    at_most = "≤ " if candidate.upper_bound else ""

    def figure(key: str, value: int | None) -> Figure:
        shown = numbers.DASH if value is None else f"{at_most}{numbers.count(value)}"
        return Figure(words(f"figure.{key}"), shown, words(f"figure_help.{key}"))

    return [
        figure("replicas", count.replica_count),
        figure("servers", count.server_count),
        figure("accelerators", count_of(count, "accelerator_count")),
        figure("installed", count_of(count, "installed_accelerator_count")),
    ]


def certainty(candidate: pb.Candidate, plan: pb.Plan, words: Words) -> list[Badge]:
    """Return what kind of numbers the counts stand on."""
    origin = enum_word(candidate, "origin")
    bounds = {enum_word(bucket.capacity, "bound") for bucket in candidate.buckets}
    shown = [
        Badge(words.known("origin", origin), "firm" if origin in _FIRM else "weak", words("certainty.origin")),
        *(
            Badge(words("certainty.bound", bound=words.known("bound", bound)), _BOUND_TONES.get(bound, "plain"), "")
            for bound in sorted(bounds)
        ),
        Badge(words("certainty.depth", depth=words.known("depth", enum_word(plan.request, "depth"))), "plain", ""),
    ]
    return [*shown, Badge(words("certainty.evidence", count=len(candidate.evidence)), "plain", "")]


def answer_line(candidate: pb.Candidate, words: Words) -> str:
    """Return the counts in one line."""
    return " · ".join(f"**{figure.value}** {figure.label}" for figure in count_figures(candidate, words)[:3])


def rate_figures(candidate: pb.Candidate, plan: pb.Plan, words: Words) -> list[Figure]:
    """Return peak demand, capacity of a replica, use and cost."""
    cost = candidate.cost
    currency = cost.per_hour.currency
    return [
        Figure(
            words("figure.peak"),
            numbers.number(plan.demand.peak_requests_per_s),
            plan.demand.equation or words("figure_help.peak"),
        ),
        Figure(words("figure.q_slo"), _q_slo(candidate, ""), words("figure_help.q_slo")),
        Figure(words("figure.utilization"), numbers.percent(candidate.utilization_ratio), words("figure_help.use")),
        Figure(
            words("figure.cost", currency=f", {currency}" if currency else ""),
            numbers.money(number_of(cost.per_hour, "amount"), ""),
            words("figure_help.cost"),
        ),
    ]


def _q_slo(candidate: pb.Candidate, unit: str) -> str:
    """Return Q_slo of one bucket, or how many buckets there are."""
    if len(candidate.buckets) != 1:
        return f"{len(candidate.buckets)} ×"
    return capacity(candidate.buckets[0].capacity, unit)


def capacity(found: pb.SloCapacity, unit: str) -> str:
    """Return a Q_slo; "≥" says that no miss was seen."""
    shown = numbers.number(number_of(found, "q_slo_requests_per_s"), unit)
    return f"≥ {shown}" if enum_word(found, "bound") == "at_least" else shown


def candidate_rows(plan: pb.Plan, words: Words) -> list[dict[str, str]]:
    """Return one row a candidate, best first."""
    per_second = words("unit.requests_per_s")
    return [
        {
            words("column.rank"): str(position),
            words("column.configuration"): configurations.title(candidate.configuration, with_model=False),
            words("column.replicas"): _at_most(candidate, candidate.count.replica_count),
            words("column.servers"): _at_most(candidate, candidate.count.server_count),
            words("column.accelerators"): _at_most(candidate, count_of(candidate.count, "accelerator_count")),
            words("column.q_slo"): _q_slo(candidate, per_second),
            words("column.utilization"): numbers.percent(candidate.utilization_ratio),
            words("column.cost_per_hour"): numbers.money(
                number_of(candidate.cost.per_hour, "amount"), candidate.cost.per_hour.currency
            ),
            words("column.cost_per_million"): numbers.money(
                number_of(candidate.cost.per_million_output_tokens, "amount"),
                candidate.cost.per_million_output_tokens.currency,
            ),
            words("column.binding"): words.known("bottleneck", enum_word(candidate, "bottleneck")),
            words("column.origin"): words.known("origin", enum_word(candidate, "origin")),
        }
        for position, candidate in enumerate(plan.candidates, start=1)
    ]


def _at_most(candidate: pb.Candidate, value: int | None) -> str:
    if value is None:
        return numbers.DASH
    return f"≤ {value:,}" if candidate.upper_bound else f"{value:,}"


def bucket_rows(candidate: pb.Candidate, words: Words) -> list[dict[str, str]]:
    """Return one row a request size: what is asked, what was measured, what one replica carries."""
    per_second = words("unit.requests_per_s")
    return [
        {
            words("column.asked_size"): configurations.size(bucket.work),
            words("column.measured_size"): configurations.size(bucket.measured_work),
            words("column.peak"): numbers.number(bucket.peak_requests_per_s, per_second),
            words("column.q_slo"): capacity(bucket.capacity, per_second),
            words("column.measured_best"): numbers.number(
                number_of(bucket.capacity, "measured_requests_per_s"), per_second
            ),
            words("column.crossing"): numbers.number(number_of(bucket.capacity, "crossing_requests_per_s"), per_second),
            words("column.bound"): words.known("bound", enum_word(bucket.capacity, "bound")),
            words("column.binding"): words.known("bottleneck", enum_word(bucket.capacity, "binding")),
            words("column.origin"): words.known("origin", enum_word(bucket.capacity, "origin")),
        }
        for bucket in candidate.buckets
    ]


def rejection_rows(plan: pb.Plan, words: Words) -> list[dict[str, str]]:
    """Return what was looked at and does not answer, with the reason and what to do."""
    return [
        {
            words("column.configuration"): configurations.title(rejection.configuration),
            words("column.code"): rejection.code,
            words("column.binding"): words.known("bottleneck", enum_word(rejection, "bottleneck")),
            words("column.reason"): rejection.reason,
            words("column.remedy"): numbers.text(rejection.remedy),
        }
        for rejection in plan.rejections
    ]


def reserve_rows(candidate: pb.Candidate, words: Words) -> list[dict[str, str]]:
    """Return R taken apart, each part with its source."""
    return [
        {
            words("column.part"): words.known("reserve_part", part.part),
            words("column.ratio"): numbers.percent(part.ratio),
            words("column.source"): numbers.text(part.source),
        }
        for part in candidate.reserve.parts
    ]


def headroom_rows(candidate: pb.Candidate, words: Words) -> list[dict[str, str]]:
    """Return how far the count is from the next whole number, both ways, and what it survives."""
    count = candidate.count
    pairs = (
        ("exact_replicas", numbers.number(count.exact_replicas)),
        ("needed_replicas", numbers.count(count.needed_replica_count)),
        ("headroom", numbers.percent(number_of(count, "demand_headroom_ratio"))),
        ("surplus", numbers.percent(number_of(count, "demand_surplus_ratio"))),
        ("survived", numbers.count(count.survived_replica_losses)),
        ("replicas_per_server", numbers.count(count.replicas_per_server)),
    )
    return [{words("column.figure"): words(f"headroom.{key}"), words("column.value"): value} for key, value in pairs]


def token_rows(plan: pb.Plan, words: Words) -> list[dict[str, str]]:
    """Return token demand at base and at peak, kinds apart."""
    unit = words("unit.tokens_per_s")
    demand = plan.demand
    fields = (
        "input_tokens_per_s",
        "cached_input_tokens_per_s",
        "uncached_input_tokens_per_s",
        "output_tokens_per_s",
        "total_tokens_per_s",
    )
    has_base = demand.HasField("base_tokens")
    return [
        {
            words("column.figure"): words(f"tokens.{field.removesuffix('_per_s')}"),
            words("column.base"): numbers.number(getattr(demand.base_tokens, field) if has_base else None, unit),
            words("column.peak"): numbers.number(getattr(demand.peak_tokens, field), unit),
        }
        for field in fields
    ]


def all_evidence(candidate: pb.Candidate) -> list[pb.Evidence]:
    """Return everything the candidate's numbers rest on."""
    levels = [bucket.capacity.measured_at for bucket in candidate.buckets if bucket.capacity.HasField("measured_at")]
    return [*candidate.evidence, *levels]


def all_findings(plan: pb.Plan, candidate: pb.Candidate | None) -> list[pb.Finding]:
    """Return the findings of the plan, of the shown candidate, and of its capacities."""
    if candidate is None:
        return list(plan.findings)
    of_buckets = [finding for bucket in candidate.buckets for finding in bucket.capacity.findings]
    return [*plan.findings, *candidate.findings, *of_buckets]
