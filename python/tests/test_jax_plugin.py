"""JAX runs on stablo: small programs, each of a feature that needs the plugin's own code."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import numpy as np


@unittest.skipUnless(importlib.util.find_spec("jax"), "jax is not installed")
class JaxPlugin(unittest.TestCase):
    def run_program(self, program, **environment):
        """The output of a program; those that fail print their error."""
        prelude = """
            import jax, jax.numpy as jnp, numpy as np
            assert jax.devices()[0].device_kind == "stablo"
        """
        program = textwrap.dedent(prelude) + textwrap.dedent(program)
        environment = {**os.environ, "JAX_PLATFORMS": "stablo", **environment}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_arithmetic(self):
        program = """
            print(jnp.arange(10).sum(), jax.jit(lambda x: x @ x)(jnp.full((2, 2), 3.0))[0, 0])
            print(jax.grad(lambda x: x**3)(2.0), jnp.linalg.inv(jnp.diag(jnp.array([2.0, 4.0])))[1, 1])
        """
        self.assertEqual(self.run_program(program).split(), ["45", "18.0", "12.0", "0.25"])

    def test_random_numbers_are_jaxs(self):
        # The first words of Threefry for key 0, as JAX documents them for all platforms.
        program = "print(*jax.random.key_data(jax.random.split(jax.random.key(0))).ravel())"
        expected = "1797259609 2579123966 928981903 3453687069"
        self.assertEqual(self.run_program(program), expected)

    def test_double_precision_and_small_types(self):
        program = """
            print(jnp.array(1.0) + 2.0**-52 - 1.0 == 2.0**-52, jnp.array([7, -8], jnp.int4) + 1)
            print(jnp.array(1.1, jnp.float8_e4m3fn), jnp.array(1 + 2j) * 1j)
        """
        output = self.run_program(program, JAX_ENABLE_X64="1")
        self.assertEqual(output.split(), ["True", "[-8", "-7]", "1.125", "(-2+1j)"])

    def test_callbacks(self):
        program = """
            @jax.jit
            def f(x):
                jax.debug.print("x is {}", x, ordered=True)
                return jax.pure_callback(lambda v: v * np.float32(2), x, x)
            print(f(jnp.float32(3)))
            def fail(v):
                raise ValueError("of no use")
            try:
                jax.jit(lambda x: jax.pure_callback(fail, x, x))(1.0).block_until_ready()
            except jax.errors.JaxRuntimeError as error:
                print("of no use" in str(error))
        """
        self.assertEqual(self.run_program(program).split("\n"), ["x is 3.0", "6.0", "True"])

    def test_callbacks_that_write_results(self):
        program = """
            from jax.experimental.buffer_callback import buffer_callback
            def double(context, out, x):
                np.asarray(out)[...] = 2 * np.asarray(x)
                print(x.writeable, out.writeable, out.shape, context.stage.name)
            x = jnp.arange(3.0)
            out = jax.ShapeDtypeStruct.like(x)
            print(jax.jit(buffer_callback(double, out))(x))
            def increment(context, out, x):
                np.asarray(out)[0] += 1
            print(buffer_callback(increment, out, input_output_aliases={0: 0})(x), x)
        """
        expected = "False True (3,) EXECUTE\n[0. 2. 4.]\n[1. 1. 2.] [0. 1. 2.]"
        self.assertEqual(self.run_program(program), expected)

    def test_layouts(self):
        program = """
            from jax.experimental.layout import Format, Layout
            x = jnp.arange(6.0).reshape(2, 3)
            y = jax.jit(lambda x: x.T, out_shardings=Format(Layout.AUTO))(x)
            print(y.format.layout.major_to_minor, (y + 1).ravel())
        """
        self.assertEqual(self.run_program(program), "(1, 0) [1. 4. 2. 5. 3. 6.]")

    def test_arrays_of_other_frameworks(self):
        program = """
            x = np.arange(96, dtype=np.float32).reshape(2, 3, 16)
            same = []
            for y in (x, x.T, x.transpose(1, 0, 2), x[0], x[1, 2, :0], x[0, 0, 1:5].reshape(2, 2)):
                for copy in (None, True):
                    z = jnp.from_dlpack(y, device=jax.devices()[0], copy=copy)
                    same.append(np.array_equal(z, y) and z.dtype == y.dtype)
            print(all(same), len(same))
            # Memory is shared, unless a copy is asked for.
            y = np.zeros(64, np.uint8)
            y = y[-y.ctypes.data % 64:][:16].view(np.float32)
            shared, copied = jnp.from_dlpack(y), jnp.from_dlpack(y, copy=True)
            y[0] = 5
            print(shared[0], copied[0])
            try:
                jnp.from_dlpack(y[1:3], copy=False)
            except ValueError as error:
                print("is not aligned to" in str(error))
        """
        self.assertEqual(self.run_program(program), "True 12\n5.0 0.0\nTrue")

    def test_tokens_cannot_be_read(self):
        program = """
            try:
                jax.lax.create_token()._buf._value
            except RuntimeError as error:
                print("token-shape" in str(error))
        """
        self.assertEqual(self.run_program(program), "True")

    def test_donation(self):
        program = """
            x = jnp.ones(4)
            y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
            print(x.is_deleted(), y.sum())
        """
        self.assertEqual(self.run_program(program), "True 8.0")

    def test_several_devices(self):
        program = """
            from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
            mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("a", "b"))
            x = jax.device_put(jnp.arange(32.0).reshape(8, 4), NamedSharding(mesh, P("a", "b")))
            print(len(jax.devices()), jax.jit(lambda x: (x @ x.T).sum())(x))
            f = jax.shard_map(lambda x: jax.lax.psum(x, "a"), mesh=mesh, in_specs=P("a", "b"),
                              out_specs=P(None, "b"))
            print(*jax.jit(f)(x).ravel())
        """
        output = self.run_program(program, STABLO_NUM_DEVICES="8")
        # Columns add up to 112 + 8 c, whose squares add up to 61824; the four blocks of two rows
        # add up to 48 + 16 r + 4 c.
        self.assertEqual(
            output.split("\n"), ["8 61824.0", "48.0 52.0 56.0 60.0 64.0 68.0 72.0 76.0"]
        )

    def test_a_wrong_number_of_devices_is_named(self):
        self.assertEqual(self.run_program("print(len(jax.devices()))", STABLO_NUM_DEVICES=""), "1")
        with self.assertRaisesRegex(AssertionError, "STABLO_NUM_DEVICES is two: the number of"):
            self.run_program("", STABLO_NUM_DEVICES="two")

    def test_functions_divide_their_ops(self):
        # Each device has the sum of its shard's rows, and so sees how the op was divided.
        program = """
            from jax.experimental.custom_partitioning import custom_partitioning
            from jax.sharding import NamedSharding, PartitionSpec as P
            @custom_partitioning
            def f(x):
                return x - x, x
            def partition(mesh, args, results):
                print(*[tuple(own.sharding.spec) for own in (*args, *results)])
                @jax.jit
                def sums(x):
                    return jnp.full_like(x, jax.lax.psum(x.sum(), "b"))
                def lower(x):
                    rows = jax.lax.all_gather(x, "b", axis=1, tiled=True)
                    return x + sums(x) + jax.lax.axis_index("a"), rows
                own = args[0].sharding
                return mesh, lower, (own, NamedSharding(mesh, P("a"))), (own,)
            f.def_partition(partition, sharding_rule="i j -> i j, i j")
            mesh = jax.make_mesh((2, 2), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
            x = jax.device_put(jnp.ones((2, 2)), NamedSharding(mesh, P("a", "b")))
            for y in jax.jit(lambda x: f(x + 1))(x):
                print(y.tolist(), tuple(y.sharding.spec))
        """
        output = self.run_program(program, STABLO_NUM_DEVICES="4").splitlines()
        own = "('a', 'b')"
        self.assertEqual(output[0], f"{own} {own} {own}")
        # Shards of one element, 2: the sum along `b` is 4.
        self.assertEqual(output[1], f"[[6.0, 6.0], [7.0, 7.0]] {own}")
        self.assertEqual(output[2], f"[[2.0, 2.0], [2.0, 2.0]] {own}")

    def test_functions_that_divide_wrongly_are_errors(self):
        program = """
            from jax.experimental.custom_partitioning import custom_partitioning
            from jax.sharding import NamedSharding, PartitionSpec as P
            @custom_partitioning
            def f(x):
                return x
            def partition(mesh, args, result):
                if len(args[0].shape) == 1:
                    raise KeyError("no rule for vectors")
                return mesh, lambda x: x, NamedSharding(mesh, P()), (args[0].sharding,)
            f.def_partition(partition, sharding_rule="... -> ...")
            mesh = jax.make_mesh((2,), ("a",), axis_types=(jax.sharding.AxisType.Auto,))
            for shape in (2,), (2, 1):
                x = jax.device_put(jnp.ones(shape), NamedSharding(mesh, P("a")))
                try:
                    jax.jit(f)(x)
                except Exception as error:
                    print("no rule for vectors" in str(error), "Mismatch in result" in str(error))
        """
        output = self.run_program(program, STABLO_NUM_DEVICES="2")
        self.assertEqual(output.splitlines(), ["True False", "False True"])

    def test_values_are_sharded_alike(self):
        if importlib.util.find_spec("jax.experimental.shard_alike") is None:
            self.skipTest("JAX 0.12 has no shard_alike")
        program = """
            from jax.experimental.shard_alike import shard_alike
            from jax.sharding import NamedSharding, PartitionSpec as P
            mesh = jax.make_mesh((2,), ("a",), axis_types=(jax.sharding.AxisType.Auto,))
            x = jax.device_put(jnp.ones(4), NamedSharding(mesh, P("a")))
            y = jax.jit(lambda x: shard_alike(x, jnp.arange(4.0))[1])(x)
            print(*y.sharding.spec, [own.data.tolist() for own in y.addressable_shards])
        """
        output = self.run_program(program, STABLO_NUM_DEVICES="2")
        self.assertEqual(output, "a [[0.0, 1.0], [2.0, 3.0]]")

    def test_devices_keep_values_that_are_not_the_same(self):
        program = """
            from jax.sharding import NamedSharding, PartitionSpec as P
            mesh = jax.make_mesh((2,), ("a",), axis_types=(jax.sharding.AxisType.Auto,))
            whole = lambda x: jax.shard_map(
                lambda x: x, mesh=mesh, in_specs=P("a"), out_specs=P(), check_vma=False)(x)
            x = jax.device_put(jnp.arange(4.0), NamedSharding(mesh, P("a")))
            y = jax.jit(lambda x: whole(x) + 1)(x)
            for z in y, jax.jit(lambda y: y * 2)(y):
                print([own.data.tolist() for own in z.addressable_shards])
        """
        output = self.run_program(program, STABLO_NUM_DEVICES="2")
        first, second = output.splitlines()
        self.assertEqual(first, "[[1.0, 2.0], [3.0, 4.0]]")
        self.assertEqual(second, "[[2.0, 4.0], [6.0, 8.0]]")

    @unittest.skipUnless(importlib.util.find_spec("cloudpickle"), "cloudpickle is not installed")
    def test_functions_beside_the_devices(self):
        program = """
            from jax.experimental import colocated_python as beside
            devices = beside.colocated_cpu_devices(jax.devices())
            f = beside.colocated_python(lambda x: x + 1)
            print(f(jax.device_put(np.float32(1), devices[1])))
            text = jax.device_put(np.array("hash", dtype=np.dtypes.StringDType()), devices[0])
            print(np.asarray(text))
        """
        output = self.run_program(program, STABLO_NUM_DEVICES="2")
        self.assertEqual(output.splitlines(), ["2.0", "hash"])

    def test_nans_are_found(self):
        program = """
            try:
                jax.jit(lambda x: jnp.log(x) * 2)(jnp.array([1.0, -1.0])).block_until_ready()
            except jax.errors.JaxRuntimeError as error:
                print("stablehlo.log has the element NaN at [1]" in str(error))
        """
        self.assertEqual(self.run_program(program, STABLO_CHECK_NANS="1"), "True")

    def test_values_and_times_are_written(self):
        program = """
            @jax.jit
            def f(x):
                return jnp.sin(x) * 2
            print(f(jnp.arange(3.0))[0])
        """
        with tempfile.TemporaryDirectory() as folder:
            trace, profile = os.path.join(folder, "trace"), os.path.join(folder, "profile.json")
            self.assertEqual(self.run_program(program, STABLO_TRACE=trace), "0.0")
            (run,) = [name for name in os.listdir(trace) if name.endswith("jit_f")]
            with open(os.path.join(trace, run, "index.jsonl")) as lines:
                values = {line["op"]: line for line in map(json.loads, lines)}
            sine = np.load(os.path.join(trace, run, values["stablehlo.sine"]["file"]))
            np.testing.assert_allclose(sine, np.sin(np.arange(3.0)), rtol=1e-6)
            self.assertRegex(values["stablehlo.sine"]["location"], r"<string>:\d+")
            self.assertEqual(self.run_program(program, STABLO_PROFILE=profile), "0.0")
            with open(profile) as file:
                events = json.load(file)["traceEvents"]
            self.assertTrue(any("<string>:" in str(event.get("args", {}).get("source")) for event in events))

    def test_executions_are_verified_and_other_engines_chosen(self):
        program = "print(jax.jit(lambda x: x @ x)(jnp.full((2, 2), 3.0))[0, 0])"
        self.assertEqual(self.run_program(program, STABLO_VERIFY="1"), "18.0")
        self.assertEqual(self.run_program(program, STABLO_ENGINE="reference"), "18.0")
        failing = """
            try:
                jnp.ones(3)
            except Exception as error:
                print("STABLO_ENGINE is fats, not one of" in str(error))
        """
        self.assertEqual(self.run_program(failing, STABLO_ENGINE="fats"), "True")

    def test_the_profiler_of_jax_works(self):
        program = """
            import tempfile
            with tempfile.TemporaryDirectory() as folder, jax.profiler.trace(folder):
                print(jnp.ones(3).sum())
        """
        self.assertEqual(self.run_program(program), "3.0")

    def test_wrong_programs_are_refused_with_a_diagnostic(self):
        program = """
            call = jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct((), jnp.float32))
            try:
                jax.jit(call)(1.0)
            except jax.errors.JaxRuntimeError as error:
                print("`no_such_target` is unknown" in str(error))
        """
        self.assertEqual(self.run_program(program), "True")


if __name__ == "__main__":
    unittest.main()
