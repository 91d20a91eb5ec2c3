"""Fakes of both servers for other teams' tests: real gRPC on loopback, an in-memory store behind it.

    with FakeServers() as fake, PlanningClient(fake.target) as client:
        fake.answer("PlanCapacity", messages.PlanCapacityResponse(plan=...))
        client.plan_capacity(...)

What needs only a store is done for real and passes the same contract suite as the servers: pushing
runs, listing them page by page, retracting, request ids, data versions, named errors. What needs the
planner's maths, or a reader of load tools, is answered by what a test puts in: ``fake.answer`` and
``fake.reader``. Nothing is made up: an RPC without an answer is UNIMPLEMENTED.
"""

from tonnage.client.testing.refusal import Refused
from tonnage.client.testing.servers import FakeServers

__all__ = ["FakeServers", "Refused"]
