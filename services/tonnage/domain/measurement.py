"""What was measured: levels, runs, and the numbers a level carries."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from datetime import datetime

from tonnage.domain.configuration import Conditions, Configuration
from tonnage.domain.finding import Finding, Origin, Severity

Metric = Literal["ttft", "tpot", "itl", "e2e", "queue"]
StatisticName = Literal["mean", "p50", "p90", "p95", "p99"]
METRICS: Final[tuple[Metric, ...]] = ("ttft", "tpot", "itl", "e2e", "queue")
STATISTICS: Final[tuple[StatisticName, ...]] = ("mean", "p50", "p90", "p95", "p99")
LEVEL_NUMBERS: Final = (
    "concurrency",
    "offered_requests_per_s",
    "requests_per_s",
    "output_tokens_per_s",
    "total_tokens_per_s",
    "reported_requests_per_s",
    "duration_s",
)
"""What a level states as measured numbers, latencies apart."""
LEVEL_COUNTS: Final = ("completed_count", "failed_count")


def run_name(namespace: str, run_id: str) -> str:
    """Return the resource name of a run."""
    return f"namespaces/{namespace}/runs/{run_id}"


class ArrivalKind(StrEnum):
    """How requests arrived: a fixed number in flight, or a rate from outside."""

    CLOSED = "closed"
    OPEN = "open"


class TestState(StrEnum):
    """What a run was meant to show; cold and warm are never mixed."""

    __test__ = False  # not a test class

    COLD = "cold"
    SINGLE = "single"
    TYPICAL = "typical"
    PEAK = "peak"
    STRESS = "stress"
    SOAK = "soak"
    BURST = "burst"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWork:
    """Text generation; means over completed requests, tokens."""

    input_tokens_mean: float | None = None
    output_tokens_mean: float | None = None
    prefix_cache_hit_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageWork:
    """Image generation."""

    megapixels: float | None = None
    step_count: float | None = None
    images_per_request: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioWork:
    """Speech in or out; seconds a request."""

    audio_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoWork:
    """Video generation or understanding."""

    frame_count: float | None = None
    megapixels: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingWork:
    """Embedding and reranking."""

    input_tokens_mean: float | None = None
    items_per_request: float | None = None


Work = TextWork | ImageWork | AudioWork | VideoWork | EmbeddingWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Statistics of one latency, milliseconds; None was not measured."""

    mean_ms: float | None = None
    p50_ms: float | None = None
    p90_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None

    def value_ms(self, statistic: StatisticName) -> float | None:
        """Return one statistic."""
        value: float | None = getattr(self, f"{statistic}_ms")
        return value


NOT_MEASURED: Final = Latency()


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """What the machines said during one level; ratios within 0 and 1."""

    accelerator_utilization_ratio: float | None = None
    vram_peak_bytes: int | None = None
    cpu_utilization_ratio: float | None = None
    queue_length_mean: float | None = None
    batch_size_mean: float | None = None
    kv_cache_usage_ratio: float | None = None
    power_w: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """A quality score, of a named suite and version."""

    suite: str
    suite_version: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One load level of one run: the operating point.

    Rates are of the whole system under test, per second. ``concurrency`` is the cap on requests
    in flight, never an average. A reader yields values as the file states them, in our units;
    ``formats.lint`` drops impossible statistics and says so in ``findings``.
    """

    index: int = 0
    work: Work = field(default_factory=TextWork)
    concurrency: float | None = None
    offered_requests_per_s: float | None = None
    requests_per_s: float | None = None
    output_tokens_per_s: float | None = None
    total_tokens_per_s: float | None = None
    reported_requests_per_s: float | None = None
    duration_s: float | None = None
    completed_count: int | None = None
    failed_count: int | None = None
    ttft: Latency = NOT_MEASURED
    tpot: Latency = NOT_MEASURED
    itl: Latency = NOT_MEASURED
    e2e: Latency = NOT_MEASURED
    queue: Latency = NOT_MEASURED
    telemetry: Telemetry | None = None
    quality: Quality | None = None
    tenants: tuple[tuple[str, Level], ...] = ()
    location: str = ""
    findings: tuple[Finding, ...] = ()
    usable: bool = True

    def latency(self, metric: Metric) -> Latency:
        """Return the statistics of one latency."""
        value: Latency = getattr(self, metric)
        return value

    @property
    def failure_ratio(self) -> float | None:
        """Return failed / (completed + failed), or None when either is unknown."""
        if self.completed_count is None or self.failed_count is None:
            return None
        total = self.completed_count + self.failed_count
        return self.failed_count / total if total else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Levels from one file of one load tool, with where they come from.

    A reader fills what the file says; the ingest use case adds keys, what was given beside
    the file, normal names and the lint's findings.
    """

    tool: str
    metric_definitions: str
    levels: tuple[Level, ...]
    tool_version: str | None = None
    configuration: Configuration = field(default_factory=Configuration)
    conditions: Conditions = field(default_factory=Conditions)
    replicas_under_test: int | None = None
    arrival_kind: ArrivalKind | None = None
    state: TestState | None = None
    state_origin: Origin | None = None
    sample_set: str | None = None
    measured_at: datetime | None = None
    sweep_id: str | None = None
    findings: tuple[Finding, ...] = ()
    ordinal: int = 0
    # Set by ingest.
    namespace: str = "default"
    run_id: str = ""
    report_id: str = ""
    filename: str = ""
    ingested_at: datetime | None = None
    ingested_by: str | None = None
    ci_job: str | None = None
    source: str | None = None

    @property
    def name(self) -> str:
        """Return the resource name."""
        return run_name(self.namespace, self.run_id)

    def missing_for_plan(self) -> tuple[str, ...]:
        """Return what a plan needs and no part of the run states, mean lengths and replicas included."""
        works = [level.work for level in self.levels]
        lengths = [
            key
            for key in ("input_tokens_mean", "output_tokens_mean")
            if any(hasattr(work, key) for work in works) and all(getattr(work, key, None) is None for work in works)
        ]
        replicas = [] if self.replicas_under_test is not None else ["replicas_under_test"]
        return (*self.configuration.missing_for_plan(), *lengths, *replicas)


__all__ = [
    "METRICS",
    "NOT_MEASURED",
    "STATISTICS",
    "ArrivalKind",
    "AudioWork",
    "EmbeddingWork",
    "Finding",
    "ImageWork",
    "Latency",
    "Level",
    "Metric",
    "Origin",
    "Quality",
    "Run",
    "Severity",
    "StatisticName",
    "Telemetry",
    "TestState",
    "TextWork",
    "VideoWork",
    "Work",
]
