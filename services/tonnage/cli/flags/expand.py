"""Letting a command take groups of flags: a parameter that is a dataclass is spread into its fields."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def flattened(command: Callable[..., int]) -> Callable[..., int]:
    """Return the command with one parameter for each field of its groups.

    A command says ``demand: DemandFlags``; its users say ``--rps 3``. Two groups may not hold the
    same flag; Python refuses the signature where they do.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if is_dataclass(kind) and isinstance(kind, type)}
    parameters = list(_parameters(inspect.signature(command), hints, groups))

    def spread(**values: Any) -> int:  # noqa: ANN401 -- what the flags hold
        made = {
            name: kind(**{item.name: values.pop(item.name) for item in fields(kind)}) for name, kind in groups.items()
        }
        return command(**made, **values)

    described: Any = spread
    described.__name__, described.__doc__, described.__module__ = command.__name__, command.__doc__, command.__module__
    described.__signature__ = inspect.Signature(parameters)
    described.__annotations__ = {item.name: item.annotation for item in parameters}
    return spread


def _parameters(
    signature: inspect.Signature, hints: dict[str, Any], groups: dict[str, type]
) -> Iterator[inspect.Parameter]:
    for name, own in signature.parameters.items():
        if name not in groups:
            yield own.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
            continue
        kinds = get_type_hints(groups[name], include_extras=True)
        for item in fields(groups[name]):
            yield inspect.Parameter(
                item.name, inspect.Parameter.KEYWORD_ONLY, default=_default(item), annotation=kinds[item.name]
            )


def _default(item: Field[Any]) -> Any:  # noqa: ANN401 -- a field's default is anything
    if item.default_factory is not MISSING:
        return item.default_factory()
    return inspect.Parameter.empty if item.default is MISSING else item.default
