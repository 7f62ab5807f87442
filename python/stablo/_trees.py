"""Nested arguments and results of functions that `jax.export` wrote, without jax.

The tree of a structure is the structure with `...` in the place of each array, and a `Custom` in the place of each object of a class of
its own.
"""

from __future__ import annotations

import collections
import json
import pickle
import sys
import types
from typing import Any, Collection, Iterator, NamedTuple, Optional, Sequence, Union

import numpy

from ._arrays import shortened
from ._stablo import Error

Tree = Any


class Custom(NamedTuple):
    """An object of a class that the exporter registered. Without jax, named tuples and `OrderedDict` are made as such if their class is
    known; for others, a tuple of the children stands."""

    name: str
    data: bytes
    """What the exporter wrote beside the children; for named tuples and `OrderedDict`, their names in JSON."""
    children: tuple[Tree, ...]

    def type(self) -> Optional[type]:
        """The class of this name in a module that is imported: nothing is imported, and no code runs, because a file says so."""
        module, _, name = self.name.rpartition(".")
        known = sys.modules.get(module)
        found = vars(known).get(name) if isinstance(known, types.ModuleType) else None
        return found if isinstance(found, type) else None

    def names(self) -> Optional[list[str]]:
        """The names of the children of a named tuple or an `OrderedDict`, whose classes need no code of theirs to be made."""
        kind = self.type()
        try:
            names = json.loads(self.data)
        except (ValueError, RecursionError):
            return None
        if kind is None or not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return None
        fields = names if kind is collections.OrderedDict else getattr(kind, "_fields", ()) if issubclass(kind, tuple) else ()
        return names if list(fields) == names and len(set(names)) == len(self.children) == len(names) else None

    def parts(self, value: Any) -> Optional[Sequence[Any]]:
        """The children of an object; none if it is not of this kind."""
        if isinstance(value, (tuple, list)):
            return value if len(value) == len(self.children) else None
        names = self.names()
        if names is None or not isinstance(value, collections.OrderedDict) or list(value) != names:
            return None
        return list(value.values())

    def made(self, children: list[Any]) -> Any:
        """An object with these children."""
        names, kind = self.names(), self.type()
        if names is None or kind is None:
            return tuple(children)
        if kind is collections.OrderedDict:
            return collections.OrderedDict(zip(names, children))
        return tuple.__new__(kind, children)


