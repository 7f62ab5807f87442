#!/usr/bin/env python3
"""Checks `stablo judge` with real programs.

    judge_corpus.py mutants STABLO DIR [--programs N] [--each N] [--seed S]
    judge_corpus.py device STABLO DIR --device pjrt:PLUGIN.so [--model M]
    judge_corpus.py expected STABLO DIR [--model M] [--within]
    judge_corpus.py arguments STABLO DIR --out DIR
    judge_corpus.py harnesses STABLO DIR [--programs N] [--x64]
    judge_corpus.py cost STABLO DIR

`mutants` plants faults in the text of programs with one function, in folders with program.mlir and
inputs, and counts which are found, if the op is named, and if programs without a fault are accused;
the model is that of stablo itself, as `stablo judge --ops` prints it, whose `erf` of f64 is not
correctly rounded.
`device` says how many programs a device computes inside of the bounds, `expected` which of the
values that test programs, the .mlir files below a folder, expect, and with `--within` which of those
that they compute. `arguments` makes programs of upstream's tests, with their inputs as arguments.
Needs numpy.
"""

import argparse
import collections
import hashlib
import itertools
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np

# A line with an op in its pretty form: result, op, operands, types.
OP = re.compile(r"^(\s*)(%\w+) = stablehlo\.(\w+) ?(.*?) : (.*)$")


def type_with(ty, dtype):
    return re.sub(r"(f32|f64)>", dtype + ">", ty)


