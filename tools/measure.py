#!/usr/bin/env python3
"""Measures `stablo` alone: how near kernels come to the machine's limits, and how cost grows.

    python3 tools/measure.py [--bin target/release/stablo] [--largest BYTES] [rooflines] [growth]

`rooflines` runs kernels on operands of 1 kB to 256 MB with one thread and with all, and gives the
speed of each and its share of the limit: for products and convolutions, the fastest product of
these runs; for the others, the fastest copy of as many bytes. `growth` compiles programs of 10 to
100,000 ops, runs elementwise programs on 1 to 10^8 elements and loops of 1 to 10^7 iterations.
Products with vectors count the bytes of the matrix, in both orders, of f32 and of bf16.
Times are the least of several runs: compare numbers of one run only, on a quiet machine.
`stablo machine --measure` measures the machine itself, beside what its model assumes.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import tempfile

SIZES = [1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 26, 1 << 28]


def side(count, ratio=1):
    """The side of a square of so many elements, a multiple of 8."""
    return max(8, int(math.sqrt(count / ratio)) // 8 * 8)


def product(size):
    n = side(size // 4)
    t = f"tensor<{n}x{n}xf32>"
    text = f"""func.func @main(%a: {t}, %b: {t}) -> {t} {{
  %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({t}, {t}) -> {t}
  return %c : {t}
}}"""
    return text, 2 * n**3


def convolution(size):
    n = side(size // 4, 64)
    t = f"tensor<1x{n}x{n}x64xf32>"
    text = f"""func.func @main(%x: {t}, %k: tensor<3x3x64x64xf32>) -> {t} {{
  %y = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {{pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
    : ({t}, tensor<3x3x64x64xf32>) -> {t}
  return %y : {t}
}}"""
    return text, 2 * 9 * 64 * 64 * n * n


def elementwise(size):
    n = size // 4
    t = f"tensor<{n}xf32>"
    text = f"""func.func @main(%x: {t}) -> {t} {{
  %y = stablehlo.multiply %x, %x : {t}
  %z = stablehlo.add %y, %x : {t}
  return %z : {t}
}}"""
    return text, 2 * size


def copy(size):
    n = size // 4
    t = f"tensor<{n}xf32>"
    return f"func.func @main(%x: {t}) -> {t} {{\n  %y = stablehlo.negate %x : {t}\n  return %y : {t}\n}}", 2 * size


def reduction(size):
    rows = max(1, size // 4096)
    columns = size // 4 // rows
    text = f"""func.func @main(%x: tensor<{rows}x{columns}xf32>) -> tensor<{rows}xf32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<{rows}x{columns}xf32>, tensor<f32>) -> tensor<{rows}xf32>
  return %y : tensor<{rows}xf32>
}}"""
    return text, size


def transpose(size):
    n = side(size // 4)
    t = f"tensor<{n}x{n}xf32>"
    text = f"""func.func @main(%x: {t}) -> {t} {{
  %y = stablehlo.transpose %x, dims = [1, 0] : ({t}) -> {t}
  return %y : {t}
}}"""
    return text, 2 * 4 * n * n


def vector_product(size, dtype, dimension):
    n = side(size // (2 if dtype.endswith("16") else 4))
    vector = f"tensor<{n}x{dtype}>"
    text = f"""func.func @main(%x: {vector}, %a: tensor<{n}x{n}x{dtype}>) -> {vector} {{
  %y = stablehlo.dot_general %x, %a, contracting_dims = [0] x [{dimension}]
    : ({vector}, tensor<{n}x{n}x{dtype}>) -> {vector}
  return %y : {vector}
}}"""
    return text, n * n * (2 if dtype.endswith("16") else 4)


def matrix_vector(size):
    return vector_product(size, "f32", 1)


def vector_matrix(size):
    return vector_product(size, "f32", 0)


def matrix_vector_bf16(size):
    return vector_product(size, "bf16", 1)


def vector_matrix_bf16(size):
    return vector_product(size, "bf16", 0)


def product_bf16(size):
    text, work = product(2 * size)
    return text.replace("f32", "bf16"), work


ARITHMETIC = (product, product_bf16, convolution)


def loop(iterations):
    return f"""func.func @main(%x: tensor<f32>) -> tensor<f32> {{
  %i = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<{iterations}> : tensor<i32>
  %r:2 = stablehlo.while(%k = %i, %v = %x) : tensor<i32>, tensor<f32>
    cond {{
      %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }} do {{
      %k1 = stablehlo.add %k, %one : tensor<i32>
      %v1 = stablehlo.add %v, %x : tensor<f32>
      stablehlo.return %k1, %v1 : tensor<i32>, tensor<f32>
    }}
  return %r#1 : tensor<f32>
}}"""


def chain(ops):
    lines = [f"  %{k + 1} = stablehlo.{['negate', 'abs', 'sqrt', 'floor', 'tanh'][k % 5]} %{k} : tensor<8xf32>" for k in range(ops)]
    body = "\n".join(lines)
    return f"func.func @main(%0: tensor<8xf32>) -> tensor<8xf32> {{\n{body}\n  return %{ops} : tensor<8xf32>\n}}"


def run(binary, text, threads, operations):
    """Milliseconds to compile, and the least to execute, repeated for about a third of a second."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "p.mlir").write_text(text)
        inputs = ["--input", "random"] * text.split("->")[0].count("%")
        repeat = max(3, min(20000, int(3e9 / max(operations, 1))))
        command = [binary, "run", folder / "p.mlir", *inputs, "--output-dir", folder / "o"]
        command += ["--repeat", str(repeat), "--timings", folder / "t.json"]
        command += ["--threads", str(threads)] if threads else []
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times = json.loads((folder / "t.json").read_text())
        return times["compile_ms"], min(times["execute_ms"])


