"""The fake planning, benchmark and catalog services."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

import grpc

from tonnage.client.testing.refusal import Refused
from tonnage.v1 import benchmark_service_pb2 as pb
from tonnage.v1 import planning_service_pb2

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from google.protobuf.message import Message

    from tonnage.client.testing.memory import Memory
    from tonnage.v1.run_pb2 import Configuration, Run

_PAGE = 50
_LARGEST_PAGE = 1000


class FakeBenchmark:
    """Lists what is stored."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def ListRuns(self, request: pb.ListRunsRequest, _context: Any) -> pb.ListRunsResponse:  # noqa: ANN401, N802 -- gRPC's shape
        """List runs, newest first."""
        with self.memory.lock:
            self._wait(request)
            rows = [
                kept.run
                for kept in self.memory.live(request.namespace or "default", retired=request.include_retired)
                if matches(kept.run.configuration, request.filter)
                and request.tool in ("", kept.run.tool)
                and request.sweep_id in ("", kept.run.sweep_id)
            ]
            page, token = self._page(request, rows)
            answer = pb.ListRunsResponse(
                next_page_token=token, data_version=self.memory.data_version, total_count=len(rows)
            )
            for run in page:
                without_levels(answer.runs.add(), run)
            return answer

    def ListConfigurations(self, request: pb.ListConfigurationsRequest, _context: Any) -> pb.ListConfigurationsResponse:  # noqa: ANN401, N802 -- gRPC's shape
        """List configurations with runs."""
        with self.memory.lock:
            self._wait(request)
            found: dict[bytes, pb.ConfigurationSummary] = {}
            for kept in self.memory.live(request.namespace or "default"):
                if matches(kept.run.configuration, request.filter):
                    key = kept.run.configuration.SerializeToString(deterministic=True)
                    summary = found.setdefault(key, pb.ConfigurationSummary(configuration=kept.run.configuration))
                    summary.run_count += 1
                    summary.level_count += len(kept.run.levels)
                    summary.missing_for_plan[:] = kept.run.missing_for_plan
            page, token = self._page(request, [found[key] for key in sorted(found)])
            return pb.ListConfigurationsResponse(
                configurations=page,
                next_page_token=token,
                data_version=self.memory.data_version,
                total_count=len(found),
            )

    def GetRun(self, request: pb.GetRunRequest, _context: Any) -> pb.GetRunResponse:  # noqa: ANN401, N802 -- gRPC's shape
        """Show one run with its levels."""
        if not request.name:
            raise Refused.field("name", "is required and absent; state it")
        with self.memory.lock:
            self._wait(request)
            kept = self.memory.runs.get(request.name)
            if kept is None:
                raise Refused.not_stored("run", request.name)
            return pb.GetRunResponse(run=kept.run, data_version=self.memory.data_version, retired=kept.retired)

    def _wait(self, request: Any) -> None:  # noqa: ANN401 -- any request with a version
        require_version(request, self.memory.data_version)

    def _page(self, request: Any, rows: Sequence[Any]) -> tuple[Sequence[Any], str]:  # noqa: ANN401 -- any list request
        """Return the asked page and the next one's token, bound to the query and the data version."""
        if not 0 <= request.page_size <= _LARGEST_PAGE:
            raise Refused.field("page_size", f"is out of range; give 1 to {_LARGEST_PAGE}, or 0 for {_PAGE}")
        bound = [self.memory.data_version, _query(request)]
        start = _start(request.page_token, bound)
        end = start + (request.page_size or _PAGE)
        token = base64.urlsafe_b64encode(json.dumps([*bound, end]).encode()).decode() if end < len(rows) else ""
        return rows[start:end], token


def require_version(request: Any, have: int) -> None:  # noqa: ANN401 -- any request with a version
    """Refuse a request for data that is not there."""
    if request.HasField("min_data_version") and request.min_data_version > have:
        raise Refused(
            grpc.StatusCode.FAILED_PRECONDITION,
            "DATA_VERSION_NOT_REACHED",
            f"data version {request.min_data_version} was asked, {have} is here",
            asked=str(request.min_data_version),
            have=str(have),
        )


def _query(request: Message) -> str:
    """Return a digest of what chooses the rows."""
    query = type(request)()
    query.CopyFrom(request)
    for name in ("page_token", "page_size", "min_data_version"):
        query.ClearField(name)
    return hashlib.sha256(query.SerializeToString(deterministic=True)).hexdigest()


def _start(token: str, bound: list[Any]) -> int:
    if not token:
        return 0
    try:
        version, query, start = json.loads(base64.b64decode(token, altchars=b"-_", validate=True))
    except (ValueError, TypeError) as error:
        raise Refused.field("page_token", "is not a page token of this server; begin again without one") from error
    if [version, query] != bound:
        stale = "belongs to another query or data version; begin again without one"
        raise Refused.field("page_token", stale, reason="PAGE_TOKEN_STALE")
    return int(start)


def matches(item: Configuration, asked: Configuration) -> bool:
    """Tell whether no field that is asked differs."""
    return all(getattr(item, field.name) == value for field, value in asked.ListFields())


def without_levels(into: Run, run: Run) -> None:
    """Copy a run as a list shows it."""
    into.CopyFrom(run)
    del into.levels[:]


class Scripted:
    """Answers RPCs that need the planner, by what a test put in; keeps the requests."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.answers: dict[str, Any] = {}
        self.requests: list[tuple[str, Message]] = []

    def method(self, name: str, *, streamed: bool) -> Callable[[Any, Any], Any]:
        """Return the handler of one RPC."""

        def handle(request: Any, _context: Any) -> Any:  # noqa: ANN401 -- any RPC
            self.requests.append((name, request))
            if isinstance(request, planning_service_pb2.PlanCapacityRequest) and not request.workload.model:
                raise Refused.field("workload.model", "is required and absent; state it")
            if "min_data_version" in request.DESCRIPTOR.fields_by_name:
                require_version(request, self.memory.data_version)
            answer = self.answers.get(name)
            if answer is None:
                text = f"the fake has no answer for {name}; put one in with fake.answer({name!r}, ...)"
                raise Refused(grpc.StatusCode.UNIMPLEMENTED, "NOT_AVAILABLE", text, feature=name)
            answered = answer(request) if callable(answer) else answer
            return iter(answered) if streamed else answered

        return handle
