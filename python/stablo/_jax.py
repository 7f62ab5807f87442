"""Programs of JAX, taken from its objects: nothing is serialized, so that classes need not be registered for that."""

from __future__ import annotations

import collections
import functools
import inspect
import io
import json
import types
from typing import Any, Optional, Sequence

import numpy

from ._arrays import shortened
from ._stablo import Error
from ._trees import Convention, Custom, RegisteredConvention, Static, Tree

Parts = tuple[bytes, str, Optional[list[str]], Optional[Convention]]
"""The bytes of a program, its name, the platforms that it is for, and how it is called."""


def of_function(
    function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], platforms: Optional[Sequence[str]], disabled_checks: Sequence[Any]
) -> Parts:
    """The program of a function for arguments like these, or of what jax made of one."""
    import jax  # type: ignore[import-not-found,unused-ignore]
    from jax import export

    stages = {export.Exported: "jax.export", jax.stages.Lowered: "lower", jax.stages.Traced: "trace"}
    made = next((name for stage, name in stages.items() if isinstance(function, stage)), None)
    if made is not None:
        if arguments or keywords:
            raise TypeError(f"what {made} made has its arguments already; none are given beside it")
        if disabled_checks or (platforms is not None and made != "trace"):
            raise TypeError(f"platforms and disabled_checks are for functions; what {made} made has its own")
        if isinstance(function, export.Exported):
            return of_exported(function)
        if isinstance(function, jax.stages.Traced):
            function = function.lower() if platforms is None else function.lower(lowering_platforms=_names(platforms))
            return of_lowered(function, platforms)
        return of_lowered(function, None)
    if isinstance(function, jax.stages.Compiled):
        raise TypeError("a compiled function has no program any more; give what `lower` made, or the function")
    if not callable(function):
        raise TypeError(f"a function, or what jax made of one, is needed, not {shortened(function)}")
    constants: Optional[Constants] = None
    # A method looks as the function that it binds.
    if isinstance(function, jax.stages.Wrapped) and not isinstance(function, types.MethodType):
        jitted = function
    else:
        leaves, tree = jax.tree.flatten((arguments, keywords))
        constants = {index: leaf for index, leaf in enumerate(leaves) if not _is_array(leaf)}
        if constants:
            (arguments, keywords), function = _without(tree, leaves, constants), _called_with(function, tree, constants)
        jitted = jax.jit(function)
    checks: list[Any] = [disabled_checks] if isinstance(disabled_checks, (str, export.DisabledSafetyCheck)) else list(disabled_checks)
    checks = [export.DisabledSafetyCheck.custom_call(check) if isinstance(check, str) else check for check in checks]
    exported = export.export(jitted, platforms=None if platforms is None else _names(platforms), disabled_checks=checks)(*arguments, **keywords)
    if not constants:
        return of_exported(exported, _static(jitted, arguments, keywords))
    taken = [index for index in range(len(leaves)) if index not in constants]
    kept = [taken[index] for index in exported.module_kept_var_idx]
    return of_exported(exported, called_as=(tree, kept, constants))


Constants = dict[int, Any]
"""Leaves of arguments that are no arrays, such as functions and strings, by their numbers."""


def _is_array(leaf: Any) -> bool:
    is_number = isinstance(leaf, (bool, int, float, complex, numpy.generic))
    return is_number or hasattr(leaf, "__jax_array__") or (hasattr(leaf, "shape") and hasattr(leaf, "dtype"))


def _without(tree: Any, leaves: Sequence[Any], constants: Constants) -> Any:
    """Arguments with `None` in the place of what is no array."""
    return tree.unflatten([None if index in constants else leaf for index, leaf in enumerate(leaves)])


def _called_with(function: Any, tree: Any, constants: Constants) -> Any:
    """The function of the arrays among its arguments."""
    import jax

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        arrays = iter(jax.tree.leaves((arguments, keywords)))
        leaves = [constants[index] if index in constants else next(arrays) for index in range(tree.num_leaves)]
        arguments, keywords = tree.unflatten(leaves)
        return function(*arguments, **keywords)

    return call


