"""What is simulated of one candidate: the traffic's classes, the shared curve, and pools of replicas of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.capacity import lengths, sweeps
from tonnage.capacity.simulation.replica import ReplicaModel, replica_of
from tonnage.capacity.slo import slo_capacity

if TYPE_CHECKING:
    import numpy.typing as npt

    from tonnage.capacity.sweeps import CandidateCurves
    from tonnage.domain.plan import BucketCapacity, Candidate, PlanRequest

ASSUMED_WORK_CV: Final = 1.0


@dataclass(frozen=True, slots=True)
class Class:
    """One bucket: its share of requests, its model, its work against the shared curve, and its spread of work."""

    share: float
    model: ReplicaModel
    work_factor: float
    work_cv: float


@dataclass(frozen=True, slots=True)
class Bench:
    """Classes that share replicas; time runs by the curve of the class that takes most of them."""

    classes: tuple[Class, ...]
    lead: ReplicaModel
    cv_assumed: bool

    @property
    def mean_work(self) -> float:
        """Return the mean work of a request, in requests of the leading class."""
        return sum(item.share * item.work_factor for item in self.classes)

    @property
    def work_cv(self) -> float:
        """Return the spread of work over all classes."""
        second = sum(item.share * item.work_factor**2 * (1 + item.work_cv**2) for item in self.classes)
        return float(np.sqrt(max(0.0, second / self.mean_work**2 - 1)))

    def speeds(self, replica_count: int, most: int) -> npt.NDArray[np.float64]:
        """Return the speed a request sees at 0 to all slots (or ``most``) requests in service, evenly spread."""
        in_service = np.arange(min(self.slots(replica_count), most) + 1) / max(1, replica_count)
        low, high = self.lead.concurrency[0], self.lead.concurrency[-1]
        return 1 / self.lead.time_s(np.clip(in_service, low, high))

    def slots(self, replica_count: int) -> int:
        """Return the most requests in service on so many replicas."""
        return replica_count * self.lead.slots

    def rates(self, replica_count: int) -> npt.NDArray[np.float64]:
        """Return the requests/s the pool completes at 1 to all slots in service."""
        speeds = self.speeds(replica_count, self.slots(replica_count))
        rates: npt.NDArray[np.float64] = np.arange(1, len(speeds)) * speeds[1:] / self.mean_work
        return rates


def bench_of(
    request: PlanRequest, candidate: Candidate, curves: CandidateCurves, work_cv: float | None
) -> Bench | None:
    """Return what is simulated, None where a curve does not tell how many requests are in service."""
    workload = request.workload
    models = []
    for bucket, row in zip(workload.buckets, candidate.buckets, strict=True):
        model = _model(request, row, curves)
        if model is None:
            return None
        models.append((bucket.share, row.capacity.q_slo_requests_per_s or 0.0, model))
    _, rate, lead = max(models, key=lambda item: item[0] / item[1])
    assumed = work_cv is None and any(item[2].work_cv is None for item in models)
    classes = tuple(Class(part, model, rate / q_slo, _cv(model, work_cv)) for part, q_slo, model in models)
    return Bench(classes, lead, assumed)


def _cv(model: ReplicaModel, stated: float | None) -> float:
    if stated is not None:
        return stated
    return ASSUMED_WORK_CV if model.work_cv is None else model.work_cv


def _model(request: PlanRequest, row: BucketCapacity, curves: CandidateCurves) -> ReplicaModel | None:
    """Return the model of one bucket, brought to its lengths in the way its capacity was."""
    choice = sweeps.choose(curves.sweeps, row.work)
    apart = choice.apart
    slo = lengths.slo_for(request.workload.slo, choice.sweep.work, row.work)
    raw = slo_capacity(choice.sweep.curve, slo, request.policy).q_slo_requests_per_s
    used = row.capacity.q_slo_requests_per_s
    if raw is None or used is None:
        return None
    ttft_ratio = 1.0 if apart.same else max(1.0, apart.prefill_ratio)
    return replica_of(choice.sweep.curve, 1.0 if apart.same else used / raw, ttft_ratio)
