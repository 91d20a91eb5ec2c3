"""Where services are added to a server: each handler is wrapped once, then, and not looked for at each call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Handler = grpc.RpcMethodHandler[Any, Any]
    Wrap = Callable[[str, Handler], Handler]


class Door:
    """Takes what is added to a server, and adds it wrapped; ``wrap`` gets a method's full name and its handler.

    An interceptor of the library would do the same, at a chain of coroutines a call.
    """

    def __init__(self, server: grpc.aio.Server, wrap: Wrap) -> None:
        self._server = server
        self._wrap = wrap

    def add_generic_rpc_handlers(self, generic_rpc_handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Add handlers that find a method by themselves."""
        self._server.add_generic_rpc_handlers([_Wrapped(handler, self._wrap) for handler in generic_rpc_handlers])

    def add_registered_method_handlers(self, service_name: str, method_handlers: Mapping[str, Handler]) -> None:
        """Leave them out: generated code adds the same methods as generic handlers too."""


class _Wrapped(grpc.GenericRpcHandler):
    """Finds what another finds, wrapped."""

    def __init__(self, inner: grpc.GenericRpcHandler, wrap: Wrap) -> None:
        self._inner = inner
        self._wrap = wrap
        self._known: dict[str, Handler] = {}

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Handler | None:
        """Return the handler of a method, or None when the method is another's."""
        method = handler_call_details.method
        known = self._known.get(method)
        if known is not None:
            return known
        found = self._inner.service(handler_call_details)
        if found is not None:
            found = self._known[method] = self._wrap(method, found)
        return found
