"""Every message and enum of ``tonnage.v1`` under one roof, so that callers never import the stubs."""

from tonnage.v1.benchmark_service_pb2 import *  # noqa: F403 -- re-export is what this module is for
from tonnage.v1.catalog_pb2 import *  # noqa: F403 -- the same
from tonnage.v1.catalog_service_pb2 import *  # noqa: F403 -- the same
from tonnage.v1.confidence_pb2 import *  # noqa: F403 -- the same
from tonnage.v1.error_reason_pb2 import *  # noqa: F403 -- the same
from tonnage.v1.finding_pb2 import *  # noqa: F403 -- the same
from tonnage.v1.ingest_service_pb2 import *  # noqa: F403 -- the same
from tonnage.v1.memory_pb2 import *  # noqa: F403 -- the same
from tonnage.v1.plan_pb2 import *  # noqa: F403 -- the same
from tonnage.v1.planning_service_pb2 import *  # noqa: F403 -- the same
from tonnage.v1.run_pb2 import *  # noqa: F403 -- the same
from tonnage.v1.simulation_pb2 import *  # noqa: F403 -- the same
from tonnage.v1.workload_pb2 import *  # noqa: F403 -- the same
