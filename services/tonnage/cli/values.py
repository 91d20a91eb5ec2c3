"""Reading what stands behind a flag: pairs, limits, request sizes, bytes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeVar

from google.protobuf.message import Message

from tonnage.client import messages
from tonnage.client.errors import BadInput
from tonnage.errors import InvalidInput
from tonnage.units import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

M = TypeVar("M", bound=Message)

_LIMIT: Final = re.compile(r"(?:max_)?(ttft|tpot|itl|e2e|queue)_(mean|p50|p90|p95|p99)_ms")
_LIMIT_CURE: Final = (
    "write METRIC_STATISTIC_ms=LIMIT (ttft, tpot, itl, e2e or queue; mean, p50, p90, p95 or p99), "
    "failure_ratio=RATIO or output_tokens_per_s_per_user=RATE"
)
AXES: Final = {
    "peak_rps": "PEAK_REQUESTS_PER_S",
    "peak_factor": "PEAK_FACTOR",
    "reserve": "RESERVE_RATIO",
    "input_tokens": "INPUT_TOKENS_MEAN",
    "output_tokens": "OUTPUT_TOKENS_MEAN",
    "lost_replicas": "LOST_REPLICA_COUNT",
}
_AXIS_CURE: Final = (
    f"write NAME=1,2,3 or NAME=LOW:HIGH:COUNT, with :geometric for even ratios; NAME is {', '.join(AXES)} "
    "or a limit as ttft_p90_ms"
)
_WORK_SHORT: Final = {"input": "text.input_tokens_mean", "output": "text.output_tokens_mean"}


def pairs(flag: str, texts: Iterable[str]) -> dict[str, str]:
    """Return KEY=VALUE texts as a mapping; a key given twice with two values is refused."""
    found: dict[str, str] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key.strip():
            raise BadInput.field(flag, f"{text!r} is no pair; write KEY=VALUE")
        if found.setdefault(key.strip(), value.strip()) != value.strip():
            raise BadInput.field(flag, f"{key.strip()} is given twice with two values; give one")
    return found


def figure(flag: str, text: str) -> float:
    """Return a number; NaN and infinities pass, for the server to refuse by the field's own rule."""
    try:
        return float(text)
    except ValueError:
        raise BadInput.field(flag, f"{text!r} is not a number; give one like 0.2") from None


def byte_count(flag: str, text: str | None) -> int | None:
    """Return "14.99GiB" or a bare count of bytes as bytes; absent stays absent."""
    if text is None:
        return None
    if text.isdecimal():
        return int(text)
    try:
        return parse_bytes(text, path=flag)
    except InvalidInput as error:
        raise BadInput.field(flag, str(error).partition(": ")[2]) from error


def slo(texts: Iterable[str], *, allow_substitution: bool) -> messages.Slo:
    """Return the limits of ``--slo NAME=VALUE`` texts."""
    found = messages.Slo(allow_statistic_substitution=allow_substitution)
    for key, value in pairs("--slo", texts).items():
        limit = figure("--slo", value)
        if matched := _LIMIT.fullmatch(key):
            metric, statistic = (part.upper() for part in matched.groups())
            found.latency_limits.add(
                metric=messages.LatencyMetric.Value(f"LATENCY_METRIC_{metric}"),
                statistic=messages.Statistic.Value(f"STATISTIC_{statistic}"),
                max_ms=limit,
            )
        elif key.removeprefix("max_") == "failure_ratio":
            found.max_failure_ratio = limit
        elif key.removeprefix("min_") == "output_tokens_per_s_per_user":
            found.min_output_tokens_per_s_per_user = limit
        else:
            raise BadInput.field("--slo", f"{key} is no limit we know; {_LIMIT_CURE}")
    return found


def bucket(text: str) -> messages.DemandBucket:
    """Return one ``share=0.7,input=1000,output=100`` text.

    Other work is written by its path: ``share=1,image.megapixels=1,image.step_count=30``.
    """
    found = messages.DemandBucket()
    for key, value in pairs("--bucket", text.split(",")).items():
        target: Message = found if key == "share" else found.work
        set_path("--bucket", target, _WORK_SHORT.get(key, key), figure("--bucket", value))
    return found


def set_path(flag: str, message: Message, path: str, value: object) -> None:
    """Set one dotted field of a message; a name it has not is refused with those it has."""
    *parents, leaf = path.split(".")
    for name in (*parents, leaf):
        if name not in message.DESCRIPTOR.fields_by_name:
            names = ", ".join(item.name for item in message.DESCRIPTOR.fields)
            raise BadInput.field(flag, f"{path} is no field; use one of {names}")
        if name is not leaf:
            message = getattr(message, name)
    try:
        setattr(message, leaf, value)
    except (TypeError, ValueError, AttributeError) as error:
        raise BadInput.field(flag, f"{path} does not take {value!r}; {error}") from error


def made(kind: type[M], flags: dict[str, str], **stated: Any) -> M:  # noqa: ANN401 -- a field's type is the message's
    """Return a message of what is stated (None is not); what does not fit its field names the flag."""
    message = kind()
    for name, value in stated.items():
        if value is None or value == "":
            continue
        try:
            if isinstance(value, Message):
                getattr(message, name).CopyFrom(value)
            else:
                setattr(message, name, value)
        except (TypeError, ValueError) as error:
            raise BadInput.field(flags.get(name, flag_of(name)), f"{value!r} is out of range; {error}") from error
    return message


def flag_of(name: str) -> str:
    """Return the flag of a parameter's name."""
    return "--" + name.replace("_", "-")


def only_one(groups: Sequence[tuple[str, bool]]) -> None:
    """Refuse flags that answer the same question in two ways."""
    given = [flag for flag, is_given in groups if is_given]
    if len(given) > 1:
        raise BadInput.field(given[0], f"contradicts {' and '.join(given[1:])}; give one of them")


def axis(text: str) -> messages.ExploreAxis:
    """Return one ``peak_rps=10,20,40`` or ``peak_rps=10:100:5`` or ``peak_rps=1:1000:4:geometric`` text."""
    name, separator, values_text = text.partition("=")
    if not separator:
        raise BadInput.field("--vary", f"{text!r} is no axis; {_AXIS_CURE}")
    found = messages.ExploreAxis()
    if matched := _LIMIT.fullmatch(name):
        metric, statistic = (part.upper() for part in matched.groups())
        found.field = messages.EXPLORE_FIELD_LATENCY_LIMIT_MS
        found.metric = messages.LatencyMetric.Value(f"LATENCY_METRIC_{metric}")
        found.statistic = messages.Statistic.Value(f"STATISTIC_{statistic}")
    elif name in AXES:
        found.field = messages.ExploreField.Value(f"EXPLORE_FIELD_{AXES[name]}")
    else:
        raise BadInput.field("--vary", f"{name} cannot be varied; {_AXIS_CURE}")
    _set_range(found, values_text)
    return found


def _set_range(found: messages.ExploreAxis, text: str) -> None:
    """Read "low:high:count", "low:high:count:geometric" or values between commas."""
    low, *rest = text.split(":")
    if not rest:
        found.values.values.extend(figure("--vary", part) for part in text.split(","))
        return
    high, count, *kind = (*rest, "")
    if not count.isdecimal() or [part for part in kind if part] not in ([], ["geometric"]):
        raise BadInput.field("--vary", f"{text!r} is no range; {_AXIS_CURE}")
    found.span.low, found.span.high = figure("--vary", low), figure("--vary", high)
    found.span.count, found.span.geometric = int(count), "geometric" in kind
