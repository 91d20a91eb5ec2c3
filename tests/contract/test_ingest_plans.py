"""Plans that are kept: by id, whole, once."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import grpc
import grpc.aio
import pytest
from builders_ingest import a_plan, an_ingest_stub
from builders_rpc import violations

from tonnage.store.lake.connection import attach, connect, create_catalog
from tonnage.store.lake.writer import LakeWriter
from tonnage.store.memory import MemoryStore
from tonnage.store.migrations import MIGRATIONS, migrate
from tonnage.store.url import EmbeddedPlace
from tonnage.v1 import ingest_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path
    from typing import Any

    from tonnage.store.base import StoreWriter
    from tonnage.v1.ingest_service_pb2_grpc import IngestServiceAsyncStub

STORES: dict[str, Callable[[Path], StoreWriter]] = {
    "memory": lambda _: MemoryStore(),
    "lake": lambda folder: LakeWriter(EmbeddedPlace(folder / "store")),
}


def said(folder: Path, writer: StoreWriter, script: Callable[[IngestServiceAsyncStub], Awaitable[Any]]) -> Any:  # noqa: ANN401 -- what the script returns
    """Return what a script against a server on the store returns."""

    async def life() -> Any:  # noqa: ANN401 -- as above
        async with an_ingest_stub(folder, writer) as stub:
            return await script(stub)

    return asyncio.run(life())


@pytest.mark.parametrize("kind", STORES)
def test_a_plan_is_kept_whole_once_and_found_by_its_id(kind: str, tmp_path: Path) -> None:
    async def script(stub: IngestServiceAsyncStub) -> tuple[Any, ...]:
        request = pb.RecordPlanRequest(plan=a_plan(), recorded_by="ci")
        first, again = await stub.RecordPlan(request), await stub.RecordPlan(request)
        found = await stub.GetRecordedPlan(pb.GetRecordedPlanRequest(plan_id=a_plan().plan_id))
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.RecordPlan(pb.RecordPlanRequest(plan=a_plan(summary="3 servers")))
        with pytest.raises(grpc.aio.AioRpcError) as unknown:
            await stub.GetRecordedPlan(pb.GetRecordedPlanRequest(plan_id="no"))
        assert list(violations(refused.value)) == ["plan.plan_id"]
        assert unknown.value.code() is grpc.StatusCode.NOT_FOUND
        return first, again, found

    writer = STORES[kind](tmp_path)
    first, again, found = said(tmp_path, writer, script)
    assert (first.already_recorded, again.already_recorded) == (False, True)
    assert first.recorded_at == again.recorded_at == found.recorded_at
    assert (found.plan, found.recorded_by) == (a_plan(), "ci")
    # No answer changes by a plan that is kept.
    assert writer.data_version == 0


def test_a_store_of_the_first_schema_keeps_plans_once_it_was_opened(tmp_path: Path) -> None:
    place = EmbeddedPlace(tmp_path / "store")
    (tmp_path / "store" / "data").mkdir(parents=True)
    with closing(connect()) as connection:
        create_catalog(connection, place)
        attach(connection, place, read_only=False)
        migrate(connection, now=datetime(2026, 1, 1, tzinfo=UTC), migrations=MIGRATIONS[:1])

    async def record(stub: IngestServiceAsyncStub) -> pb.RecordPlanResponse:
        return await stub.RecordPlan(pb.RecordPlanRequest(plan=a_plan()))

    async def find(stub: IngestServiceAsyncStub) -> pb.GetRecordedPlanResponse:
        return await stub.GetRecordedPlan(pb.GetRecordedPlanRequest(plan_id=a_plan().plan_id))

    assert said(tmp_path, LakeWriter(place), record).already_recorded is False
    assert said(tmp_path, LakeWriter(place), find).plan == a_plan()
