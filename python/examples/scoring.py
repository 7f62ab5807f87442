"""A model and a data set for the examples of scoring, and what one process does in a second."""

import time
from typing import Iterator

import numpy as np

import stablo

FEATURES, HIDDEN, CLASSES = 64, 4096, 10


def make_model() -> bytes:
    """A portable artifact: `logistic(tanh(x @ w) @ v)` for batches of any size. Any exported model with one argument and one
    result does."""
    builder, random = stablo.Builder(), np.random.default_rng(1)

    @builder.function(x=f"tensor<?x{FEATURES}xf32>")
    def main(x):
        def product(x, sizes):
            weights = builder.constant(random.standard_normal(sizes, np.float32) / np.sqrt(sizes[0], dtype=np.float32))
            contracted = {"lhs_contracting_dimensions": [1], "rhs_contracting_dimensions": [0]}
            return builder.dot_general(
                x, weights, dot_dimension_numbers=contracted, result_types=[f"tensor<?x{sizes[1]}xf32>"]
            )

        return builder.logistic(product(builder.tanh(product(x, (FEATURES, HIDDEN))), (HIDDEN, CLASSES)))

    return builder.build().serialize()


def make_data(rows: int) -> np.ndarray:
    """Rows of features."""
    return np.random.default_rng(2).standard_normal((rows, FEATURES), np.float32)


def batches(data: np.ndarray, size: int) -> Iterator[np.ndarray]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def in_one_process(artifact: bytes, data: np.ndarray, size: int) -> np.ndarray:
    """The scores of all rows, from this process alone. Prints rows per second, with one thread and with all."""
    for threads in (1, None):
        program = stablo.load(artifact).with_threads(threads)
        program(data[:size])  # The first call prepares the program.
        start = time.perf_counter()
        scores = np.concatenate([program(batch) for batch in batches(data, size)])
        report("one process" if threads is None else "one process, one thread", len(data), time.perf_counter() - start)
    return scores


def report(what: str, rows: int, seconds: float) -> None:
    print(f"{what:28} {rows / seconds:12,.0f} rows/s")
