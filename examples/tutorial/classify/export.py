"""Exports a classifier of any batch size from JAX, with inputs and the outputs that XLA computes."""

import jax
import jax.numpy as jnp
import numpy as np


def classify(weights, bias, images):
    """The class of each image, and how likely it is."""
    logits = jnp.tanh(images @ weights + bias)
    likely = jax.nn.softmax(logits)
    return likely.argmax(axis=1), likely.max(axis=1)


# Locations name files without the folders of this machine.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

rng = np.random.default_rng(0)
weights = rng.normal(size=(4, 3)).astype(np.float32)
bias = rng.normal(size=3).astype(np.float32)
images = rng.normal(size=(2, 4)).astype(np.float32)

(batch,) = jax.export.symbolic_shape("b")
exported = jax.export.export(jax.jit(classify))(
    jax.ShapeDtypeStruct(weights.shape, weights.dtype),
    jax.ShapeDtypeStruct(bias.shape, bias.dtype),
    jax.ShapeDtypeStruct((batch, 4), images.dtype),
)
with open("module.jax", "wb") as file:
    file.write(exported.serialize())
with open("module.mlir", "w") as file:
    file.write(exported.mlir_module())
for number, array in enumerate([weights, bias, images]):
    np.save(f"input_{number}.npy", array)
for number, array in enumerate(classify(weights, bias, images)):
    np.save(f"output_{number}.npy", array)
