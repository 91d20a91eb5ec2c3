"""The store behind the fakes: runs by name, what was asked by request id, a data version."""

from __future__ import annotations

import hashlib
import threading
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import grpc

from tonnage.client.testing.refusal import Refused
from tonnage.v1 import ingest_service_pb2, run_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.message import Message

_RETRACTED = "RETRACTED"
_OUTPUT_ONLY = ("name", "report_id", "ingested_at")
_NEEDED = ("model", "accelerator", "accelerators_per_replica", "engine", "weight_precision")


@dataclass(slots=True)
class Kept:
    """One stored run, and whether it still counts."""

    run: run_pb2.Run
    retired: str = ""


@dataclass(slots=True)
class Memory:
    """Everything the fakes remember; every method is safe to call from several threads."""

    data_version: int = 0
    runs: dict[str, Kept] = field(default_factory=dict)
    uploads: dict[str, list[str]] = field(default_factory=dict)
    requests: dict[str, tuple[str, Any]] = field(default_factory=dict)
    plans: dict[str, ingest_service_pb2.RecordPlanRequest] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def keep(self, namespace: str, run: run_pb2.Run, report_id: str, ordinal: int) -> tuple[str, bool]:
        """Store one run; return its name and whether it is new. The caller bumps the version."""
        stored = run_pb2.Run()
        stored.CopyFrom(run)
        for name in _OUTPUT_ONLY:
            stored.ClearField(name)  # type: ignore[arg-type]
        given = f"{namespace}/{report_id}/{ordinal}"
        stored.name = f"namespaces/{namespace}/runs/{uuid.uuid5(uuid.NAMESPACE_OID, given)}"
        stored.report_id = report_id
        missing_fields = missing(stored.configuration)
        del stored.missing_for_plan[:]
        stored.missing_for_plan.extend(missing_fields)
        for index, level in enumerate(stored.levels):
            level.index = index
        if stored.name in self.runs:
            return stored.name, False
        self.runs[stored.name] = Kept(stored)
        return stored.name, True

    def retract(self, names: list[str], *, dry: bool = False) -> list[str]:
        """Take runs out of the answers; return those that were out before. Unknown ones refuse the whole."""
        for name in names:
            if name not in self.runs:
                raise Refused.not_stored("run", name)
        before = [name for name in names if self.runs[name].retired]
        if dry:
            return before
        for name in names:
            self.runs[name].retired = self.runs[name].retired or _RETRACTED
        if len(before) < len(set(names)):
            self.data_version += 1
        return before

    def live(self, namespace: str, *, retired: bool = False) -> Iterator[Kept]:
        """Yield the runs of a namespace, the newest first."""
        prefix = f"namespaces/{namespace}/"
        for name, kept in reversed(self.runs.items()):
            if name.startswith(prefix) and (retired or not kept.retired):
                yield kept

    def once(self, request_id: str, body: str) -> Any | None:  # noqa: ANN401 -- any answer
        """Return the first answer of a request id, or None; another body under it is refused."""
        if not request_id or request_id not in self.requests:
            return None
        known_body, answer = self.requests[request_id]
        if known_body != body:
            raise Refused(
                grpc.StatusCode.ALREADY_EXISTS,
                "REQUEST_ID_REUSED",
                f"request id {request_id} was used with another body",
                request_id=request_id,
            )
        return answer

    def remember(self, request_id: str, body: str, answer: Message) -> None:
        """Keep the first answer of a request id."""
        if request_id:
            self.requests[request_id] = (body, answer)


def missing(configuration: run_pb2.Configuration) -> list[str]:
    """Return the fields a plan needs that are not stated."""
    stated = {item.name for item, _ in configuration.ListFields()}
    return [name for name in _NEEDED if name not in stated]


def digest(*messages: Message) -> str:
    """Return one digest of some messages."""
    sha = hashlib.sha256()
    for message in messages:
        sha.update(message.SerializeToString(deterministic=True))
    return sha.hexdigest()


def receipt(name: str, run: run_pb2.Run, outcome: int, ordinal: int) -> ingest_service_pb2.RunReceipt:
    """Return what became of one run."""
    usable = [level for level in run.levels if not level.HasField("usable") or level.usable]
    return ingest_service_pb2.RunReceipt(
        run=name,
        outcome=ingest_service_pb2.RunOutcome.Name(outcome),  # type: ignore[arg-type]
        level_count=len(run.levels),
        usable_level_count=len(usable),
        missing_for_plan=missing(run.configuration),
        ordinal=ordinal,
    )
