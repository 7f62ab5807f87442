"""Arguments and results of programs."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence


class Value(NamedTuple):
    """An argument or a result of a program."""

    name: Optional[str]
    """Name that the exporter gave it; of an argument, else the one that it has in text."""
    type: str
    """MLIR type."""
    dtype: Optional[str]
    """Element type as MLIR spells it; none if it is no tensor."""
    shape: Optional[tuple[Optional[int], ...]]
    """Sizes, `None` for each dynamic dimension; none if it is no ranked tensor."""


class Signature(NamedTuple):
    """The arguments and the results of the function that runs."""

    inputs: list[Value]
    outputs: list[Value]


Value.__module__ = Signature.__module__ = "stablo"


def value_of(native: Any) -> Value:
    """A value as the native part describes it."""
    name, type, dtype, shape = native
    return Value(name, type, dtype, None if shape is None else tuple(shape))


# Number of arguments that messages list.
_LISTED = 12


def described(index: int, value: Value, what: str = "argument") -> str:
    """An argument or a result in messages."""
    return f"{what} {index}" if value.name is None else f"{what} {index} ({value.name})"


def signature_of(inputs: Sequence[Value]) -> str:
    """What a program takes, in messages."""
    types = ", ".join(value.type if value.name is None else f"{value.name}: {value.type}" for value in inputs[:_LISTED])
    more = f" and {len(inputs) - _LISTED} more" if len(inputs) > _LISTED else ""
    return f"the program takes ({types}){more}"
