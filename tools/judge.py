#!/usr/bin/env python3
"""Checks `stablo judge` against MPFR, and with faults planted in random programs.

    judge.py mpfr STABLO [--programs N] [--seed S] [--elements E] [--bits B]
    judge.py faults STABLO [--programs N] [--seed S]
    judge.py xla STABLO [--programs N] [--seed S] [--model M]
    judge.py tables STABLO --device pjrt:PLUGIN.so

`mpfr` compares true values and bounds of random programs with a run in 400 bits and with runs that
round each operation, sums in random order. `faults` gives recorded values of correct runs and of
runs with one planted fault, and counts which are found and whether the op is named. `xla` judges
what XLA's CPU backend computes. `tables` writes the tables of errors of functions in
docs/judge-xla.md and docs/accuracy.md, and the model files in docs/models, anew. Needs gmpy2 and numpy, `xla` also jax. For real programs,
there is judge_corpus.py.
"""

import argparse
import collections
import json
import math
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import gmpy2
import numpy as np
from gmpy2 import mpfr

TRUTH = gmpy2.context(precision=400, emax=gmpy2.get_emax_max(), emin=gmpy2.get_emin_min())
FORMATS = {
    "f64": gmpy2.context(precision=53, emax=1024, emin=-1073, subnormalize=True),
    "f32": gmpy2.context(precision=24, emax=128, emin=-148, subnormalize=True),
    "bf16": gmpy2.context(precision=8, emax=128, emin=-132, subnormalize=True),
    "f16": gmpy2.context(precision=11, emax=16, emin=-23, subnormalize=True),
}
NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16}


def to_npy(path, values, shape, dtype):
    array = np.array([float(v) for v in values], dtype=np.float64).reshape(shape)
    if dtype == "bf16":
        with np.errstate(all="ignore"):
            bits = array.astype(np.float32).view(np.uint32)
        np.save(path, (bits >> 16).astype(np.uint16))
    else:
        with np.errstate(all="ignore"):
            np.save(path, array.astype(NUMPY[dtype]))


def size(shape):
    return math.prod(shape)


def strides(shape):
    out, step = [], 1
    for n in reversed(shape):
        out.append(step)
        step *= n
    return out[::-1]


class Value:
    def __init__(self, name, shape, dtype):
        self.name, self.shape, self.dtype = name, shape, dtype

    @property
    def type(self):
        dims = "".join(f"{n}x" for n in self.shape)
        return f"tensor<{dims}{self.dtype}>"


def ulps(value, dtype):
    """The unit in the last place of a number."""
    context = FORMATS[dtype]
    if value == 0 or not gmpy2.is_finite(value):
        return mpfr(2) ** (context.emin - 1)
    exponent = gmpy2.frexp(value)[0]
    return mpfr(2) ** max(exponent - context.precision, context.emin - 1)


class Op:
    """An op: `run(context, operands)` computes elements in a context."""

    def __init__(self, mnemonic, operands, result, text, run, kind):
        self.mnemonic, self.operands, self.result = mnemonic, operands, result
        self.text, self.run, self.kind = text, run, kind


UNARY = {
    "exponential": gmpy2.exp,
    "exponential_minus_one": gmpy2.expm1,
    "tanh": gmpy2.tanh,
    "sine": gmpy2.sin,
    "cosine": gmpy2.cos,
    "logistic": None,
    "negate": lambda x: -x,
    "abs": abs,
    "cbrt": gmpy2.cbrt,
    "log_plus_one": None,
    "sqrt": None,
    "rsqrt": None,
    "log": None,
}
BINARY = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "maximum": lambda x, y: x if gmpy2.is_nan(x) else y if gmpy2.is_nan(y) else max(x, y),
    "minimum": lambda x, y: x if gmpy2.is_nan(x) else y if gmpy2.is_nan(y) else min(x, y),
}


def logistic(x):
    own = gmpy2.get_context()
    gmpy2.set_context(TRUTH)
    value = 1 / (1 + gmpy2.exp(-x))
    gmpy2.set_context(own)
    return +value


class within:
    """Computes in a context; contexts nest."""

    def __init__(self, context):
        self.context = context

    def __enter__(self):
        self.around = gmpy2.get_context()
        gmpy2.set_context(self.context)

    def __exit__(self, *_):
        gmpy2.set_context(self.around)


