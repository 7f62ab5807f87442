#!/usr/bin/env python3
"""Runs programs of JAX's ecosystem on stablo and on JAX's platform cpu, and compares what they give.

    pip install jax==0.10.2 flax equinox optax dm-haiku keras numpyro diffrax brax scipy ./python
    python tools/jax_programs.py

Each program runs in a process on each platform at the same time of day, one after the other,
with `--repeat` rounds. Prints a line of Markdown for each: time to the first step, the median of
the further steps, the peak of memory, and the largest relative difference of the values, such as
losses, of the first steps. Exit code 1 if values differ by more than a program allows. With `--programs`,
only those that are named. What is not installed is left out, which is said.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

# Steps whose values are compared, and, beyond these, the most that are timed, within a number of seconds.
STEPS, FURTHER, SECONDS = 12, 300, 1.5


def timed(step, state, count=STEPS):
    """Runs steps, and returns the seconds that each took, and the values of the first ones."""
    import jax
    import numpy as np

    seconds, values = [], []
    while len(seconds) < count or (len(seconds) < FURTHER and sum(seconds[count:]) < SECONDS):
        start = time.perf_counter()
        state, value = step(state, len(seconds))
        value = np.asarray(jax.block_until_ready(value), np.float64)
        seconds.append(time.perf_counter() - start)
        values.append(value.ravel().tolist())
    return seconds, values[:count]


def data(rows, columns, classes, seed=0):
    """Inputs with labels that a fixed function gives them."""
    import numpy as np

    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns)).astype(np.float32)
    return x, np.argmax(x @ rng.normal(size=(columns, classes)), axis=1).astype(np.int32)


def flax_mlp():
    """A classifier of flax's NNX, trained with Adam."""
    import jax
    import optax
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.hidden = nnx.Linear(64, 128, rngs=rngs)
            self.norm = nnx.LayerNorm(128, rngs=rngs)
            self.out = nnx.Linear(128, 10, rngs=rngs)

        def __call__(self, x):
            return self.out(nnx.gelu(self.norm(self.hidden(x))))

    model = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    x, y = data(256, 64, 10)

    @nnx.jit
    def train(model, optimizer, x, y):
        def loss(model):
            logits = model(x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

        value, gradients = nnx.value_and_grad(loss)(model)
        optimizer.update(model, gradients)
        return value

    return timed(lambda _, __: (None, train(model, optimizer, x, y)), None)


def flax_cnn():
    """A convolutional classifier of flax's Linen with batch normalization."""
    import jax
    import numpy as np
    import optax
    from flax import linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, train):
            for features in (16, 32):
                x = nn.Conv(features, (3, 3))(x)
                x = nn.BatchNorm(use_running_average=not train)(x)
                x = nn.avg_pool(nn.relu(x), (2, 2), (2, 2))
            return nn.Dense(10)(x.reshape(x.shape[0], -1))

    net, optimizer = Net(), optax.sgd(0.1, momentum=0.9)
    x, y = data(32, 16 * 16 * 3, 10)
    x = x.reshape(32, 16, 16, 3)
    variables = net.init(jax.random.key(0), x, True)
    params, stats = variables["params"], variables["batch_stats"]

    @jax.jit
    def train(params, stats, state):
        def loss(params):
            logits, updated = net.apply(
                {"params": params, "batch_stats": stats}, x, True, mutable=["batch_stats"]
            )
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, y)
            return losses.mean(), updated["batch_stats"]

        (value, stats_), gradients = jax.value_and_grad(loss, has_aux=True)(params)
        updates, state = optimizer.update(gradients, state)
        return optax.apply_updates(params, updates), stats_, state, value

    def step(state, _):
        *state, value = train(*state)
        return state, value

    return timed(step, [params, stats, optimizer.init(params)])


