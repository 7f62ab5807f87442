#!/usr/bin/env python3
"""Instructions that runs of small programs take, counted by valgrind: a measure of speed without noise.

    instructions.py BIN/stablo [--only SUBSTRING] [--baseline tests/instructions.tsv] [--update]

Each case runs five and thirteen times with one thread on the machine model `haswell`; an eighth of the difference is the instructions of a run,
without start and compilation, and without what the first runs prepare. Commands that read and convert a program are counted whole. With a baseline, fails if the geometric mean of the counts divided by the recorded ones is
above 1.03, or that of one case above 1.5. `--update` records the counts. Instructions are not time: what waits for memory is measured by cliffs.py."""

import argparse
import concurrent.futures
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
MOST, MOST_OF_ONE = 1.03, 1.5
FEW, MANY = 5, 13
# Valgrind counts the bytes of `rep movsb` and `rep stosb`: the C library is kept from these.
TUNABLES = ":".join(f"glibc.cpu.x86_rep_{name}_threshold={1 << 30}" for name in ("movsb", "stosb"))
FOLDS = {"add": "0.0", "maximum": "0xFF800000", "multiply": "1.0"}


def tensor(dtype, *sizes):
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{dtype}>"


def program(arguments, results, body):
    """A module of one function; the arguments are `%0`, `%1` and so on."""
    arguments = ", ".join(f"%{number}: {type}" for number, type in enumerate(arguments))
    names = ", ".join(f"%r{number}" for number in range(len(results)))
    return f"func.func @main({arguments}) -> ({', '.join(results)}) {{\n  {body}\n  return {names} : {', '.join(results)}\n}}\n"


def elementwise(op, dtype, count, arity=1, result=None):
    types = [tensor(dtype, count)] * arity
    result = tensor(result or dtype, count)
    operands = ", ".join(f"%{number}" for number in range(arity))
    return program(types, [result], f'%r0 = "{op}"({operands}) : ({", ".join(types)}) -> {result}')


def fold(op, dims, *sizes):
    result = tensor("f32", *(size for dim, size in enumerate(sizes) if dim not in dims))
    body = f"""%c = stablehlo.constant dense<{FOLDS[op]}> : tensor<f32>
  %r0 = stablehlo.reduce(%0 init: %c) applies stablehlo.{op} across dimensions = {list(dims)} : ({tensor("f32", *sizes)}, tensor<f32>) -> {result}"""
    return program([tensor("f32", *sizes)], [result], body)


def window(op, size, stride, padding, *sizes):
    """Folds over windows of the two dimensions after the first, which are square."""
    side = (sizes[1] + 2 * padding - size) // stride + 1
    result = tensor("f32", sizes[0], side, side, sizes[3])
    body = f"""%c = stablehlo.constant dense<{FOLDS[op]}> : tensor<f32>
  %r0 = "stablehlo.reduce_window"(%0, %c) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.{op} %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) {{window_dimensions = array<i64: 1, {size}, {size}, 1>, window_strides = array<i64: 1, {stride}, {stride}, 1>,
    padding = dense<[[0, 0], [{padding}, {padding}], [{padding}, {padding}], [0, 0]]> : tensor<4x2xi64>}} : ({tensor("f32", *sizes)}, tensor<f32>) -> {result}"""
    return program([tensor("f32", *sizes)], [result], body)


def cumulative(rows, columns):
    """Cumulative sums of rows."""
    shape = tensor("f32", rows, columns)
    body = f"""%c = stablehlo.constant dense<0.0> : tensor<f32>
  %r0 = "stablehlo.reduce_window"(%0, %c) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) {{window_dimensions = array<i64: 1, {columns}>, padding = dense<[[0, 0], [{columns - 1}, 0]]> : tensor<2x2xi64>}} : ({shape}, tensor<f32>) -> {shape}"""
    return program([shape], [shape], body)


def dot(dtype, m, k, n, layout="nn", count=None, result=None):
    batch, shift = ([count], 1) if count else ([], 0)
    left, right = ([m, k] if layout[0] == "n" else [k, m]), ([k, n] if layout[1] == "n" else [n, k])
    types = [tensor(dtype, *batch, *left), tensor(dtype, *batch, *right)]
    contracted = f"[{shift + left.index(k)}] x [{shift + (0 if layout[1] == 'n' else 1)}]"
    batching = "batching_dims = [0] x [0], " if count else ""
    result = tensor(result or dtype, *batch, m, n)
    return program(types, [result], f"%r0 = stablehlo.dot_general %0, %1, {batching}contracting_dims = {contracted} : ({', '.join(types)}) -> {result}")


