"""Typed clients of both servers; imports grpc and the stubs only."""

from tonnage.client import errors, messages
from tonnage.client.errors import ClientError
from tonnage.client.ingest import IngestAsyncClient, IngestClient
from tonnage.client.planning import PlanningClient
from tonnage.client.planning_async import PlanningAsyncClient

__all__ = [
    "ClientError",
    "IngestAsyncClient",
    "IngestClient",
    "PlanningAsyncClient",
    "PlanningClient",
    "errors",
    "messages",
]