def equinox_rnn():
    """A recurrent network of equinox, scanned over time, trained with AdamW and clipping."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    import optax

    class Net(eqx.Module):
        cell: eqx.nn.GRUCell
        out: eqx.nn.Linear

        def __init__(self, key):
            first, second = jax.random.split(key)
            self.cell = eqx.nn.GRUCell(8, 32, key=first)
            self.out = eqx.nn.Linear(32, 1, key=second)

        def __call__(self, xs):
            hidden, _ = jax.lax.scan(lambda h, x: (self.cell(x, h), None), jnp.zeros(32), xs)
            return self.out(hidden)[0]

    model = Net(jax.random.key(1))
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-2))
    xs = jax.random.normal(jax.random.key(2), (64, 20, 8))
    ys = jnp.tanh(xs.sum((1, 2)) / 8)

    @eqx.filter_jit
    def train(model, state):
        loss = lambda model: jnp.mean((jax.vmap(model)(xs) - ys) ** 2)
        value, gradients = eqx.filter_value_and_grad(loss)(model)
        updates, state = optimizer.update(gradients, state, eqx.filter(model, eqx.is_array))
        return eqx.apply_updates(model, updates), state, value

    def step(state, _):
        *state, value = train(*state)
        return state, value

    return timed(step, [model, optimizer.init(eqx.filter(model, eqx.is_array))])


def haiku_transformer():
    """A transformer block of haiku with dropout, trained to predict the next token."""
    import haiku as hk
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax

    def forward(tokens):
        x = hk.Embed(50, 32)(tokens)
        mask = jnp.tril(jnp.ones((1, 1, tokens.shape[1], tokens.shape[1])))
        norm = lambda: hk.LayerNorm(-1, True, True)
        attention = hk.MultiHeadAttention(4, 8, w_init=hk.initializers.VarianceScaling(1.0))
        y = norm()(x)
        x = x + hk.dropout(hk.next_rng_key(), 0.1, attention(y, y, y, mask))
        x = x + hk.Linear(32)(jax.nn.gelu(hk.Linear(64)(norm()(x))))
        return hk.Linear(50)(x)

    net = hk.transform(forward)
    tokens = np.random.default_rng(3).integers(0, 50, (16, 24))
    params = net.init(jax.random.PRNGKey(0), tokens)
    optimizer = optax.adam(3e-3)

    @jax.jit
    def train(params, state, key):
        def loss(params):
            logits = net.apply(params, key, tokens)[:, :-1]
            return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

        value, gradients = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(gradients, state)
        return optax.apply_updates(params, updates), state, value

    def step(state, number):
        *state, value = train(*state, jax.random.PRNGKey(number))
        return state, value

    return timed(step, [params, optimizer.init(params)])


def keras_cnn():
    """A convolutional classifier of Keras with dropout, by its own loop of training."""
    os.environ["KERAS_BACKEND"] = "jax"
    import keras
    import numpy as np

    keras.utils.set_random_seed(3)
    x, y = data(64, 12 * 12, 10, 4)
    x = x.reshape(64, 12, 12, 1)
    model = keras.Sequential(
        [
            keras.layers.Conv2D(8, 3, activation="relu"),
            keras.layers.BatchNormalization(),
            keras.layers.MaxPooling2D(2),
            keras.layers.Flatten(),
            keras.layers.Dropout(0.1),
            keras.layers.Dense(10),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=loss)
    return timed(lambda _, number: (None, np.asarray(model.train_on_batch(x, y))), None)


def numpyro_nuts():
    """NUTS of numpyro on a regression with unknown noise: means of the samples."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import numpyro
    from numpyro import distributions as dist
    from numpyro.infer import MCMC, NUTS

    rng = np.random.default_rng(4)
    x = rng.normal(size=(100, 3)).astype(np.float32)
    y = x @ np.array([1.0, -2.0, 0.5], np.float32) + rng.normal(size=100).astype(np.float32) * 0.3

    def model(x, y):
        w = numpyro.sample("w", dist.Normal(jnp.zeros(3), 1.0).to_event(1))
        noise = numpyro.sample("noise", dist.HalfNormal(1.0))
        numpyro.sample("y", dist.Normal(x @ w, noise), obs=y)

    def step(_, number):
        sampler = MCMC(NUTS(model), num_warmup=100, num_samples=100, progress_bar=False)
        sampler.run(jax.random.PRNGKey(number), x, y)
        samples = sampler.get_samples()
        return None, jnp.concatenate([samples["w"].mean(0), samples["noise"].mean()[None]])

    return timed(step, None, 3)


