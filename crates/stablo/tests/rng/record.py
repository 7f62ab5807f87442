"""Prints the lines that the program in a file must end with: the bits of each result on XLA's CPU, once in this process.

Recorded with jaxlib 0.10.2 on x86-64 with FMA and glibc 2.36.
"""
import sys
import jax
import numpy as np
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir

jax.config.update("jax_enable_x64", True)
device = jax.devices("cpu")[0]
with mlir.make_ir_context():
    module = ir.Module.parse(open(sys.argv[1]).read())
    devices = xla_client.DeviceList((device,))
    program = device.client.compile_and_load(module, devices, xla_client.CompileOptions())
for result in map(np.asarray, program.execute([])):
    bits = result.view(f"u{result.itemsize}").ravel()
    print("// XLA:", *(f"{b:0{2 * result.itemsize}x}" for b in bits))