def mutants(lines, rng):
    """The faults that a program's text can have: name, number of the line, lines in its place."""
    found, values = [], {}
    # Ops of the function itself, not of the regions of its ops.
    depth = next((len(line) - len(line.lstrip()) for line in lines if line.lstrip().startswith("return ")), 0)
    for number, line in enumerate(lines):
        match = OP.match(line.split(" loc(")[0])
        if not match or len(match[1]) != depth:
            continue
        space, name, op, rest, types = match.groups()
        operands = re.findall(r"%[\w#]+", rest)
        result = types.split("->")[-1].strip().strip("()")
        wide = re.search(r"(f32|f64)>$", result)
        say = lambda text: space + text
        own = f"{name} = stablehlo.{op}"
        add = lambda kind, new: found.append((kind, number, name, "stablehlo." + op, new))
        if op in ("subtract", "divide", "power", "atan2", "remainder") and len(set(operands)) == 2:
            add("swapped operands", [say(f"{own} {operands[1]}, {operands[0]} : {types}")])
        if op == "slice" and (cut := re.search(r"\[(\d+):(\d+)", rest)):
            low, high = int(cut[1]), int(cut[2])
            size = int(re.search(r"tensor<(\d+)", types)[1])
            step = 1 if high < size else -1 if low > 0 else 0
            if step:
                moved = rest.replace(cut[0], f"[{low + step}:{high + step}", 1)
                add("off by one", [say(f"{own} {moved} : {types}")])
        if op in ("tanh", "exponential", "log", "sine", "cosine", "logistic", "rsqrt", "sqrt", "log_plus_one",
                  "exponential_minus_one", "power") and wide:
            narrow = type_with(result, "bf16" if wide[1] == "f32" else "f32")
            new = [say(f"%narrow{k} = stablehlo.convert {x} : ({result}) -> {narrow}")
                   for k, x in enumerate(operands)]
            names = ", ".join(f"%narrow{k}" for k in range(len(operands)))
            add("fast-math function", new + [say(f"%fast = stablehlo.{op} {names} : {narrow}"),
                                             say(f"{name} = stablehlo.convert %fast : ({narrow}) -> {result}")])
        if op == "reduce" and "applies stablehlo.add" in rest and wide:
            a, b = [type_with(t, "bf16") for t in re.findall(r"tensor<[^>]*>", types)[:2]]
            old = re.findall(r"tensor<[^>]*>", types)
            out = type_with(result, "bf16")
            moved = rest.replace(operands[0] + " init: " + operands[1], "%narrow0 init: %narrow1")
            add("bf16 accumulation", [
                say(f"%narrow0 = stablehlo.convert {operands[0]} : ({old[0]}) -> {a}"),
                say(f"%narrow1 = stablehlo.convert {operands[1]} : ({old[1]}) -> {b}"),
                say(f"%sum = stablehlo.reduce{moved} : ({a}, {b}) -> {out}"),
                say(f"{name} = stablehlo.convert %sum : ({out}) -> {result}")])
        if op == "dot_general" and wide:
            old = re.findall(r"tensor<[^>]*>", types)
            a, b = [type_with(t, "bf16") for t in old[:2]]
            out = type_with(result, "bf16")
            moved = rest.replace(f"{operands[0]}, {operands[1]}", "%narrow0, %narrow1", 1)
            add("bf16 accumulation", [
                say(f"%narrow0 = stablehlo.convert {operands[0]} : ({old[0]}) -> {a}"),
                say(f"%narrow1 = stablehlo.convert {operands[1]} : ({old[1]}) -> {b}"),
                say(f"%sum = stablehlo.dot_general {moved} : ({a}, {b}) -> {out}"),
                say(f"{name} = stablehlo.convert %sum : ({out}) -> {result}")])
            if square := re.fullmatch(r"tensor<(\d+)x\1x\w+>", old[1]):
                moved = rest.replace(f", {operands[1]}", ", %turned", 1)
                add("transposed weights", [
                    say(f"%turned = stablehlo.transpose {operands[1]}, dims = [1, 0] : ({old[1]}) -> {old[1]}"),
                    say(f"{own} {moved} : {types}")])
        if op in ("maximum", "minimum") and wide:
            flag = re.sub(r"\w+>$", "i1>", result)
            add("dropped NaN", [
                say(f"%is = stablehlo.compare EQ, {operands[0]}, {operands[0]} : ({result}, {result}) -> {flag}"),
                say(f"%kept = stablehlo.select %is, {operands[0]}, {operands[-1]} : {flag}, {result}"),
                say(f"%is1 = stablehlo.compare EQ, {operands[-1]}, {operands[-1]} : ({result}, {result}) -> {flag}"),
                say(f"%kept1 = stablehlo.select %is1, {operands[-1]}, {operands[0]} : {flag}, {result}"),
                say(f"{own} %kept, %kept1 : {types}")])
        if op == "convert" and (pair := re.match(r"\((tensor<[\w]*f(32|64)>)\) -> (tensor<\w*x?(bf16|f16|f32)>)$", types)):
            bits = {"bf16": 16, "f16": 13, "f32": 29}[pair[4]]
            if (pair[2], pair[4]) in (("32", "bf16"), ("32", "f16"), ("64", "f32")):
                word = re.sub(r"f(32|64)>$", r"ui\1>", pair[1])
                mask = (1 << int(pair[2])) - (1 << bits)
                add("wrong rounding of a conversion", [
                    say(f"%bits = stablehlo.bitcast_convert {operands[0]} : ({pair[1]}) -> {word}"),
                    say(f"%mask = stablehlo.constant dense<{mask}> : {word}"),
                    say(f"%cut = stablehlo.and %bits, %mask : {word}"),
                    say(f"%back = stablehlo.bitcast_convert %cut : ({word}) -> {pair[1]}"),
                    say(f"{own} %back : {types}")])
        if earlier := [v for v in values.get(result, []) if v not in operands and v != name]:
            add("stale buffer", [say(f"{name} = stablehlo.optimization_barrier {rng.choice(earlier)} : {result}")])
        values.setdefault(result, []).append(name)
    return found


