#!/usr/bin/env python3
"""Drives the plugin with the installed release of JAX: small programs, compared with JAX's cpu.

    STABLO_PJRT_LIBRARY=target/release/libstablo_pjrt.so python tools/jax_release.py
"""

import importlib.util
import os
import pathlib
import subprocess
import sys

# Without JAX's cpu, programs with callbacks need the plugin to answer for it.
IS_ALONE = "--alone" in sys.argv
os.environ["JAX_PLATFORMS"] = "stablo" if IS_ALONE else "cpu,stablo"

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import xla_bridge

plugin = pathlib.Path(__file__).parent.parent / "python/stablo/_jax_plugin.py"
spec = importlib.util.spec_from_file_location("stablo_jax_plugin", plugin)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.initialize()


def net(x, w):
    for _ in range(3):
        x = jnp.tanh(x @ w) + jax.nn.softmax(x)
    return (x**2).sum()


def programs():
    """Functions with their arguments, and how close results must be."""
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    w = np.cos(np.arange(16, dtype=np.float32)).reshape(4, 4)
    key = jax.random.PRNGKey(0)
    yield "sum", lambda x: x.sum(0), (x,), 1e-6
    yield "gradient", jax.grad(net, argnums=1), (x, w), 1e-4
    yield "loop", lambda x: jax.lax.fori_loop(0, 5, lambda i, x: x * 0.5 + i, x), (x,), 1e-6
    yield "random", lambda k: jax.random.normal(k, (5,)), (key,), 1e-6
    yield "sort", lambda x: jnp.sort(x, axis=1)[:, ::-1], (np.sin(9 * x),), 0
    yield "inverse", jnp.linalg.inv, (w + 4 * np.eye(4, dtype=np.float32),), 1e-4
    yield "bits", lambda n: (n << 3) ^ (n >> 1), (np.arange(9, dtype=np.int32),), 0


def alone():
    """Calls that need the plugin's part in Python."""
    array = np.arange(16, dtype=np.float32)
    # JAX before 0.8 takes arrays in row-major order alone.
    others = [array] + [array.reshape(2, 8).T] * (jax.__version_info__ >= (0, 8))
    for other in others:
        np.testing.assert_array_equal(np.asarray(jnp.from_dlpack(other)), other)
    shape = jax.ShapeDtypeStruct(array.shape, array.dtype)
    called = jax.jit(lambda x: jax.pure_callback(np.cumsum, shape, x + 1))(array)
    np.testing.assert_array_equal(called, np.cumsum(array + 1))
    assert jax.devices("cpu") == jax.devices()


def main():
    devices = [jax.devices("cpu")[0], xla_bridge.get_backend("stablo").devices()[0]]
    assert devices[1].device_kind == "stablo"
    for name, function, arguments, tolerance in programs():
        results = []
        for device in devices:
            with jax.default_device(device):
                own = [jax.device_put(np.asarray(argument), device) for argument in arguments]
                results.append(np.asarray(jax.jit(function)(*own)))
        np.testing.assert_allclose(results[1], results[0], rtol=tolerance, atol=tolerance, err_msg=name)
    # Releases before 0.7 find no platform `cpu` without JAX's own.
    if hasattr(xla_bridge, "make_pjrt_c_api_client"):
        subprocess.run([sys.executable, __file__, "--alone"], check=True)
    print(f"jax {jax.__version__}: {sum(1 for _ in programs())} programs agree")


if __name__ == "__main__":
    alone() if IS_ALONE else main()
