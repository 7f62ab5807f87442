"""Tests of programs of JAX functions: they are called as the functions are, and compute what jax computes."""

import builtins
import collections
import dataclasses
import functools
import pickle
import sys
import unittest
from typing import Any
from unittest import mock

import numpy as np

import stablo

try:
    import jax
    import jax.numpy as jnp
    from jax import export
except ImportError:
    raise unittest.SkipTest("jax is not installed") from None

Point = collections.namedtuple("Point", ["x", "y"])


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    step: Any
    key: Any = None


class Unregistered:
    """A class that jax takes apart, but cannot serialize."""

    def __init__(self, value: Any, name: str) -> None:
        self.value, self.name = value, name


jax.tree_util.register_pytree_node(Unregistered, lambda made: ((made.value,), made.name), lambda name, parts: Unregistered(parts[0], name))


class Module:
    """As modules of Equinox: a leaf is a function."""

    def __init__(self, weight: Any, activation: Any) -> None:
        self.weight, self.activation = weight, activation

    def __call__(self, x: Any) -> Any:
        return self.activation(x @ self.weight)


jax.tree_util.register_pytree_with_keys(
    Module,
    lambda made: ([(jax.tree_util.GetAttrKey(name), getattr(made, name)) for name in ("weight", "activation")], None),
    lambda _, parts: Module(*parts),
)


