"""Enum numbers of the planning messages and what they mean; every table is read both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.memory import FitVerdict, MemoryTermKind
from tonnage.domain.plan import Bottleneck, CapacityBound, CapacityPolicy, Depth, PlanVerdict
from tonnage.domain.workload import RequestClass
from tonnage.v1 import memory_pb2, plan_pb2, workload_pb2

if TYPE_CHECKING:
    from tonnage.domain.measurement import Metric, StatisticName

METRIC: Final[dict[workload_pb2.LatencyMetric.ValueType, Metric]] = {
    workload_pb2.LATENCY_METRIC_TTFT: "ttft",
    workload_pb2.LATENCY_METRIC_TPOT: "tpot",
    workload_pb2.LATENCY_METRIC_ITL: "itl",
    workload_pb2.LATENCY_METRIC_E2E: "e2e",
    workload_pb2.LATENCY_METRIC_QUEUE: "queue",
}
STATISTIC: Final[dict[workload_pb2.Statistic.ValueType, StatisticName]] = {
    workload_pb2.STATISTIC_MEAN: "mean",
    workload_pb2.STATISTIC_P50: "p50",
    workload_pb2.STATISTIC_P90: "p90",
    workload_pb2.STATISTIC_P95: "p95",
    workload_pb2.STATISTIC_P99: "p99",
}
REQUEST_CLASS: Final = {
    workload_pb2.REQUEST_CLASS_INTERACTIVE: RequestClass.INTERACTIVE,
    workload_pb2.REQUEST_CLASS_BATCH: RequestClass.BATCH,
    workload_pb2.REQUEST_CLASS_ASYNC_QUEUE: RequestClass.ASYNC_QUEUE,
    workload_pb2.REQUEST_CLASS_STREAM: RequestClass.STREAM,
}
POLICY: Final = {
    plan_pb2.CAPACITY_POLICY_MEASURED: CapacityPolicy.MEASURED,
    plan_pb2.CAPACITY_POLICY_INTERPOLATED: CapacityPolicy.INTERPOLATED,
}
DEPTH: Final = {
    plan_pb2.DEPTH_BASE: Depth.BASE,
    plan_pb2.DEPTH_CONFIDENCE: Depth.CONFIDENCE,
    plan_pb2.DEPTH_CHECKED: Depth.CHECKED,
}
BOUND: Final = {
    plan_pb2.CAPACITY_BOUND_EXACT: CapacityBound.EXACT,
    plan_pb2.CAPACITY_BOUND_AT_LEAST: CapacityBound.AT_LEAST,
    plan_pb2.CAPACITY_BOUND_NONE: CapacityBound.NONE,
}
BOTTLENECK: Final = {
    plan_pb2.BOTTLENECK_UNSPECIFIED: Bottleneck.UNKNOWN,
    plan_pb2.BOTTLENECK_TTFT: Bottleneck.TTFT,
    plan_pb2.BOTTLENECK_TPOT: Bottleneck.TPOT,
    plan_pb2.BOTTLENECK_ITL: Bottleneck.ITL,
    plan_pb2.BOTTLENECK_E2E: Bottleneck.E2E,
    plan_pb2.BOTTLENECK_QUEUE: Bottleneck.QUEUE,
    plan_pb2.BOTTLENECK_FAILURES: Bottleneck.FAILURES,
    plan_pb2.BOTTLENECK_THROUGHPUT: Bottleneck.THROUGHPUT,
    plan_pb2.BOTTLENECK_MEMORY: Bottleneck.MEMORY,
    plan_pb2.BOTTLENECK_EVIDENCE: Bottleneck.EVIDENCE,
    plan_pb2.BOTTLENECK_FAILOVER: Bottleneck.FAILOVER,
}
VERDICT: Final = {
    plan_pb2.PLAN_VERDICT_FEASIBLE: PlanVerdict.FEASIBLE,
    plan_pb2.PLAN_VERDICT_NOT_FEASIBLE: PlanVerdict.NOT_FEASIBLE,
    plan_pb2.PLAN_VERDICT_NOT_KNOWN: PlanVerdict.NOT_KNOWN,
    plan_pb2.PLAN_VERDICT_CONTRADICTION: PlanVerdict.CONTRADICTION,
}
TERM: Final = {
    memory_pb2.MEMORY_TERM_KIND_WEIGHTS: MemoryTermKind.WEIGHTS,
    memory_pb2.MEMORY_TERM_KIND_RUNTIME: MemoryTermKind.RUNTIME,
    memory_pb2.MEMORY_TERM_KIND_ACTIVATION: MemoryTermKind.ACTIVATION,
    memory_pb2.MEMORY_TERM_KIND_KV_CACHE: MemoryTermKind.KV_CACHE,
    memory_pb2.MEMORY_TERM_KIND_BATCH: MemoryTermKind.BATCH,
    memory_pb2.MEMORY_TERM_KIND_RESERVED: MemoryTermKind.RESERVED,
}
FIT: Final = {
    memory_pb2.FIT_VERDICT_FITS: FitVerdict.FITS,
    memory_pb2.FIT_VERDICT_TIGHT: FitVerdict.TIGHT,
    memory_pb2.FIT_VERDICT_DOES_NOT_FIT: FitVerdict.DOES_NOT_FIT,
}

METRIC_NUMBER: Final = {value: number for number, value in METRIC.items()}
STATISTIC_NUMBER: Final = {value: number for number, value in STATISTIC.items()}
REQUEST_CLASS_NUMBER: Final = {value: number for number, value in REQUEST_CLASS.items()}
POLICY_NUMBER: Final = {value: number for number, value in POLICY.items()}
DEPTH_NUMBER: Final = {value: number for number, value in DEPTH.items()}
BOUND_NUMBER: Final = {value: number for number, value in BOUND.items()}
BOTTLENECK_NUMBER: Final = {value: number for number, value in BOTTLENECK.items()}
VERDICT_NUMBER: Final = {value: number for number, value in VERDICT.items()}
TERM_NUMBER: Final = {value: number for number, value in TERM.items()}
FIT_NUMBER: Final = {value: number for number, value in FIT.items()}