def diffrax_ode():
    """Gradients through an adaptive solution of a stiff system by diffrax, in f64."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import diffrax
    import jax.numpy as jnp

    def robertson(t, y, k):
        a, b, c = y
        return jnp.array(
            [
                -k[0] * a + k[2] * b * c,
                k[0] * a - k[1] * b**2 - k[2] * b * c,
                k[1] * b**2,
            ]
        )

    @jax.jit
    def solve(k):
        def final(k):
            solution = diffrax.diffeqsolve(
                diffrax.ODETerm(robertson),
                diffrax.Kvaerno5(),
                0.0,
                100.0,
                2e-4,
                jnp.array([1.0, 0.0, 0.0]),
                k,
                stepsize_controller=diffrax.PIDController(rtol=1e-8, atol=1e-8),
                max_steps=1000,
            )
            return solution.ys[0, 1], solution.ys[0]

        (_, ys), gradient = jax.value_and_grad(final, has_aux=True)(k)
        return jnp.concatenate([ys, gradient])

    step = lambda _, number: (None, solve(jnp.array([0.04, 3e7, 1e4]) * (1 + 0.01 * number)))
    return timed(step, None, 4)


def brax_ant():
    """A step of physics of brax's ant, batched over 16 environments."""
    import jax
    import jax.numpy as jnp
    from brax import envs

    env = envs.get_environment("ant", backend="positional")
    reset, advance = jax.jit(jax.vmap(env.reset)), jax.jit(jax.vmap(env.step))
    state = reset(jax.random.split(jax.random.PRNGKey(0), 16))

    def step(state, number):
        action = jnp.sin(jnp.arange(16 * env.action_size) + number).reshape(16, -1)
        state = advance(state, action)
        return state, state.reward

    return timed(step, state)


def mjx_pendulum():
    """Steps of MuJoCo's MJX on a chain of three links, with gradients of the height."""
    import jax
    import jax.numpy as jnp
    import mujoco
    from mujoco import mjx

    link = (
        '<body pos="0 0 -{}"><joint type="hinge" axis="0 1 0"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -.5" size=".05"/>'
    )
    bodies = link.format(0) + link.format(".5") + link.format(".5") + "</body>" * 3
    text = f'<mujoco><worldbody><body pos="0 0 2">{bodies}</body></worldbody></mujoco>'
    model = mjx.put_model(mujoco.MjModel.from_xml_string(text))

    @jax.jit
    def advance(qpos, qvel):
        def height(qpos):
            state = mjx.make_data(model).replace(qpos=qpos, qvel=qvel)
            state = mjx.step(model, state)
            return mjx.forward(model, state).xpos[-1, 2], state

        # Forwards: the solver is a loop of as many steps as it takes.
        value, state = height(qpos)
        gradient, _ = jax.jacfwd(height, has_aux=True)(qpos)
        return state.qpos, state.qvel, jnp.concatenate([value[None], gradient])

    def step(state, _):
        *state, value = advance(*state)
        return state, value

    return timed(step, [jnp.array([0.5, -0.3, 0.8]), jnp.zeros(3)])


def scipy_functions():
    """Decompositions, special functions, statistics and a minimization of jax.scipy."""
    import jax
    import jax.numpy as jnp
    import jax.scipy as jsp
    import jax.scipy.optimize

    @jax.jit
    def compute(seed):
        a = jax.random.normal(jax.random.PRNGKey(seed), (24, 24))
        s = a @ a.T + 24 * jnp.eye(24)
        u, sv, vt = jnp.linalg.svd(a)
        lu = jsp.linalg.lu_solve(jsp.linalg.lu_factor(a), a[0])
        rosenbrock = lambda x: jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
        found = jsp.optimize.minimize(rosenbrock, jnp.zeros(4), method="BFGS", tol=1e-3)
        return jnp.concatenate(
            [
                sv,
                jnp.linalg.eigvalsh(s),
                jsp.linalg.cho_solve(jsp.linalg.cho_factor(s), a[1]),
                (a @ lu)[:4],
                jsp.linalg.expm(a / 24)[0],
                jsp.special.gammaln(jnp.abs(a[0]) + 1),
                jsp.stats.norm.logcdf(a[1]),
                jnp.round(found.x, 2),
                jnp.abs(jnp.fft.fft(a[2])),
            ]
        )

    return timed(lambda _, number: (None, compute(number)), None)


