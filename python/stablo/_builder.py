"""Making programs op by op."""

from __future__ import annotations

import keyword
import sys
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional, Sequence, Union

import numpy

from . import _stablo
from ._arrays import of_numbers, shortened
from ._stablo import Error, SSAValue

if TYPE_CHECKING:
    from . import Program

_OPS = frozenset(_stablo.op_names())

Body = Callable[..., Union[None, SSAValue, Sequence[SSAValue]]]


class Function:
    """A function of a program that is being built. Calling it calls it there."""

    def __init__(self, builder: Builder, name: str, result_types: Sequence[str]) -> None:
        self._builder = builder
        self.name = name
        self.result_types = tuple(result_types)

    def __call__(self, *arguments: SSAValue) -> Any:
        return self._builder.op("func.call", *arguments, callee=self.name, result_types=self.result_types)

    def __repr__(self) -> str:
        return f"<function @{self.name} of a stablo.Builder>"


class Builder:
    """Makes a program from nothing. The ops of StableHLO are methods, with an underscore where the name is a keyword of Python
    (`if_`, `while_`, `not_`); `op` makes those of other dialects. Types of results are inferred where the specification says how.

    Operands are values. Attributes are given by name: numbers, strings, lists, arrays and dictionaries, the spelling of a case, or MLIR
    text of any other attribute. Regions are functions in the place of operands; they get the arguments of the region and return what
    it returns.

    >>> import numpy
    >>> builder = Builder()
    >>> @builder.function(x="tensor<2x3xf32>", w="tensor<3x4xf32>")
    ... def main(x, w):
    ...     y = builder.dot_general(
    ...         x, w, dot_dimension_numbers={"lhs_contracting_dimensions": [1], "rhs_contracting_dimensions": [0]},
    ...         result_types=["tensor<2x4xf32>"])
    ...     zero = builder.constant(0, "tensor<f32>")
    ...     return builder.reduce(y, zero, lambda a, b: builder.add(a, b), dimensions=[1])
    >>> program = builder.build()
    >>> program(numpy.ones((2, 3), numpy.float32), w=numpy.ones((3, 4), numpy.float32))
    array([12., 12.], dtype=float32)
    """

    def __init__(self) -> None:
        self._native = _stablo.Builder()

    def function(self, *types: str, name: Optional[str] = None, **named: str) -> Callable[[Body], Function]:
        """Decorates a function of Python that makes the body of a function of the program, with arguments of these types, those by
        keyword with names. It is called at once, with the arguments, and returns a value, several or none. The function of the
        program has its name, or `name`.

        >>> builder = Builder()
        >>> @builder.function("tensor<f32>")
        ... def twice(x):
        ...     return builder.add(x, x)
        >>> @builder.function("tensor<f32>")
        ... def main(x):
        ...     return twice(twice(x))
        >>> builder.build().run(3.0)
        (array(12., dtype=float32),)
        """

        def define(body: Body) -> Function:
            symbol = name or getattr(body, "__name__", None)
            if symbol is None:
                raise Error(f"{shortened(body)} has no name; give the function one with `name`")
            names = [None] * len(types) + list(named)
            region = self._region("func.func", body, [*types, *named.values()], names)
            self._native.function(symbol, region)
            return Function(self, symbol, region.result_types)

        return define

    def constant(self, value: Any, type: Optional[str] = None) -> SSAValue:
        """A constant: an array, or, with a type, what NumPy converts and broadcasts to it. Integers lose no part; floats are rounded.

        >>> builder = Builder()
        >>> @builder.function()
        ... def main():
        ...     return builder.constant([1, 2], "tensor<3x2xi8>"), builder.constant(numpy.eye(2))
        >>> main.result_types
        ('tensor<3x2xi8>', 'tensor<2x2xf64>')
        """
        if type is not None:
            dtype, shape = _stablo.tensor_type(type)
            try:
                value = numpy.broadcast_to(of_numbers(value, dtype), shape)
            except (ValueError, TypeError, OverflowError) as error:
                raise Error(f"no constant of {type} is made of {shortened(value)}: {error}") from error
        constant: SSAValue = self.op("stablehlo.constant", value=numpy.asanyarray(value))
        return constant

    def op(self, op: str, /, *operands: Any, result_types: Optional[Sequence[str]] = None, **attributes: Any) -> Any:
        """Adds an op by its full name. Returns its result, a tuple of several, or none."""
        values = [operand for operand in operands if isinstance(operand, SSAValue)]
        regions = []
        for operand in operands:
            if isinstance(operand, _stablo.Region):
                regions.append(operand)
            elif callable(operand):
                regions.append(self._region(op, operand, self._native.region_arguments(op, values)))
            elif not isinstance(operand, SSAValue):
                raise Error(f"an operand of {op} has type {type(operand).__name__}; it must be a value, such as `constant` makes")
        if isinstance(result_types, str):
            result_types = [result_types]
        results = self._native.op(op, values, attributes, regions, result_types, _place())
        return results[0] if len(results) == 1 else tuple(results) or None

    def region(self, op: str, body: Body, *types: str) -> _stablo.Region:
        """A region for an op of that name, whose arguments have other types than follow from the operands."""
        return self._region(op, body, types)

    def build(self) -> Program:
        """The program, verified. Raises `Error` with all that is wrong; its diagnostics name lines of Python."""
        from . import Program

        return Program(self._native.build())

    def _region(
        self, op: str, body: Body, types: Optional[Sequence[str]], names: Sequence[Optional[str]] = ()
    ) -> _stablo.Region:
        if types is None:
            raise Error(f"the types of the arguments of a region of {op} do not follow: make it with `region`")
        arguments = self._native.open_region(types, names)
        try:
            results = body(*arguments)
            return self._native.close_region(op, _values(op, results))
        except BaseException:
            self._native.abandon_region()
            raise

    def __repr__(self) -> str:
        return "<stablo.Builder>"

    def __getattr__(self, name: str) -> Callable[..., Any]:
        mnemonic = name.removesuffix("_")
        if mnemonic not in _OPS:
            raise AttributeError(f"there is no op stablehlo.{mnemonic}", name=name, obj=self)
        return lambda *operands, **attributes: self.op(f"stablehlo.{mnemonic}", *operands, **attributes)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name + "_" * keyword.iskeyword(name) for name in sorted(_OPS))]


def _values(op: str, results: Any) -> list[SSAValue]:
    """The values that the body of a region returned."""
    values = [] if results is None else list(results) if isinstance(results, (list, tuple, Iterator)) else [results]
    for value in values:
        if not isinstance(value, SSAValue):
            raise Error(f"a region of {op} returns {shortened(value)}; it must return values, such as ops make")
    return values


def _place() -> tuple[str, int]:
    """The file and the line that called the builder."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__ and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