def random(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


class OfJax(unittest.TestCase):
    def same(self, found: Any, expected: Any, rtol: float = 1e-5) -> None:
        """Compares nested values; sums of a few numbers may be rounded in another order."""
        self.assertEqual(jax.tree.structure(found), jax.tree.structure(expected))
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
            if jax.dtypes.issubdtype(other.dtype, jax.dtypes.prng_key):
                self.assertEqual(jax.random.key_impl(one), jax.random.key_impl(other))
                one, other = jax.random.key_data(one), jax.random.key_data(other)
            one, other = np.asarray(one), np.asarray(other)
            self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
            if one.dtype.kind in "biu":
                np.testing.assert_array_equal(one, other)
            elif one.dtype.names is None:
                np.testing.assert_allclose(one.astype(np.complex64), other.astype(np.complex64), rtol=rtol, atol=1e-5)

    def check(self, function: Any, *arguments: Any, rtol: float = 1e-5, **keywords: Any) -> stablo.Program:
        program = stablo.from_jax(function, *arguments, **keywords)
        jitted = function if isinstance(function, jax.stages.Wrapped) else jax.jit(function)
        self.same(program(*arguments, **keywords), jitted(*arguments, **keywords), rtol)
        return program

    def test_nothing_is_serialized(self) -> None:
        real = builtins.__import__

        def without(name: str, *rest: Any) -> Any:
            if name.split(".")[0] == "flatbuffers":
                raise ImportError(name)
            return real(name, *rest)

        with mock.patch("builtins.__import__", without), mock.patch.object(export.Exported, "serialize", None):
            self.check(jnp.linalg.qr, random(3, 3), rtol=1e-3)
            made = stablo.from_exported(export.export(jax.jit(lambda a: Unregistered(a.value, "b")))(Unregistered(np.float32(2), "a")))
        found = made(Unregistered(np.float32(3), "a"))
        self.assertEqual((found.value, found.name), (3, "b"))

    def test_nested_values(self) -> None:
        one, two = np.float32(1), np.float32(2)
        self.check(lambda p: Point(p.y, p.x), Point(one, two))
        self.check(lambda s: State(s.step + 1), State(one))
        self.check(lambda d: collections.OrderedDict(z=d["a"], a=d["b"]), collections.OrderedDict(b=one, a=two))
        self.check(lambda d: {2: d[1], 5: [d[7], (None,)]}, {1: one, 7: two})
        self.check(lambda p, unused, *, scale: {"y": p["w"] * scale, "n": None}, {"w": one, "b": two}, None, scale=two)
        self.check(lambda x, y: x - y, one, y=two)
        self.check(lambda: jnp.arange(3.0))
        self.check(lambda x: (), one)
        for function in (jnp.linalg.slogdet, jnp.linalg.eigh):
            self.check(function, random(4, 4) @ random(4, 4).T + 4 * np.eye(4, dtype=np.float32), rtol=1e-3)

    def test_optimizers(self) -> None:
        try:
            import optax
        except ImportError:
            self.skipTest("optax is not installed")
        parameters, x, y = {"w": random(4, 2), "b": random(2)}, random(5, 4), random(5, 2)
        for optimizer in (optax.adamw(1e-2), optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(optax.cosine_decay_schedule(0.1, 9), momentum=0.9))):

            def step(parameters: Any, state: Any) -> Any:
                loss, gradients = jax.value_and_grad(lambda p: ((x @ p["w"] + p["b"] - y) ** 2).mean())(parameters)
                updates, state = optimizer.update(gradients, state, parameters)
                return optax.apply_updates(parameters, updates), state, loss

            program = self.check(step, parameters, optimizer.init(parameters), rtol=1e-4)
            found = expected = (parameters, optimizer.init(parameters))
            for _ in range(3):
                *found, _ = program(*found)
                *expected, _ = jax.jit(step)(*expected)
            self.same(found, expected, 1e-3)

    def test_keys(self) -> None:
        for impl in ("threefry2x32", "rbg", "unsafe_rbg"):
            key = jax.random.key(1, impl=impl)
            program = self.check(lambda s: State(s.step + 1, jax.random.split(s.key)), State(0, key))
            self.same(pickle.loads(pickle.dumps(program))(State(0, key)), program(State(0, key)))
            lowered = jax.jit(jax.random.split).lower(key)
            self.same(stablo.from_jax(lowered)(key), jax.random.split(key))
        self.check(jax.vmap(lambda k: jax.random.uniform(k, (2,))), jax.random.split(jax.random.key(0), 4))
        try:
            data = bytes(export.export(jax.jit(jax.random.split))(jax.random.key(0)).serialize())
        except ImportError:
            return
        self.same(stablo.load(data)(jax.random.key(0)), jax.random.split(jax.random.key(0)))

    def test_arrays_as_jax_takes_them(self) -> None:
        double = lambda x: x + x
        for value in (np.ones(3), np.arange(3), np.ones(2, np.complex128), 2.0, 3, True, np.float64(2), np.int64(2), jnp.ones(3), np.ones((0, 2))):
            self.check(double, value)
        self.check(lambda x: [a * 2 for a in x], [1.0, 2.0])
        with self.assertRaisesRegex(stablo.Error, "elements that are no values of int32"):
            stablo.from_jax(double, np.arange(3))(np.arange(3) + 2**40)
        for dtype in ("bfloat16", "float16", "int4", "uint4", "float8_e4m3fn"):
            array = jnp.asarray([1, 2, 3], dtype)
            for given in (array, np.asarray(array)):
                self.check(lambda x: x if dtype.startswith("float8") else x + x, given)
        # The derivative of integers has no bytes.
        self.check(jax.grad(lambda x, n: (x * n).sum(), argnums=(0, 1), allow_int=True), random(3), np.arange(3))

    def test_static_arguments(self) -> None:
        x = np.float32(2)
        power = functools.partial(jax.jit, static_argnames=("n", "k"))(lambda x, n=2, *, k=1: jnp.stack([x] * n) * k)
        self.check(power, x)
        program = self.check(power, x, 3, k=4)
        for found in (program(x), program(x, n=3, k=4), program(x, 3)):
            self.same(found, power(x, 3, k=4))
        with self.assertRaisesRegex(stablo.Error, "the argument n is static: the program is for 3, not 5"):
            program(x, 5, k=4)
        self.check(jax.jit(lambda f, x: f(x), static_argnums=0), jnp.sin, x)
        self.check(jax.jit(lambda *a: a[0] * a[1], static_argnums=-1), x, 3)

    def test_leaves_that_are_no_arrays(self) -> None:
        model, x = Module(random(3, 2), jnp.tanh), random(4, 3)
        program = stablo.from_jax(lambda model, x, mode: model(x) if mode == "on" else x, model, x, mode="on")
        self.same(program(model, x, mode="on"), model(x))
        self.assertEqual([value.name for value in program.signature.inputs], ["model.weight", "x"])
        for other, mode in ((Module(model.weight, jnp.sin), "on"), (model, "off")):
            with self.assertRaisesRegex(stablo.Error, "no array and hence a constant"):
                program(other, x, mode=mode)

    def test_stages_of_jax(self) -> None:
        function = jax.jit(lambda p, x, unused: {"y": p["w"] * x + big[:3], "n": None})
        big = jnp.arange(5000.0)
        arguments = {"w": random(3)}, random(3), random(2)
        expected = function(*arguments)
        for stage in (function.lower(*arguments), function.trace(*arguments), export.export(function)(*arguments)):
            self.same(stablo.from_jax(stage)(*arguments), expected)
            with self.assertRaisesRegex(TypeError, "has its arguments already"):
                stablo.from_jax(stage, 1)
        with self.assertRaisesRegex(TypeError, "has no program any more"):
            stablo.from_jax(function.lower(*arguments).compile())
        with self.assertRaisesRegex(TypeError, "a function, or what jax made of one"):
            stablo.from_jax(3)

    def test_platforms(self) -> None:
        def function(x: Any) -> Any:
            return jax.lax.platform_dependent(x, cpu=lambda x: x + 1, tpu=lambda x: x * 10, cuda=lambda x: x - 5)

        x = np.float32(3)
        for platform, expected in ((None, 4), ("cpu", 4), ("tpu", 30), ("cuda", -2)):
            program = stablo.from_jax(function, x, platforms=["cuda", "cpu", "tpu"], platform=platform)
            self.assertEqual((program(x), len(program.signature.inputs)), (expected, 1))
        exported = export.export(jax.jit(function), platforms=["tpu", "cuda"])(x)
        self.assertEqual(stablo.from_exported(exported, platform="tpu")(x), 30)
        with self.assertRaisesRegex(stablo.Error, "exported for tpu, cuda; choose one, not `cpu`"):
            stablo.from_exported(exported)
        self.assertEqual(stablo.from_jax(function, x, platforms=["tpu"])(x), 30)
        with self.assertRaisesRegex(stablo.Error, "names no platforms"):
            stablo.load(b"func.func @main() { return }", platform="cpu")

    def test_custom_calls(self) -> None:
        def function(x: Any) -> Any:
            return jax.ffi.ffi_call("my.scale", jax.ShapeDtypeStruct(x.shape, x.dtype))(x, factor=np.float32(3))

        def scale(x: Any, *, call: stablo.CustomCall) -> Any:
            return x * call.attributes["mhlo.backend_config"]["factor"]

        x = random(3)
        for checks in ("my.scale", ["my.scale"], [export.DisabledSafetyCheck.custom_call("my.scale")]):
            program = stablo.from_jax(function, x, disabled_checks=checks)
            np.testing.assert_array_equal(program.with_options(custom_calls={"my.scale": scale})(x), 3 * x)
        with self.assertRaisesRegex(ValueError, "my.scale"):
            stablo.from_jax(function, x)

    def test_looking_at_runs(self) -> None:
        arguments = {"w": random(3), "b": random(3)}, random(3)
        program = stablo.from_jax(lambda p, x: (p["w"] * x + p["b"], None), *arguments)
        *_, last = program.trace(*arguments)
        self.same((last.value, None), program(*arguments))
        self.assertEqual(program.profile(*arguments, runs=2).runs, 2)
        self.assertTrue(program.compare(program, *arguments)[0]["close"])
        self.assertIsNone(program.bisect(program, *arguments))
        bound = program.bind({"p['w']": arguments[0]["w"]})
        self.same(bound({"b": arguments[0]["b"]}, arguments[1]), program(*arguments))

    def test_methods(self) -> None:
        class Scaled:
            def __init__(self, factor: float) -> None:
                self.factor = factor

            def plain(self, x: Any) -> Any:
                return x * self.factor

            @functools.partial(jax.jit, static_argnums=0)
            def jitted(self, x: Any) -> Any:
                return x * self.factor

        scaled, x = Scaled(2.0), random(3)
        for method in (scaled.plain, scaled.jitted, functools.partial(scaled.jitted)):
            self.same(stablo.from_jax(method, x)(x), 2 * x)
        self.same(stablo.from_jax(Scaled.jitted, scaled, x)(scaled, x), 2 * x)

    def test_other_objects(self) -> None:
        exported = export.export(jax.jit(jnp.sin))(random(3))
        for given in (jnp.sin, b"ML", None):
            with self.assertRaisesRegex(TypeError, "what jax.export made is needed"):
                stablo.from_exported(given)
        for given in (jnp.sin, exported):
            with self.assertRaisesRegex(TypeError, "stablo.from_jax takes functions"):
                stablo.load(given)
        vjp = stablo.from_exported(exported.vjp())
        self.same(vjp(random(3), np.ones(3, np.float32)), (jnp.cos(random(3)),))

    def test_symbolic_shapes(self) -> None:
        (batch,) = export.symbolic_shape("b")
        program = stablo.from_jax(lambda p, x: (x @ p["w"], x), {"w": random(4, 2)}, jax.ShapeDtypeStruct((batch, 4), np.float32))
        for called in (program, program.refine({"b": 5}), program.refine(batch=5)):
            self.same(called({"w": random(4, 2)}, random(5, 4)), (random(5, 4) @ random(4, 2), random(5, 4)))

    def test_without_jax(self) -> None:
        """A pickled program is called where jax is not imported."""
        import subprocess

        program = stablo.from_jax(lambda d, k: (d["a"] + 1, [jax.random.split(k)]), {"a": np.float32(1)}, jax.random.key(0))
        code = "import pickle, sys, numpy; p = pickle.load(sys.stdin.buffer); r = p({'a': 1.0}, numpy.zeros(2, 'uint32')); print(r[0], r[1][0].dtype, 'jax' in sys.modules)"
        block = "import sys; sys.modules['jax'] = None; " + code.replace("'jax' in sys.modules", "sys.modules['jax']")
        run = subprocess.run([sys.executable, "-c", block], input=pickle.dumps(program), capture_output=True)
        self.assertEqual(run.stdout.split(), [b"2.0", b"uint32", b"None"], run.stderr.decode())


if __name__ == "__main__":
    unittest.main()