class Convention:
    """How a function of an exporter is called: its arguments and results are nested, and the program takes some leaves of the former."""

    __slots__ = ("_inputs", "_kept", "_kinds", "_outputs")

    def __init__(self, inputs: Tree, outputs: Tree, kept: Sequence[int], kinds: Sequence[Optional[str]] = ()) -> None:
        self._inputs = inputs
        self._outputs = outputs
        self._kept = kept
        # What stands for arrays among the results; empty if nothing does.
        self._kinds = kinds if any(kinds) else ()

    def is_plain(self) -> bool:
        """True if the program itself takes and returns the same."""
        arguments, keywords = self._inputs
        if self._kinds:
            return False
        plain_inputs = all(tree is ... for tree in arguments) and not keywords and len(self._kept) == len(arguments)
        outputs = self._outputs
        several = type(outputs) is tuple and len(outputs) > 1 and all(tree is ... for tree in outputs)
        return plain_inputs and (outputs is ... or several)

    def fits(self, inputs: int, outputs: int) -> bool:
        """True if the program has so many arguments and results."""
        return len(self._kept) == inputs and _count(self._outputs) == outputs

    def flatten(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Optional[list[Any]]:
        """The arrays that the program takes; none if the arguments are nested in another way."""
        leaves: list[Any] = []
        return [leaves[i] for i in self._kept] if _flatten(self._inputs, (arguments, keywords), leaves) else None

    def bound(self, numbers: Collection[int]) -> Convention:
        """The convention after arguments of the program, by their numbers, became constants. What the program takes no part of any more is
        not given: arguments, and entries of dictionaries. Elsewhere, as in lists, a place remains, whose array is not used."""
        gone = {self._kept[number] for number in numbers}
        taken = [leaf for leaf in self._kept if leaf not in gone]
        arguments, keywords = self._inputs
        first, left = _without(dict(enumerate(arguments)), 0, gone, taken)
        named, more = _without(keywords, _count(arguments), gone, taken)
        positions = {leaf: position for position, leaf in enumerate(left + more)}
        return self._with_inputs((tuple(first.values()), named), [positions[leaf] for leaf in taken])

    def _with_inputs(self, inputs: Tree, kept: Sequence[int]) -> Convention:
        return Convention(inputs, self._outputs, kept, self._kinds)

    def unflatten(self, results: Sequence[Any]) -> Any:
        """The results as the function returns them."""
        return _unflatten(self._outputs, iter(self._leaves(results)))

    def _leaves(self, results: Sequence[Any]) -> Sequence[Any]:
        return [_made(kind, result) for kind, result in zip(self._kinds, results)] if self._kinds else results

    def __str__(self) -> str:
        arguments, keywords = self._inputs
        return ", ".join([*map(_text, arguments), *(f"{name}={_text(tree)}" for name, tree in keywords.items())])

    def __reduce__(self) -> tuple[Any, ...]:
        return Convention, (self._inputs, self._outputs, self._kept, self._kinds)


class RegisteredConvention(Convention):
    """As a `Convention`, for trees of jax, with classes that are registered there: it takes them apart and makes them. Static arguments may be
    given as the traced ones, or left out; leaves that are constants are given as the traced ones."""

    __slots__ = ("_constants", "_registered", "_static")

    def __init__(
        self,
        inputs: Tree,
        outputs: Tree,
        kept: Sequence[int],
        kinds: Sequence[Optional[str]],
        registered: tuple[Any, Any],
        static: Optional[Static] = None,
        constants: Optional[dict[int, Any]] = None,
    ) -> None:
        super().__init__(inputs, outputs, kept, kinds)
        self._registered = registered
        self._static = static
        self._constants = constants or {}

    def is_plain(self) -> bool:
        return self._static is None and super().is_plain()

    def flatten(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Optional[list[Any]]:
        from jax import tree_util  # type: ignore[import-not-found,unused-ignore]

        expected = self._registered[0]
        leaves, tree = tree_util.tree_flatten((arguments, keywords))
        if self._static is not None and (expected is None or tree != expected):
            arguments, keywords = self._static.without(arguments, keywords)
            leaves, tree = tree_util.tree_flatten((arguments, keywords))
        if expected is None or tree != expected:
            return super().flatten(arguments, keywords)
        for index, value in self._constants.items():
            if leaves[index] is not value and leaves[index] != value:
                raise Error(f"the program is for {shortened(value)}, which is no array and hence a constant, not for {shortened(leaves[index])}")
        return [leaves[i] for i in self._kept]

    def _with_inputs(self, inputs: Tree, kept: Sequence[int]) -> Convention:
        # Objects of classes among them are given as tuples.
        return RegisteredConvention(inputs, self._outputs, kept, self._kinds, (None, self._registered[1]), self._static)

    def unflatten(self, results: Sequence[Any]) -> Any:
        from jax import tree_util

        return tree_util.tree_unflatten(self._registered[1], self._leaves(results))

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            registered = pickle.dumps((self._registered, self._static, self._constants))
        except Exception:  # Classes and static arguments have many reasons.
            return super().__reduce__()
        return _restored, (self._inputs, self._outputs, self._kept, self._kinds, registered)


class Static:
    """The static arguments of a function that was traced: their positions, their names, and the name for each position that has one."""

    def __init__(self, numbers: Sequence[int], names: Sequence[str], parameters: Sequence[str], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self._numbers, self._names, self._parameters = tuple(numbers), tuple(names), tuple(parameters)
        self._values = dict(self._given(arguments, keywords))

    def _positions(self, arguments: tuple[Any, ...]) -> set[int]:
        return {number % len(arguments) for number in self._numbers if -len(arguments) <= number < len(arguments)}

    def _given(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Iterator[tuple[Union[str, int], Any]]:
        for number in self._positions(arguments):
            yield self._parameters[number] if number < len(self._parameters) else number, arguments[number]
        yield from ((name, keywords[name]) for name in self._names if name in keywords)

    def without(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments without the static ones. `Error` if one is another than when the function was traced."""
        for name, value in self._given(arguments, keywords):
            if name in self._values and self._values[name] != value:
                raise Error(f"the argument {name} is static: the program is for {shortened(self._values[name])}, not {shortened(value)}")
        positions = self._positions(arguments)
        left = tuple(value for number, value in enumerate(arguments) if number not in positions)
        return left, {name: value for name, value in keywords.items() if name not in self._names}


def _restored(inputs: Tree, outputs: Tree, kept: Sequence[int], kinds: Sequence[Optional[str]], registered: bytes) -> Convention:
    """A pickled convention, in a process that may have no jax, nor the classes."""
    try:
        return RegisteredConvention(inputs, outputs, kept, kinds, *pickle.loads(registered))
    except (ImportError, AttributeError):
        return Convention(inputs, outputs, kept, kinds)


def _made(kind: Optional[str], result: Any) -> Any:
    """What stands for a result: an array of keys, as `key<fry>`, or one without bytes, `float0`. Without jax, it is as it is."""
    if kind is None or sys.modules.get("jax") is None:
        return result
    import jax  # type: ignore[import-not-found,unused-ignore]

    if kind == "float0":
        return numpy.zeros(result.shape, jax.dtypes.float0)
    tag = kind.removeprefix("key<").removesuffix(">")
    return jax.random.wrap_key_data(result, impl=_KEYS.get(tag, tag))


# Generators of random numbers by the types of their keys.
_KEYS = {"fry": "threefry2x32", "urbg": "unsafe_rbg"}


def convention(inputs: Tree, outputs: Tree, kept: Sequence[int], kinds: Sequence[Optional[str]], data: bytes) -> Convention:
    """The convention of a container with these trees."""
    if sys.modules.get("jax") is not None and (_has_custom(inputs) or _has_custom(outputs)):
        try:
            from jax import export

            exported = export.deserialize(bytearray(data))
        except Exception:  # jax has many reasons; classes that are not registered are a common one.
            pass
        else:
            return RegisteredConvention(inputs, outputs, kept, kinds, (exported.in_tree, exported.out_tree))
    return Convention(inputs, outputs, kept, kinds)


def _has_custom(tree: Tree) -> bool:
    if isinstance(tree, Custom):
        return True
    children = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, (tuple, list)) else ()
    return any(map(_has_custom, children))


def _flatten(tree: Tree, value: Any, leaves: list[Any]) -> bool:
    if tree is ...:
        leaves.append(value)
        return value is not None and not isinstance(value, dict)
    if tree is None:
        return value is None
    if isinstance(tree, dict):
        # Leaves are in the order of the tree.
        return isinstance(value, dict) and value.keys() == tree.keys() and all(_flatten(tree[key], value[key], leaves) for key in tree)
    if isinstance(tree, Custom):
        parts = tree.parts(value)
        return parts is not None and all(map(_flatten, tree.children, parts, [leaves] * len(parts)))
    return isinstance(value, type(tree)) and len(value) == len(tree) and all(map(_flatten, tree, value, [leaves] * len(tree)))


def _unflatten(tree: Tree, leaves: Iterator[Any]) -> Any:
    if tree is ...:
        return next(leaves)
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {key: _unflatten(child, leaves) for key, child in tree.items()}
    if isinstance(tree, list):
        return [_unflatten(child, leaves) for child in tree]
    if isinstance(tree, Custom):
        return tree.made([_unflatten(child, leaves) for child in tree.children])
    return tuple([_unflatten(child, leaves) for child in tree])


def _without(tree: Tree, first: int, gone: Collection[int], taken: Collection[int]) -> tuple[Tree, list[int]]:
    """A tree, whose arrays are numbered from `first`, but for entries of dictionaries with arrays that are `gone` and none that is `taken`;
    and the numbers of the arrays that it has."""
    if tree is None or tree is ...:
        return tree, [first] if tree is ... else []
    children = tree.items() if isinstance(tree, dict) else enumerate(tree.children if isinstance(tree, Custom) else tree)
    left: list[int] = []
    parts = {}
    for key, child in children:
        inside = range(first, first + _count(child))
        first = inside.stop
        if isinstance(tree, dict) and not set(gone).isdisjoint(inside) and set(taken).isdisjoint(inside):
            continue
        parts[key], numbers = _without(child, inside.start, gone, taken)
        left += numbers
    if isinstance(tree, dict):
        return parts, left
    found = tuple(parts.values())
    return (tree._replace(children=found) if isinstance(tree, Custom) else type(tree)(found)), left


def _count(tree: Tree) -> int:
    """The number of arrays."""
    if tree is None or tree is ...:
        return int(tree is ...)
    children = tree.values() if isinstance(tree, dict) else tree.children if isinstance(tree, Custom) else tree
    return sum(map(_count, children))


def _text(tree: Tree) -> str:
    if tree is ...:
        return "*"
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{key!r}: {_text(child)}" for key, child in tree.items()) + "}"
    if isinstance(tree, Custom):
        return tree.name + "(" + ", ".join(map(_text, tree.children)) + ")"
    if isinstance(tree, list):
        return "[" + ", ".join(map(_text, tree)) + "]"
    if isinstance(tree, tuple):
        return "(" + ", ".join(map(_text, tree)) + ("," if len(tree) == 1 else "") + ")"
    return repr(tree)
