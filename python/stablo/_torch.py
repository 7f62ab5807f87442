"""Programs of PyTorch: folders that torch_xla's `save_as_stablehlo` writes, and modules by way of `torch.export`."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence

import numpy

from ._stablo import Error
from ._trees import Convention, Tree

if TYPE_CHECKING:
    from . import Program

Load = Callable[..., "Program"]


def bound(program: Program, file: os.PathLike[str], folder: str) -> Program:
    """The program of a file in a folder of torch_xla, with the weights beside it as constants; others are as they are."""
    meta = os.path.splitext(file)[0] + ".meta"
    if not os.path.isfile(meta):
        return program
    try:
        with open(meta, encoding="utf-8") as text:
            function = json.load(text)
        files, kept = _locations(function["input_locations"], folder)
        program = program.bind({index: numpy.load(path) for index, path in files.items()})
        return called_as(program, function.get("input_pytree_spec"), function.get("output_pytree_spec"), kept)
    except (OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise Error(f"{meta}: {type(error).__name__}: {error}") from error


def _locations(locations: list[dict[str, Any]], folder: str) -> tuple[dict[int, str], list[int]]:
    """The files of arguments by their numbers, and the positions of the others. No file outside of the folder is named."""
    files: dict[int, str] = {}
    kept: list[int] = []
    for index, location in enumerate(locations):
        kind = location["type_"]
        if kind == "parameter":
            name = location["name"]
            if name != os.path.basename(name) or name in ("", ".", ".."):
                raise ValueError(f"{name!r} is no name of a file in the folder")
            files[index] = os.path.join(folder, "data", name)
            continue
        position = location["position"]
        if type(position) is not int or position < 0:
            raise ValueError(f"{position!r} is no position")
        if kind == "input_arg":
            kept.append(position)
        else:
            files[index] = os.path.join(folder, "constants", str(position))
    return files, kept


def called_as(program: Program, inputs: Optional[str], outputs: Optional[str], kept: Sequence[int]) -> Program:
    """A program that takes and returns what PyTorch describes by texts, as far as they are of its own types."""
    trees = [None if text is None else _tree(json.loads(text)[1]) for text in (inputs, outputs)]
    if all(tree is not None for tree in trees):
        program._set_convention(Convention(trees[0], trees[1], kept))
    return program


def _tree(spec: dict[str, Any]) -> Optional[Tree]:
    """The tree of a description in JSON; none if it has classes of its own."""
    children = [_tree(child) for child in spec["children_spec"]]
    if any(child is None for child in children):
        return None
    kind = spec["type"]
    if kind is None:
        return ...
    if kind == "builtins.tuple":
        return tuple(children)
    if kind == "builtins.list":
        return children
    if kind == "builtins.dict":
        return dict(zip(json.loads(spec["context"]), children))
    return None


def from_torch(load: Load, module: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Program:
    """See `stablo.from_torch`."""
    import torch  # type: ignore[import-not-found,unused-ignore]

    exported = module
    if not isinstance(module, torch.export.ExportedProgram):
        exported = torch.export.export(module, arguments, named or None)
    elif arguments or named:
        raise Error("a program that torch.export made has arguments already")
    try:
        import torchax.export  # type: ignore[import-not-found,unused-ignore]
    except (ImportError, AttributeError) as error:
        # AttributeError, where torchax is for another version of torch.
        without = error
    else:
        return _by_torchax(load, exported, *torchax.export.exported_program_to_stablehlo(exported))
    try:
        from torch_xla.stablehlo import exported_program_to_stablehlo  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        needs = "programs of PyTorch need torchax or torch_xla, as in pip install torchax flax"
        raise ImportError(f"{needs}; with torch {torch.__version__}, importing torchax gives {type(without).__name__}: {without}") from without
    with tempfile.TemporaryDirectory() as folder:
        exported_program_to_stablehlo(exported).save(folder)
        return load(folder)


def _by_torchax(load: Load, exported: Any, weights: Sequence[Any], made: Any) -> Program:
    from torch.utils import _pytree  # type: ignore[import-not-found,unused-ignore]

    # The leaves of its arguments are the weights and those of the module; it takes some of them.
    leaves = list(made.module_kept_var_idx)
    program = load(made.mlir_module_serialized)
    program = program.bind({index: numpy.asarray(weights[leaf]) for index, leaf in enumerate(leaves) if leaf < len(weights)})
    kept = [leaf - len(weights) for leaf in leaves if leaf >= len(weights)]
    specs = exported.call_spec
    try:
        inputs, outputs = _pytree.treespec_dumps(specs.in_spec), _pytree.treespec_dumps(specs.out_spec)
    except NotImplementedError:
        # Classes without a name for texts: the program takes and returns arrays.
        return program
    return called_as(program, inputs, outputs, kept)