class Program:
    """A random program with its evaluation."""

    def __init__(self, rng, elements, faulty=False):
        self.rng, self.ops, self.values = rng, [], []
        self.inputs, self.data = [], {}
        self.dtype = rng.choice(["f32", "f32", "f32", "f64", "f64", "bf16", "f16"])
        n = max(2, int(math.sqrt(elements)))
        self.shape = (n, max(2, elements // n))
        if faulty:
            self.shape = (n, n)
        for index in range(rng.choice([2, 3])):
            shape = self.shape if index < 2 else (self.shape[1],)
            value = Value(f"%x{index}", shape, self.dtype)
            spread = rng.choice([1, 1, 4, 0.1])
            context = FORMATS[self.dtype]
            draw = (lambda: rng.gauss(0, spread)) if rng.random() < 0.8 else (
                lambda: float(rng.randrange(-8, 9)))
            with within(context):
                elements_of = [+mpfr(draw()) for _ in range(size(shape))]
            self.data[value.name] = elements_of
            self.inputs.append(value)
            self.values.append(value)
        for _ in range(rng.randrange(4, 12)):
            self.add_op()

    def new(self, shape, dtype=None):
        return Value(f"%{len(self.ops)}", tuple(shape), dtype or self.dtype)

    def pick(self, rank=None):
        values = [v for v in self.values if rank is None or len(v.shape) == rank]
        return self.rng.choice(values) if values else None

    def emit(self, mnemonic, operands, result, text, run, kind):
        self.ops.append(Op(mnemonic, operands, result, text, run, kind))
        self.values.append(result)

    def add_op(self):
        kinds = ["unary"] * 3 + ["binary"] * 4 + ["reduce", "dot", "transpose", "slice",
                 "broadcast", "select", "convert", "reverse", "concatenate", "maximum",
                 "power", "fft"]
        getattr(self, "op_" + self.rng.choice(kinds))()

    def op_unary(self):
        x = self.pick()
        name = self.rng.choice(list(UNARY))
        if x.dtype != self.dtype:
            return
        if name in ("sqrt", "rsqrt", "log", "log_plus_one"):
            # Of numbers for which they are defined.
            square = self.new(x.shape)
            self.emit("multiply", [x, x], square,
                      f"{square.name} = stablehlo.multiply {x.name}, {x.name} : {x.type}",
                      lambda ops: [a * a for a in ops[0]], "elementwise")
            x = square
            function = {"sqrt": gmpy2.sqrt, "rsqrt": gmpy2.rec_sqrt, "log": gmpy2.log,
                        "log_plus_one": gmpy2.log1p}[name]
        else:
            function = UNARY[name] or logistic
        result = self.new(x.shape)
        self.emit(name, [x], result, f"{result.name} = stablehlo.{name} {x.name} : {x.type}",
                  lambda ops: [function(a) for a in ops[0]], "function")

    def op_binary(self, name=None):
        x = self.pick()
        others = [v for v in self.values if v.shape == x.shape and v.dtype == x.dtype]
        y = self.rng.choice(others)
        name = name or self.rng.choice(["add", "subtract", "multiply", "divide"])
        if name == "divide" and y is x:
            name = "add"
        function, result = BINARY[name], self.new(x.shape, x.dtype)
        self.emit(name, [x, y], result,
                  f"{result.name} = stablehlo.{name} {x.name}, {y.name} : {x.type}",
                  lambda ops: [function(a, b) for a, b in zip(*ops)], "binary")

    def op_power(self):
        x = self.pick()
        if x.dtype != self.dtype:
            return
        # Of numbers that are not negative, with an exponent that may be a constant.
        others = [v for v in self.values if v.shape == x.shape and v.dtype == x.dtype]
        base, exponent = self.new(x.shape), self.rng.choice(others)
        self.emit("multiply", [x, x], base,
                  f"{base.name} = stablehlo.multiply {x.name}, {x.name} : {x.type}",
                  lambda ops: [a * a for a in ops[0]], "elementwise")
        result = self.new(x.shape)
        text, constant = "", self.rng.choice([None, 1.5, -1.5, 0.5, -0.25, 3.0])
        if constant is not None:
            exponent = Value(f"%exponent{len(self.ops)}", x.shape, self.dtype)
            text = f"{exponent.name} = stablehlo.constant dense<{constant}> : {x.type}\n  "
        text += f"{result.name} = stablehlo.power {base.name}, {exponent.name} : {x.type}"
        if constant is None:
            self.emit("power", [base, exponent], result, text,
                      lambda ops: [a ** b for a, b in zip(*ops)], "function")
        else:
            self.emit("power", [base], result, text,
                      lambda ops: [a ** mpfr(constant) for a in ops[0]], "function")

    def op_fft(self):
        x = self.pick(2)
        if x is None or x.dtype not in ("f32", "f64") or self.dtype != x.dtype:
            return
        (m, n), is_real = x.shape, self.rng.random() < 0.5
        if n > 24:
            return
        y = self.rng.choice([v for v in self.values if v.shape == x.shape and v.dtype == x.dtype])
        result = self.new(x.shape)
        ty = f"tensor<{m}x{n}xcomplex<{x.dtype}>>"
        at, part = len(self.ops), "real" if is_real else "imag"
        text = (f"%complex{at} = stablehlo.complex {x.name}, {y.name} : {ty}\n  "
                f"%fft{at} = stablehlo.fft %complex{at}, type = FFT, length = [{n}] : ({ty}) -> {ty}\n  "
                f"{result.name} = stablehlo.{part} %fft{at} : ({ty}) -> {x.type}")
        with within(TRUTH):
            angles = [2 * gmpy2.const_pi() * k / n for k in range(n)]
            waves = [[f(angle) for angle in angles] for f in (gmpy2.cos, gmpy2.sin)]
            # Multiples of a right angle are exact.
            for k in (k for k in range(n) if 4 * k % n == 0):
                waves[0][k], waves[1][k] = [(1, 0), (0, 1), (-1, 0), (0, -1)][4 * k // n]
            waves = [[mpfr(value) for value in wave] for wave in waves]

        def run(ops):
            cos, sin = [[+value for value in wave] for wave in waves]

            def element(row, k):
                terms = []
                for j in range(n):
                    a, b, t = ops[0][row * n + j], ops[1][row * n + j], j * k % n
                    terms += [a * cos[t], b * sin[t]] if is_real else [b * cos[t], -(a * sin[t])]
                return self.sum(terms)

            return [element(row, k) for row in range(m) for k in range(n)]

        self.emit("fft", [x, y], result, text, run, "fft")

    def op_maximum(self):
        self.op_binary(self.rng.choice(["maximum", "minimum"]))

    def op_reduce(self):
        x = self.pick(2)
        if x is None or x.dtype != self.dtype:
            return
        (rows, columns), dimension = x.shape, self.rng.randrange(2)
        shape = (columns,) if dimension == 0 else (rows,)
        result = self.new(shape)
        zero = f"%zero{len(self.ops)}"
        ty = f"tensor<{self.dtype}>"
        text = (f"{zero} = stablehlo.constant dense<0.0> : {ty}\n  {result.name} = stablehlo.reduce("
                f"{x.name} init: {zero}) applies stablehlo.add across dimensions = [{dimension}] : "
                f"({x.type}, {ty}) -> {result.type}")

        def run(ops):
            a = ops[0]
            if dimension == 0:
                return [self.sum([a[i * columns + j] for i in range(rows)]) for j in range(columns)]
            return [self.sum(a[i * columns:(i + 1) * columns]) for i in range(rows)]

        self.emit("reduce", [x], result, text, run, "sum")

    def sum(self, terms):
        """A sum in random order: a tree or a chain."""
        terms = list(terms)
        self.rng.shuffle(terms)
        while len(terms) > 1:
            if self.rng.random() < 0.5:
                terms = [a + b for a, b in zip(terms[::2], terms[1::2])] + terms[len(terms) // 2 * 2:]
            else:
                terms = [terms[0] + terms[1]] + terms[2:]
        return terms[0] if terms else mpfr(0)

    def op_dot(self):
        x, y = self.pick(2), self.pick(2)
        if x is None or y is None or x.dtype != self.dtype or y.dtype != self.dtype:
            return
        if x.shape[1] == y.shape[0]:
            at = 0
        elif x.shape[1] == y.shape[1]:
            at = 1
        else:
            return
        (m, k), n = x.shape, y.shape[1 - at]
        if m * n * k > 40000:
            return
        result = self.new((m, n))
        text = (f"{result.name} = stablehlo.dot_general {x.name}, {y.name}, contracting_dims = [1] x "
                f"[{at}] : ({x.type}, {y.type}) -> {result.type}")

        def run(ops):
            a, b = ops
            column = (lambda j: [b[i * n + j] for i in range(k)]) if at == 0 else (
                lambda j: b[j * k:(j + 1) * k])
            columns = [column(j) for j in range(n)]
            return [self.sum([p * q for p, q in zip(a[i * k:(i + 1) * k], c)])
                    for i in range(m) for c in columns]

        self.emit("dot_general", [x, y], result, text, run, "product")

    def op_transpose(self):
        x = self.pick(2)
        if x is None:
            return
        m, n = x.shape
        result = self.new((n, m), x.dtype)
        self.emit("transpose", [x], result,
                  f"{result.name} = stablehlo.transpose {x.name}, dims = [1, 0] : ({x.type}) -> "
                  f"{result.type}",
                  lambda ops: [ops[0][i * n + j] for j in range(n) for i in range(m)], "movement")

    def op_reverse(self):
        x = self.pick(2)
        if x is None:
            return
        m, n = x.shape
        result = self.new(x.shape, x.dtype)
        self.emit("reverse", [x], result,
                  f"{result.name} = stablehlo.reverse {x.name}, dims = [1] : {x.type}",
                  lambda ops: [ops[0][i * n + n - 1 - j] for i in range(m) for j in range(n)],
                  "movement")

    def op_slice(self):
        x = self.pick(2)
        if x is None or x.shape[0] < 3:
            return
        m, n = x.shape
        start = self.rng.randrange(m - 1)
        result = self.new((m - 1 - start, n), x.dtype)
        self.emit("slice", [x], result,
                  f"{result.name} = stablehlo.slice {x.name} [{start}:{m - 1}, 0:{n}] : ({x.type}) "
                  f"-> {result.type}",
                  lambda ops: ops[0][start * n:(m - 1) * n], "slice")

    def op_concatenate(self):
        x = self.pick(2)
        if x is None or size(x.shape) > 4 * size(self.shape):
            return
        m, n = x.shape
        y = self.rng.choice([v for v in self.values if len(v.shape) == 2 and v.shape[1] == n
                             and v.dtype == x.dtype])
        result = self.new((m + y.shape[0], n), x.dtype)
        self.emit("concatenate", [x, y], result,
                  f"{result.name} = stablehlo.concatenate {x.name}, {y.name}, dim = 0 : ({x.type}, "
                  f"{y.type}) -> {result.type}", lambda ops: ops[0] + ops[1], "movement")

    def op_broadcast(self):
        x = self.pick(1)
        if x is None:
            return
        n, m = x.shape[0], self.shape[0]
        result = self.new((m, n), x.dtype)
        self.emit("broadcast_in_dim", [x], result,
                  f"{result.name} = stablehlo.broadcast_in_dim {x.name}, dims = [1] : ({x.type}) -> "
                  f"{result.type}", lambda ops: ops[0] * m, "movement")

    def op_select(self):
        x = self.pick()
        others = [v for v in self.values if v.shape == x.shape and v.dtype == x.dtype]
        y = self.rng.choice(others)
        predicate, result = self.new(x.shape, "i1"), None
        less = lambda a, b: mpfr(1) if a < b else mpfr(0)
        self.ops.append(Op("compare", [x, y], predicate,
                           f"{predicate.name} = stablehlo.compare LT, {x.name}, {y.name} : ({x.type}, "
                           f"{x.type}) -> {predicate.type}",
                           lambda ops: [less(a, b) for a, b in zip(*ops)], "decision"))
        result = self.new(x.shape, x.dtype)
        self.emit("select", [predicate, x, y], result,
                  f"{result.name} = stablehlo.select {predicate.name}, {x.name}, {y.name} : "
                  f"{predicate.type}, {x.type}",
                  lambda ops: [a if p else b for p, a, b in zip(*ops)], "select")

    def op_convert(self):
        x = self.pick()
        to = self.rng.choice([d for d in FORMATS if d != x.dtype])
        narrow, back = self.new(x.shape, to), None
        self.ops.append(Op("convert", [x], narrow,
                           f"{narrow.name} = stablehlo.convert {x.name} : ({x.type}) -> {narrow.type}",
                           lambda ops: [+a for a in ops[0]], "convert"))
        back = self.new(x.shape, x.dtype)
        self.emit("convert", [narrow], back,
                  f"{back.name} = stablehlo.convert {narrow.name} : ({narrow.type}) -> {back.type}",
                  lambda ops: [+a for a in ops[0]], "convert")

    def outputs(self):
        floats = [v for v in self.values if v not in self.inputs]
        return floats[-3:]

    def text(self):
        outputs = self.outputs()
        arguments = ", ".join(f"{v.name}: {v.type}" for v in self.inputs)
        types = ", ".join(v.type for v in outputs)
        lines = [f"func.func @main({arguments}) -> ({types}) {{"]
        lines += ["  " + op.text for op in self.ops]
        lines.append(f"  return {', '.join(v.name for v in outputs)} : {types}\n}}\n")
        return "\n".join(lines)

    def evaluate(self, exact, plant=None):
        """The values of all ops, on reals or with each operation rounded. `plant(op, operands,
        values)` may return elements in place of an op's own."""
        values = dict(self.data)
        for op in self.ops:
            operands = [values[v.name] for v in op.operands]
            with within(TRUTH if exact else FORMATS.get(op.result.dtype, TRUTH)):
                planted = plant(op, operands, values) if plant else None
                values[op.result.name] = op.run(operands) if planted is None else planted
        return values

    def save(self, folder):
        (folder / "program.mlir").write_text(self.text())
        for index, value in enumerate(self.inputs):
            to_npy(folder / f"input_{index}.npy", self.data[value.name], value.shape, value.dtype)


def judge(stablo, folder, *arguments):
    command = [stablo, "judge", str(folder / "program.mlir"), "--inputs", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check_mpfr(options):
    rng = random.Random(options.seed)
    missed = outside = undecided = unknown = total = programs = 0
    widths = collections.defaultdict(list)
    folder = Path(tempfile.mkdtemp())
    for number in range(options.programs):
        program = Program(rng, options.elements)
        if not program.ops:
            continue
        program.save(folder)
        bits = ["--bits", str(options.bits)] if options.bits else []
        run = judge(options.stablo, folder, "--bounds", str(folder / "bounds.npz"), *bits)
        if run.returncode not in (0, 3):
            sys.exit(f"program {number}: exit {run.returncode}\n{run.stderr}\n{program.text()}")
        bounds = np.load(folder / "bounds.npz")
        truth = program.evaluate(True)
        rounded = [program.evaluate(False) for _ in range(3)]
        programs += 1
        kind = max((op.kind for op in program.ops),
                   key=["movement", "slice", "decision", "select", "convert", "elementwise",
                        "binary", "function", "sum", "product", "fft"].index)
        for index, value in enumerate(program.outputs()):
            column = lambda name: bounds[f"output_{index}_{name}"].ravel()
            hi, lo, error, low, high = map(column, ("truth", "rest", "error", "low", "high"))
            nan, doubt = column("nan"), column("doubt")
            for i, exact in enumerate(truth[value.name]):
                total += 1
                if doubt[i]:
                    undecided += 1
                    continue
                with within(TRUTH):
                    if not np.isfinite(error[i]):
                        unknown += 1
                    elif np.isnan(hi[i]) or gmpy2.is_nan(exact):
                        missed += not (np.isnan(hi[i]) and gmpy2.is_nan(exact))
                    elif np.isinf(hi[i]):
                        missed += not (abs(exact) > 1e308 and (exact > 0) == (hi[i] > 0))
                    elif abs(mpfr(hi[i]) + mpfr(lo[i]) - exact) > mpfr(error[i]):
                        # The referee's own error is about 2^-390.
                        if abs(mpfr(hi[i]) + mpfr(lo[i]) - exact) > mpfr(error[i]) + abs(exact) * mpfr(2) ** -300:
                            missed += 1
                            print("missed", number, value.name, i, hi[i], lo[i], error[i], exact)
                for one in rounded:
                    found = one[value.name][i]
                    inside = nan[i] if gmpy2.is_nan(found) else low[i] <= found <= high[i]
                    if not inside:
                        outside += 1
                        print("outside", number, value.name, i, found, low[i], high[i], exact)
                        if outside < 5:
                            print(program.text())
                with within(TRUTH):
                    if np.isfinite(low[i]) and np.isfinite(high[i]) and gmpy2.is_finite(exact):
                        unit = ulps(exact, value.dtype)
                        widths[kind].append(float((mpfr(high[i]) - mpfr(low[i])) / unit))
    print(f"{programs} programs, {total} elements: true values missed {missed}, unknown {unknown}; "
          f"rounded values outside {outside}; undecided {undecided}")
    for kind, list_of in sorted(widths.items()):
        q = np.quantile(list_of, [0.5, 0.9, 0.99])
        print(f"  {kind}: {len(list_of)} elements, width in ulps: median {q[0]:.3g}, 90 % {q[1]:.3g}, "
              f"99 % {q[2]:.3g}")
    shutil.rmtree(folder)
    sys.exit(bool(missed or outside))


def save_values(folder, program, values):
    """Recorded values as `stablo run --trace` saves them, and the outputs."""
    trace, results = folder / "trace", folder / "results"
    for directory in (trace, results):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
    lines = []
    for index, op in enumerate(program.ops):
        value, name = op.result, f"value_{index}.npy"
        if value.dtype == "i1":
            array = np.array([bool(v) for v in values[value.name]]).reshape(value.shape)
            np.save(trace / name, array)
        else:
            to_npy(trace / name, values[value.name], value.shape, value.dtype)
        # The last op of the text has the value; others are constants and parts of it.
        last = re.findall(r"= \"?(stablehlo\.\w+)", op.text)[-1]
        lines.append(json.dumps({"file": name, "value": value.name, "op": last, "result": 0,
                                 "iteration": 0}))
    (trace / "index.jsonl").write_text("\n".join(lines) + "\n")
    for index, value in enumerate(program.outputs()):
        to_npy(results / f"output_{index}.npy", values[value.name], value.shape, value.dtype)


def same(a, b):
    return all(x == y or (gmpy2.is_nan(x) and gmpy2.is_nan(y)) for x, y in zip(a, b))


def planted(rng, program, clean):
    """A fault: its name, the op, and the function that computes its elements."""
    faults = []
    for op in program.ops:
        own = clean[op.result.name]
        context = FORMATS.get(op.result.dtype, TRUTH)
        add = lambda name, make, op=op: faults.append((name, op, make))
        if op.kind in ("sum", "product") and op.result.dtype in ("f32", "f64"):
            def narrow(operands, op=op):
                with within(FORMATS["bf16"]):
                    return op.run(operands)
            add("bf16 accumulation", narrow)
        if op.mnemonic in ("maximum", "minimum"):
            add("dropped NaN", "nan")
        if op.kind in ("slice", "movement"):
            add("off by one", lambda operands, own=own: own[1:] + own[:1])
        if op.mnemonic in ("subtract", "divide"):
            add("swapped operands", lambda operands, op=op: op.run(operands[::-1]))
        if op.mnemonic == "dot_general" and op.operands[1].shape[0] == op.operands[1].shape[1]:
            def transposed(operands, op=op):
                n = op.operands[1].shape[0]
                b = operands[1]
                if all(b[i * n + j] == b[j * n + i] for i in range(n) for j in range(i)):
                    return None
                return op.run([operands[0], [b[j * n + i] for i in range(n) for j in range(n)]])
            add("transposed weights", transposed)
        if op.kind == "function" and op.mnemonic not in ("negate", "abs"):
            def fast(operands, own=own, op=op):
                with within(FORMATS[op.result.dtype]):
                    return [x * (1 + mpfr(2) ** (3 - FORMATS[op.result.dtype].precision)) for x in own]
            add("fast-math function", fast)
        if op.kind == "convert":
            def truncated(operands, op=op):
                base = FORMATS[op.result.dtype].copy()
                base.round = gmpy2.RoundToZero
                with within(base):
                    return [+x for x in operands[0]]
            add("wrong rounding of a conversion", truncated)
        earlier = [o for o in program.ops[:program.ops.index(op)]
                   if o.result.shape == op.result.shape and o.result.dtype == op.result.dtype]
        if earlier:
            stale = clean[rng.choice(earlier).result.name]
            add("stale buffer", lambda operands, stale=stale: stale)
    return faults


def check_faults(options):
    rng = random.Random(options.seed)
    counts = collections.defaultdict(lambda: [0, 0, 0])
    accused = clean_runs = 0
    folder = Path(tempfile.mkdtemp())
    planted_count = 0
    while planted_count < options.programs:
        program = Program(rng, 36, faulty=True)
        if not program.ops:
            continue
        clean = program.evaluate(False)
        faults = planted(rng, program, clean)
        if not faults:
            continue
        # Rare kinds first.
        least = min(counts[name][0] for name, _, _ in faults)
        name, op, make = rng.choice([f for f in faults if counts[f[0]][0] == least])
        if make == "nan":
            # An input with a NaN, which the faulty op drops.
            first = program.data[program.inputs[0].name]
            first[rng.randrange(len(first))] = mpfr("nan")
            clean = program.evaluate(False)
            choose = max if op.mnemonic == "maximum" else min
            def make(operands, choose=choose):
                pair = lambda a, b: b if gmpy2.is_nan(a) else a if gmpy2.is_nan(b) else choose(a, b)
                return [pair(a, b) for a, b in zip(*operands)]
        effects = []
        def plant(own, operands, values):
            if own is not op:
                return None
            wrong = make(operands)
            if wrong is None:
                return None
            effects.append(not same(wrong, op.run(operands)))
            return wrong
        broken = program.evaluate(False, plant)
        if not any(effects):
            continue
        program.save(folder)
        save_values(folder, program, clean)
        both = ("--results", str(folder / "results"), "--trace", str(folder / "trace"),
                "--samples", "0", "--format", "json")
        run = judge(options.stablo, folder, *both)
        clean_runs += 1
        if run.returncode not in (0, 3):
            accused += 1
            print("accused", run.returncode, run.stdout[:1500], run.stderr[:500], program.text())
        save_values(folder, program, broken)
        run = judge(options.stablo, folder, *both)
        planted_count += 1
        count = counts[name]
        count[0] += 1
        if run.returncode == 1:
            count[1] += 1
            isolated = json.loads(run.stdout)["blames"]["isolated"]
            named = isolated and isolated[0]["text"].startswith(op.result.name + " ")
            count[2] += bool(named)
            if not named and options.verbose:
                print("not named", name, op.text, isolated and isolated[0]["text"])
        elif options.verbose:
            print("not found", name, op.text, run.returncode, run.stderr[:300])
    print(f"{clean_runs} runs without a fault, accused: {accused}")
    print("| fault | planted | found | op named |\n| --- | --- | --- | --- |")
    for name, (all_of, found, named) in sorted(counts.items()):
        if all_of:
            print(f"| {name} | {all_of} | {found} | {named} |")
    shutil.rmtree(folder)
    sys.exit(bool(accused))


def check_xla(options):
    import jax
    jax.config.update("jax_enable_x64", True)
    from jax._src.lib import xla_client
    import jaxlib.mlir.ir as ir
    import ml_dtypes
    from jax._src.interpreters import mlir as jax_mlir
    backend = jax.devices("cpu")[0].client
    rng = random.Random(options.seed)
    folder = Path(tempfile.mkdtemp())
    counts = collections.Counter()
    for number in range(options.programs):
        program = Program(rng, options.elements)
        if not program.ops:
            continue
        program.save(folder)
        with jax_mlir.make_ir_context() as context:
            module = ir.Module.parse(program.text().replace("func.func @main", "func.func public @main"))
            devices = xla_client.DeviceList(tuple(jax.devices("cpu")[:1]))
            executable = backend.compile_and_load(jax_mlir.module_to_bytecode(module), devices,
                                                  xla_client.CompileOptions())
        inputs = []
        for index, value in enumerate(program.inputs):
            array = np.load(folder / f"input_{index}.npy")
            inputs.append(jax.device_put(array.view(ml_dtypes.bfloat16) if value.dtype == "bf16" else array))
        results = folder / "results"
        results.mkdir(exist_ok=True)
        found = executable.execute(inputs)
        for index, array in enumerate(found):
            array = np.asarray(array)
            np.save(results / f"output_{index}.npy",
                    array.view(np.uint16) if array.dtype == ml_dtypes.bfloat16 else array)
        run = judge(options.stablo, folder, "--results", str(results), "--model", options.model)
        counts[run.returncode] += 1
        if run.returncode not in (0, 3):
            print(f"program {number} of {program.dtype}: exit {run.returncode}\n{run.stdout}{run.stderr}{program.text() if options.verbose else str()}")
            if options.keep:
                shutil.copytree(folder, Path(options.keep) / str(number), dirs_exist_ok=True)
    names = {0: "inside", 1: "outside", 3: "undecided"}
    print(", ".join(f"{names.get(code, code)}: {n}" for code, n in sorted(counts.items())))
    shutil.rmtree(folder)


def measured(options, device, name):
    """The tables of `stablo judge --ops`: errors of functions, and types of sums. The model file is
    written to docs/models. Measurements are kept in --keep, from where an interrupted run goes on."""
    folder = Path(options.keep or tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    command = [options.stablo, "judge", "--ops", "--measured", str(folder / f"{name}.jsonl"), "--points",
               str(options.points), *(["--device", device] if device else [])]
    run = lambda form: subprocess.run([*command, "--format", form], stdout=subprocess.PIPE, text=True, check=True).stdout
    model = run("human").replace('name = "device"', f'name = "{name}"')
    command_line = f"stablo judge --ops{' --device pjrt:' + Path(device.split(':', 1)[1]).name if device else ''}"
    MODELS.mkdir(exist_ok=True)
    (MODELS / f"{name}.toml").write_text(f"# Written by `{command_line}`, through tools/judge.py tables.\n"
                                         + model)
    return [[line.strip("| ").split(" | ") for line in table.splitlines()] for table in run("table").split("\n\n")]


def replace(path, name, lines):
    """Puts lines between the marks of a name in a page."""
    text = path.read_text()
    if f"<!-- {name}:" not in text:
        return
    start, end = f"<!-- {name}: tools/judge.py tables -->\n", f"<!-- end of {name} -->"
    before, rest = text.split(start)
    path.write_text(before + start + "".join(f"| {' | '.join(line)} |\n" for line in lines) + end
                    + rest.split(end, 1)[1])


DOCS = Path(__file__).resolve().parent.parent / "docs"
MODELS = DOCS / "models"


def check_tables(options):
    """Writes the measured tables of the pages, and the model files."""
    own, other = measured(options, None, "stablo"), measured(options, options.device, options.name)
    for name, number in (("errors", 0), ("sums", 1)):
        head = [own[number][0][0]] + ["XLA " + own[number][0][1], *own[number][0][2:], "stablo " + own[number][0][1],
                                      *own[number][0][2:]]
        rows = [mine + theirs[1:] for mine, theirs in zip(other[number][2:], own[number][2:])]
        replace(DOCS / "judge-xla.md", name, [head, ["---"] * len(head), *rows])
        replace(DOCS / "accuracy.md", name, own[number])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("check", choices=["mpfr", "faults", "xla", "tables"])
    parser.add_argument("stablo")
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--elements", type=int, default=300)
    parser.add_argument("--bits", type=int, help="the most bits of true values; with 48, those of a quick run")
    parser.add_argument("--model", default="xla-cpu")
    parser.add_argument("--device")
    parser.add_argument("--keep", help="a folder for programs that are outside, or for measurements")
    parser.add_argument("--points", type=int, default=65536, help="operands for each op and type of the tables")
    parser.add_argument("--name", default="xla-cpu-pjrt", help="the name of the device's model file in docs/models")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    checks = {"mpfr": check_mpfr, "faults": check_faults, "xla": check_xla, "tables": check_tables}
    checks[options.check](options)


if __name__ == "__main__":
    main()
