"""``python -m tonnage.planning``: reads the settings, opens the replica, serves until told to stop."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

from tonnage.planning.desk import Desk
from tonnage.planning.server import services
from tonnage.rpc import lean, process
from tonnage.rpc.server import serve
from tonnage.settings import PlanningSettings
from tonnage.store import open_reader

if TYPE_CHECKING:
    from tonnage.rpc.logs import Log


async def run(settings: PlanningSettings, log: Log) -> None:
    """Serve on one replica."""
    options = process.server_options(settings, settings.planning_port, log)
    desk = Desk(open_reader(settings.store), version("tonnage"))
    try:
        gauges = {
            "tonnage_data_version": lambda: float(desk.data_version),
            "tonnage_ready": lambda: float(desk.reader.healthy()),
        }
        with process.metrics_served(settings, options, gauges, log):
            await serve("planning", options, services(desk, settings.repeat_cache_bytes), desk.ready, log)
    finally:
        desk.close()


if __name__ == "__main__":
    lean.without_unused()
    sys.exit(process.run(PlanningSettings, "planning", run, sys.argv[1:]))