def sharded_step():
    """A step of training on 8 devices: data and weights are sharded."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec as P

    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    put = lambda x, *spec: jax.device_put(x, NamedSharding(mesh, P(*spec)))
    x, y = data(128, 32, 10)
    rng = np.random.default_rng(5)
    w = [
        put(rng.normal(size=(32, 64)).astype(np.float32) / 6, None, "model"),
        put(rng.normal(size=(64, 10)).astype(np.float32) / 8, "model", None),
    ]
    x, y = put(x, "data", None), put(y, "data")

    @jax.jit
    def train(w, x, y):
        def loss(w):
            logits = jax.nn.relu(x @ w[0]) @ w[1]
            return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(y)), y])

        value, gradients = jax.value_and_grad(loss)(w)
        return [a - 0.5 * g for a, g in zip(w, gradients)], value

    def step(w, _):
        w, value = train(w, x, y)
        assert w[0].sharding.is_equivalent_to(NamedSharding(mesh, P(None, "model")), 2)
        return w, value

    return timed(step, w)


# Programs with the relative difference that they allow: rounding grows with steps of training, and
# samplers take other decisions once numbers differ.
PROGRAMS = {
    flax_mlp: 1e-3,
    flax_cnn: 1e-2,
    equinox_rnn: 1e-3,
    haiku_transformer: 1e-3,
    keras_cnn: 1e-2,
    numpyro_nuts: 0.2,
    diffrax_ode: 1e-4,
    brax_ant: 5e-2,
    mjx_pendulum: 1e-3,
    scipy_functions: 5e-3,
    sharded_step: 1e-4,
}


def measure(name):
    """Runs a program, and prints what it measures."""
    function = next(function for function in PROGRAMS if function.__name__ == name)
    try:
        seconds, values = function()
    except ModuleNotFoundError as error:
        print(json.dumps({"missing": error.name}))
        return
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"seconds": seconds, "values": values, "peak": peak}))


def run(name, platform):
    """What a program measures on a platform; an error if it fails."""
    environment = dict(os.environ, JAX_PLATFORMS=platform)
    if name == "sharded_step":
        environment["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    command = [sys.executable, __file__, "--measure", name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return {"error": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(lines[-1])


def difference(one, other):
    """The largest difference of values, relative to the largest value of a step."""
    largest = 0.0
    for left, right in zip(one, other):
        scale = max([abs(value) for value in right] + [1e-30])
        each = [abs(a - b) for a, b in zip(left, right)]
        # A value that is no number differs from all others.
        largest = max([largest] + [float("inf") if d != d else d / scale for d in each])
    return largest


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--programs", nargs="+", choices=[own.__name__ for own in PROGRAMS])
    parser.add_argument("--repeat", type=int, default=1, help="rounds, of which the best counts")
    options = parser.parse_args()
    if options.measure:
        measure(options.measure)
        return False
    columns = ["program", "first step, s", "step, ms", "peak, MB", "difference"]
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    failed = False
    for function, allowed in PROGRAMS.items():
        name = function.__name__
        if options.programs and name not in options.programs:
            continue
        rounds = [[run(name, own) for own in ("stablo", "cpu")] for _ in range(options.repeat)]
        found = [result for pair in rounds for result in pair]
        problem = next((own for own in found if "seconds" not in own), None)
        if problem:
            print(f"| {name} | {problem.get('error') or 'needs ' + problem['missing']} | | | |", flush=True)
            failed |= "error" in problem
            continue
        worst = max(difference(pair[0]["values"], pair[1]["values"]) for pair in rounds)
        failed |= not worst <= allowed
        median = lambda seconds: sorted(seconds)[len(seconds) // 2]
        best = lambda index, read: min(read(pair[index]) for pair in rounds)
        cells = [
            " / ".join(text(best(index, read)) for index in (0, 1))
            for read, text in [
                (lambda own: own["seconds"][0], "{:.2f}".format),
                (lambda own: 1000 * median(own["seconds"][1:]), "{:.2f}".format),
                (lambda own: own["peak"], "{}".format),
            ]
        ]
        verdict = "" if worst <= allowed else f" (more than {allowed})"
        print(f"| {name} | " + " | ".join(cells) + f" | {worst:.1e}{verdict} |", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
