"""What has to be served: demand, sizes, limits, reserve, failover."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, get_args

from tonnage import checks
from tonnage.domain.measurement import Metric, StatisticName, TextWork, Work
from tonnage.errors import InvalidInput, at

if TYPE_CHECKING:
    from tonnage.domain.configuration import Configuration

_SHARE_TOLERANCE: Final = 1e-6


class RequestClass(StrEnum):
    """Picks which constraint binds."""

    INTERACTIVE = "interactive"
    BATCH = "batch"
    ASYNC_QUEUE = "async-queue"
    STREAM = "stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyLimit:
    """One limit: a latency, a statistic of it, and the most it may be, milliseconds."""

    metric: Metric
    statistic: StatisticName
    max_ms: float

    def __post_init__(self) -> None:
        """Hold the limit above 0."""
        checks.one_of("metric", self.metric, get_args(Metric))
        checks.one_of("statistic", self.statistic, get_args(StatisticName))
        checks.positive("max_ms", self.max_ms)

    def __str__(self) -> str:
        """Return "ttft p95 <= 500 ms"."""
        return f"{self.metric} {self.statistic} <= {self.max_ms:g} ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slo:
    """Limits that all must hold; kept sorted so that order never matters."""

    latency_limits: tuple[LatencyLimit, ...] = ()
    max_failure_ratio: float | None = None
    min_output_tokens_per_s_per_user: float | None = None
    allow_statistic_substitution: bool = False

    def __post_init__(self) -> None:
        """Sort limits; refuse two for the same statistic."""
        ordered = tuple(sorted(self.latency_limits, key=lambda limit: (limit.metric, limit.statistic)))
        seen: set[tuple[str, str]] = set()
        for limit in ordered:
            if (limit.metric, limit.statistic) in seen:
                problem = f"limits {limit.metric} {limit.statistic} twice"
                raise InvalidInput.field("latency_limits", limit.max_ms, problem, "keep one of them")
            seen.add((limit.metric, limit.statistic))
        object.__setattr__(self, "latency_limits", ordered)
        checks.ratio("max_failure_ratio", self.max_failure_ratio)
        checks.positive("min_output_tokens_per_s_per_user", self.min_output_tokens_per_s_per_user)

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing is limited."""
        return (
            not self.latency_limits and self.max_failure_ratio is None and self.min_output_tokens_per_s_per_user is None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseAndPeak:
    """D_peak = D_base x K_peak, requests/s; K_peak is stated with its source."""

    base_requests_per_s: float
    peak_factor: float
    peak_factor_source: str

    def __post_init__(self) -> None:
        """Refuse a factor below 1 or without a source."""
        checks.not_negative("base_requests_per_s", self.base_requests_per_s)
        checks.at_least("peak_factor", self.peak_factor, 1)
        checks.required("peak_factor_source", self.peak_factor_source)
        checks.name("peak_factor_source", self.peak_factor_source)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakRate:
    """The peak itself, requests/s."""

    peak_requests_per_s: float
    base_requests_per_s: float | None = None

    def __post_init__(self) -> None:
        """Refuse a base above the peak."""
        checks.not_negative("peak_requests_per_s", self.peak_requests_per_s)
        checks.not_negative("base_requests_per_s", self.base_requests_per_s)
        if self.base_requests_per_s is not None and self.base_requests_per_s > self.peak_requests_per_s:
            raise InvalidInput.field(
                "base_requests_per_s", self.base_requests_per_s, "is above the peak", "give a base not above the peak"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyUsers:
    """Daily users and the stated ratios that turn them into a rate."""

    daily_active_users: float
    requests_per_user_per_day: float
    peak_hour_share: float
    source: str
    peak_within_hour_factor: float | None = None

    def __post_init__(self) -> None:
        """Hold the ratios to their ranges."""
        checks.not_negative("daily_active_users", self.daily_active_users)
        checks.positive("requests_per_user_per_day", self.requests_per_user_per_day)
        checks.share("peak_hour_share", self.peak_hour_share)
        checks.at_least("peak_within_hour_factor", self.peak_within_hour_factor, 1)
        checks.required("source", self.source)
        checks.name("source", self.source)
        if self.peak_hour_share < 1 / 24:
            raise InvalidInput.field(
                "peak_hour_share", self.peak_hour_share, "is below 1/24, less than an even day", "give the busiest hour"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """Sessions generating at once and the output tokens/s each draws."""

    executing_sessions: float
    output_tokens_per_s_per_session: float
    source: str

    def __post_init__(self) -> None:
        """Hold figures to their ranges."""
        checks.not_negative("executing_sessions", self.executing_sessions)
        checks.positive("output_tokens_per_s_per_session", self.output_tokens_per_s_per_session)
        checks.required("source", self.source)
        checks.name("source", self.source)


Demand = BaseAndPeak | PeakRate | DailyUsers | Sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandBucket:
    """One class of request sizes and its share of requests, above 0 to 1."""

    work: Work
    share: float = 1.0

    def __post_init__(self) -> None:
        """Hold share and lengths to their ranges."""
        checks.share("share", self.share)
        with at("work"):
            check_work(self.work)


def check_work(work: Work) -> None:
    """Hold the size of a wanted request to its ranges; raise ``InvalidInput``."""
    for key in work.__dataclass_fields__:
        with at(_WORK_KIND[type(work).__name__]):
            if key == "prefix_cache_hit_ratio":
                checks.ratio(key, getattr(work, key))
            else:
                checks.not_negative(key, getattr(work, key))
    if isinstance(work, TextWork):
        with at("text"):
            checks.required("input_tokens_mean", work.input_tokens_mean)
            checks.required("output_tokens_mean", work.output_tokens_mean)
            checks.positive("input_tokens_mean", work.input_tokens_mean)
            checks.positive("output_tokens_mean", work.output_tokens_mean)


_WORK_KIND: Final = {
    "TextWork": "text",
    "ImageWork": "image",
    "AudioWork": "audio",
    "VideoWork": "video",
    "EmbeddingWork": "embedding",
}


def check_shares(buckets: tuple[DemandBucket, ...]) -> None:
    """Refuse no buckets and shares that do not sum to 1."""
    checks.not_empty("buckets", buckets)
    total = math.fsum(bucket.share for bucket in buckets)
    if abs(total - 1) > _SHARE_TOLERANCE:
        raise InvalidInput.field("buckets", total, "shares do not sum to 1", "give shares of requests that sum to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservePart:
    """One part of R: a ratio not below 0 and where it comes from."""

    ratio: float
    source: str

    def __post_init__(self) -> None:
        """Refuse a part without a source."""
        checks.not_negative("ratio", self.ratio)
        checks.required("source", self.source)
        checks.name("source", self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserve:
    """R, whole or from parts; all None says that no reserve is wanted."""

    whole: ReservePart | None = None
    growth: ReservePart | None = None
    burst: ReservePart | None = None
    drift: ReservePart | None = None
    colocation: ReservePart | None = None
    from_parts: bool = False

    def parts(self) -> tuple[tuple[str, ReservePart], ...]:
        """Return what is stated, by name."""
        names = ("whole",) if self.whole else ("growth", "burst", "drift", "colocation")
        return tuple((key, part) for key in names if (part := getattr(self, key)) is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failover:
    """Loss the plan must survive at peak; exactly one kind is stated."""

    lost_replica_count: int | None = None
    lost_server_count: int | None = None
    zone_count: int | None = None
    lost_zone_count: int | None = None

    def __post_init__(self) -> None:
        """Hold counts to their ranges."""
        checks.count("lost_replica_count", self.lost_replica_count, least=0)
        checks.count("lost_server_count", self.lost_server_count, least=0)
        with at("zones"):
            checks.count("zone_count", self.zone_count)
            checks.count("lost_zone_count", self.lost_zone_count, least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """An amount with currency (ISO 4217), source and date (YYYY-MM-DD)."""

    currency: str
    amount: float
    source: str
    as_of_date: str

    def __post_init__(self) -> None:
        """Refuse an amount that cannot be compared later."""
        checks.not_negative("amount", self.amount)
        for key in ("currency", "source", "as_of_date"):
            checks.required(key, getattr(self, key))
            checks.name(key, getattr(self, key))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerShape:
    """The host replicas are put on."""

    accelerators_per_server: int | None = None
    price_per_hour: Money | None = None

    def __post_init__(self) -> None:
        """Hold the count to 1 or more."""
        checks.count("accelerators_per_server", self.accelerators_per_server)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What has to be served; bucket order never matters."""

    model: str
    demand: Demand
    buckets: tuple[DemandBucket, ...]
    slo: Slo
    reserve: Reserve
    request_class: RequestClass = RequestClass.INTERACTIVE
    failover: Failover | None = None
    server: ServerShape = field(default_factory=ServerShape)

    def __post_init__(self) -> None:
        """Check shares; sort buckets."""
        checks.required("model", self.model)
        checks.name("model", self.model)
        check_shares(self.buckets)
        object.__setattr__(self, "buckets", tuple(sorted(self.buckets, key=repr)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """One class of requests among several; Q is stated or looked up."""

    name: str
    peak_requests_per_s: float
    q_slo_requests_per_s: float | None = None
    configuration: Configuration | None = None
    work: Work | None = None
    slo: Slo | None = None

    def __post_init__(self) -> None:
        """Hold figures to their ranges."""
        checks.required("name", self.name)
        checks.name("name", self.name)
        checks.not_negative("peak_requests_per_s", self.peak_requests_per_s)
        checks.positive("q_slo_requests_per_s", self.q_slo_requests_per_s)
