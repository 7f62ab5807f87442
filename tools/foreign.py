#!/usr/bin/env python3
"""Compares what stablo and jaxlib accept among the programs of other projects.

    python3 tools/foreign.py [--bin DIR] [--python PYTHON] [--verdicts] [--json FILE] CORPUS…

Each CORPUS is a directory: a checkout of Enzyme-JAX, Shardy, tt-mlir, IREE, TensorRT-Incubator, LiteRT,
byteir, BladeDISC, mlir-hlo, SPU, … or a part of one. All `.mlir` files in it are split at
`// -----`, and those chunks that name a StableHLO, CHLO, MHLO or Shardy op are read by
`stablehlo-opt -allow-unregistered-dialect` of the directory `--bin` and by PYTHON, one with jaxlib,
which is the referee. Chunks that need a dialect or a syntax that jaxlib lacks are not compared.

What both accept is printed and read back: as text, in the generic form and as bytecode. Results
must be stable, and jaxlib must read the generic form as it reads the original, but for programs
with MHLO, whose ops stablo renames, and with dialects that jaxlib lacks. `other syntax` counts
programs with the custom syntax of dialects that only jaxlib has, such as affine.

Prints a table, a corpus a line; `--json` writes the differences with their chunks and messages. The
exit code is 1 if there are any.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SEPARATOR = re.compile(r"^ *// -----.*$", re.MULTILINE)
RELEVANT = re.compile(r"\b(stablehlo|chlo|mhlo|sdy)\.[a-z]")
# Errors of jaxlib about dialects that it does not have, or types of one.
UNKNOWN = re.compile(
    r"Dialect `[^']*' not found|dialect '[^']*' is unknown|unregistered dialect|"
    r"being parsed is unregistered|created with unregistered|!quant\."
)
# Dialects of stablo that jaxlib lacks, whose ops it prints otherwise, and MHLO.
UNLIKE = re.compile(r"\b(check|interpreter|mhlo|quant|shape|tensor|bufferization|vhlo)\.[a-z]")
# Errors of stablo about dialects that it does not have, outside of the generic form.
LACKING = re.compile(r"has no declaration: write it in the generic form")
MOST_SECONDS = 60

REFEREE = r'''
import json, sys
import jaxlib.mlir.ir as ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, mhlo, mpmd, sdy, stablehlo

def context():
    context = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    for dialect in stablehlo, chlo, sdy, mpmd:
        dialect.register_dialect(context)
    mhlo.register_mhlo_dialect(context)
    context.load_all_available_dialects()
    context.allow_unregistered_dialects = True
    return context

for line in sys.stdin:
    path = json.loads(line)
    with context(), open(path, encoding="utf-8", errors="replace") as file:
        try:
            text = ir.Module.parse(file.read()).operation.get_asm(print_generic_op_form=True)
            answer = {"accepts": True, "text": text}
        except ir.MLIRError as error:
            told = [str(d.message) for d in error.error_diagnostics]
            answer = {"accepts": False, "message": " | ".join(told)}
        except Exception as error:
            answer = {"accepts": False, "message": str(error)}
    print(json.dumps(answer), flush=True)
'''


class Referee:
    """A process of jaxlib, restarted if it dies."""

    def __init__(self, python):
        self.python, self.process = python, None

    def ask(self, path):
        if self.process is None:
            self.process = subprocess.Popen(
                [self.python, "-c", REFEREE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True)
        try:
            self.process.stdin.write(json.dumps(str(path)) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            self.process.kill()
            self.process.wait()
            self.process = None
            return {"accepts": None, "message": "jaxlib crashed"}

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


def opt(bin, path, *flags):
    """Exit code, output and errors of `stablehlo-opt` on a file."""
    command = [bin / "stablehlo-opt", "-allow-unregistered-dialect", path, *flags]
    try:
        done = subprocess.run(command, capture_output=True, timeout=MOST_SECONDS)
        return done.returncode, done.stdout, done.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return -1, b"", f"no answer within {MOST_SECONDS} s"


def unstable(bin, path, scratch, printed):
    """The first form whose text is read back as another program, with a message, or None."""
    for form, flags in {"text": [], "generic": ["-mlir-print-op-generic"],
                        "bytecode": ["-emit-bytecode"]}.items():
        code, output, errors = opt(bin, path, *flags)
        if code == 0:
            again = scratch / f"again.{form}"
            again.write_bytes(output)
            code, output, errors = opt(bin, again)
        if code != 0:
            return form, errors
        if output != printed:
            return form, "another text"
    return None


def compare(bin, path, scratch, referee, prints):
    """The kind of a chunk, and a message."""
    code, printed, errors = opt(bin, path)
    if code not in (0, 1):
        return "crashed", errors or f"exit code {code}"
    theirs = referee.ask(path)
    if theirs["accepts"] is None or UNKNOWN.search(theirs.get("message", "")):
        return "not compared", theirs["message"]
    if not theirs["accepts"]:
        return ("both refuse", "") if code == 1 else ("wrongly accepted", theirs["message"])
    if code == 1:
        return ("other syntax" if LACKING.search(errors) else "wrongly refused"), errors
    if not prints:
        return "both accept", ""
    problem = unstable(bin, path, scratch, printed)
    if problem:
        return "unstable", f"{problem[0]}: {problem[1]}"
    if not UNLIKE.search(path.read_text(encoding="utf-8", errors="replace")):
        generic = scratch / "generic"
        generic.write_bytes(opt(bin, path, "-mlir-print-op-generic")[1])
        again = referee.ask(generic)
        if not again["accepts"]:
            return "misprinted", again["message"]
        if again["text"] != theirs["text"]:
            pairs = zip(theirs["text"].splitlines(), again["text"].splitlines())
            line = next((f"{a.strip()} became {b.strip()}" for a, b in pairs if a != b), "")
            return "misprinted", line[:2000]
    return "both accept", ""


KINDS = ["both accept", "both refuse", "wrongly refused", "wrongly accepted", "unstable",
         "misprinted", "crashed", "other syntax", "not compared"]
DIFFERENCES = KINDS[2:7]


def run_corpus(corpus, bin, python, prints):
    counts, differences = collections.Counter(), []
    referee = Referee(python)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for file in sorted(corpus.rglob("*.mlir")):
            text = file.read_text(encoding="utf-8", errors="replace")
            for number, chunk in enumerate(SEPARATOR.split(text)):
                if not RELEVANT.search(chunk):
                    continue
                path = scratch / "chunk.mlir"
                path.write_text(chunk, encoding="utf-8")
                kind, message = compare(bin, path, scratch, referee, prints)
                counts[kind] += 1
                if kind in DIFFERENCES:
                    differences.append({
                        "corpus": corpus.name, "kind": kind, "file": str(file.relative_to(corpus)),
                        "chunk": number, "message": message, "text": chunk})
    referee.close()
    return counts, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="+", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("target/debug"))
    parser.add_argument("--python", default=sys.executable, help="a Python with jaxlib")
    parser.add_argument("--jobs", type=int, default=2, help="corpora at the same time")
    parser.add_argument("--verdicts", action="store_true", help="print nothing, only compare verdicts")
    parser.add_argument("--json", type=pathlib.Path, help="where to write the differences")
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = [pool.submit(run_corpus, corpus, options.bin, options.python, not options.verdicts)
                for corpus in options.corpora]
        found = [one.result() for one in work]
    print("| corpus | " + " | ".join(KINDS) + " |")
    print("| --- |" + " ---: |" * len(KINDS))
    total = collections.Counter()
    for corpus, (counts, _) in zip(options.corpora, found):
        total += counts
        print(f"| {corpus.name} | " + " | ".join(str(counts[kind]) for kind in KINDS) + " |")
    print("| all | " + " | ".join(str(total[kind]) for kind in KINDS) + " |")
    differences = [one for _, many in found for one in many]
    if options.json:
        options.json.write_text(json.dumps(differences, indent=1))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
