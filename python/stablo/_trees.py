"""Nested arguments and results of functions that `jax.export` wrote, without jax.

The tree of a structure is the structure with `...` in the place of each array, and a `Custom` in the place of each object of a class of
its own.
"""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Optional, Sequence

Tree = Any


class Custom(NamedTuple):
    """An object of a class that the exporter registered. Tuples of its children stand for it."""

    name: str
    children: tuple[Tree, ...]


class Convention:
    """How a function of an exporter is called: its arguments and results are nested, and the program takes some leaves of the former."""

    __slots__ = ("_inputs", "_kept", "_outputs")

    def __init__(self, inputs: Tree, outputs: Tree, kept: Sequence[int]) -> None:
        self._inputs = inputs
        self._outputs = outputs
        self._kept = kept

    def is_plain(self) -> bool:
        """True if the program itself takes and returns the same."""
        arguments, keywords = self._inputs
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

    def unflatten(self, results: Sequence[Any]) -> Any:
        """The results as the function returns them."""
        return _unflatten(self._outputs, iter(results))

    def __str__(self) -> str:
        arguments, keywords = self._inputs
        return ", ".join([*map(_text, arguments), *(f"{name}={_text(tree)}" for name, tree in keywords.items())])

    def __reduce__(self) -> tuple[Any, ...]:
        return Convention, (self._inputs, self._outputs, self._kept)


def _flatten(tree: Tree, value: Any, leaves: list[Any]) -> bool:
    if tree is ...:
        leaves.append(value)
        return value is not None and not isinstance(value, dict)
    if tree is None:
        return value is None
    if isinstance(tree, dict):
        # Leaves are in the order of the tree.
        return isinstance(value, dict) and value.keys() == tree.keys() and all(_flatten(tree[key], value[key], leaves) for key in tree)
    kind, children = ((tuple, list), tree.children) if isinstance(tree, Custom) else (type(tree), tree)
    return isinstance(value, kind) and len(value) == len(children) and all(map(_flatten, children, value, [leaves] * len(children)))


def _unflatten(tree: Tree, leaves: Iterator[Any]) -> Any:
    if tree is ...:
        return next(leaves)
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {key: _unflatten(child, leaves) for key, child in tree.items()}
    if isinstance(tree, list):
        return [_unflatten(child, leaves) for child in tree]
    return tuple([_unflatten(child, leaves) for child in (tree.children if isinstance(tree, Custom) else tree)])


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
