"""An answer beside the question it was given to, so that a changed form is seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from tonnage.client import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.protobuf.message import Message

Reply = TypeVar("Reply", bound="Message")
Request = TypeVar("Request", bound="Message")


@dataclass(frozen=True, slots=True)
class Answer(Generic[Request, Reply]):
    """One call: the request and either its reply or its error."""

    request: Request
    reply: Reply | None
    error: ClientError | None

    def is_stale(self, request: Request) -> bool:
        """Tell whether the form now asks something else."""
        return bool(self.request != request)


def ask(call: Callable[[Request], Reply], request: Request) -> Answer[Request, Reply]:
    """Return what a call came to; an error of the service is an answer too."""
    try:
        return Answer(request, call(request), None)
    except ClientError as error:
        return Answer(request, None, error)
