"""The functions of `jaxlib.mlir.dialects.stablehlo` that work on text and bytes, with the same signatures, so that projects that
install jax only for these can do without.

>>> from stablo import compat
>>> artifact = compat.serialize_portable_artifact_str("func.func @main() { return }", compat.get_minimum_version())
>>> compat.deserialize_portable_artifact_str(artifact)[:4]
b'ML\\xefR'
"""

from __future__ import annotations

import enum
from typing import Any, Sequence, Union

from . import _stablo

__all__ = [
    "StablehloCompatibilityRequirement",
    "deserialize_portable_artifact",
    "deserialize_portable_artifact_str",
    "eval_module",
    "get_api_version",
    "get_current_version",
    "get_minimum_version",
    "get_smaller_version",
    "get_version_from_compatibility_requirement",
    "serialize_portable_artifact",
    "serialize_portable_artifact_str",
]


class StablehloCompatibilityRequirement(enum.Enum):
    """How old the readers of an artifact may be."""

    NONE = "current"
    WEEK_4 = "WEEK_4"
    WEEK_12 = "WEEK_12"
    MAX = "minimum"


def serialize_portable_artifact_str(module_str: Union[str, bytes], target_version: str) -> bytes:
    """A program in MLIR text or bytecode as a portable artifact for a version."""
    return _stablo.serialize(_bytes(module_str), target_version, True)


def serialize_portable_artifact(module: Any, target: str, allow_other_dialects: bool = False) -> bytes:
    """As `serialize_portable_artifact_str`, of a program in MLIR text or bytecode, or of what has it as its `str`, such as a module of jaxlib.
    Ops of other dialects than StableHLO's are refused by default."""
    return _stablo.serialize(_bytes(module), target, allow_other_dialects)


def deserialize_portable_artifact_str(artifact_str: bytes) -> bytes:
    """The program in a portable artifact, as MLIR bytecode."""
    return _stablo.deserialize(artifact_str)


def deserialize_portable_artifact(context: Any, artifact: bytes) -> str:
    """The program in a portable artifact, as MLIR text where jaxlib's function has a module. The context is not used."""
    return _stablo.load(artifact, "-", True, None, None).text(False, False)


def eval_module(module: Any, args: Sequence[Any], probe_instrumentation_dir: str = "") -> list[Any]:
    """Runs `main` of a program in MLIR text or bytecode, or of what has it as its `str`. Where jaxlib's function has attributes, this one has
    arrays. What `interpreter.probe` sees is saved in the directory."""
    from . import Program

    program = Program(_stablo.load(_bytes(module), "<memory>", True, None, None))
    if probe_instrumentation_dir:
        inputs = program._given(args, {})
        return list(_stablo.run_with_probes(program._native, inputs, probe_instrumentation_dir))
    return list(program.run(*args))


def _bytes(program: Any) -> bytes:
    return program if isinstance(program, bytes) else str(program).encode()


def get_api_version() -> int:
    """The version of these functions."""
    return 9


def get_current_version() -> str:
    """The newest version of StableHLO that is known."""
    return _stablo.target_version("current")


def get_minimum_version() -> str:
    """The oldest version of StableHLO for which artifacts can be written."""
    return _stablo.target_version("minimum")


def get_smaller_version(version1: str, version2: str) -> str:
    """The older one of two versions."""
    return _stablo.smaller_version(version1, version2)


def get_version_from_compatibility_requirement(requirement: StablehloCompatibilityRequirement) -> str:
    """The version to write for readers of that age."""
    return _stablo.target_version(StablehloCompatibilityRequirement(requirement).value)
