"""Tests of how programs are run: custom calls, limits, functions, conventions and names of arguments."""

import pickle
import threading
import unittest
from typing import Any

import numpy as np

import stablo

T = "tensor<3xf32>"
CALL = f"""func.func @main(%weight: {T}, %x: {T}) -> {T} {{
  %0 = stablehlo.custom_call @my.f(%weight, %x) {{mhlo.backend_config = {{factor = 2.5 : f64}}}} : ({T}, {T}) -> {T}
  return %0 : {T} }}"""
# Endless.
SPIN = """func.func @main(%x: tensor<i64>) -> tensor<i64> {
  %0 = stablehlo.while(%i = %x) : tensor<i64>
    cond { %c = stablehlo.constant dense<true> : tensor<i1>  stablehlo.return %c : tensor<i1> }
    do { %1 = stablehlo.add %i, %i : tensor<i64>  stablehlo.return %1 : tensor<i64> }
  return %0 : tensor<i64> }"""
NAMES = f"""func.func @main(%weight: {T}, %x: {T} loc("input"), %arg2: {T}) -> {T} {{
  %0 = stablehlo.subtract %weight, %x : {T}
  %1 = stablehlo.multiply %0, %arg2 : {T}
  return %1 : {T} }}"""


def first(a: Any, b: Any) -> Any:
    return a


