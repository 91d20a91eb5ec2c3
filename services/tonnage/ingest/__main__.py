"""``python -m tonnage.ingest``: the one process that writes the store."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from functools import partial
from typing import TYPE_CHECKING

from tonnage.errors import InvalidInput, TonnageError
from tonnage.ingest.committer import Committer
from tonnage.ingest.servicer import IngestServicer
from tonnage.ingest.spool import Spool
from tonnage.ingest.usecase import Ingest
from tonnage.rpc import lean, process
from tonnage.rpc.server import Service, serve
from tonnage.settings import IngestSettings
from tonnage.store import open_writer
from tonnage.store.url import EmbeddedPlace, parse_store_url, shown_url
from tonnage.v1.ingest_service_pb2 import DESCRIPTOR
from tonnage.v1.ingest_service_pb2_grpc import add_IngestServiceServicer_to_server

if TYPE_CHECKING:
    from pathlib import Path

    from tonnage.rpc.logs import Log

SERVICE_NAME = DESCRIPTOR.services_by_name["IngestService"].full_name


async def work(settings: IngestSettings, log: Log) -> None:
    """Open the store, serve until told to stop, finish what waits, and close."""
    options = process.server_options(settings, settings.ingest_port, log)
    spool_folder = _spool_folder(settings)
    writer = await asyncio.to_thread(open_writer, settings.store)
    committer = Committer(writer, window_s=settings.commit_window_s, max_waiting=settings.max_waiting_commits_count)
    try:
        spool = Spool(spool_folder, settings.max_report_bytes)
        left_count = spool.clean()
        log.info(
            "store opened",
            store=shown_url(settings.store),
            data_version=writer.data_version,
            removed_uploads=left_count,
        )
        ingest = Ingest(writer, committer, max_uploads=settings.max_uploads_count)
        servicer = IngestServicer(ingest, spool, max_runs_bytes=settings.max_runs_bytes)
        service = Service(SERVICE_NAME, partial(add_IngestServiceServicer_to_server, servicer))
        upkeep = asyncio.create_task(_maintain(ingest, settings.maintenance_s, log))
        try:
            gauges = {
                "tonnage_data_version": lambda: float(writer.data_version),
                "tonnage_waiting_commits": lambda: float(committer.waiting_count),
            }
            with process.metrics_served(settings, options, gauges, log):
                await serve("ingest", options, [service], ingest.ready, log)
        finally:
            upkeep.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await upkeep
    finally:
        await asyncio.to_thread(committer.stop)


def _spool_folder(settings: IngestSettings) -> Path:
    if settings.spool_dir is not None:
        return settings.spool_dir
    place = parse_store_url(settings.store)
    if isinstance(place, EmbeddedPlace):
        return place.folder / "spool"
    cure = "name a folder with room for uploads in flight"
    raise InvalidInput.field("spool_dir", None, "is required with a store that is no folder", cure)


async def _maintain(ingest: Ingest, every_s: float, log: Log) -> None:
    while True:
        await asyncio.sleep(every_s)
        try:
            await ingest.maintain()
        except TonnageError as error:
            # Nothing is lost by a round that failed; the next one tries again.
            log.warning("maintenance failed", reason=error.reason, detail=error.message)


def main() -> int:
    """Run the server; return the exit status."""
    lean.without_unused()
    return process.run(IngestSettings, "ingest", work, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
