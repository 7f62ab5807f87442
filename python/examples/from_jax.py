"""Trains a network of JAX without JAX running: the step, with its keys of random numbers and its state in a named tuple, is a program.

Needs jax to make the program: pip install jax
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import stablo


class State(NamedTuple):
    parameters: Any
    velocity: Any
    key: Any


def predict(parameters: Any, x: Any) -> Any:
    *hidden, last = parameters
    for layer in hidden:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ last["w"] + last["b"]


def step(state: State, *, rate: Any) -> tuple[State, Any]:
    key, batch = jax.random.split(state.key)
    x = jax.random.uniform(batch, (64, 1), minval=-3, maxval=3)
    loss, gradients = jax.value_and_grad(lambda p: jnp.mean((predict(p, x) - jnp.sin(x)) ** 2))(state.parameters)
    velocity = jax.tree.map(lambda v, g: 0.9 * v - rate * g, state.velocity, gradients)
    return State(jax.tree.map(jnp.add, state.parameters, velocity), velocity, key), loss


def main() -> None:
    random = np.random.default_rng(0)
    sizes = [(1, 16), (16, 16), (16, 1)]
    parameters = [{"w": random.normal(0, n**-0.5, (n, m)).astype(np.float32), "b": np.zeros(m, np.float32)} for n, m in sizes]
    state = State(parameters, jax.tree.map(np.zeros_like, parameters), jax.random.key(0))
    program = stablo.from_jax(step, state, rate=0.05).with_options(max_time=10)
    print([value.name for value in program.signature.inputs][:3], "...")
    for _ in range(300):
        state, loss = program(state, rate=0.05)
    print(f"loss after 300 steps: {loss:.4f}")
    assert loss < 0.05 and isinstance(state, State)


if __name__ == "__main__":
    main()