def check_mutants(options):
    """Faults in the text of programs with one function, in folders with program.mlir and inputs."""
    rng = random.Random(options.seed)
    counts = collections.defaultdict(lambda: [0, 0, 0, 0])
    accused, clean_runs = [], 0
    folder = Path(tempfile.mkdtemp())

    def run(text, inputs, results, trace):
        (folder / "mutant.mlir").write_text(text)
        for path in (results, trace):
            shutil.rmtree(path, ignore_errors=True)
        command = [options.stablo, "run", str(folder / "mutant.mlir"), "--inputs", str(inputs),
                   "--outputs", str(results), "--trace", str(trace), "--engine", "reference",
                   "--max-steps", "100000"]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120).returncode == 0

    def verdict(program, inputs, results, trace, name=None, op=None):
        lines = []
        for line in (trace / "index.jsonl").read_text().splitlines():
            entry = json.loads(line)
            entry.pop("id")
            if entry.get("value") == name:
                entry["op"] = op
            lines.append(json.dumps(entry))
        (trace / "index.jsonl").write_text("\n".join(lines) + "\n")
        return subprocess.run(
            [options.stablo, "judge", str(program), "--inputs", str(inputs), "--results", str(results), "--trace",
             str(trace), "--samples", "0", "--model", options.model, "--format", "json"], capture_output=True, text=True, check=False, timeout=300)

    def equal(a, b):
        # The sign of zero does not count.
        return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")

    programs = sorted(Path(options.corpus).glob("*/program.mlir"))
    rng.shuffle(programs)
    results, trace = folder / "results", folder / "trace"
    for path in programs:
        lines = path.read_text().splitlines()
        if sum(" func.func " in " " + line for line in lines) != 1 or sum(c[0] for c in counts.values()) >= options.programs:
            continue
        choices = mutants(lines, rng)
        if not choices or not run("\n".join(lines), path.parent, results, trace):
            continue
        clean = verdict(path, path.parent, results, trace)
        clean_runs += 1
        if clean.returncode not in (0, 3):
            accused.append(path.parent.name)
            print("accused", path, clean.returncode, clean.stdout[:600], clean.stderr[:300])
            continue
        kept = {f.name: np.load(f) for f in results.glob("*.npy")}
        kept_trace = {json.loads(line)["value"]: json.loads(line)["file"]
                      for line in (trace / "index.jsonl").read_text().splitlines()}
        kept_values = {v: np.load(trace / f) for v, f in kept_trace.items()}
        rng.shuffle(choices)
        choices.sort(key=lambda choice: counts[choice[0]][0])
        for kind, number, name, op, new in choices[:options.each]:
            text = "\n".join(lines[:number] + new + lines[number + 1:])
            if not run(text, path.parent, results, trace):
                continue
            files = {json.loads(line)["value"]: json.loads(line)["file"]
                     for line in (trace / "index.jsonl").read_text().splitlines()}
            if name not in kept_values or equal(np.load(trace / files[name]), kept_values[name]):
                continue
            judged = verdict(path, path.parent, results, trace, name, op)
            count = counts[kind]
            count[0] += 1
            if judged.returncode == 1:
                count[1] += 1
                isolated = json.loads(judged.stdout)["blames"]["isolated"]
                named = bool(isolated) and isolated[0]["text"].startswith(name + " ")
                count[2] += named
                if not named and options.verbose:
                    print("not named", kind, path.parent.name, name, isolated and isolated[0]["text"])
            else:
                within = all(equal(np.load(results / f), own) for f, own in kept.items())
                count[3] += within
                if options.verbose:
                    print("not found", kind, path.parent.name, lines[number].strip(), judged.returncode, judged.stderr[:200])
    print(f"{clean_runs} programs without a fault, accused: {len(accused)} {accused}")
    print("| fault | planted | found | op named | not found |\n| --- | --- | --- | --- | --- |")
    for kind, (total, found, named, _) in sorted(counts.items()):
        print(f"| {kind} | {total} | {found} | {named} | {total - found} |")
    shutil.rmtree(folder)
    sys.exit(bool(accused))


def folder_programs(corpus):
    """The programs in the folders of a corpus."""
    return sorted(path for name in ("program", "module") for path in Path(corpus).glob(f"*/{name}.mlir"))


# A small process, as memory at the beginning is that of the process before it.
MEASURE = """
import os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
wall = time.perf_counter() - start
print(os.waitstatus_to_exitcode(status), 1e3 * wall, 1e3 * (usage.ru_utime + usage.ru_stime), usage.ru_maxrss / 1024)
"""


def measured(command):
    """Exit code, wall time and processor time in milliseconds, and largest memory in MB of a command."""
    run = subprocess.run([sys.executable, "-S", "-c", MEASURE, *command], capture_output=True, text=True, check=True)
    code, *cost = map(float, run.stdout.split())
    return int(code), cost


def check_cost(options):
    """Time and memory of judgements beside those of the interpreter: the best of three and of five runs."""
    print("| program | wall, ms | processor, ms | memory, MB |\n| --- | --- | --- | --- |")
    worst = [0.0] * 3
    for path in folder_programs(options.corpus):
        common = [str(path), "--inputs", str(path.parent)]
        runs = [measured([options.stablo, "run", *common, "--engine", "reference"]) for _ in range(5)]
        judge = [options.stablo, "judge", *common, "--results", str(path.parent), "--model", options.model]
        judgements = [measured(judge) for _ in range(3)]
        if runs[0][0] or judgements[0][0] == 2:
            print(f"| {path.parent.name} | does not run | | |", flush=True)
            continue
        own, judged = ([min(cost[i] for _, cost in all_runs) for i in range(3)] for all_runs in (runs, judgements))
        ratios = [after / before for before, after in zip(own, judged)]
        worst = [max(pair) for pair in zip(worst, ratios)]
        cells = [f"{before:.0f} / {after:.0f}: {after / before:.1f}" for before, after in zip(own, judged)]
        print(f"| {path.parent.name} | {' | '.join(cells)} |", flush=True)
    print(f"the largest ratios: {worst[0]:.1f} by time, {worst[1]:.1f} by processor time, {worst[2]:.1f} by memory")


