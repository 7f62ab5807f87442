"""Writes the tables `critical_*.tsv` of this folder, with the points and the referees of tools/accuracy.py.

    pip install numpy==2.4.6 gmpy2==2.3.2 mpmath==1.4.1
    python critical.py

The first field of a line is a function's name, the second how many operands it has. The next ones, one for each operand, are numbers,
all of whose combinations are arguments, the last operand changing fastest. The last field has the results, `-` for one that no
referee defines. Numbers are their bits in hexadecimal, and complex ones are two numbers. `=` in the place of arguments stands for
those of the line before.
"""

import os
import struct
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(__file__), "../../../../../tools"))
import accuracy  # noqa: E402

REAL = ("acos acosh asin asinh atan atanh bessel_i1e cbrt cosh cosine digamma erf erf_inv erfc exponential exponential_minus_one "
        "lgamma log log_plus_one logistic rsqrt sine sinh sqrt tan tanh").split()
# Functions with conventions of their own at poles, where referees differ.
WITH_POLES = ("digamma", "lgamma", "polygamma", "zeta")
COMPLEX = ("acos acosh asin asinh atan atanh cbrt cosh cosine exponential exponential_minus_one log log_plus_one logistic rsqrt sine "
           "sinh sqrt tan tanh").split()


def bits(x, part):
    return struct.pack(">f" if part == np.float32 else ">d", x).hex()


def numbers(values, part):
    return " ".join(bits(p, part) for v in values for p in ((v.real, v.imag) if np.iscomplexobj(v) else (v,)))


def results(name, kind, points, part):
    for point in points:
        settled = accuracy.settle(name, kind, point)
        odd = settled is None or any(v != v or abs(v) == float("inf") for v, _ in settled)
        if odd and (settled is None or len(settled) == 2 or name in WITH_POLES):
            yield "-"
        else:
            yield " ".join(bits(v, part) for v, _ in settled)


def write(kind, lines):
    with open(os.path.join(os.path.dirname(__file__), f"critical_{kind}.tsv"), "w") as file:
        before = None
        for name, operands in lines:
            part = np.float32 if kind == "f32" else np.float64
            points = [[x] for x in operands[0]] if len(operands) == 1 else [[x, y] for x in operands[0] for y in operands[1]]
            fields = [numbers(x, part) for x in operands]
            shown = ["="] * len(fields) if fields == before else fields
            before = fields
            file.write("\t".join([name, str(len(fields)), *shown, " ".join(corrected(name, kind, points, list(results(name, kind, points, part))))]) + "\n")


def corrected(name, kind, points, bits):
    """The results where the referees differ from IEEE 754 (rsqrt of -0) or have none (bessel_i1e of zeros)."""
    width, minus_infinity = (8, "ff800000") if kind == "f32" else (16, "fff0000000000000")
    for i, point in enumerate(points):
        if kind != "c128" and point[0] == 0 and name in ("rsqrt", "bessel_i1e"):
            negative = np.signbit(point[0])
            if name == "bessel_i1e":
                bits[i] = ("8" if negative else "0").ljust(width, "0")
            elif negative:
                bits[i] = minus_infinity
    return bits


def neighbours(values, dtype):
    """The values, their negatives, and two numbers on either side of each."""
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        x = np.array(values).astype(dtype)
        x = np.concatenate([x[np.isfinite(x)], [info.max, info.tiny, info.smallest_subnormal, info.eps]]).astype(dtype)
        near = [x]
        for direction in (np.inf, -np.inf):
            step = x
            for _ in range(2):
                step = np.nextafter(step, dtype(direction))
                near.append(step)
    x = np.concatenate(near)
    x = np.unique(np.abs(x[np.isfinite(x)]))
    return np.concatenate([x, -x])


def real(dtype):
    kind = "f32" if dtype == np.float32 else "f64"
    rng = np.random.default_rng(7)
    points = np.concatenate([neighbours(accuracy.CRITICAL, dtype), accuracy.random_bits(rng, 150, dtype),
                             accuracy.moderate(rng, 150, dtype)])
    for name in REAL:
        # The referee of this one is slow.
        yield name, [points[::6] if name == "bessel_i1e" else points]
    few = neighbours([0.5, 1.0, 2.0**0.5, 0.5**0.5, 1e-20, 3.0], dtype)
    yield "atan2", [few, few]
    bases = np.concatenate([neighbours([2.0**0.5, 0.5**0.5, 1.0, 2.0, 0.5], dtype), np.linspace(0.68, 0.735, 8), np.linspace(1.38, 1.45, 8),
                            np.exp2(rng.uniform(-30, 30, 8))]).astype(dtype)
    bases = np.unique(bases[bases > 0])
    # Not so far that a result is one that mpfr cannot hold.
    exponents = np.concatenate([[0.5, 1, 1.5, 2, 3, 7, 1496, 1792.12, 253.6124267578125, 291.7, 1e9, 4867751524.336926, 1e12],
                                rng.uniform(100, 300, 12), rng.uniform(1, 100, 8), 2.0 ** rng.uniform(-30, 0, 4)]).astype(dtype)
    yield "power", [bases, np.concatenate([exponents, -exponents])]
    orders = np.array([0, 1, 2, 3, 8, 31], dtype)
    places = np.array([-7.3, -1.5, -0.51, -0.25, 1e-3, 0.3, 1, 1.46, 2.5, 15.99, 16, 16.01, 1e4], dtype)
    yield "polygamma", [orders, places]
    yield "zeta", [np.array([1.001, 1.5, 2, 3, 8, 60], dtype), places]


def complex_numbers():
    rng = np.random.default_rng(8)
    sizes = [0.0, 5e-324, 1e-300, 3e-160, 1e-40, 1e-9, 0.3, 1 - 2.0**-53, 1.0, 1 + 2.0**-52, np.pi / 2, 3.0, 41.0, 601.0, 1e5, 3e101, 1e300]
    parts = np.array([x for size in sizes for x in (size, -size)])
    plane = np.array([complex(re, im) for re in parts for im in np.array(sizes[1:]) * rng.choice([-1, 1], len(sizes) - 1)])
    for name in COMPLEX:
        yield name, [plane]
    few = np.array([complex(re, im) for re in (0.3, -2.0, 1e-20, -1e200, 4.0) for im in (1e-9, -0.7, 1e150, -1e-260)])
    for name in ("divide", "atan2"):
        yield name, [few, few]
    near = np.array([4 + 0j, -0.5 + 1e-9j, 1 + 1e-12j, 0.6 - 0.8j, 3e200 - 1e-100j, -2.5j, -7 + 0.1j])
    exponents = np.array([1e15j, 1e40j, -3e300j, 2 - 3j, 1e17 + 1e3j, -5e3 + 2e3j, 0.5 + 1e-20j, 31j])
    yield "power", [near, exponents]


if __name__ == "__main__":
    write("f32", real(np.float32))
    write("f64", real(np.float64))
    write("c128", complex_numbers())
