"""An answer beside the question it was given to, so that a changed form is seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from google.protobuf.message import Message

from tonnage.client import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable

Reply = TypeVar("Reply", bound=Message)
Request = TypeVar("Request", bound=Message)


@dataclass(frozen=True, slots=True)
class Answer(Generic[Request, Reply]):
    """One call: the request, and what it came to; an error of the service is an answer too."""

    request: Request
    outcome: Reply | ClientError

    def is_stale(self, request: Request) -> bool:
        """Tell whether the form now asks something else."""
        return bool(self.request != request)


def ask(call: Callable[[Request], Reply], request: Request) -> Answer[Request, Reply]:
    """Return what a call came to."""
    try:
        return Answer(request, call(request))
    except ClientError as error:
        return Answer(request, error)