def convolution(size, features, outputs, taps, stride=1, groups=1, dilation=1, layout="last"):
    padding = dilation * (taps // 2)
    side = (size + 2 * padding - dilation * (taps - 1) - 1) // stride + 1
    last = layout == "last"
    shape = lambda side, features: tensor("f32", 1, side, side, features) if last else tensor("f32", 1, features, side, side)
    kernel = tensor("f32", *([taps, taps, features // groups, outputs] if last else [outputs, features // groups, taps, taps]))
    numbers = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]" if last else "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]"
    types, result = [shape(size, features), kernel], shape(side, outputs)
    body = f"""%r0 = stablehlo.convolution(%0, %1) dim_numbers = {numbers}, window = {{stride = [{stride}, {stride}], pad = [[{padding}, {padding}], [{padding}, {padding}]],
    rhs_dilate = [{dilation}, {dilation}]}} {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}} : ({", ".join(types)}) -> {result}"""
    return program(types, [result], body)


def gather(rows, columns, count):
    result = tensor("f32", count, columns)
    types = [tensor("f32", rows, columns), tensor("i32", count, 1)]
    body = f"""%i = stablehlo.iota dim = 0 : {types[1]}
  %m = stablehlo.constant dense<7> : {types[1]}
  %j = stablehlo.multiply %i, %m : {types[1]}
  %n = stablehlo.constant dense<{rows}> : {types[1]}
  %k = stablehlo.remainder %j, %n : {types[1]}
  %r0 = "stablehlo.gather"(%0, %k) {{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, {columns}>}} : ({", ".join(types)}) -> {result}"""
    return program(types[:1], [result], body)


def scatter(size, count):
    types = [tensor("f32", size), tensor("f32", count)]
    indices = tensor("i32", count, 1)
    body = f"""%i = stablehlo.iota dim = 0 : {indices}
  %m = stablehlo.constant dense<7> : {indices}
  %j = stablehlo.multiply %i, %m : {indices}
  %n = stablehlo.constant dense<{size}> : {indices}
  %k = stablehlo.remainder %j, %n : {indices}
  %r0 = "stablehlo.scatter"(%0, %k, %1) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) {{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}
    : ({types[0]}, {indices}, {types[1]}) -> {types[0]}"""
    return program(types, types[:1], body)


def sort(rows, columns):
    shape = tensor("f32", rows, columns)
    body = f"""%r0 = "stablehlo.sort"(%0) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }}) {{dimension = 1 : i64, is_stable = true}} : ({shape}) -> {shape}"""
    return program([shape], [shape], body)


def argmax(rows, columns):
    values, indices = tensor("f32", rows, columns), tensor("i32", rows, columns)
    body = f"""%i = stablehlo.iota dim = 1 : {indices}
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %m, %r0 = stablehlo.reduce(%0 init: %c), (%i init: %z) across dimensions = [1] : ({values}, {indices}, tensor<f32>, tensor<i32>) -> ({tensor("f32", rows)}, {tensor("i32", rows)})
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {{
    %g = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %n = stablehlo.compare NE, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %o = stablehlo.or %g, %n : tensor<i1>
    %e = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %l = stablehlo.compare LT, %j, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f = stablehlo.and %e, %l : tensor<i1>
    %t = stablehlo.or %o, %f : tensor<i1>
    %v = stablehlo.select %o, %a, %b : tensor<i1>, tensor<f32>
    %w = stablehlo.select %t, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }}"""
    return program([values], [tensor("i32", rows)], body)


def loop(size, body):
    """Two hundred rounds of a body from `%x` to `%y`."""
    shape = tensor("f32", size)
    body = f"""%c = stablehlo.constant dense<0> : tensor<i32>
  %n, %r0 = stablehlo.while(%i = %c, %x = %0) : tensor<i32>, {shape}
    cond {{
      %l = stablehlo.constant dense<200> : tensor<i32>
      %p = stablehlo.compare LT, %i, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }} do {{
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      {body.replace("SHAPE", shape)}
      stablehlo.return %j, %y : tensor<i32>, {shape}
    }}"""
    return program([shape], [shape], body)


def softmax(rows, columns):
    shape, row = tensor("f32", rows, columns), tensor("f32", rows)
    body = f"""%low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [1] : ({shape}, tensor<f32>) -> {row}
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : ({row}) -> {shape}
  %d = stablehlo.subtract %0, %b : {shape}
  %e = stablehlo.exponential %d : {shape}
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : ({shape}, tensor<f32>) -> {row}
  %t = stablehlo.broadcast_in_dim %s, dims = [0] : ({row}) -> {shape}
  %r0 = stablehlo.divide %e, %t : {shape}"""
    return program([shape], [shape], body)


def cases():
    """The text of each case by its name."""
    for function in ("exponential", "log", "tanh", "sine", "cbrt", "logistic", "rsqrt", "floor"):
        for dtype in ("f32", "f64", "bf16"):
            yield f"unary/{function}/{dtype}", elementwise(f"stablehlo.{function}", dtype, 20_000)
    for function in ("add", "divide", "power", "remainder", "atan2"):
        yield f"binary/{function}/f32", elementwise(f"stablehlo.{function}", "f32", 20_000, 2)
    for dtype in ("i8", "i32", "i64"):
        yield f"binary/divide/{dtype}", program(
            [tensor(dtype, 20_000)], [tensor(dtype, 20_000)],
            f"%c = stablehlo.constant dense<3> : {tensor(dtype, 20_000)}\n  %r0 = stablehlo.divide %0, %c : {tensor(dtype, 20_000)}",
        )  # fmt: skip
    for source, target in (("f32", "bf16"), ("f16", "f32"), ("f32", "i8"), ("i32", "f64"), ("f64", "f16"), ("f32", "f8E4M3FN")):
        yield f"convert/{source}/{target}", elementwise("stablehlo.convert", source, 20_000, 1, target)
    for dims, sizes in (((1,), (100, 500)), ((0,), (500, 100)), ((0,), (6000, 8)), ((0, 1), (200, 250)), ((1,), (20, 100, 25))):
        yield f"reduce/add/{'x'.join(map(str, sizes))}/{list(dims)}", fold("add", dims, *sizes)
    yield "reduce/maximum", fold("maximum", (1,), 100, 500)
    yield "reduce/argmax", argmax(100, 500)
    yield "reduce/cumulative", cumulative(50, 400)
    yield "window/maximum", window("maximum", 3, 2, 1, 1, 28, 28, 32)
    yield "window/add", window("add", 2, 2, 0, 1, 28, 28, 32)
    yield "order/sort", sort(20, 500)
    yield "order/sort_rows", sort(1000, 8)
    yield "movement/transpose", program([tensor("f32", 200, 300)], [tensor("f32", 300, 200)], f"%r0 = stablehlo.transpose %0, dims = [1, 0] : ({tensor('f32', 200, 300)}) -> {tensor('f32', 300, 200)}")
    yield "movement/reverse", program([tensor("f32", 200, 300)], [tensor("f32", 200, 300)], f"%r0 = stablehlo.reverse %0, dims = [1] : {tensor('f32', 200, 300)}")
    yield "movement/pad", program([tensor("f32", 200, 300)], [tensor("f32", 206, 306)], f"%c = stablehlo.constant dense<0.0> : tensor<f32>\n  %r0 = stablehlo.pad %0, %c, low = [3, 3], high = [3, 3], interior = [0, 0] : ({tensor('f32', 200, 300)}, tensor<f32>) -> {tensor('f32', 206, 306)}")
    yield "indices/gather_rows", gather(1000, 64, 512)
    yield "indices/gather", gather(10_000, 1, 5_000)
    yield "indices/scatter", scatter(10_000, 5_000)
    for m, k, n, layout in ((64, 64, 64, "nn"), (128, 256, 256, "nn"), (128, 256, 256, "nt"), (128, 256, 256, "tn"), (1, 512, 512, "nn"), (1, 512, 512, "nt"), (300, 3, 300, "nn"), (33, 65, 129, "nn")):
        yield f"dot/{m}x{k}x{n}/{layout}", dot("f32", m, k, n, layout)
    for dtype in ("f64", "bf16", "f16", "i8", "i32", "complex<f32>"):
        yield f"dot/64x64x64/{dtype}", dot(dtype, 64, 64, 64)
    for count, m, k, n in ((64, 24, 24, 8), (256, 4, 4, 4), (64, 1, 64, 64)):
        yield f"batched/{count}x{m}x{k}x{n}", dot("f32", m, k, n, count=count)
    for layout in ("last", "first"):
        for name, sizes in {"3x3": (14, 32, 32, 3), "1x1": (14, 64, 64, 1), "stem": (32, 3, 16, 7, 2), "depthwise": (28, 48, 48, 3, 1, 48), "grouped": (14, 32, 32, 3, 2, 4), "dilated": (14, 32, 32, 3, 1, 1, 2)}.items():
            yield f"convolution/{name}/{layout}", convolution(*sizes, layout=layout)
    yield "rows/softmax", softmax(100, 200)
    complexes = tensor("complex<f32>", 20, 256)
    yield "fft/256", program([complexes], [complexes], f"%r0 = stablehlo.fft %0, type = FFT, length = [256] : ({complexes}) -> {complexes}")
    yield "random/bits", program([tensor("ui64", 2)], [tensor("ui64", 2), tensor("ui32", 20_000)], f"%r0, %r1 = stablehlo.rng_bit_generator %0, algorithm = THREE_FRY : ({tensor('ui64', 2)}) -> ({tensor('ui64', 2)}, {tensor('ui32', 20_000)})")
    for size in (16, 1000):
        yield f"loop/tanh/{size}", loop(size, "%y = stablehlo.tanh %x : SHAPE")
        yield f"loop/sum/{size}", loop(size, "%z = stablehlo.constant dense<0.0> : tensor<f32>\n      %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (SHAPE, tensor<f32>) -> tensor<f32>\n      %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> SHAPE\n      %y = stablehlo.subtract %b, %x : SHAPE")
        yield f"loop/reverse/{size}", loop(size, "%y = stablehlo.reverse %x, dims = [0] : SHAPE")


def arguments_of(text):
    """An input for each argument of a program: the same numbers in each run."""
    return [part for _ in re.findall(r"%\d+: ", text.split("->")[0]) for part in ("--input", "random")]


def counted(command):
    """The number of instructions that a command takes."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--smc-check=all-non-file"]
    environment = os.environ | {"STABLO_MACHINE": "haswell", "GLIBC_TUNABLES": TUNABLES}
    done = subprocess.run([*valgrind, *command], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def count(stablo, folder, name, text):
    """The instructions of a run of a case."""
    file = folder / f"{re.sub(r'[^a-z0-9]', '_', name)}.mlir"
    file.write_text(text)
    command = [stablo, "run", file, *arguments_of(text), "--threads", "1", "--outputs", folder / f"{file.stem}.outputs", "--repeat"]
    few, many = (counted([*command, str(repeat)]) for repeat in (FEW, MANY))
    return (many - few) // (MANY - FEW)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stablo", type=pathlib.Path)
    parser.add_argument("--only", default="", help="run the cases whose name has this")
    parser.add_argument("--baseline", type=pathlib.Path, help="the recorded counts")
    parser.add_argument("--update", action="store_true", help="record the counts")
    options = parser.parse_args()
    stablo = options.stablo.resolve()
    chosen = {name: text for name, text in cases() if options.only in name}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(folder)
        counts = dict(zip(chosen, pool.map(lambda case: count(stablo, folder, *case), chosen.items())))
        module = ROOT / "examples/cnn_train/module.mlir"
        for name, command in {"command/check": ["check", module], "command/convert": ["convert", module, folder / "module.mlirbc"]}.items():
            if options.only in name:
                counts[name] = counted([stablo, *command])
    if not counts:
        parser.error(f"no case has {options.only!r} in its name")
    if options.baseline and options.update:
        options.baseline.write_text("".join(f"{name}\t{counts[name]}\n" for name in counts))
    recorded = {}
    if options.baseline:
        recorded = {name: int(number) for name, number in (line.split("\t") for line in options.baseline.read_text().splitlines())}
    ratios = {name: counts[name] / recorded[name] for name in counts if name in recorded}
    for name in counts:
        print(f"{counts[name]:>12,}  {ratios.get(name, math.nan):5.2f}  {name}")
    if not ratios:
        return
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    print(f"instructions: geometric mean {mean:.3f} of the recorded counts, {len(ratios)} cases")
    worse = [name for name, ratio in ratios.items() if ratio > MOST_OF_ONE]
    if mean > MOST or worse:
        sys.exit(f"instructions: too many ({', '.join(worse) or 'in the mean'}); if they are meant, record them with --update")


if __name__ == "__main__":
    main()
