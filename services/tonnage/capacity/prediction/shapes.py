"""How a figure runs between two neighbouring loads of one curve: straight lines of three kinds, and blends of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Bracket:
    """Two neighbouring loads and the figure at each, all above 0."""

    low_load: float
    low_value: float
    high_load: float
    high_value: float

    def end(self, load: float) -> float | None:
        """Return the figure at either end, as it is; None between."""
        if load <= self.low_load:
            return self.low_value
        return self.high_value if load >= self.high_load else None

    def in_logs(self, load: float) -> float:
        """Return the log of the figure by a straight line in the logs of both."""
        share = math.log(load / self.low_load) / math.log(self.high_load / self.low_load)
        return (1 - share) * math.log(self.low_value) + share * math.log(self.high_value)

    def in_loads(self, load: float) -> float:
        """Return the log of the figure by a straight line in load and figure; a latency of a + b x load is one."""
        share = (load - self.low_load) / (self.high_load - self.low_load)
        return math.log((1 - share) * self.low_value + share * self.high_value)

    def in_service_time(self, load: float) -> float:
        """Return the log of a rate whose time in service, load / rate (Little), is a straight line in the load."""
        share = (load - self.low_load) / (self.high_load - self.low_load)
        time = (1 - share) * self.low_load / self.low_value + share * self.high_load / self.high_value
        return math.log(load / time)


STRAIGHT_LATENCY_SHARE: Final = 0.3
"""Share of the straight line in loads for a latency, the rest straight in logs.

On published sweeps 0.6 meets latencies best; 0.3 reaches limits a little early, and promises too much less often."""
SERVICE_TIME_SHARE: Final = 0.5
"""Share of straight service time for a rate, the rest straight in logs; the two err in opposite directions."""
_HALVINGS: Final = 48


def latency_at(bracket: Bracket, load: float) -> float:
    """Return a latency between two loads; between its ends it never turns."""
    end = bracket.end(load)
    if end is not None:
        return end
    straight, logs = bracket.in_loads(load), bracket.in_logs(load)
    return math.exp(STRAIGHT_LATENCY_SHARE * straight + (1 - STRAIGHT_LATENCY_SHARE) * logs)


def rate_at(bracket: Bracket, load: float) -> float:
    """Return a throughput between two loads; between its ends it never turns."""
    end = bracket.end(load)
    if end is not None:
        return end
    timed, logs = bracket.in_service_time(load), bracket.in_logs(load)
    return math.exp(SERVICE_TIME_SHARE * timed + (1 - SERVICE_TIME_SHARE) * logs)


def load_where_latency_reaches(bracket: Bracket, most: float) -> float:
    """Return the load where a latency reaches its limit, within the bracket; halved in logs down to 1e-14."""
    if bracket.low_value >= most:
        return bracket.low_load
    if bracket.high_value <= most:
        return bracket.high_load
    low, high = math.log(bracket.low_load), math.log(bracket.high_load)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if latency_at(bracket, math.exp(middle)) <= most:
            low = middle
        else:
            high = middle
    return math.exp(low)