class CustomCalls(unittest.TestCase):
    x = np.array([1, 2, 3], np.float32)

    def run_with(self, function: Any) -> Any:
        return stablo.parse(CALL).with_options(custom_calls={"my.f": function})(self.x, 2 * self.x)

    def test_functions_of_python(self) -> None:
        np.testing.assert_array_equal(self.run_with(lambda a, b: a * b), 2 * self.x**2)
        np.testing.assert_array_equal(self.run_with(lambda a, b: [4, 5, 6]), np.array([4, 5, 6], np.float32))
        with self.assertRaisesRegex(stablo.Error, r"`my.f` is unknown: it is not in docs/custom_calls.md, and no implementation"):
            stablo.parse(CALL)(self.x, self.x)
        program = pickle.loads(pickle.dumps(stablo.parse(CALL).with_options(custom_calls={"my.f": first})))
        np.testing.assert_array_equal(program(weight=self.x, x=-self.x), self.x)

    def test_the_call_is_described(self) -> None:
        calls = []

        def scale(a: Any, b: Any, *, call: stablo.CustomCall) -> Any:
            calls.append(call)
            return a * call.attributes["mhlo.backend_config"]["factor"]

        np.testing.assert_array_equal(self.run_with(scale), 2.5 * self.x)
        self.assertEqual((calls[0].target, [value.shape for value in calls[0].inputs], calls[0].outputs[0].dtype), ("my.f", [(3,), (3,)], "f32"))

    def test_arrays_are_not_shared(self) -> None:
        kept = np.ones(3, np.float32)
        found = self.run_with(lambda a, b: kept)
        kept[:] = 5
        np.testing.assert_array_equal(found, [1, 1, 1])

        def changes(a: Any, b: Any) -> Any:
            a[:] = 9
            return a

        np.testing.assert_array_equal(self.run_with(changes), [9, 9, 9])
        np.testing.assert_array_equal(self.x, [1, 2, 3])

    def test_exceptions_are_causes(self) -> None:
        def fails(a: Any, b: Any) -> Any:
            raise KeyError("missing")

        with self.assertRaisesRegex(stablo.Error, "`my.f` raised KeyError: 'missing'") as caught:
            self.run_with(fails)
        self.assertIsInstance(caught.exception.__cause__, KeyError)
        self.assertEqual(caught.exception.diagnostics[0]["label"], "custom_call")
        for kind in (KeyboardInterrupt, SystemExit):

            def ends(a: Any, b: Any) -> Any:
                raise kind

            with self.assertRaises(kind):
                self.run_with(ends)

    def test_results_of_other_types(self) -> None:
        for function, message in (
            (lambda a, b: a[:2], r"result 0 is a tensor<3xf32>; an array of the shape \(2,\)"),
            (lambda a, b: a.astype(np.float64), "result 0 is a tensor<3xf32>, .* an array of float64"),
            (lambda a, b: (a, b), "it returned 2 arrays; the call returns .tensor<3xf32>"),
            (lambda a, b: None, "it returned 0 arrays"),
            (lambda a: a, "TypeError"),
        ):
            with self.assertRaisesRegex(stablo.Error, message):
                self.run_with(function)
        with self.assertRaisesRegex(TypeError, "'my.f' is computed by a function, not by 3"):
            self.run_with(3)

    def test_threads_call_functions(self) -> None:
        text = f"""func.func @main(%x: {T}, %n: tensor<i32>) -> {T} {{
          %c0 = stablehlo.constant dense<0> : tensor<i32>  %c1 = stablehlo.constant dense<1> : tensor<i32>
          %r:2 = stablehlo.while(%i = %c0, %v = %x) : tensor<i32>, {T}
            cond {{ %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>  stablehlo.return %c : tensor<i1> }}
            do {{ %a = stablehlo.custom_call @next(%v) : ({T}) -> {T}  %j = stablehlo.add %i, %c1 : tensor<i32>  stablehlo.return %j, %a : tensor<i32>, {T} }}
          return %r#1 : {T} }}"""
        program, found = stablo.parse(text).with_options(custom_calls={"next": lambda v: v + 1}), []
        threads = [threading.Thread(target=lambda: found.append(program(self.x, 40))) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(found, [self.x + 40] * 6)


class Options(unittest.TestCase):
    def test_limits(self) -> None:
        spin = stablo.parse(SPIN)
        limited = spin.with_options(max_time=0.05)
        for kind in (TimeoutError, stablo.TimeLimitError, stablo.LimitError, stablo.Error):
            with self.assertRaisesRegex(kind, "longer than 50ms"):
                limited(1)
        with self.assertRaisesRegex(stablo.StepLimitError, "more than 1000 steps"):
            pickle.loads(pickle.dumps(spin.with_options(max_steps=1000)))(1)
        ty, x = "tensor<500x500xf32>", np.ones((500, 500), np.float32)
        program = stablo.parse(f"func.func @main(%x: {ty}) -> {ty} {{ %0 = stablehlo.dot %x, %x : ({ty}, {ty}) -> {ty}  return %0 : {ty} }}")
        for limit, message in (("64K", "the inputs have 1000000 bytes; the limit is 65536"), (1_500_000, "limit of 1500000 bytes")):
            with self.assertRaisesRegex(MemoryError, message) as caught:
                program.with_options(max_memory=limit)(x)
            self.assertIsInstance(caught.exception, stablo.MemoryLimitError)
        self.assertEqual(program.with_options(max_memory=1).with_options(max_memory=None, max_steps=10)(x)[0, 0], 500)

    def test_options_that_are_none(self) -> None:
        program = stablo.parse(SPIN)
        for given, kind, message in (
            ({"max_memory": "1X"}, stablo.Error, "not a number of bytes"),
            ({"max_memory": [1]}, TypeError, "list"),
            ({"max_memory": -1}, ValueError, "max_memory is a limit of at least 0, not -1"),
            ({"max_time": float("nan")}, stablo.Error, "max_time is a number of seconds"),
            ({"max_steps": 1.5}, TypeError, "float"),
            ({"like": "tpu"}, stablo.Error, "like 'xla' or"),
            ({"engine": "slow"}, stablo.Error, "the engines are fast, reference"),
            ({"entry": "mian"}, stablo.Error, "no function @mian"),
            ({"max_step": 1}, TypeError, "max_step"),
        ):
            with self.assertRaisesRegex(kind, message):
                program.with_options(**given)

    def test_entry(self) -> None:
        program = stablo.parse("""
          func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
          func.func @twice(%value: tensor<f32>) -> tensor<f32> { %0 = stablehlo.add %value, %value : tensor<f32>  return %0 : tensor<f32> }""")
        twice = program.with_options(entry="twice")
        for called in (twice, program.with_options(entry="@twice"), pickle.loads(pickle.dumps(twice)), twice.run_passes("cse"), twice.with_threads(1)):
            self.assertEqual((called(2.0), called(value=3.0)), (4.0, 6.0))
        self.assertEqual((program(2.0), twice.with_options(entry="main")(2.0)), (2.0, 2.0))
        self.assertEqual((twice.cost()["flops"], program.cost()["flops"], twice.signature.inputs[0].name), (1, 0, "value"))
        self.assertEqual([value.op.name for value in twice.trace(1.0)], ["stablehlo.add"])
        self.assertEqual((twice.refine()(2.0), twice.bind({"value": 3.0})()), (4.0, 6.0))
        with self.assertRaisesRegex(stablo.Error, "no batch to become 2"):
            twice.refine(batch=2)
        with self.assertRaisesRegex(TypeError, "sizes are a dictionary by names of dimensions, not str; types of arguments are `types=`"):
            twice.refine("tensor<f32>, tensor<f32>")
        with self.assertRaisesRegex(TypeError, "custom calls are a dictionary of functions by target, not list"):
            twice.with_options(custom_calls=[abs])

    def test_like_xla(self) -> None:
        program = stablo.parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.add %x, %x : tensor<f32>  return %0 : tensor<f32> }")
        subnormal = np.float32(1e-40)
        self.assertEqual((program(subnormal), program.with_options(like="xla")(subnormal)), (2 * subnormal, 0))

    def test_engines(self) -> None:
        x = np.array([1, 2, 3], np.float32)
        np.testing.assert_array_equal(stablo.parse(NAMES).with_options(engine="reference")(x, -x, x), 2 * x * x)


