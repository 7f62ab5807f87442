#!/usr/bin/env python3
"""Compares what stablo's verifier and jaxlib's accept of the variants of every op.

    cargo run -p stablo-fuzz -- ops --programs 2 --write FOLDER
    python3 tools/variants.py FOLDER     # with a Python that has jaxlib

The first command writes programs of single ops of the project's tests with all element types, and
with other sizes and attributes, each after a comment with the verdict of stablo's verifier. The
second asks jaxlib about each, and prints numbers by op, and then the classes of differences with
the number of programs, the messages, and a program each: what stablo accepts and jaxlib refuses,
and the other way round. Programs with element types or dialects that jaxlib lacks are not compared.
"""

import collections
import pathlib
import re
import sys

import jaxlib.mlir.ir as ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, sdy, stablehlo

# Errors of jaxlib about dialects that it does not have.
UNKNOWN = re.compile(r"Dialect `[^']*' not found|dialect '[^']*' is unknown|unregistered|!quant\.")


def context():
    made = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    made.append_dialect_registry(registry)
    for dialect in stablehlo, chlo, sdy:
        dialect.register_dialect(made)
    made.load_all_available_dialects()
    return made


def refusal(text):
    """The message with which jaxlib refuses a program, or None."""
    with context():
        try:
            ir.Module.parse(text)
        except ir.MLIRError as error:
            return " | ".join(str(d.message) for d in error.error_diagnostics) or str(error)
    return None


def main():
    classes = {}
    counts = collections.defaultdict(collections.Counter)
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.mlir")):
        for chunk in file.read_text().split("// -----\n"):
            verdict, _, program = chunk.partition("\n")
            if not program or "!quant." in program:
                continue
            accepted = verdict == "// accepted"
            message = refusal(program)
            if message is not None and UNKNOWN.search(message):
                counts[file.stem]["not compared"] += 1
                continue
            if accepted == (message is None):
                counts[file.stem]["same"] += 1
                continue
            kind = "wrongly accepted" if accepted else "wrongly refused"
            counts[file.stem][kind] += 1
            said = message if accepted else verdict.removeprefix("// refused: ")
            key = (kind, file.stem, re.sub(r"\d+|tensor<[^>]*>+|'[^']*'", "N", said))
            count, first = classes.get(key, (0, program))
            classes[key] = (count + 1, first)
    kinds = ["same", "wrongly refused", "wrongly accepted", "not compared"]
    print("| op | " + " | ".join(kinds) + " |\n| --- |" + " ---: |" * len(kinds))
    for op, found in counts.items():
        print(f"| {op} | " + " | ".join(str(found[kind]) for kind in kinds) + " |")
    total = sum(counts.values(), collections.Counter())
    print("| all | " + " | ".join(str(total[kind]) for kind in kinds) + " |")
    for (kind, op, said), (count, program) in sorted(classes.items(), key=lambda item: -item[1][0]):
        print(f"\n{count} {kind}: {op}: {said[:300]}\n{program[:1500]}")
    return 1 if classes else 0


if __name__ == "__main__":
    sys.exit(main())
