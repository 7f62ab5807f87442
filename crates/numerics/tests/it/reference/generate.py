"""Writes the tables of this folder: values of functions, computed with mpmath and rounded correctly.

    pip install mpmath==1.4.1
    python generate.py

Each line of a table is `function<TAB>inputs<TAB>outputs`, of numbers as their bits in hexadecimal: 16 digits for f64, 8 for f32.
Inputs are chosen at random, always the same ones, over the range in which the function is not constant, and around its zeros,
poles and branch cuts. Complex numbers are two numbers.
"""

import random
import struct
from fractions import Fraction

import mpmath
from mpmath import mp, mpc, mpf

FORMATS = {64: (53, -1074, 1024), 32: (24, -149, 128)}


def bits(x, width):
    """The bits of a float that is a number of the format."""
    return struct.pack(">d" if width == 64 else ">f", x).hex()


def number(raw, width):
    return struct.unpack(">d" if width == 64 else ">f", raw.to_bytes(width // 8, "big"))[0]


def nearest(x, width):
    """The number of the format nearest to an mpf, ties to even."""
    precision, lowest, highest = FORMATS[width]
    if mpmath.isnan(x):
        return float("nan")
    if mpmath.isinf(x):
        return float(x)
    if x == 0:
        return 0.0
    sign, man, exp, count = mpf(x)._mpf_
    exact = Fraction(int(man)) * Fraction(2) ** int(exp)
    unit = max(int(exp) + int(count) - precision, lowest)
    result = round(exact / Fraction(2) ** unit) * Fraction(2) ** unit
    if result >= Fraction(2) ** highest:
        result = float("inf")
    return -float(result) if sign else float(result)


def between(rng, low, high, width):
    """A number of the format, the logarithm of whose size is uniform if the range is all of one sign."""
    if low > 0 or high < 0:
        small, large = sorted((abs(low), abs(high)))
        x = float(mpmath.exp(rng.uniform(float(mpmath.log(small)), float(mpmath.log(large)))))
        x = min(max(x, small), large) * (1 if low > 0 else -1)
    else:
        x = rng.uniform(low, high)
    return nearest(mpf(x), width)


def cbrt(x):
    return mpmath.cbrt(x) if x >= 0 else -mpmath.cbrt(-x)


def logistic(x):
    return 1 / (1 + mpmath.exp(-x))


def log_gamma(x):
    return mpmath.log(abs(mpmath.gamma(x)))


def bessel_i1e(x):
    return mpmath.besseli(1, x) * mpmath.exp(-abs(x))


def around(*points):
    """Ranges that close in on points from both sides."""
    steps = [(1e-3, 1e-1), (1e-8, 1e-3), (1e-15, 1e-8)]
    return [(p + s * a, p + s * b) if s > 0 else (p - b, p - a) for p in points for a, b in steps for s in (1, -1)]


TINY = [(5e-324, 1e-300), (-1e-290, -1e-310), (1e-300, 1e-20), (-1e-5, -1e-30)]
WIDE = [(1e-3, 1e3), (-1e3, -1e-3), (1e3, 1e300), (-1e308, -1e5)]
PI = float(mpmath.pi)
# Function, ranges of its argument, bits to compute with.
REAL = {
    "acos": (mpmath.acos, [(-1, 1), (1e-300, 1e-3), (0.9, 0.999), (0.999, 1), (-1, -0.999)], 2400),
    "acosh": (mpmath.acosh, [(1, 2), (1, 1.001), (2, 1e3), (1e3, 1e308)], 2400),
    "asin": (mpmath.asin, TINY + [(-1, 1), (0.999, 1), (-1, -0.999)], 2400),
    "asinh": (mpmath.asinh, TINY + WIDE + [(-1, 1)], 2400),
    "bessel_i1e": (bessel_i1e, [(1e-300, 1e-3), (-1, 1), (1, 25), (24, 26), (-1e3, -20), (1e3, 1e6)], 300),
    "atan": (mpmath.atan, TINY + WIDE + [(-1, 1)], 2400),
    "atanh": (mpmath.atanh, TINY + [(-1, 1), (0.999, 1), (-1, -0.999)], 2400),
    "cbrt": (cbrt, TINY + WIDE, 2400),
    "cosh": (mpmath.cosh, TINY + [(-1, 1), (1, 30), (-711, -1), (690, 710.4), (710.47, 710.4758)], 2400),
    "cosine": (mpmath.cos, TINY + WIDE + around(PI / 2, 3 * PI / 2), 2400),
    "erf": (mpmath.erf, TINY + [(-1, 1), (1, 6)], 2400),
    "erfc": (mpmath.erfc, TINY + [(-6, 1), (0.7, 1.3), (1.9, 2.1), (1, 26.5), (26.5, 27.2)], 2400),
    "exponential": (mpmath.exp, TINY + [(-1, 1), (1, 709), (709, 709.78), (-708, -1), (-745, -708)], 2400),
    "exponential_minus_one": (mpmath.expm1, TINY + [(-1, 1), (1, 709), (-40, -1)], 2400),
    "log": (mpmath.log, TINY[::2] + WIDE[::2] + around(1.0), 2400),
    "log_plus_one": (mpmath.log1p, TINY + WIDE[::2] + [(-1, 1), (-1, -0.999)], 2400),
    "logistic": (logistic, TINY + [(-1, 1), (1, 40), (-708, -1), (-745, -708)], 2400),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), TINY[::2] + WIDE[::2], 2400),
    "sine": (mpmath.sin, TINY + WIDE + around(PI, 2 * PI), 2400),
    "sinh": (mpmath.sinh, TINY + [(-1, 1), (1, 30), (-710, -690), (-690, -1), (710.47, 710.4758)], 2400),
    "tan": (mpmath.tan, TINY + WIDE + around(PI / 2, PI), 2400),
    "tanh": (mpmath.tanh, TINY + [(-1, 1), (1, 20), (-20, -1)], 2400),
    "digamma": (mpmath.digamma, [(1e-300, 1e-3), (1e-3, 1), (1, 2), (2, 30), (30, 1e300), (-20, -1e-3), (-1e6, -20)]
                + around(1.4616321449683622, -0.504083008264455, -1.573498473162391, -3.0), 300),
    "erf_inv": (lambda x: mpmath.erfinv(x) if abs(x) < 1 else mpmath.nan, [(1e-300, 1e-3), (-0.9, 0.9), (0.9, 1), (-1, -0.999999)] + around(1.0, -1.0), 300),
    "lgamma": (log_gamma, [(1e-300, 1e-3), (1e-3, 3), (3, 30), (30, 1e300), (1e300, 2.5e305), (-20, -1e-3), (-1e6, -20)]
               + around(1.0, 2.0, -1.0, -2.0, -2.457024738220801, -3.955294284858598, -10.0), 300),
}
BINARY = {
    "atan2": (mpmath.atan2, [((-1, 1), (-1, 1)), ((1e-3, 1e3), (1e-300, 1e300)), ((-1e5, -1e-5), (-1e5, -1e-5)),
                             ((1e-9, 1e-3), (-1e3, -1e-3)), ((-1e3, -1e-3), (1e-9, 1e-3))], 2400),
    "power": (mpmath.power, [((0, 2), (-5, 5)), ((1e-5, 1e5), (-50, 50)), ((0.999, 1.001), (1e3, 1e5)),
                             ((1e-300, 1e300), (-1, 1)), ((1 + 1e-12, 1 + 1e-9), (1e9, 1e11))], 2400),
}
# Functions whose first argument is positive, or an integer where the range's ends are.
SPECIAL = {
    "zeta": (mpmath.zeta, [((1.0001, 3), (1e-3, 100)), ((1, 60), (0.1, 50)), ((50, 2e3), (0.9, 1e3)), ((1 + 1e-9, 1.01), (1e-9, 1e9)),
                           ((2, 40), (1e3, 1e15))], 300),
    "polygamma": (mpmath.psi, [((1, 4), (1e-3, 100)), ((1, 30), (0.1, 50)), ((1, 6), (-30, -0.01)), ((30, 150), (1, 300)),
                               ((1, 3), (1e3, 1e15))], 600),
}
COMPLEX = {
    "acos": mpmath.acos, "acosh": mpmath.acosh, "asin": mpmath.asin, "asinh": mpmath.asinh, "atan": mpmath.atan,
    "atanh": mpmath.atanh, "cosh": mpmath.cosh, "cosine": mpmath.cos, "exponential": mpmath.exp,
    "exponential_minus_one": mpmath.expm1, "log": mpmath.log, "log_plus_one": mpmath.log1p, "logistic": logistic,
    "rsqrt": lambda z: 1 / mpmath.sqrt(z), "sine": mpmath.sin, "sinh": mpmath.sinh, "sqrt": mpmath.sqrt,
    "tan": mpmath.tan, "tanh": mpmath.tanh,
    "cbrt": lambda z: mpmath.exp(mpmath.log(z) / 3),
}
# Rectangles: ranges of the real and of the imaginary part.
PLANE = [((-1, 1), (-1, 1)), ((-5, 5), (-5, 5)), ((1e-3, 1e3), (1e-9, 1)), ((-1e3, -1e-3), (-1, -1e-9)),
         ((1e-150, 1e-3), (1e-150, 1e-3)), ((0.999, 1.001), (1e-9, 1e-3)),
         ((-1.001, -0.999), (1e-9, 1e-3)), ((1e-9, 1e-3), (0.999, 1.001)), ((-1e-3, -1e-9), (-1.001, -0.999)),
         ((-700, 700), (-10, 10)), ((1e-12, 1), (3.14159265, 3.14159266)), ((-1, -1e-12), (1.5707963, 1.5707964)),
         ((700, 710), (-10, 10)), ((0.6, 0.600000001), (0.8, 0.800000001)), ((1, 1 + 1e-15), (1e-300, 1e-100))]
