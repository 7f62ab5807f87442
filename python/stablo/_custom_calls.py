"""Custom calls that functions of Python compute."""

from __future__ import annotations

import inspect
from typing import Any, Callable, NamedTuple, Sequence

from ._arrays import to_array
from ._signature import Value, value_of


class CustomCall(NamedTuple):
    """A custom call of a program, for the function that computes it."""

    target: str
    attributes: dict[str, Any]
    """Attributes as of `Op.attributes`; those of `jax.ffi.ffi_call` are in `mhlo.backend_config`."""
    inputs: list[Value]
    """The types of the operands."""
    outputs: list[Value]
    """The types that the results must have."""


CustomCall.__module__ = "stablo"


def _takes_call(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return "call" in parameters and parameters["call"].kind is inspect.Parameter.KEYWORD_ONLY


def call(
    function: Callable[..., Any], target: str, attributes: dict[str, Any], operands: tuple[Any, ...], inputs: Sequence[Any], outputs: Sequence[Any]
) -> list[tuple[str, list[int], Any]]:
    """Calls a function for a custom call. Returns its results as arrays of the types of the call."""
    described = CustomCall(target, attributes, [value_of(value) for value in inputs], [value_of(value) for value in outputs])
    results = function(*operands, call=described) if _takes_call(function) else function(*operands)
    values = described.outputs
    if not isinstance(results, (tuple, list)) or (len(values) == 1 and isinstance(results, list)):
        results = () if results is None else (results,)
    if len(results) != len(values):
        types = ", ".join(value.type for value in values)
        raise ValueError(f"it returned {len(results)} array{'' if len(results) == 1 else 's'}; the call returns ({types})")
    return [_result(value, result, index) for index, (value, result) in enumerate(zip(values, results))]


def _result(value: Value, given: Any, index: int) -> tuple[str, list[int], Any]:
    dtype, shape, flat = to_array(value, given, index, "result")
    if value.shape is not None and (len(shape) != len(value.shape) or any(size not in (None, found) for size, found in zip(value.shape, shape))):
        raise ValueError(f"result {index} is a {value.type}; an array of the shape {tuple(shape)} was returned")
    return dtype, shape, flat