def rooflines(binary, largest):
    kernels = [product, product_bf16, convolution, copy, elementwise, reduction, transpose]
    kernels += [matrix_vector, vector_matrix, matrix_vector_bf16, vector_matrix_bf16]
    threads = [1, os.cpu_count() or 1]
    speeds = {}
    for kernel in kernels:
        for size in SIZES:
            text, work = kernel(size)
            is_arithmetic = kernel in ARITHMETIC
            if size > largest or work > 2e12:
                continue
            for count in threads:
                cost = work / (50 if is_arithmetic else 1)
                speeds[kernel, size, count] = work / run(binary, text, count, cost)[1] / 1e6
    peak = {t: max(v for (k, _, c), v in speeds.items() if k is product and c == t) for t in threads}
    print("bytes     " + "".join(f"{t} thread{'s' * (t > 1)}: speed, share      " for t in threads))
    for kernel in kernels:
        unit = "GFLOP/s" if kernel in ARITHMETIC else "GB/s"
        print(f"{kernel.__name__}, {unit}")
        for size in SIZES:
            cells = []
            for count in threads:
                speed = speeds.get((kernel, size, count))
                if speed is not None:
                    limit = peak[count] if unit == "GFLOP/s" else speeds[copy, size, count]
                    cells.append(f"{speed:10.1f} {100 * speed / limit:6.0f} %")
            if cells:
                print(f"{size:10} " + "        ".join(cells))


def growth(binary):
    print("ops, ms to compile, and a thousand of them")
    for ops in [10, 100, 1000, 10_000, 100_000]:
        compiled = run(binary, chain(ops), 0, 1e8)[0]
        print(f"{ops:10} {compiled:10.2f} {compiled / ops * 1000:8.2f}")
    print("elements, µs to execute, ns an element")
    for power in range(9):
        executed = run(binary, elementwise(4 * 10**power)[0], 0, 8 * 10**power)[1]
        print(f"{10**power:10} {executed * 1e3:10.2f} {executed * 1e6 / 10**power:10.3f}")
    print("iterations, µs to execute, ns an iteration")
    for power in range(8):
        executed = run(binary, loop(10**power), 0, 4 * 10**power)[1]
        print(f"{10**power:10} {executed * 1e3:10.2f} {executed * 1e6 / 10**power:10.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="target/release/stablo", help="the program to measure")
    parser.add_argument("--largest", type=int, default=1 << 28, help="bytes of the largest operand")
    parser.add_argument("tables", nargs="*", metavar="rooflines|growth")
    arguments = parser.parse_args()
    tables = arguments.tables or ["rooflines", "growth"]
    if unknown := set(tables) - {"rooflines", "growth"}:
        parser.error(f"there is no table {', '.join(sorted(unknown))}")
    if arguments.largest < min(SIZES):
        parser.error(f"--largest: {arguments.largest} is less than {min(SIZES)}, the smallest size")
    if not shutil.which(arguments.bin):
        parser.error(f"--bin: no program {arguments.bin} (cargo build --release -p stablo-cli)")
    if "rooflines" in tables:
        rooflines(arguments.bin, arguments.largest)
    if "growth" in tables:
        growth(arguments.bin)


if __name__ == "__main__":
    main()