# For functions that do not grow as the exponential function does.
FAR = [((1e5, 1e300), (1e5, 1e300)), ((-1e300, -1e5), (1e-300, 1e300))]
SLOW = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "log", "log_plus_one", "rsqrt", "sqrt")


COMPLEX_BINARY = {
    "atan2": lambda y, x: -1j * mpmath.log((x + 1j * y) / mpmath.sqrt(x * x + y * y)),
    "divide": lambda x, y: x / y,
    "power": lambda x, y: mpmath.exp(y * mpmath.log(x)),
}


def write(name, rows):
    with open(name, "w") as file:
        file.writelines(f"{row}\n" for row in rows)


def real_rows(width, count):
    rng = random.Random(width)
    largest = number(0x7F7FFFFF, 32) if width == 32 else float("inf")
    for name, (function, ranges, precision) in REAL.items():
        seen = set()
        for low, high in ranges:
            low, high = (max(min(x, largest), -largest) for x in (low, high))
            for _ in range(count):
                x = between(rng, low, high, width)
                if x in seen or (x == 0 and name in ("log", "rsqrt", "lgamma", "digamma")):
                    continue
                seen.add(x)
                with mp.workprec(precision):
                    try:
                        y = function(mpf(x))
                    except ValueError:  # A pole.
                        continue
                    if isinstance(y, mpc):
                        continue
                    y = nearest(y, width)
                if y == y and abs(y) != float("inf"):
                    yield f"{name}\t{bits(x, width)}\t{bits(y, width)}"