def check_device(options):
    """Verdicts about a device by program; what is not inside is printed."""
    counts = collections.Counter()
    names = {0: "inside", 1: "outside", 2: "error", 3: "undecided"}
    for path in folder_programs(options.corpus):
        command = [options.stablo, "judge", str(path), "--inputs", str(path.parent), "--device", options.device,
                   "--model", options.model, "--samples", "0", "--max-steps", "1000000"]
        try:
            run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        except subprocess.TimeoutExpired:
            counts["not ended in 600 seconds"] += 1
            print(f"{path.parent.name}: not ended in 600 seconds", flush=True)
            continue
        counts[names.get(run.returncode, "error")] += 1
        if run.returncode:
            print(f"{path.parent.name}: {names.get(run.returncode)}\n{(run.stdout or run.stderr)[:1000]}", flush=True)
    print(", ".join(f"{name}: {n}" for name, n in sorted(counts.items())))


def programs_of(path):
    """The programs of a test file, which may have several, and their functions without arguments."""
    for text in re.split(r"^// -----.*$", path.read_text(), flags=re.M):
        if "check." not in text:
            continue
        entries = re.findall(r"func\.func (?:public )?@(\w+)\(\)", text)
        yield text, ["main"] if "main" in entries else entries


def check_expected(options):
    """Verdicts about the values that test programs expect, and about what they compute (--within)."""
    counts, failed, without = collections.Counter(), collections.Counter(), 0
    folder = Path(tempfile.mkdtemp())
    program = folder / "program.mlir"
    for path in sorted(Path(options.corpus).rglob("*.mlir")):
        verdicts, lines = [], []
        for text, entries in programs_of(path):
            program.write_text(text)
            for entry in entries:
                own = [str(program), "--entry", entry]
                run = subprocess.run([options.stablo, "judge", *own, "--model", options.model, "--format", "json",
                                      "--max-steps", "1000000"], capture_output=True, text=True, check=False)
                if not run.stdout:
                    verdicts.append("error")
                    lines.append(run.stderr[:200])
                    continue
                judged = json.loads(run.stdout)
                verdicts.append(judged["verdict"])
                outputs = [o for o in judged["outputs"] if o["verdict"] == judged["verdict"] != "inside"]
                if judged["verdict"] == "outside":
                    worst = max(outputs, key=lambda o: float(o["max_ulps"]))
                    lines.append(f"{worst['outside']} | {float(worst['max_ulps']):.3g} | {json.dumps(worst['worst'])}")
                elif outputs:
                    reasons = [d["text"] for d in judged["doubts"]] or ["bounds are too wide"]
                    lines.append(reasons[0][:150])
                if options.within:
                    run = subprocess.run([options.stablo, "run", *own, "--within", options.model], capture_output=True,
                                         text=True, check=False)
                    is_checked = "no `check` ops" not in run.stderr
                    failed[(not is_checked and "no floats") or (run.returncode and "failed") or "passed"] += 1
                    if run.returncode and is_checked:
                        lines.append("computed: " + run.stderr.splitlines()[0][:300])
        if not verdicts:
            without += 1
            continue
        order = ["inside", "undecided", "outside", "error"]
        verdict = max(verdicts, key=order.index)
        counts[verdict] += 1
        if lines:
            print(f"| {path.stem} | {verdict} | {' '.join(lines)}", flush=True)
    print(", ".join(f"{name}: {n}" for name, n in sorted(counts.items())), f"; without expected values: {without}")
    if options.within:
        print("computed values: " + ", ".join(f"{name}: {n}" for name, n in sorted(failed.items())))
    shutil.rmtree(folder)


