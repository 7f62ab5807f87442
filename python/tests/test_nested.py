"""Tests of functions that take and return nested arrays, as `jax.export` writes them."""

import collections
import dataclasses
import pickle
import subprocess  # Files name it, too.
import unittest
from pathlib import Path

import numpy as np

import stablo


Point = collections.namedtuple("Point", ["x", "y"])


@dataclasses.dataclass
class Pair:
    first: object
    second: object


def unary(op: str, ty: str) -> str:
    return f"func.func @main(%x: {ty}) -> {ty} {{ %0 = {op} %x : {ty}  return %0 : {ty} }}"


DATA = Path(__file__).parents[2] / "tests" / "portable" / "data"


class Nested(unittest.TestCase):
    """`dense_layer.jax` is `f({'b', 'w'}, x) = tanh(x @ w + b), (sum,)`, of the trees `(({'b': *, 'w': *}, *), {})` and `(*, (*,))`."""

    b, w, x = np.arange(4, dtype=np.float32), np.full((8, 4), 0.25, np.float32), np.full((3, 8), 0.5, np.float32)

    def test_exported_functions_are_called_as_they_were(self) -> None:
        program = stablo.load(DATA / "dense_layer.jax")
        flat = program.run(self.b, self.w, self.x)
        for program in (program, program.refine({"b": 3}), pickle.loads(pickle.dumps(program))):
            for arguments in (({"w": self.w, "b": self.b}, self.x), (self.b, self.w, self.x)):
                y, (total,) = program(*arguments)
                np.testing.assert_array_equal(y, flat[0])
                np.testing.assert_array_equal(total, flat[1])
        self.assertIsInstance(program({"w": self.w, "b": self.b}, self.x)[1], tuple)

    def test_nested_arguments_that_are_bound(self) -> None:
        program = stablo.load(DATA / "dense_layer.jax").refine({"b": 3})
        y, (total,) = program({"w": self.w, "b": self.b}, self.x)
        numbers = {value.shape: number for number, value in enumerate(program.signature.inputs)}
        b, w, x = numbers[4,], numbers[8, 4], numbers[3, 8]
        cases = [
            ({b: self.b}, ({"w": self.w}, self.x)),
            ({w: self.w, b: self.b}, (self.x,)),
            ({x: self.x}, ({"w": self.w, "b": self.b},)),
            ({w: self.w, b: self.b, x: self.x}, ()),
        ]
        for values, left in cases:
            bound = program.bind(values)
            for callee in (bound, pickle.loads(pickle.dumps(bound))):
                found, (sums,) = callee(*left)
                np.testing.assert_array_equal(found, y)
                np.testing.assert_array_equal(sums, total)
        with self.assertRaisesRegex(stablo.Error, r"\(\{'w': \*\}, \*\)"):
            program.bind({b: self.b})({"w": self.w, "b": self.b}, self.x)
        found, _ = program.bind({b: self.b}).bind({w - 1: self.w})(self.x)
        np.testing.assert_array_equal(found, y)

    def test_trees_of_what_is_left(self) -> None:
        from stablo._trees import Convention, Custom

        # The program takes the arrays 0, 2, 3 and 5 of six: 1 and 4 are not used.
        inputs = ((..., [..., {"k": ...}], {"p": ..., "q": ...}), {"s": (Custom("C", b"", (...,)),)})
        convention = Convention(inputs, ..., [0, 2, 3, 5])
        for numbers, text, given, taken in [
            ([], "*, [*, {'k': *}], {'p': *, 'q': *}, s=(C(*),)", ((0, [1, {"k": 2}], {"p": 3, "q": 4}), {"s": ((5,),)}), [0, 2, 3, 5]),
            ([0], "[*, {'k': *}], {'p': *, 'q': *}, s=(C(*),)", (([1, {"k": 2}], {"p": 3, "q": 4}), {"s": ((5,),)}), [2, 3, 5]),
            ([1, 2], "*, s=(C(*),)", ((0,), {"s": ((5,),)}), [0, 5]),
            ([0, 3], "[*, {'k': *}], {'p': *, 'q': *}", (([1, {"k": 2}], {"p": 3, "q": 4}), {}), [2, 3]),
        ]:
            bound = convention.bound(numbers)
            self.assertEqual((str(bound), bound.flatten(*given)), (text, taken))
        # Places in lists remain.
        pair = Convention((([..., ...],), {}), ..., [0, 1]).bound([0])
        self.assertEqual((str(pair), pair.flatten(([7, 8],), {})), ("[*, *]", [8]))

    def test_other_nesting(self) -> None:
        program = stablo.load(DATA / "dense_layer.jax")
        for arguments in (({"w": self.w}, self.x), ({"w": self.w, "b": self.b},), ([self.w, self.b], self.x), (None, self.x)):
            with self.assertRaisesRegex(stablo.Error, r"\(\{'b': \*, 'w': \*\}, \*\)"):
                program(*arguments)
        with self.assertRaises(stablo.Error):
            program.run({"w": self.w, "b": self.b}, self.x)

    def test_trees(self) -> None:
        from stablo._trees import Convention, Custom

        inputs = ((..., [None, {"k": ...}]), {"s": (Custom("C", b"", (..., ...)),)})
        convention = Convention(inputs, {"r": [...], "n": None}, [0, 2, 3])
        self.assertEqual(convention.flatten((1, [None, {"k": 2}]), {"s": ((3, 4),)}), [1, 3, 4])
        for arguments, named in [((1, [None, {"k": 2}]), {}), ((1, [0, {"k": 2}]), {"s": ((3, 4),)}), ((1, (None, {"k": 2})), {"s": ((3, 4),)})]:
            self.assertIsNone(convention.flatten(arguments, named))
        self.assertEqual(convention.unflatten([7]), {"r": [7], "n": None})
        self.assertEqual(str(convention), "*, [None, {'k': *}], s=(C(*, *),)")

    def test_classes(self) -> None:
        from stablo._trees import Convention, Custom

        module = __name__
        self.assertTrue(callable(subprocess.Popen))
        ordered = Custom("collections.OrderedDict", b'["b", "a"]', (..., ...))
        made = [(Custom(f"{module}.Point", b'["x", "y"]', (..., ...)), Point(1, 2)), (ordered, collections.OrderedDict(b=1, a=2))]
        # Others stay tuples: no class, not imported, other fields, or code that runs when it is made.
        names = ["nowhere.Point", "Point", *(f"{module}.{name}" for name in ("Other", "unary", "Pair")), "subprocess.Popen", "numpy.f2py"]
        made += [(Custom(name, b'["x", "y"]', (..., ...)), (1, 2)) for name in names]
        made += [(Custom(f"{module}.Point", data, (..., ...)), (1, 2)) for data in (b'["y", "x"]', b"?", b"[" * 100000, b'["x"]')]
        made.append((Custom("subprocess.Popen", b'["args", "bufsize"]', (..., ...)), (1, 2)))
        for tree, value in made:
            convention = pickle.loads(pickle.dumps(Convention(((tree,), {}), tree, [0, 1])))
            found = convention.unflatten([1, 2])
            self.assertEqual((type(found), found), (type(value), value))
            for given in (value, (1, 2), [1, 2]):
                self.assertEqual(convention.flatten((given,), {}), [1, 2])
            for given in ((1, 2, 3), {"x": 1, "y": 2}, collections.OrderedDict(a=1, b=2), 1):
                self.assertIsNone(convention.flatten((given,), {}), (tree, given))

    def test_raw_types(self) -> None:
        program = stablo.parse(unary("stablehlo.abs", "tensor<2xf16>"))
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        for other in (np.zeros(2, ml_dtypes.bfloat16), np.zeros(2, "V2"), np.zeros(2, [("x", "i2")])):
            with self.assertRaisesRegex(stablo.Error, "was given"):
                program.run(other)

    def test_classes_of_jax(self) -> None:
        try:
            import jax
        except ImportError:
            self.skipTest("jax is not installed")
        jax.tree_util.register_dataclass(Pair, data_fields=["first", "second"], meta_fields=[])
        # Under a name that says nothing about the class.
        jax.export.register_pytree_node_serialization(Pair, serialized_name="pair", serialize_auxdata=lambda _: b"", deserialize_auxdata=lambda _: ())
        exported = jax.export.export(jax.jit(lambda pair: Pair(pair.second, pair.first)))(Pair(np.float32(1), np.float32(2)))
        program = stablo.from_exported(exported)
        for callee in (program, pickle.loads(pickle.dumps(program))):
            found = callee(Pair(np.float32(1), np.float32(2)))
            self.assertIsInstance(found, Pair)
            self.assertEqual((found.first, found.second), (2, 1))

    def test_functions_of_jax(self) -> None:
        try:
            import jax
        except ImportError:
            self.skipTest("jax is not installed")
        function = lambda params, unused, *, scale: {"y": [params["w"] * scale, None], "z": (params["b"],)}
        x, scale = {"w": np.ones(3, np.float32), "b": np.full(2, 5, np.float32)}, np.float32(4)
        shapes = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), (x, scale))
        exported = jax.export.export(jax.jit(function))(shapes[0], shapes[1], scale=shapes[1])
        program = stablo.from_exported(exported)
        found, expected = program(x, scale, scale=scale), function(x, scale, scale=scale)
        self.assertEqual(jax.tree.structure(found), jax.tree.structure(expected))
        jax.tree.map(np.testing.assert_array_equal, found, expected)
