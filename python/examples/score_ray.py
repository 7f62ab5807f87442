"""Scores a data set on a Ray cluster: each actor prepares the program once, and runs it on batches.

    pip install 'ray[data]' && python score_ray.py --actors 2
"""

import argparse
import time

import numpy as np
import ray
import ray.data
import scoring

import stablo


class Scorer:
    """An actor of the cluster. There are as many as cores, so that each needs no threads of its own."""

    def __init__(self, artifact: bytes) -> None:
        self.program = stablo.load(artifact).with_threads(1)

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {"scores": self.program(batch["data"])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--address", help="a cluster; by default one on this machine")
    options = parser.parse_args()

    artifact, data = scoring.make_model(), scoring.make_data(options.rows)
    expected = scoring.in_one_process(artifact, data, options.batch)

    ray.init(address=options.address, num_cpus=None if options.address else options.actors, include_dashboard=False, log_to_driver=False)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    rows = ray.data.from_numpy(list(scoring.batches(data, 8 * options.batch)))
    scorers = ray.data.ActorPoolStrategy(size=options.actors)
    start = time.perf_counter()
    scored = rows.map_batches(Scorer, fn_constructor_args=(artifact,), batch_size=options.batch, compute=scorers)
    scores = np.concatenate([batch["scores"] for batch in scored.iter_batches(batch_size=None, batch_format="numpy")])
    scoring.report(f"{options.actors} Ray actors and their start", options.rows, time.perf_counter() - start)
    np.testing.assert_array_equal(scores, expected)
    ray.shutdown()


if __name__ == "__main__":
    main()
