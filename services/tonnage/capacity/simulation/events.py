"""The event loop: requests share a pool whose speed a request sees falls as more of them are in service.

One clock of attained work serves all requests in service (processor sharing with a load-dependent rate): it runs at
the speed that each request sees, and a request leaves when the clock reaches what it read on entering plus its work.
Requests beyond the slots wait in order of arrival. With a constant speed this is the classical queue with as many
servers as slots.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, heapreplace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

_EVENTS_AT_ONCE: Final = 1 << 14


@dataclass(frozen=True, slots=True)
class Stage:
    """The pool up to ``until_s``: slots, and the speed a request sees at 0 to ``slots`` requests in service, 1/s.

    ``speeds`` may end early where that many requests are never there at once. ``lost_ratio`` is the share of the
    pool that went when the stage began: its requests start again from the front of the queue.
    """

    until_s: float
    slots: int
    speeds: Sequence[float]
    lost_ratio: float = 0.0


@dataclass(slots=True)
class Served:
    """When each request last began and ended, and how many were in service as it began; inf is never.

    ``displaced_s`` are the times at which requests were thrown back, ``abandoned_s`` when these had begun before.
    """

    starts_s: list[float]
    ends_s: list[float]
    seats: list[int]
    event_count: int = 0
    displaced_s: list[float] = field(default_factory=list)
    abandoned_s: list[float] = field(default_factory=list)


def serve(  # noqa: C901, PLR0912 -- the hot loop: a call an event would halve its speed
    arrivals_s: Sequence[float], work: Sequence[float], stages: Sequence[Stage]
) -> Generator[int, None, Served]:
    """Serve every request and return when; yield the count of those arrived, every some thousand events.

    ``arrivals_s`` rise; ``work`` is above 0, and a request of work w that sees speed s throughout takes w / s. The
    last stage has no end.
    """
    count = len(work)
    coming = [*arrivals_s, math.inf]
    served = Served([math.inf] * count, [math.inf] * count, [0] * count)
    starts, ends, seats = served.starts_s, served.ends_s, served.seats
    running: list[tuple[float, int]] = []
    waiting: deque[int] = deque()
    now = clock = 0.0
    place = events = 0
    for stage in stages:
        until, slots, speeds = stage.until_s, stage.slots, stage.speeds
        _displace(served, running, waiting, stage, now)
        while waiting and len(running) < slots:
            first = waiting.popleft()
            heappush(running, (clock + work[first], first))
            starts[first], seats[first] = now, len(running)
        while True:
            held = len(running)
            leave = now + (running[0][0] - clock) / speeds[held] if held else math.inf
            arrive = coming[place]
            if arrive < leave:
                if arrive >= until:
                    break
                clock = clock + (arrive - now) * speeds[held] if held else 0.0
                now = arrive
                if held < slots:
                    heappush(running, (clock + work[place], place))
                    starts[place], seats[place] = now, held + 1
                else:
                    waiting.append(place)
                place += 1
            else:
                if leave >= until:
                    break
                clock, now = running[0][0], leave
                ends[running[0][1]] = leave
                if waiting:
                    first = waiting.popleft()
                    heapreplace(running, (clock + work[first], first))
                    starts[first], seats[first] = now, held
                else:
                    heappop(running)
            events += 1
            if not events % _EVENTS_AT_ONCE:
                yield place
        if until < math.inf:
            clock += (until - now) * speeds[len(running)] if running else 0.0
            now = until
    served.event_count = events
    return served


def _displace(served: Served, running: list[tuple[float, int]], waiting: deque[int], stage: Stage, now: float) -> None:
    """Throw back what ran on lost replicas, and what finds no slot any more, to the front of the queue."""
    thrown = sorted(running, key=lambda item: item[1])
    kept = len(thrown) - round(len(thrown) * stage.lost_ratio)
    keep = thrown[: min(kept, stage.slots)]
    gone = thrown[len(keep) :]
    if not gone:
        return
    running[:] = keep
    heapify(running)
    waiting.extendleft(index for _, index in reversed(gone))
    for _, index in gone:
        served.displaced_s.append(now)
        served.abandoned_s.append(served.starts_s[index])
        served.starts_s[index] = math.inf
