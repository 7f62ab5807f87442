"""Tests of programs that are made from nothing."""

import functools
import threading
import unittest

import numpy as np

import stablo


class Building(unittest.TestCase):
    def test_loops_and_branches(self) -> None:
        builder = stablo.Builder()

        @builder.function(n="tensor<i32>")
        def main(n):  # type: ignore[no-untyped-def]
            zero, one = builder.constant(0, "tensor<i32>"), builder.constant(1, "tensor<i32>")
            _, total = builder.while_(
                zero,
                zero,
                lambda i, total: builder.compare(i, n, comparison_direction="LT"),
                lambda i, total: (builder.add(i, one), builder.add(total, i)),
            )
            return builder.if_(builder.compare(total, n, comparison_direction="GT"), lambda: total, lambda: n)

        program = builder.build()
        self.assertEqual([int(program(10)), int(program(n=2))], [sum(range(10)), 2])

    def test_regions_of_scalars(self) -> None:
        builder, x = stablo.Builder(), np.array([[3, 1, 2], [9, 7, 8]], np.float32)

        @builder.function("tensor<2x3xf32>")
        def main(x):  # type: ignore[no-untyped-def]
            less = builder.region(
                "stablehlo.sort", lambda a, b: builder.compare(a, b, comparison_direction="LT"), "tensor<f32>", "tensor<f32>"
            )
            least = builder.constant(-np.inf, "tensor<f32>")
            largest = builder.reduce_window(
                x, least, lambda a, b: builder.maximum(a, b), window_dimensions=[1, 2], padding=[[0, 0], [1, 0]]
            )
            return builder.sort(x, less, dimension=1), largest, builder.op("chlo.square", x)

        ordered, largest, squares = builder.build()(x)
        np.testing.assert_array_equal(ordered, np.sort(x))
        np.testing.assert_array_equal(largest, [[3, 3, 2], [9, 9, 8]])
        np.testing.assert_array_equal(squares, x * x)

    def test_attributes(self) -> None:
        builder = stablo.Builder()

        @builder.function("tensor<2x3xf32>")
        def main(x):  # type: ignore[no-untyped-def]
            return builder.custom_call(
                builder.transpose(x, permutation=[1, 0]), call_target_name="f", api_version=4, has_side_effect=True,
                backend_config={"a": 1, "b": [True, 2.5], "c": "d"}, result_types=["tensor<3x2xf32>"],
            )  # fmt: skip

        call = next(op for op in builder.build().ops if op.name == "stablehlo.custom_call")
        self.assertEqual(call.attributes["backend_config"], {"a": 1, "b": [True, 2.5], "c": "d"})
        self.assertIn(f"{__file__}\":", call.location)

    def test_what_does_not_fit(self) -> None:
        builder, other, kept = stablo.Builder(), stablo.Builder(), []
        builder.function("tensor<3xf32>", name="f")(lambda x: kept.append(x))
        other.function("tensor<f32>", "tensor<2xf32>", name="g")(lambda *values: kept.extend(values))
        attempts = [
            (lambda: builder.op("stablehlo.nope"), "stablehlo.nope"),
            (lambda: builder.op("chlo.erff"), "there is no op `chlo.erff`; did you mean `chlo.erf`"),
            (lambda: builder.op("erf"), "there is no op `erf`; did you mean `chlo.erf`"),
            (lambda: builder.abs(2.0), "an operand of stablehlo.abs has type float; it must be a value"),
            (lambda: builder.abs(kept[1]), "another builder"),
            (lambda: other.add(kept[1], kept[2]), "compatible types"),
            (lambda: other.sort(kept[1], lambda a, b: a, dimension="x"), "x"),
            (lambda: builder.transpose(kept[0], permutatoin=[0]), "`stablehlo.transpose` has no attribute `permutatoin`; it has `permutation`"),
            (lambda: builder.transpose(kept[0], permutation=[0.5]), "attribute `permutation` of `stablehlo.transpose`: .*float"),
            (lambda: builder.compare(kept[0], kept[0], comparison_direction="lt"), "`lt` is no case: they are EQ, NE, GE, GT, LE, LT"),
            (lambda: builder.add(kept[0], kept[0], axis=0), "`stablehlo.add` has no attribute `axis`; it has none"),
            (lambda: builder.function("tensor<3xf3>", name="g")(lambda x: x), "f3"),
            (lambda: builder.function("tensor<f32>", name="g")(lambda x: 5), "a region of func.func returns 5; it must return values"),
            (lambda: builder.function("tensor<f32>", name="g")(lambda x: {"a": x}), "returns .'a': .*; it must return values"),
            (lambda: builder.function("tensor<f32>")(functools.partial(lambda x: x)), "has no name"),
            (lambda: builder.constant(1.5, "tensor<i32>"), "no constant of tensor<i32> is made of 1.5: no value of int32"),
            (lambda: builder.constant(300, "tensor<i8>"), "no constant of tensor<i8> is made of 300"),
            (lambda: builder.constant(np.array([1, 300]), "tensor<2xi8>"), "not all are values of int8"),
            (lambda: builder.constant(np.ma.array([1.0, 2.0], mask=[0, 1])), "masked"),
            (lambda: builder.constant(np.ma.array([1.0, 2.0], mask=[0, 1]), "tensor<2xf32>"), "masked"),
            (lambda: builder.constant([1, 2, 3], "tensor<2xi8>"), r"no constant of tensor<2xi8> is made of \[1, 2, 3\]"),
        ]
        for attempt, message in attempts:
            with self.assertRaisesRegex(stablo.Error, message):
                attempt()
        with self.assertRaises(AttributeError):
            builder.nope
        builder.function("tensor<3xf32>", name="h")(lambda x: kept[0])
        with self.assertRaises(stablo.Error) as caught:
            builder.build()
        self.assertEqual(caught.exception.diagnostics[0]["label"], "dominance")

    def test_attributes_of_arrays(self) -> None:
        """Arrays stand for lists of numbers, and one type for a list of one."""
        builder = stablo.Builder()

        @builder.function("tensor<2x3xf32>")
        def main(x):  # type: ignore[no-untyped-def]
            turned = builder.transpose(x, permutation=np.array([1, 0], np.int32))
            product = builder.dot_general(
                x, turned, result_types="tensor<2x2xf32>",
                dot_dimension_numbers={"lhs_contracting_dimensions": np.array([1]), "rhs_contracting_dimensions": (0,)},
            )  # fmt: skip
            return builder.reshape(product, result_types="tensor<4xf32>")

        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_array_equal(builder.build()(x), (x @ x.T).reshape(4))

    def test_threads_share_a_builder(self) -> None:
        """Each thread fills functions of its own."""
        builder, failures, barrier = stablo.Builder(), [], threading.Barrier(4)

        def work(number: int) -> None:
            def body(x):  # type: ignore[no-untyped-def]
                barrier.wait()
                for _ in range(100):
                    x = builder.add(x, builder.constant(number, "tensor<i32>"))
                return builder.if_(builder.constant(True, "tensor<i1>"), lambda: builder.negate(x), lambda: x)

            try:
                builder.function("tensor<i32>", name=f"f{number}")(body)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

        @builder.function("tensor<i32>")
        def main(x):  # type: ignore[no-untyped-def]
            return [builder.op("func.call", x, callee=f"f{number}", result_types="tensor<i32>") for number in range(4)]

        self.assertEqual(list(map(int, builder.build()(5))), [-5 - 100 * number for number in range(4)])

    def test_regions_are_of_their_thread(self) -> None:
        builder, opened, used = stablo.Builder(), threading.Event(), threading.Event()

        def body(x):  # type: ignore[no-untyped-def]
            opened.set()
            used.wait()
            return x

        thread = threading.Thread(target=lambda: builder.function("tensor<f32>", name="f")(body))
        thread.start()
        opened.wait()
        with self.assertRaisesRegex(stablo.Error, "a region is not complete"):
            builder.build()
        builder.function("tensor<f32>", name="g")(lambda x: builder.sine(x))
        used.set()
        thread.join()
        self.assertEqual([op.attributes["sym_name"] for op in builder.build().ops if op.name == "func.func"], ["g", "f"])
