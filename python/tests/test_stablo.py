"""Tests of the package: `python -m unittest discover python/tests` where it is installed."""

import array
import doctest
import html.parser
import json
import pickle
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np

import stablo
from stablo import compat

TWICE = """
func.func @main(%x: tensor<?x2xf32> loc("x"), %n: tensor<i32> loc("n")) -> (tensor<?x2xf32>, tensor<i32>) {
  %0 = stablehlo.add %x, %x : tensor<?x2xf32>
  return %0, %n : tensor<?x2xf32>, tensor<i32>
}
"""

# Endless.
SPIN = """
func.func @main(%x: tensor<i64>) -> tensor<i64> {
  %0 = stablehlo.while(%i = %x) : tensor<i64>
    cond { %c = stablehlo.constant dense<true> : tensor<i1>  stablehlo.return %c : tensor<i1> }
    do { %1 = stablehlo.add %i, %i : tensor<i64>  stablehlo.return %1 : tensor<i64> }
  return %0 : tensor<i64>
}
"""


def unary(op: str, ty: str) -> str:
    return f"func.func @main(%x: {ty}) -> {ty} {{ %0 = {op} %x : {ty}  return %0 : {ty} }}"


class Looking(unittest.TestCase):
    PROGRAM = """
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %0 = stablehlo.dot %x, %y : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %1 = stablehlo.negate %0 : tensor<2x5xf32>
  return %1 : tensor<2x5xf32>
}"""

    def test_cost(self) -> None:
        cost = stablo.parse(self.PROGRAM).cost()
        self.assertEqual(cost["flops"], 2 * 2 * 3 * 5 + 2 * 5)
        self.assertEqual(cost["bytes"], 4 * (2 * 3 + 3 * 5 + 2 * 5) + 4 * 2 * (2 * 5))
        self.assertEqual([op["op"] for op in cost["ops"]], ["stablehlo.dot", "stablehlo.negate"])

    def test_diff(self) -> None:
        program = stablo.parse(self.PROGRAM)
        self.assertTrue(program.diff(stablo.load(program.bytecode()))["equal"])
        diff = program.diff(stablo.parse(self.PROGRAM.replace("negate", "abs")))
        self.assertEqual(diff["changes"][0]["details"], [{"what": "op", "left": "stablehlo.negate", "right": "stablehlo.abs"}])

    def test_view(self) -> None:
        program = stablo.parse(self.PROGRAM)
        view = program.view("a <b>")
        self.assertIn('"name":"a \\u003cb>"', str(view))
        both = str(program.view(beside=stablo.parse(self.PROGRAM.replace("negate", "abs"))))
        self.assertIn("op: stablehlo.negate -> stablehlo.abs", both)
        parser = html.parser.HTMLParser()
        frames = []
        parser.handle_starttag = lambda tag, attributes: frames.append((tag, dict(attributes)))
        parser.feed(view._repr_html_())
        self.assertEqual([tag for tag, _ in frames], ["iframe"])
        self.assertEqual(frames[0][1]["srcdoc"], str(view))
        self.assertEqual(program._repr_html_(), program.view()._repr_html_())
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            view.save(path)
            self.assertEqual(path.read_text(encoding="utf-8"), str(view))

    def test_lint(self) -> None:
        self.assertEqual([found["label"] for found in stablo.parse(self.PROGRAM).lint()], ["deprecated-op"])

    def test_lint_is_mended(self) -> None:
        program = stablo.parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.abs %x : tensor<f32>  return %x : tensor<f32> }")
        self.assertEqual([warning["label"] for warning in program.lint()], ["dead-op"])
        self.assertEqual(program.without_lint().lint(), [])

    FAULT = PROGRAM.replace("negate", "abs")

    def test_results_are_compared(self) -> None:
        program, fault = stablo.parse(self.PROGRAM), stablo.parse(self.FAULT)
        self.assertEqual([(r["seed"], r["close"]) for r in program.compare(program)], [(0, True), (1, True), (2, True)])
        x, y = np.ones((2, 3), np.float32), np.ones((3, 5), np.float32)
        y[:, 1:] = 0
        (result,) = program.compare(fault, x, y)
        self.assertEqual((result["differing"], result["max_distance"], result["worst"], result["seed"]), (2, 6.0, 0, None))
        self.assertTrue(program.compare(fault, x, y, atol=6.0)[0]["close"])
        with self.assertRaisesRegex(stablo.Error, "the arguments differ"):
            program.compare(stablo.parse(TWICE))

    def test_bisect(self) -> None:
        program, fault = stablo.parse(self.PROGRAM), stablo.parse(self.FAULT)
        self.assertIsNone(program.bisect(program))
        parting = program.bisect(fault)
        assert parting is not None
        self.assertEqual((parting["left"]["op"], parting["right"]["op"], parting["seed"]), ("stablehlo.negate", "stablehlo.abs", 0))
        ((_, operand),) = parting["operands"]
        np.testing.assert_array_equal(operand, parting["inputs"][0] @ parting["inputs"][1])
        np.testing.assert_array_equal(parting["expected"], -parting["found"])
        np.testing.assert_array_equal(parting["inputs"][0], program.random_inputs(0)[0])

    def test_reduce(self) -> None:
        program = stablo.parse(self.PROGRAM)
        tested = []

        def has_dot(candidate: stablo.Program) -> bool:
            tested.append(candidate)
            return "stablehlo.dot" in candidate.text()

        reduced = program.reduce(has_dot)
        self.assertEqual([op.name for op in reduced.ops if op.name.startswith("stablehlo")], ["stablehlo.dot"])
        self.assertGreater(len(tested), 1)
        with self.assertRaisesRegex(stablo.Error, "does not pass the test"):
            program.reduce(lambda candidate: False)

        def raises(candidate: stablo.Program) -> bool:
            if candidate is not program:
                raise KeyboardInterrupt
            return True

        with self.assertRaises(KeyboardInterrupt):
            program.reduce(raises)

    def test_trace(self) -> None:
        x, y = np.full((2, 3), 2, np.float32), np.ones((3, 5), np.float32)
        values = stablo.parse(self.PROGRAM).trace(x, y)
        self.assertEqual([(value.op.name, value.index) for value in values], [("stablehlo.dot", 0), ("stablehlo.negate", 0)])
        np.testing.assert_array_equal(values[0].value, np.full((2, 5), 6, np.float32))

    def test_profile(self) -> None:
        x, y = np.full((2, 3), 2, np.float32), np.ones((3, 5), np.float32)
        program = stablo.parse(self.PROGRAM)
        profile = program.profile(x, y, runs=2)
        self.assertEqual(profile.runs, 2)
        ops = [op["op"] for step in profile.steps for op in step["ops"]]
        self.assertEqual(sorted(ops), ["stablehlo.dot", "stablehlo.negate"])
        main = next(step for step in profile.steps if step["title"] == "@main")
        self.assertEqual((main["calls"], main["total_seconds"]), (2, profile.seconds))
        self.assertAlmostEqual(sum(step["seconds"] for step in profile.steps), profile.seconds)
        self.assertAlmostEqual(sum(kind["seconds"] for kind in profile.kinds), profile.seconds)
        self.assertIn("profile of 2 runs: ", str(profile))
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(profile.save(Path(folder) / "trace.json"), 0)
            events = json.loads((Path(folder) / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
        self.assertEqual([event["name"] for event in events].count("@main"), 2)

    def test_view_of_times_and_values(self) -> None:
        x, y = np.full((2, 3), 2, np.float32), np.ones((3, 5), np.float32)
        program = stablo.parse(self.PROGRAM)
        profile, trace = program.profile(x, y), program.trace(x, y)
        page = str(program.view(profile=profile, trace=trace))
        self.assertIn('"profile":{"runs":1,', page)
        # All elements of the product are 6, and then -6.
        self.assertIn('"max":6.0,"mean":6.0,"min":6.0', page)
        self.assertIn('"max":-6.0,"mean":-6.0,"min":-6.0', page)
        other = stablo.parse(self.PROGRAM)
        for given in ({"profile": profile}, {"trace": trace}):
            with self.assertRaisesRegex(stablo.Error, "of another program"):
                other.view(**given)

    def test_calls_take_arrays_of_any_layout(self) -> None:
        program = stablo.parse(self.PROGRAM)
        x, y = np.arange(6, dtype=np.float32).reshape(3, 2).T, np.arange(30, dtype=np.float32).reshape(3, 10)[:, ::2]
        np.testing.assert_array_equal(program(x, y), -(x @ y))
        with self.assertRaisesRegex(stablo.Error, "float64"):
            program(x.astype(np.float64), y)
        with self.assertRaises(stablo.Error):
            program(x[:1], y)


class Reading(unittest.TestCase):
    def test_formats(self) -> None:
        program = stablo.parse(TWICE)
        for data in (TWICE.encode(), program.bytecode(), program.serialize("minimum"), bytearray(program.serialize())):
            self.assertEqual(stablo.load(data).text(), program.text())
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "twice.mlir")
            path.write_text(TWICE)
            self.assertEqual(stablo.load(path).text(), stablo.load(str(path)).text())
            self.assertEqual(stablo.inspect(path)["format"]["kind"], "text")

    def test_folder_of_torch(self) -> None:
        text = """module { func.func @main(%w: tensor<3xf32>, %x: tensor<3xf32>, %c: tensor<f32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
          %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<3xf32>
          %1 = stablehlo.multiply %w, %x : tensor<3xf32>  %2 = stablehlo.add %0, %y : tensor<3xf32>
          return %1, %2 : tensor<3xf32>, tensor<3xf32> } }"""
        leaf = {"type": None, "context": None, "children_spec": []}

        def nested(kind: str, *children: object, names: object = None) -> dict:
            return {"type": f"builtins.{kind}", "context": json.dumps(names), "children_spec": list(children)}

        inputs = nested("tuple", nested("tuple", nested("dict", leaf, leaf, names=["y", "unused"])), nested("dict", leaf, names=["x"]))
        locations = [("parameter", -1, "layer.w"), ("input_arg", 2, ""), ("constant", 0, ""), ("input_arg", 0, "")]
        meta = {
            "input_locations": [dict(zip(("type_", "position", "name"), location)) for location in locations],
            "input_pytree_spec": json.dumps([1, inputs]),
            "output_pytree_spec": json.dumps([1, nested("list", leaf, nested("tuple", leaf))]),
        }
        with tempfile.TemporaryDirectory() as directory:
            folder = Path(directory)
            with self.assertRaisesRegex(stablo.Error, "is a directory without"):
                stablo.load(folder)
            for name in ("functions", "data", "constants"):
                (folder / name).mkdir()
            (folder / "functions" / "forward.mlir").write_text(text)
            (folder / "functions" / "forward.meta").write_text(json.dumps(meta))
            for name, value in (("data/layer.w", [1, 2, 3]), ("constants/0", 10)):
                with open(folder / name, "wb") as file:
                    np.save(file, np.array(value, np.float32))
            program = stablo.load(folder)
            wrong = [("parameter", -1, name) for name in ("../data/layer.w", str(folder / "data" / "layer.w"), "..", "", "none", 3)]
            wrong += [("constant", position, "") for position in ("../data/layer.w", -1, None, 7)]
            for location in wrong:
                meta["input_locations"][0] = dict(zip(("type_", "position", "name"), location))
                (folder / "functions" / "forward.meta").write_text(json.dumps(meta))
                with self.assertRaisesRegex(stablo.Error, "forward.meta"):
                    stablo.load(folder)
        x, y = np.full(3, 2, np.float32), np.ones(3, np.float32)
        first, (second,) = program({"y": y, "unused": 0}, x=x)
        np.testing.assert_array_equal([first, second], [[2, 4, 6], [11, 11, 11]])
        np.testing.assert_array_equal(program.run(x, y)[0], [2, 4, 6])

    def test_bound_arguments(self) -> None:
        program, w = stablo.parse(Looking.PROGRAM), np.full((3, 5), 2, np.float32)
        bound = program.bind({1: w})
        w[:] = 0
        x = np.ones((2, 3), np.float32)
        for called in (bound, pickle.loads(pickle.dumps(bound))):
            np.testing.assert_array_equal(called(x), np.full((2, 5), -6, np.float32))
        self.assertEqual(len(program.signature.inputs), 2)
        self.assertEqual(len(stablo.parse(TWICE).bind({"n": 3}).signature.inputs), 1)
        self.assertEqual(program.bind({}).text(), program.text())
        for values, message in (({2: w}, "no argument 2"), ({"w": w}, "no argument `w`; @main takes .x: "), ({-1: w}, "no argument -1"), ({0: w}, "tensor<3x5xf32>"), ({0: w.astype(int)}, "int64")):
            with self.assertRaisesRegex(stablo.Error, message):
                program.bind(values)

    def test_compiled_constants(self) -> None:
        product = "func.func @main(%x: tensor<8x160xf32>, %w: tensor<160x128xf32>) -> tensor<8x128xf32> { %0 = stablehlo.dot %x, %w : (tensor<8x160xf32>, tensor<160x128xf32>) -> tensor<8x128xf32> return %0 : tensor<8x128xf32> }"
        random = np.random.default_rng(0)
        x, w = (random.integers(-9, 9, shape).astype(np.float32) for shape in ((8, 160), (160, 128)))
        compiled = stablo.parse(product).bind({"w": w}).compile()
        self.assertIn("stablo.prepacked", compiled.text())
        for program in (compiled, stablo.load(compiled.serialize()), compiled.compile()):
            np.testing.assert_array_equal(program(x), x @ w)

    def test_from_torch(self) -> None:
        try:
            import torch
            import torchax.export
        except (ImportError, AttributeError):
            self.skipTest("torch and torchax are not installed")
        module, x = torch.nn.Linear(3, 4), torch.ones(2, 3)
        expected = module(x).detach().numpy()
        for program in (stablo.from_torch(module, x), stablo.from_torch(torch.export.export(module, (x,)))):
            np.testing.assert_allclose(program(x.numpy()), expected, rtol=1e-6)

    def test_errors_are_data(self) -> None:
        with self.assertRaises(stablo.Error) as caught:
            stablo.parse("func.func @main(%x: tensor<2xf32>) {\n  stablehlo.add %x, %y : tensor<2xf32>\n  return\n}")
        error = caught.exception
        self.assertIn("%x, %y", str(error), "the line of the text")
        self.assertEqual((error.diagnostics[0]["line"], error.diagnostics[0]["severity"]), (2, "error"))

    def test_what_is_not_verified(self) -> None:
        wrong = "func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> { return %x : tensor<2xf32> }"
        with self.assertRaises(stablo.Error):
            stablo.parse(wrong)
        program = stablo.parse(wrong, verify=False)
        with self.assertRaisesRegex(stablo.Error, "tensor<3xf32>"):
            program.verify()
        with self.assertRaises(stablo.Error):
            program.run(np.zeros(2, np.float32))

    def test_files_that_are_no_programs(self) -> None:
        with self.assertRaises(FileNotFoundError):
            stablo.load("/nowhere/there.mlir")
        with self.assertRaisesRegex(FileNotFoundError, "stablo.parse reads"):
            stablo.load("func.func @main() { return }")
        for source in (None, 3, ["x"]):
            with self.assertRaisesRegex(TypeError, f"a path or from bytes, not from {type(source).__name__}"):
                stablo.load(source)
        for text in (None, b"func.func @main() { return }"):
            with self.assertRaisesRegex(TypeError, "stablo.load reads bytes and files"):
                stablo.parse(text)
        with tempfile.TemporaryDirectory() as folder:
            half = Path(folder) / "half.bc"
            half.write_bytes(stablo.parse(TWICE).serialize()[:60])
            for read in (stablo.load, stablo.inspect):
                with self.assertRaisesRegex(stablo.Error, "half.bc: "):
                    read(half)
                with self.assertRaisesRegex(stablo.Error, "is a directory without"):
                    read(folder)
        with self.assertRaisesRegex(stablo.Error, r"found `\\u\{8\}"):
            stablo.load(b"\x08\x07")
        for data in (b"ML\xefR", b"\x00\x01", b"PK\x03\x04", b"\xff\xfe"):
            with self.assertRaises(stablo.Error):
                stablo.load(data)


class Programs(unittest.TestCase):
    def test_signature(self) -> None:
        inputs, outputs = stablo.parse(TWICE).signature
        self.assertEqual(inputs[0], ("x", "tensor<?x2xf32>", "f32", (None, 2)))
        self.assertEqual([value.shape for value in outputs], [(None, 2), ()])

    def test_ops(self) -> None:
        text = """func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
          %0 = stablehlo.transpose %x, dims = [1, 0] {a.flag, a.rate = 0.5 : f32, a.list = ["p", 2]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
          return %0 : tensor<3x2xf32> }"""
        op = next(op for op in stablo.parse(text).ops if op.name == "stablehlo.transpose")
        self.assertEqual(op.attributes, {"permutation": [1, 0], "a.flag": True, "a.rate": 0.5, "a.list": ["p", 2]})
        self.assertEqual((op.operand_types, op.result_types), (["tensor<2x3xf32>"], ["tensor<3x2xf32>"]))
        self.assertEqual(op.depth, 2)
        text = "func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.abs %x : tensor<f32>  %1 = stablehlo.add %0, %x : tensor<f32>  return %1 : tensor<f32> }"
        program = stablo.parse(text)
        ops = {op.name: op for op in program.ops}
        self.assertEqual(ops["stablehlo.add"].operands, [(ops["stablehlo.abs"], 0), None])
        self.assertEqual({op: op.name for op in program.ops}[ops["stablehlo.abs"]], "stablehlo.abs")
        self.assertNotEqual(ops["stablehlo.abs"], stablo.parse(text).ops[2])
        self.assertNotEqual(ops["stablehlo.abs"], "stablehlo.abs")
        self.assertIn("dims = [1, 0]", str(op))

    def test_attributes_of_ops_are_values(self) -> None:
        text = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
          %0 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi16>
          %1 = stablehlo.constant dense<0.5> : tensor<3x2xf32>
          %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
          return %2 : tensor<2x2xf32> }"""
        first, second, dot = (op.attributes for op in stablo.parse(text).ops if op.name.startswith("stablehlo"))
        self.assertEqual((first["value"].dtype, first["value"].tolist()), (np.int16, [[1, 2], [3, 4], [5, 6]]))
        self.assertEqual((second["value"].shape, second["value"].max(), second["value"].flags.writeable), ((3, 2), 0.5, False))
        self.assertEqual(dot["precision_config"], ["HIGH", "DEFAULT"])
        numbers = dot["dot_dimension_numbers"]
        self.assertEqual((numbers["lhs_contracting_dimensions"], numbers["rhs_contracting_dimensions"]), ([1], [0]))
        # As the builder takes them.
        builder = stablo.Builder()

        @builder.function("tensor<2x3xf32>")
        def main(x):  # type: ignore[no-untyped-def]
            return builder.dot_general(x, builder.constant(second["value"]), dot_dimension_numbers=numbers, result_types=["tensor<2x2xf32>"])

        np.testing.assert_array_equal(builder.build()(np.ones((2, 3), np.float32)), np.full((2, 2), 1.5))

    def test_inspect_and_optimize(self) -> None:
        text = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = func.call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
          %1 = stablehlo.constant dense<2.0> : tensor<2xf32>
          %2 = stablehlo.sqrt %1 : tensor<2xf32>
          %3 = stablehlo.multiply %0, %2 : tensor<2xf32>
          return %3 : tensor<2xf32> }
        func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = stablehlo.tan %x : tensor<2xf32>  %1 = stablehlo.tan %x : tensor<2xf32>  %2 = stablehlo.add %0, %1 : tensor<2xf32>
          return %2 : tensor<2xf32> }"""
        program = stablo.parse(text)
        found = program.inspect()
        self.assertEqual((found["ops"]["stablehlo.tan"], found["constants"]["count"], found["oldest_target"]), (2, 1, "1.4.0"))
        self.assertNotIn("format", found)
        simpler = program.optimize()
        names = [op.name for op in simpler.ops]
        self.assertEqual((names.count("stablehlo.tan"), names.count("stablehlo.sqrt"), names.count("func.call"), names.count("func.func")), (1, 0, 0, 1))
        x = np.array([0.3, -2.0], np.float32)
        np.testing.assert_array_equal(simpler(x), program(x))

    def test_changes_make_new_programs(self) -> None:
        program = stablo.parse(TWICE)
        static = program.refine(types="tensor<4x2xf32>, tensor<i32>")
        self.assertEqual(static.signature.outputs[0].shape, (4, 2))
        self.assertEqual(program.signature.inputs[0].shape, (None, 2))
        self.assertEqual(program.refine(batch=3).signature.inputs[0].shape, (3, 2))
        with self.assertRaises(stablo.Error):
            program.refine(types="tensor<4x3xf32>, tensor<i32>")
        same = "func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.negate %x : tensor<f32>  %1 = stablehlo.negate %x : tensor<f32>  %2 = stablehlo.add %0, %1 : tensor<f32>  return %2 : tensor<f32> }"
        self.assertEqual(stablo.parse(same).run_passes("cse").text().count("negate"), 1)
        with self.assertRaisesRegex(stablo.Error, "no-such-pass"):
            program.run_passes("no-such-pass")

    def test_programs_without_main_print(self) -> None:
        functions = "func.func @f() { return } func.func @g() { return }"
        for text, shown in ((functions, "of the functions ['f', 'g']"), ("", "without functions")):
            self.assertIn(shown, repr(stablo.parse(text)))
            self.assertIn("<iframe", stablo.parse(text)._repr_html_())

    def test_numbers_of_threads_and_runs(self) -> None:
        program = stablo.parse(unary("stablehlo.abs", "tensor<f32>"))
        for attempt, message in (
            (lambda: program.with_threads(0), "at least one thread, not 0"),
            (lambda: program.with_threads(-1), "at least one thread, not -1"),
            (lambda: program.profile(1.0, runs=0), "at least one run, not of 0"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                attempt()

    def test_pickle(self) -> None:
        program = pickle.loads(pickle.dumps(stablo.parse(TWICE)))
        self.assertEqual(program(np.ones((1, 2), np.float32), 3)[1], 3)


class Running(unittest.TestCase):
    def test_arguments_at_fault_are_named(self) -> None:
        two = stablo.parse("func.func @main(%x: tensor<2xf32> loc(\"x\"), %n: tensor<i8> loc(\"n\")) -> tensor<i8> { return %n : tensor<i8> }")
        x, takes = [1, 2], r"the program takes \(x: tensor<2xf32>, n: tensor<i8>\)"
        attempts = [
            ((), {}, f"0 arguments are given, but not argument 0 .x.; {takes}"),
            ((x,), {}, f"1 argument is given, but not argument 1 .n.; {takes}"),
            ((x, 1, 2), {}, f"3 arguments are given; {takes}"),
            ((x,), {"m": 1}, r"no argument `m`; @main takes \(x: tensor<2xf32>, n: tensor<i8>\)"),
            ((), {"n": 1}, f"1 argument is given, but not argument 0 .x.; {takes}"),
            ((x, 1), {"x": x}, "argument 0 .x. is given twice"),
            ((x, 1.5), {}, "argument 1 .n. is a tensor<i8>, which 1.5 does not make: no value of int8"),
            ((x, [300]), {}, r"argument 1 .n. is a tensor<i8>, which \[300\] does not make"),
            ((x, 1j), {}, "argument 1 .n. is a tensor<i8>, which 1j does not make"),
            (([[1], [2, 3]], 1), {}, "argument 0 .x. is a tensor<2xf32>, which .* does not make"),
            ((None, 1), {}, "argument 0 .x. .* None was given"),
            (({}, 1), {}, "argument 0 .x. .* {} was given"),
            ((np.ones(2), 1), {}, "argument 0 .x. .* elements of float32; an array of float64 was given"),
        ]
        for given, named, message in attempts:
            for run in (two, two.run, two.trace, two.profile):
                with self.assertRaisesRegex(stablo.Error, message):
                    run(*given, **named)
        np.testing.assert_array_equal(two(x, 3.0), np.int8(3), "no part of the number is lost")
        boolean = stablo.parse(unary("stablehlo.not", "tensor<2xi1>"))
        np.testing.assert_array_equal(boolean([1, False]), [False, True])
        with self.assertRaisesRegex(stablo.Error, "values of bool"):
            boolean([2, 0])
        large = stablo.parse(unary("stablehlo.not", "tensor<ui64>"))
        self.assertEqual(int(large(2**64 - 1)), 0)
        narrow = stablo.parse(unary("stablehlo.abs", "tensor<2xi4>"))
        try:
            import ml_dtypes as _
        except ImportError:
            return
        np.testing.assert_array_equal(narrow([-7, 7]).astype(int), [7, 7])
        for values in ([9, 0], [1.5, 0]):
            with self.assertRaisesRegex(stablo.Error, "values of int4"):
                narrow(values)

    def test_arguments(self) -> None:
        program, x = stablo.parse(TWICE), np.arange(6, dtype=np.float32).reshape(3, 2)
        for results in (program.run(x, 5), program(x, n=5), program(n=5, x=x), program.run(x.tolist(), np.int32(5))):
            np.testing.assert_array_equal(results[0], 2 * x)
            self.assertEqual((results[1].dtype, results[1].shape, int(results[1])), (np.int32, (), 5))
        np.testing.assert_array_equal(program(np.asfortranarray(x)[::-1], 5)[0], 2 * x[::-1])
        results[0][0, 0] = 7  # Results are the caller's.

    def test_results_own_their_memory(self) -> None:
        x = np.ones(3, np.float32)
        same = "func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) { return %x, %x : tensor<3xf32>, tensor<3xf32> }"
        first, second = stablo.parse(same)(x)
        x[0] = first[1] = second[2] = 5
        np.testing.assert_array_equal([x, first, second], [[5, 1, 1], [1, 5, 1], [1, 1, 5]])
        constant = stablo.parse("func.func @main() -> tensor<2xf32> { %0 = stablehlo.constant dense<2.0> : tensor<2xf32>  return %0 : tensor<2xf32> }")
        constant()[0] = 7
        np.testing.assert_array_equal(constant(), [2, 2])
        empty = stablo.parse(unary("stablehlo.abs", "tensor<0x2xf32>"))(np.ones((0, 2), np.float32))
        self.assertEqual(empty.shape, (0, 2))
        shared = np.from_dlpack(first)
        self.assertTrue(np.shares_memory(shared, first))

    def test_buffers_are_arguments(self) -> None:
        program = stablo.parse(unary("stablehlo.negate", "tensor<2xf32>"))
        x = np.array([1, 2], np.float32)

        class Exchanged:
            def __dlpack__(self, **options: object) -> object:
                return x.__dlpack__(**options)

            def __dlpack_device__(self) -> object:
                return x.__dlpack_device__()

        unaligned = np.frombuffer(b"_" + x.tobytes(), np.float32, offset=1)
        swapped = x.astype(x.dtype.newbyteorder())
        readonly = np.frombuffer(x.tobytes(), np.float32)
        for given in (x, memoryview(x), array.array("f", [1, 2]), Exchanged(), unaligned, swapped, readonly):
            np.testing.assert_array_equal(program(given), [-1, -2])

    def test_quantized_arguments_are_as_they_are_stored(self) -> None:
        ty = "tensor<3x!quant.uniform<i8:f32, 0.5:-1>>"
        program = stablo.parse(unary("stablehlo.negate", ty))
        self.assertEqual(program.signature.inputs[0].dtype, "i8")
        # (q + 1) / 2 is -(r + 1) / 2, or the end of the range.
        result = program(np.array([0, 5, 127], np.int8))
        np.testing.assert_array_equal(result, np.array([-2, -7, -128], np.int8))
        np.testing.assert_array_equal(program([0, 5, 127]), result)

    def test_arrays_of_dlpack_that_numpy_does_not_read(self) -> None:
        try:
            import jax.numpy
        except ImportError:
            self.skipTest("no jax")

        class Foreign:
            """As tensors of PyTorch: NumPy cannot read it."""

            def __init__(self, array):  # type: ignore[no-untyped-def]
                self.array = array

            def __array__(self, *_: object, **__: object):  # type: ignore[no-untyped-def]
                raise TypeError("unsupported")

            def __dlpack__(self, **_: object):  # type: ignore[no-untyped-def]
                return self.array.__dlpack__()

        for dtype in (jax.numpy.bfloat16, jax.numpy.float8_e4m3fn):
            name = {"bfloat16": "bf16", "float8_e4m3fn": "f8E4M3FN"}[np.dtype(dtype).name]
            given = jax.numpy.array([[1.5, -2.0, 4.0], [0.5, 3.0, -1.0]], dtype)
            result = stablo.parse(unary("stablehlo.negate", f"tensor<2x3x{name}>"))(Foreign(given))
            np.testing.assert_array_equal(result.astype(np.float32), -np.asarray(given).astype(np.float32))
        with self.assertRaisesRegex(stablo.Error, "an array of bfloat16 was given"):
            stablo.parse(unary("stablehlo.negate", "tensor<1xf8E4M3FN>"))(Foreign(jax.numpy.ones(1, jax.numpy.bfloat16)))

    def test_wrong_arguments(self) -> None:
        program, x = stablo.parse(TWICE), np.ones((3, 2), np.float32)
        with self.assertRaisesRegex(stablo.Error, "tensor<3x3xf32>"):
            program.run(np.ones((3, 3), np.float32), 1)
        with self.assertRaises(stablo.Error) as caught:
            program.run(x)
        self.assertEqual(list(caught.exception.diagnostics), [])

    def test_element_types(self) -> None:
        for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"):
            from stablo._arrays import _NAMES

            x = np.array([0, 1, 100], name)
            ty = f"tensor<3x{_NAMES[name]}>"
            doubled = stablo.parse(f"func.func @main(%x: {ty}) -> {ty} {{ %0 = stablehlo.add %x, %x : {ty}  return %0 : {ty} }}")(x)
            np.testing.assert_array_equal(doubled, x + x, strict=True)
        np.testing.assert_array_equal(stablo.parse(unary("stablehlo.not", "tensor<2xi1>"))([True, False]), [False, True], strict=True)
        z = np.array([1 + 2j, -3j], np.complex64)
        np.testing.assert_array_equal(stablo.parse(unary("stablehlo.negate", "tensor<2xcomplex<f32>>"))(z), -z, strict=True)

    def test_types_of_ml_dtypes(self) -> None:
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        from stablo._arrays import _NAMES

        for name, ty in _NAMES.items():
            if hasattr(np, name) or not hasattr(ml_dtypes, name):
                continue
            x = np.array([0, 1], getattr(ml_dtypes, name)) if "e8m0" not in name else np.array([1, 2], getattr(ml_dtypes, name))
            same = stablo.parse(f"func.func @main(%x: tensor<2x{ty}>) -> tensor<2x{ty}> {{ return %x : tensor<2x{ty}> }}")(x)
            self.assertEqual((same.dtype, same.tobytes()), (x.dtype, x.tobytes()), name)

    def test_results_do_not_depend_on_threads(self) -> None:
        ty, x = "tensor<300x300xf32>", np.random.default_rng(1).standard_normal((300, 300), np.float32)
        program = stablo.parse(f"func.func @main(%x: {ty}) -> {ty} {{ %0 = stablehlo.dot %x, %x : ({ty}, {ty}) -> {ty}  return %0 : {ty} }}")
        single = pickle.loads(pickle.dumps(program.with_threads(1)))
        np.testing.assert_array_equal(single(x), program(x))
        # Half a unit in the last place for each of 300 sums, which stay below 300.
        np.testing.assert_allclose(program(x), x @ x, rtol=0, atol=300 * 300 * 2**-24)

    def test_threads_share_everything(self) -> None:
        """Programs that are made, read, changed and run by several threads at a time."""
        x, y = np.full((2, 3), 2, np.float32), np.ones((3, 5), np.float32)
        shared, barrier, failures = stablo.parse(Looking.PROGRAM), threading.Barrier(8), []

        def work(number: int) -> None:
            try:
                barrier.wait()
                for _ in range(3):
                    np.testing.assert_array_equal(shared(x, y), np.full((2, 5), -6, np.float32))
                    program = shared.run_passes("stablehlo-legalize-deprecated-ops{fail-on-unused=false}") if number % 2 else stablo.load(shared.bytecode())
                    np.testing.assert_array_equal(program(x, y), np.full((2, 5), -6, np.float32))
                    self.assertEqual(shared.trace(x, y)[1].op.name, "stablehlo.negate")
                    self.assertEqual(len(shared.signature.inputs), 2)
                    self.assertGreater(shared.profile(x, y).seconds, 0)
                    with self.assertRaises(stablo.Error):
                        stablo.parse("func.func @main() { what }")
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_threads_share_a_program(self) -> None:
        program, results = stablo.parse(TWICE), {}

        def run(i: int) -> None:
            results[i] = program(np.full((2, 2), i, np.float32), i)

        threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i in range(8):
            np.testing.assert_array_equal(results[i][0], np.full((2, 2), 2 * i))

    @unittest.skipUnless(hasattr(signal, "setitimer"), "signals of POSIX")
    def test_signals_stop_a_run(self) -> None:
        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            with self.assertRaises(KeyboardInterrupt):
                stablo.parse(SPIN).run(1)
        finally:
            signal.signal(signal.SIGALRM, before)


    @unittest.skipUnless(hasattr(signal, "setitimer"), "signals of POSIX")
    def test_signals_stop_loops_of_any_kind(self) -> None:
        # In scalar code, in kernels, and in functions that loops call.
        loop = """func.func @main(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{
          %0 = stablehlo.while(%i = %x) : tensor<{n}xf32>
            cond {{ %c = stablehlo.constant dense<true> : tensor<i1>  stablehlo.return %c : tensor<i1> }}
            do {{ %1 = func.call @f(%i) : (tensor<{n}xf32>) -> tensor<{n}xf32>  stablehlo.return %1 : tensor<{n}xf32> }}
          return %0 : tensor<{n}xf32> }}
        func.func private @f(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{
          %0 = stablehlo.sine %x : tensor<{n}xf32>  return %0 : tensor<{n}xf32> }}"""

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        short = stablo.parse(unary("stablehlo.negate", "tensor<f32>"))
        before = signal.signal(signal.SIGALRM, stop)
        try:
            for n in (1, 1000, 100_000):
                found: list[object] = []
                other = threading.Thread(target=lambda: found.append(short(2.0)))
                signal.setitimer(signal.ITIMER_REAL, 0.1)
                start = time.perf_counter()
                other.start()
                with self.assertRaises(KeyboardInterrupt):
                    stablo.parse(loop.format(n=n)).run(np.ones(n, np.float32))
                self.assertLess(time.perf_counter() - start, 5)
                while not found:
                    time.sleep(0.001)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


class Into(unittest.TestCase):
    """Results in arrays of the caller."""

    PROGRAM = """
func.func @main(%x: tensor<40x50xf32> loc("x")) -> (tensor<40x50xf32>, tensor<50x40xf32>) {
  %0 = stablehlo.add %x, %x : tensor<40x50xf32>
  %1 = stablehlo.transpose %x, dims = [1, 0] : (tensor<40x50xf32>) -> tensor<50x40xf32>
  return %0, %1 : tensor<40x50xf32>, tensor<50x40xf32>
}"""

    def setUp(self) -> None:
        self.x = np.arange(2000, dtype=np.float32).reshape(40, 50)

    def test_results_are_the_arrays_given(self) -> None:
        program = stablo.parse(self.PROGRAM)
        twice, transposed = np.empty((40, 50), np.float32), np.empty((50, 40), np.float32)
        for run in (lambda: program(self.x, out=(twice, transposed)), lambda: program.run(x=self.x.tolist(), out=[twice, transposed])):
            found = run()
            self.assertIs(found[0], twice)
            self.assertIs(found[1], transposed)
            np.testing.assert_array_equal(twice, 2 * self.x)
            np.testing.assert_array_equal(transposed, self.x.T)
            twice[:] = transposed[:] = 0

    def test_one_result_is_one_array(self) -> None:
        program = stablo.parse(unary("stablehlo.negate", "tensor<3xi16>"))
        out = np.zeros(3, np.int16)
        self.assertIs(program(np.array([1, 2, 3], np.int16), out=out), out)
        self.assertEqual(out.tolist(), [-1, -2, -3])

    def test_arrays_without_dimensions(self) -> None:
        program = stablo.parse(unary("stablehlo.negate", "tensor<i16>"))
        given, out = np.array(3, np.int16), np.array(0, np.int16)
        self.assertIs(program(given, out=out), out)
        self.assertEqual(out[()], -3)
        self.assertEqual(program(given).shape, ())
        with self.assertRaises(stablo.Error):
            program(np.array([3], np.int16))
        with self.assertRaises(stablo.Error):
            program(np.array(3, np.int32))

    def test_arrays_in_any_order(self) -> None:
        program = stablo.parse(self.PROGRAM)
        memory = np.zeros((100, 40), np.float32)
        twice, transposed = np.asfortranarray(np.zeros((40, 50), np.float32)), memory[::2]
        program(self.x, out=(twice, transposed))
        np.testing.assert_array_equal(twice, 2 * self.x)
        np.testing.assert_array_equal(memory[::2], self.x.T)
        self.assertFalse(memory[1::2].any())

    def test_columns_of_one_array(self) -> None:
        program = stablo.parse("func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) { return %x, %x : tensor<3xf32>, tensor<3xf32> }")
        memory = np.zeros((3, 2), np.float32)
        program(np.array([1, 2, 3], np.float32), out=(memory[:, 0], memory[:, 1]))
        self.assertEqual(memory.tolist(), [[1, 1], [2, 2], [3, 3]])

    def test_arrays_without_elements(self) -> None:
        for dtype, name in ((np.float32, "f32"), (np.complex128, "complex<f64>"), (np.int64, "i64")):
            program = stablo.parse(unary("stablehlo.negate", f"tensor<0x3x{name}>"))
            out = np.zeros((0, 3), dtype)
            self.assertIs(program(np.zeros((0, 3), dtype), out=out), out)

    def test_truth_values_as_numpy_reads_them(self) -> None:
        program = stablo.parse(unary("stablehlo.not", "tensor<4xi1>"))
        given, out = np.array([0, 1, 2, 255], np.uint8).view(np.bool_), np.zeros(4, np.bool_)
        for found in (program(given), program(given, out=out)):
            self.assertEqual(found.tolist(), [True, False, False, False])

    def test_results_may_be_where_arguments_are(self) -> None:
        program = stablo.parse(unary("stablehlo.reverse", "tensor<2000xf32>").replace(" : tensor<2000xf32>  ", ", dims = [0] : tensor<2000xf32> "))
        memory = np.arange(2001, dtype=np.float32)
        program(memory[:2000], out=memory[1:])
        np.testing.assert_array_equal(memory, [0, *range(1999, -1, -1)])

    def test_other_memory_that_can_be_written(self) -> None:
        program = stablo.parse(unary("stablehlo.negate", "tensor<3xf64>"))
        for out in (array.array("d", bytes(24)), memoryview(bytearray(24)).cast("d")):
            self.assertIs(program([1.0, 2.0, 3.0], out=out), out)
            self.assertEqual(list(out), [-1.0, -2.0, -3.0])

        class Foreign:
            def __init__(self, memory: np.ndarray) -> None:  # type: ignore[type-arg]
                self.memory = memory

            def __dlpack__(self, **options: object):  # type: ignore[no-untyped-def]
                return self.memory.__dlpack__(**options)

        memory = np.zeros((3, 2))
        try:
            memory.__dlpack__(max_version=(1, 0))
        except TypeError:
            self.skipTest("this NumPy has arrays of DLPack without version")
        program(np.ones(3), out=Foreign(memory[:, 0]))
        self.assertEqual(memory.tolist(), [[-1.0, 0.0]] * 3)
        memory.flags.writeable = False
        with self.assertRaisesRegex(stablo.Error, "no array that can be written"):
            program(np.ones(3), out=Foreign(memory[:, 1]))

    def test_types_of_ml_dtypes(self) -> None:
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        out = np.zeros(2, ml_dtypes.bfloat16)
        stablo.parse(unary("stablehlo.negate", "tensor<2xbf16>"))([1.0, -2.0], out=out)
        self.assertEqual(out.tolist(), [-1.0, 2.0])

    def test_dynamic_results(self) -> None:
        program, out = stablo.parse(TWICE), (np.zeros((3, 2), np.float32), np.zeros((), np.int32))
        program(np.ones((3, 2), np.float32), 7, out=out)
        self.assertEqual((out[0].tolist(), int(out[1])), ([[2.0, 2.0]] * 3, 7))
        with self.assertRaisesRegex(stablo.Error, "tensor<4x2xf32>, the output given a tensor<3x2xf32>"):
            program(np.ones((4, 2), np.float32), 7, out=out)

    def test_mistakes_write_nothing(self) -> None:
        program = stablo.parse(self.PROGRAM)
        first, second = np.ones((40, 50), np.float32), np.ones((50, 40), np.float32)
        read_only = np.ones((50, 40), np.float32)
        read_only.flags.writeable = False
        memory, rows = np.ones(2001, np.float32), np.ones((80, 50), np.float32)
        for out, message in (
            (first, "1 array is given for the results"),
            ((first, second, second), "3 arrays are given"),
            ((first, second.astype(np.float64)), "an array of float64 was given"),
            ((first, first.copy()), "result 1 of @main has type tensor<50x40xf32>"),
            ((first, first), "results 0 and 1 share memory"),
            ((first, read_only), "no array that can be written"),
            ((first, [0.0]), r"\[0.0\], is no array"),
            ((first, np.ma.array(second, mask=False)), "no array that can be written"),
            ((memory[:2000].reshape(40, 50), memory[1:].reshape(50, 40)), "results 0 and 1 share memory"),
            ((rows[::2], rows[1:].reshape(50, 79)[:, :40]), "results 0 and 1 share memory"),
        ):
            with self.assertRaisesRegex(stablo.Error, message):
                program(self.x, out=out)
        with self.assertRaisesRegex(stablo.Error, "argument"):
            program(self.x[1:], out=(first, second))
        self.assertTrue(all((array == 1).all() for array in (first, second, read_only, memory, rows)))


class Package(unittest.TestCase):
    def test_examples(self) -> None:
        for module in (stablo, compat, stablo._builder, stablo._trees, stablo._jax):
            self.assertEqual(doctest.testmod(module).failed, 0, module.__name__)

    def test_versions(self) -> None:
        self.assertEqual(compat.get_minimum_version(), "0.9.0")
        self.assertEqual(compat.get_smaller_version("1.10.0", "1.9.3"), "1.9.3")
        requirement = compat.StablehloCompatibilityRequirement
        self.assertEqual(compat.get_version_from_compatibility_requirement(requirement.MAX), "0.9.0")
        with self.assertRaises(ValueError):
            compat.get_smaller_version("1.10", "x")

    def test_compat_runs_and_probes(self) -> None:
        text = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = interpreter.probe %x, probe_id = "x" : tensor<2xf32>
          %1 = stablehlo.negate %0 : tensor<2xf32>
          return %1 : tensor<2xf32> }"""
        x = np.array([1, -2], np.float32)
        with tempfile.TemporaryDirectory() as folder:
            for given in (text, stablo.parse(text).bytecode(), stablo.parse(text)):
                (result,) = compat.eval_module(given, [x], probe_instrumentation_dir=folder)
                np.testing.assert_array_equal(result, -x)
                np.testing.assert_array_equal(np.load(Path(folder) / "probe1_x.npy"), x)
        np.testing.assert_array_equal(compat.eval_module(text, [x])[0], -x)
        plain = unary("stablehlo.negate", "tensor<2xf32>")
        artifact = compat.serialize_portable_artifact(plain, "1.0.0")
        self.assertEqual(artifact, compat.serialize_portable_artifact_str(plain, "1.0.0"))
        self.assertEqual(compat.deserialize_portable_artifact(None, artifact), str(stablo.parse(plain)))
        with self.assertRaisesRegex(ValueError, "interpreter.probe"):
            compat.serialize_portable_artifact(text, "1.0.0")

    @unittest.skipUnless(sysconfig.get_config_var("Py_GIL_DISABLED"), "not a free-threaded interpreter")
    def test_free_threading(self) -> None:
        code = "import sys, numpy; before = sys._is_gil_enabled(); import stablo; print(before, sys._is_gil_enabled())"
        self.assertEqual(subprocess.check_output([sys.executable, "-c", code], text=True).split(), ["False", "False"])

    def test_command_line(self) -> None:
        def tool(*arguments: str) -> "subprocess.CompletedProcess[str]":
            return subprocess.run([sys.executable, "-m", "stablo", *arguments], capture_output=True, text=True)

        self.assertIn("stablo", tool("--version").stdout)
        missing = tool("check", "/nowhere/there.mlir")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("/nowhere/there.mlir", missing.stderr)
        self.assertEqual(tool("no-such-command").returncode, 2)

    def test_artifacts_as_jaxlib_writes_them(self) -> None:
        try:
            from jaxlib.mlir.dialects import stablehlo
        except ImportError:
            self.skipTest("jaxlib is not installed")
        text = unary("stablehlo.tan", "tensor<2xf32>")
        for version in ("1.4.0", "1.10.0", stablehlo.get_current_version()):
            ours = compat.serialize_portable_artifact_str(text, version)
            self.assertEqual(ours, stablehlo.serialize_portable_artifact_str(text, version))
            self.assertEqual(stablo.load(stablehlo.deserialize_portable_artifact_str(ours)).text(), stablo.parse(text).text())


if __name__ == "__main__":
    unittest.main()
