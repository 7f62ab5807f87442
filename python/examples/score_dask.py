"""Scores a data set on a Dask cluster: a program pickles, so that it goes to each worker once, which prepares and keeps it.

    pip install 'dask[distributed]' && python score_dask.py --workers 2
"""

import argparse
import time

import numpy as np
import scoring
from dask.distributed import Client, LocalCluster

import stablo


def score(rows: np.ndarray, program: stablo.Program) -> np.ndarray:
    return program(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--address", help="the scheduler of a cluster; by default one on this machine")
    options = parser.parse_args()

    artifact, data = scoring.make_model(), scoring.make_data(options.rows)
    expected = scoring.in_one_process(artifact, data, options.batch)

    cluster = options.address or LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None)
    with Client(cluster) as client:
        program = client.scatter(stablo.load(artifact).with_threads(1), broadcast=True)
        rows = client.scatter(list(scoring.batches(data, options.batch)))
        start = time.perf_counter()
        futures = client.map(score, rows, program=program)
        scores = np.concatenate(client.gather(futures))
        scoring.report(f"{options.workers} Dask workers", options.rows, time.perf_counter() - start)
        np.testing.assert_array_equal(scores, expected)
    if not options.address:
        cluster.close()


if __name__ == "__main__":
    main()