def _names(platforms: Sequence[str]) -> tuple[str, ...]:
    return (platforms,) if isinstance(platforms, str) else tuple(platforms)


def _static(jitted: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Optional[Static]:
    """The static arguments of a jitted function, if it has some."""
    info = getattr(jitted, "_jit_info", None)
    if info is None or not (info.static_argnums or info.static_argnames):
        return None
    signature = getattr(info, "fun_signature", None)
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [] if signature is None else [name for name, of in signature.parameters.items() if of.kind in kinds]
    return Static(info.static_argnums, info.static_argnames, parameters, arguments, keywords)


def of_exported(
    exported: Any, static: Optional[Static] = None, called_as: Optional[tuple[Any, Sequence[int], Constants]] = None
) -> Parts:
    """The program of a `jax.export.Exported`, with the static arguments of its function, or with other arguments: their tree, the numbers of
    the leaves that the program takes, and those that are constants."""
    if not hasattr(exported, "mlir_module_serialized"):
        raise TypeError(f"what jax.export made is needed, not {type(exported).__name__}; stablo.load reads files and bytes, stablo.from_jax functions")
    name = f"<{exported.fun_name}>"
    called = None
    # Ordered effects take tokens beside the arguments.
    if not exported.ordered_effects:
        kinds = [_kind(aval) for aval in exported.out_avals]
        tree, kept, constants = called_as or (exported.in_tree, exported.module_kept_var_idx, {})
        called = _convention(tree, exported.out_tree, kept, kinds, static, constants)
    return bytes(exported.mlir_module_serialized), name, list(exported.platforms), called


def of_lowered(lowered: Any, platforms: Optional[Sequence[str]]) -> Parts:
    """The program of a `jax.stages.Lowered`."""
    import jax

    module = lowered.compiler_ir("stablehlo")
    if module is None:
        raise Error("this function was not lowered to StableHLO")
    out = io.BytesIO()
    module.operation.write_bytecode(out)
    compiled = getattr(getattr(lowered, "_lowering", None), "compile_args", {})
    kept = compiled.get("kept_var_idx", range(lowered.in_tree.num_leaves))
    called = None
    if not compiled.get("ordered_effects"):
        kinds = [_kind(value) for value in jax.tree.leaves(lowered.out_info)]
        called = _convention(lowered.in_tree, lowered.out_tree, sorted(kept), kinds)
    return out.getvalue(), "<lowered>", None if platforms is None else list(_names(platforms)), called


def _kind(aval: Any) -> Optional[str]:
    """What stands for an array in results: keys of random numbers, and derivatives of integers."""
    name = str(aval.dtype)
    return name if name.startswith("key<") else "float0" if "float0" in name else None


def _convention(
    inputs: Any,
    outputs: Any,
    kept: Sequence[int],
    kinds: Sequence[Optional[str]],
    static: Optional[Static] = None,
    constants: Optional[Constants] = None,
) -> RegisteredConvention:
    return RegisteredConvention(_tree(inputs), _tree(outputs), list(kept), kinds, (inputs, outputs), static, constants)


def _tree(tree: Any) -> Tree:
    """The tree of a `jax.tree_util.PyTreeDef`, for processes without jax."""
    node = tree.node_data()
    if node is None:
        return ...
    kind, data = node
    children = [_tree(child) for child in tree.children()]
    if kind is type(None):
        return None
    if kind is tuple:
        return tuple(children)
    if kind is list:
        return children
    if kind is dict:
        return dict(zip(data, children))
    names: Any = getattr(kind, "_fields", None) if issubclass(kind, tuple) else data if kind is collections.OrderedDict else None
    try:
        text = b"" if names is None else json.dumps(list(names)).encode()
    except TypeError:
        text = b""
    return Custom(f"{kind.__module__}.{kind.__qualname__}", text, tuple(children))
