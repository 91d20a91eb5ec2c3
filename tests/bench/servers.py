"""The two things answers are held against: a bare echo, and the floor.

Usage: python -m bench.servers echo|floor

The echo is a server of the same library that returns bytes of the recorded reply's size. The floor takes the same
messages through the same interceptors and the same decoding and checks, and builds the recorded reply field by field;
it plans nothing.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import uvloop
from google.protobuf import json_format
from google.protobuf.message import Message

from tonnage.planning.codec import plan as plan_codec
from tonnage.planning.desk import Desk, utc_today
from tonnage.planning.wire import Handlers, RepeatCache
from tonnage.rpc import logs
from tonnage.rpc.server import ServerOptions, start
from tonnage.store.memory import MemoryStore
from tonnage.v1 import planning_service_pb2 as pb

RECORDED = Path(__file__).parent / "recorded" / "plan_capacity_response.json"
Built = list[tuple[str, Any]]


def recorded_reply() -> pb.PlanCapacityResponse:
    """Return the reply that was recorded from a real plan."""
    return json_format.Parse(RECORDED.read_text(encoding="utf-8"), pb.PlanCapacityResponse())


def parts_of(message: Message) -> Built:
    """Return a message as names and values, nested ones likewise, ready to be built again."""
    parts: Built = []
    for field, value in message.ListFields():
        if field.message_type is None:
            parts.append((field.name, list(value) if field.is_repeated else value))
        elif field.message_type.GetOptions().map_entry:
            parts.append((field.name, dict(value)))
        elif field.is_repeated:
            parts.append((field.name, [parts_of(item) for item in value]))
        else:
            parts.append((field.name, parts_of(value)))
    return parts


def build(message: Message, parts: Built) -> None:
    """Set a message field by field."""
    for name, value in parts:
        if not isinstance(value, list | dict):
            setattr(message, name, value)
            continue
        held = getattr(message, name)
        if isinstance(value, dict):
            held.update(value)
        elif isinstance(held, Message):
            build(held, value)
        elif value and isinstance(value[0], list):
            for item in value:
                build(held.add(), item)
        else:
            held.extend(value)


class FloorServicer:
    """Decodes, checks, and answers what was recorded."""

    def __init__(self) -> None:
        self._parts = parts_of(recorded_reply())

    def PlanCapacity(self, request: pb.PlanCapacityRequest, _context: object) -> pb.PlanCapacityResponse:  # noqa: N802 -- the name in the proto
        """Answer without planning."""
        plan_codec.decode_plan_request(request, utc_today())
        reply = pb.PlanCapacityResponse()
        build(reply, self._parts)
        return reply

    def __getattr__(self, name: str) -> object:
        """Stand for the methods nobody calls here."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self.PlanCapacity


async def floor() -> None:
    """Serve the floor until killed."""
    desk = Desk(MemoryStore(), "bench")
    handlers = Handlers(desk, RepeatCache(1024))
    service = handlers.service(pb.DESCRIPTOR.services_by_name["PlanningService"], FloorServicer())

    async def ready() -> bool:
        return True

    logs.configure("info")
    running = await start(ServerOptions(), [service], ready, logs.logger("floor"))
    await _announce(running.port)


async def echo() -> None:
    """Serve the echo until killed."""
    answer = recorded_reply().SerializeToString()

    async def handle(_request: bytes, _context: object) -> bytes:
        return answer

    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {"PlanCapacity": grpc.unary_unary_rpc_method_handler(handle)}
    generic = grpc.method_handlers_generic_handler("tonnage.v1.PlanningService", handlers)
    server.add_generic_rpc_handlers((generic,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    await _announce(port)


async def _announce(port: int) -> None:
    sys.stdout.write(json.dumps({"event": "listening", "address": f"127.0.0.1:{port}"}) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run({"echo": echo, "floor": floor}[sys.argv[1]]())