class Names(unittest.TestCase):
    x, ones = np.array([1, 2, 3], np.float32), np.ones(3, np.float32)

    def test_names_in_the_text(self) -> None:
        program = stablo.parse(NAMES)
        self.assertEqual([value.name for value in program.signature.inputs], ["weight", "input", None])
        changed = (program.run_passes("canonicalize,cse"), program.refine(), program.optimize(), pickle.loads(pickle.dumps(program)))
        for called in (program, *changed, program.with_options(max_steps=100)):
            for names in (("weight", "input", "arg2"), ("weight", "x", "2"), ("arg0", "arg1", "arg2")):
                np.testing.assert_array_equal(called(**dict(zip(names, (self.x, self.ones, 2 * self.ones)))), 2 * (self.x - 1))
        np.testing.assert_array_equal(program.bind({"weight": self.x})(x=self.ones, arg1=self.ones), self.x - 1)

    def test_unknown_names(self) -> None:
        program = stablo.parse(NAMES)
        for given, message in (
            ({"wieght": 0}, r"no argument `wieght`; did you mean `weight`\? @main takes \(weight: tensor<3xf32>, "),
            ({"zzzzzzzzzzz": 0}, r"no argument `zzzzzzzzzzz`; @main takes \("),
            ({"input": self.x, "x": self.x}, r"argument 1 \(input\) is given twice"),
        ):
            with self.assertRaisesRegex(stablo.Error, message):
                program(**given)
        arguments = ", ".join(f"%param_{i}: tensor<f32>" for i in range(300))
        many = stablo.parse(f"func.func @main({arguments}) -> tensor<f32> {{ return %param_0 : tensor<f32> }}")
        for given, message in ({"parm_17": 1.0}, r"takes \(param_17: tensor<f32>, .* and 288 more"), ({"param_1": 1.0}, "and 288 more"):
            with self.assertRaisesRegex(stablo.Error, message):
                many(**given)

    def test_names_of_passes(self) -> None:
        program = stablo.parse(NAMES)
        for pipeline, meant in (
            ("canonicalise", "canonicalize"),
            ("csee,inline", "cse"),
            ("CSE", "cse"),
            ("aggressive-folder", "stablehlo-aggressive-folder"),
            ("refine_shapes", "stablehlo-refine-shapes"),
            ("func.func(stablehlo_refine_shapes)", "stablehlo-refine-shapes"),
            ("chlo-legalize", "chlo-legalize-to-stablehlo"),
            ("canonicalize{topdown=true}", "top-down"),
        ):
            with self.assertRaisesRegex(stablo.Error, f"did you mean `{meant}`"):
                program.run_passes(pipeline)

    def test_names_of_the_package(self) -> None:
        names = [name for name in dir(stablo) if not name.startswith("_")]
        self.assertEqual(names, sorted(name for name in stablo.__all__ if not name.startswith("_")))
        for name in stablo.__all__:
            self.assertTrue(hasattr(stablo, name), name)


if __name__ == "__main__":
    unittest.main()