def arguments_of(path):
    """A test program of upstream with its inputs as arguments; None if it has no such form."""
    lines = path.read_text().splitlines()
    call = next((line for line in lines if "call @inputs()" in line), None)
    if call is None:
        return None
    name, _, count, types = re.match(r"\s*(%\w+)(:(\d+))? = call @inputs\(\) : \(\) -> (.*)$", call).groups()
    types = re.findall(r"tensor<[^>]*>+", types)
    start = next(i for i, line in enumerate(lines) if "@main" in line)
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = next(i for i in range(start + 1, len(lines)) if lines[i] == " " * indent + "}")
    left_out = ("call @inputs()", "call @expected()", "@check.expect")
    body = [line[indent:] for line in lines[start + 1:end] if not any(part in line for part in left_out)]
    results = re.search(r"-> (.*) \{$", lines[start])
    if results is None or any(" call @" in line for line in body):
        return None
    used = re.escape(name) + (r"#(\d+)\b" if count else r"(?![\w#])")
    body = [re.sub(used, lambda use: f"%in{use[1] if count else 0}", line) for line in body]
    arguments = ", ".join(f"%in{i}: {ty}" for i, ty in enumerate(types))
    results = re.sub(r" \{[^{}]*\}", "", results[1])
    return "\n".join([f"func.func @main({arguments}) -> {results} {{", *body, "}"]) + "\n"


def make_arguments(options):
    """Upstream's test programs with their inputs as arguments, in folders for the other checks."""
    made = 0
    for path in sorted(Path(options.corpus).glob("*.mlir")):
        text = arguments_of(path)
        if text is None:
            continue
        folder = Path(options.out) / path.stem
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / "program.mlir"
        program.write_text(text)
        run = subprocess.run([options.stablo, "run", str(path), "--entry", "inputs", "--outputs", str(folder)],
                             capture_output=True, check=False)
        valid = run.returncode == 0 and subprocess.run(
            [options.stablo, "check", str(program)], capture_output=True, check=False).returncode == 0
        for file in folder.glob("output_*.npy"):
            file.rename(folder / file.name.replace("output", "input"))
        if not valid:
            shutil.rmtree(folder)
        made += valid
    print(f"{made} programs")


def make_harnesses(options):
    """Programs of the tests of JAX's primitives with the arguments that these make."""
    import jax
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", options.x64)
    from jax._src.internal_test_util import test_harnesses

    groups = collections.defaultdict(list)
    for harness in test_harnesses.all_harnesses:
        groups[harness.group_name].append(harness)
    rng = random.Random(options.seed)
    for group in groups.values():
        rng.shuffle(group)
    # One of each primitive, then another one.
    turns = itertools.chain.from_iterable(itertools.zip_longest(*groups.values()))
    made, out = 0, Path(options.corpus)
    for harness in filter(None, turns):
        if made >= options.programs:
            break
        draw = np.random.RandomState(zlib.crc32(harness.fullname.encode()))
        try:
            arguments = [np.asarray(x) for x in harness.dyn_args_maker(draw)]
            lowered = jax.jit(lambda *x: harness.dyn_fun(*x), keep_unused=True).lower(*arguments)
        except Exception:  # Harnesses that raise are part of JAX's tests.
            continue
        text = lowered.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=False)
        arguments = [x.astype(jax.dtypes.canonicalize_dtype(x.dtype)) for x in arguments]
        has_floats = any(ty in text for ty in ("f16>", "f32>", "f64>"))
        is_narrow = any(ty in text for ty in ("f8E", "f4E", "f6E", "i4>", "i2>"))
        if not has_floats or is_narrow or "custom_call" in text or sum(x.size for x in arguments) > 20000:
            continue
        name = hashlib.sha1(text.encode() + b"".join(x.tobytes() for x in arguments)).hexdigest()[:10]
        folder = out / f"{harness.group_name}_{name}"
        if folder.exists():
            continue
        folder.mkdir(parents=True)
        for index, array in enumerate(arguments):
            is_bf16 = array.dtype.name == "bfloat16"
            np.save(folder / f"input_{index}.npy", array.view(np.uint16) if is_bf16 else array)
        (folder / "program.mlir").write_text(text)
        made += 1
    print(f"{made} programs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("check", choices=["mutants", "device", "expected", "arguments", "harnesses", "cost"])
    parser.add_argument("stablo")
    parser.add_argument("corpus")
    parser.add_argument("--programs", type=int, default=1000, help="number of faults, or of programs that are made")
    parser.add_argument("--each", type=int, default=6, help="at most this many faults in a program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", default="ieee")
    parser.add_argument("--device")
    parser.add_argument("--within", action="store_true", help="run the programs with derived bounds, too")
    parser.add_argument("--out", help="the folder of the programs that are made")
    parser.add_argument("--x64", action="store_true", help="harnesses with types of 64 bits")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    checks = {
        "mutants": check_mutants,
        "device": check_device,
        "expected": check_expected,
        "arguments": make_arguments,
        "harnesses": make_harnesses,
        "cost": check_cost,
    }
    checks[options.check](options)


if __name__ == "__main__":
    main()