def binary_rows(width, count):
    rng = random.Random(width + 1)
    for name, (function, ranges, precision) in BINARY.items():
        for first, second in ranges:
            first, second = (tuple(max(min(v, 1e38), 1e-38) if width == 32 and abs(v) > 1e37 or 0 < abs(v) < 1e-37 else v
                                   for v in r) for r in (first, second)) if width == 32 else (first, second)
            for _ in range(count):
                x, y = between(rng, *first, width), between(rng, *second, width)
                with mp.workprec(precision):
                    z = nearest(function(mpf(x), mpf(y)), width)
                if z == z and abs(z) != float("inf"):
                    yield f"{name}\t{bits(x, width)} {bits(y, width)}\t{bits(z, width)}"


def settled(compute, precision, width):
    """The nearest number, at a precision at which twice the precision makes no difference: mpmath's zeta bounds its absolute error."""
    while True:
        with mp.workprec(precision):
            z = nearest(compute(), width)
        precision *= 2
        with mp.workprec(precision):
            again = nearest(compute(), width)
        if z == again or z != z:
            return again


def special_rows(width, count):
    rng = random.Random(width + 2)
    for name, (function, ranges, precision) in SPECIAL.items():
        for first, second in ranges:
            for _ in range(count):
                x, y = between(rng, *first, width), between(rng, *second, width)
                x = float(round(x)) if name == "polygamma" else x
                z = settled(lambda: function(int(x) if name == "polygamma" else mpf(x), mpf(y)), precision, width)
                if z == z and abs(z) != float("inf"):
                    yield f"{name}\t{bits(x, width)} {bits(y, width)}\t{bits(z, width)}"


def complex_binary_rows(count):
    rng = random.Random(5)
    for name, function in COMPLEX_BINARY.items():
        for first in [(-1, 1), (1e-3, 1e3), (-1e9, -1e-9)]:
            for second in [(-5, 5), (1e-2, 30)]:
                for _ in range(count):
                    parts = [between(rng, *r, 64) for r in (first, second, second, first)]
                    with mp.workprec(2400):
                        z = mpc(function(mpc(*parts[:2]), mpc(*parts[2:])))
                        result = [nearest(z.real, 64), nearest(z.imag, 64)]
                    if all(p == p and abs(p) != float("inf") for p in result):
                        yield f"{name}\t{' '.join(bits(x, 64) for x in parts)}\t{' '.join(bits(x, 64) for x in result)}"


def complex_rows(count):
    rng = random.Random(3)
    for name, function in COMPLEX.items():
        for re, im in PLANE + (FAR if name in SLOW else []):
            for _ in range(count):
                x, y = between(rng, *re, 64), between(rng, *im, 64)
                with mp.workprec(2400):
                    z = mpc(function(mpc(x, y)))
                    parts = [nearest(z.real, 64), nearest(z.imag, 64)]
                if all(p == p and abs(p) != float("inf") for p in parts):
                    yield f"{name}\t{bits(x, 64)} {bits(y, 64)}\t{bits(parts[0], 64)} {bits(parts[1], 64)}"


if __name__ == "__main__":
    write("real_f64.tsv", real_rows(64, 8))
    write("real_f32.tsv", real_rows(32, 8))
    write("binary_f64.tsv", binary_rows(64, 12))
    write("binary_f32.tsv", binary_rows(32, 12))
    write("special_f64.tsv", special_rows(64, 12))
    write("complex_f64.tsv", complex_rows(6))
    write("complex_binary_f64.tsv", complex_binary_rows(8))
