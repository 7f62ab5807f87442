"""Measures the package beside jax and jaxlib, in one process: the overhead of calls, arguments and results of 64 MB, and reading and
writing artifacts (geometric mean over programs).

    python beside_jax.py PROGRAM...    # programs in any format that jaxlib reads: portable artifacts, bytecode or text
"""

import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np

import stablo
from stablo import compat


def seconds(work: Callable[[], Any], at_least: float = 0.2) -> float:
    """The shortest time of a call, of runs that take so long together."""
    best, total = math.inf, 0.0
    while total < at_least:
        count = max(1, min(10_000, int(0.01 / best))) if best < math.inf else 1
        start = time.perf_counter()
        for _ in range(count):
            work()
        passed = time.perf_counter() - start
        best, total = min(best, passed / count), total + passed
    return best


def import_time(module: str) -> float:
    """Seconds to import a module after numpy, in a new process; the least of five."""
    code = f"import numpy, time; s = time.perf_counter(); import {module}; print(time.perf_counter() - s)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))


def function(inputs: str, result: str, body: str) -> stablo.Program:
    return stablo.parse(f"func.func @main({inputs}) -> {result} {{ {body} return %0 : {result} }}")


def calls() -> None:
    import jax

    small, x = "tensor<4xf32>", np.ones(4, np.float32)
    add = function(f"%x: {small}, %y: {small}", small, f"%0 = stablehlo.add %x, %y : {small}")
    jitted, on_device = jax.jit(lambda x, y: x + y), jax.numpy.asarray(x)
    print(f"a sum of 4 elements: {seconds(lambda: add(x, x)) * 1e6:.2f} us; "
          f"jax {seconds(lambda: jitted(on_device, on_device).block_until_ready()) * 1e6:.2f} us, "
          f"{seconds(lambda: np.asarray(jitted(x, x))) * 1e6:.2f} us from numpy to numpy")  # fmt: skip
    size = 16 << 20
    large, x = f"tensor<{size}xf32>", np.ones(size, np.float32)
    first = function(f"%x: {large}", "tensor<1xf32>", f"%0 = stablehlo.slice %x [0:1] : ({large}) -> tensor<1xf32>")
    twice = function(f"%x: {large}", large, f"%0 = stablehlo.add %x, %x : {large}")
    print(f"an argument of 64 MB: {seconds(lambda: first(x)) * 1e6:.1f} us; and a result: {seconds(lambda: twice(x)) * 1e3:.1f} ms; "
          f"numpy {seconds(lambda: x + x) * 1e3:.1f} ms")  # fmt: skip


def artifacts(paths: list[str]) -> None:
    from jaxlib.mlir.dialects import stablehlo

    version = stablehlo.get_current_version()
    ratios: dict[str, list[float]] = {"read": [], "write": []}
    for path in paths:
        program = stablo.load(path, verify=False)
        code, artifact = program.bytecode(), program.serialize(version)
        for name, ours, theirs in [
            ("read", lambda: compat.deserialize_portable_artifact_str(artifact), lambda: stablehlo.deserialize_portable_artifact_str(artifact)),
            ("write", lambda: compat.serialize_portable_artifact_str(code, version), lambda: stablehlo.serialize_portable_artifact_str(code, version)),
        ]:
            try:
                times = seconds(ours), seconds(theirs)
            except ValueError as error:
                print(f"{path}: jaxlib cannot {name} it: {error}")
                continue
            ratios[name].append(times[1] / times[0])
            print(f"{Path(path).parent.name + '/' + Path(path).name:50} {name:6} {len(artifact):12,} bytes "
                  f"{times[0] * 1e3:9.3f} ms, jaxlib {times[1] * 1e3:9.3f} ms, {ratios[name][-1]:5.2f} times")  # fmt: skip
    for name, all_of in ratios.items():
        if all_of:
            print(f"{name}: {math.exp(sum(map(math.log, all_of)) / len(all_of)):.2f} times as fast as jaxlib, of {len(all_of)} programs")


if __name__ == "__main__":
    print(f"import: {import_time('stablo') * 1e3:.1f} ms; jax {import_time('jax') * 1e3:.1f} ms")
    calls()
    artifacts(sys.argv[1:])
