#!/usr/bin/env python3
"""Runs files of JAX's own tests on stablo and on JAX's platform cpu, and compares each test.

    git clone --depth 1 --branch jax-v0.10.2 https://github.com/jax-ml/jax
    pip install jax==0.10.2 scipy absl-py hypothesis pytest pytest-timeout cloudpickle ./python
    python tools/jax_tests.py jax lax_numpy_test.py linalg_test.py

Each file runs in a process, one after the other. Prints a line of Markdown for each file, and the
tests that pass on cpu and not on stablo, with the last line of their errors. With --results,
outcomes are kept in a directory, and files that have theirs do not run again. Exit code 1 if there
are any differences but those in --known.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml


def run(platform, checkout, file, options):
    """The outcome of each test of a file: (outcome, last line of the error) by name."""
    environment = dict(os.environ)
    environment.update(
        JAX_PLATFORMS=platform,
        JAX_ENABLE_X64=str(int(options.x64)),
        JAX_NUM_GENERATED_CASES=str(options.cases),
        JAX_SKIP_SLOW_TESTS="1",
        PYTHONDONTWRITEBYTECODE="1",
    )
    if options.devices > 1:
        flag = f"--xla_force_host_platform_device_count={options.devices}"
        environment["XLA_FLAGS"] = flag
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += [f"--timeout={options.timeout}", "--tb=line", f"--junitxml={report}"]
        command += ["-o", "junit_logging=no", f"tests/{file}"]
        if options.select:
            command += ["-k", options.select]
        done = subprocess.run(
            command, cwd=checkout, env=environment, capture_output=True, text=True, check=False
        )
        if not report.exists():
            lines = (done.stdout + done.stderr).strip().splitlines()
            return {"(the process)": ("crashed", lines[-1] if lines else "")}
        outcomes = {}
        for case in xml.parse(report).iter("testcase"):
            name = f"{case.get('classname', '').rsplit('.', 1)[-1]}.{case.get('name')}"
            outcome, message = "passed", ""
            for child in case:
                if child.tag in ("failure", "error", "skipped"):
                    outcome = {"failure": "failed", "error": "failed"}.get(child.tag, "skipped")
                    lines = (child.get("message") or "").strip().splitlines()
                    message = next((line for line in reversed(lines) if line.strip()), "")
            outcomes[name] = (outcome, message)
        return outcomes


def kept(platform, file, options):
    """The outcomes of a file, as `run` gives them, from the directory of results if they are there."""
    if not options.results:
        return run(platform, options.checkout, file, options)
    bits = "x64" if options.x64 else "x32"
    name = f"{file}.{platform}.{bits}.{options.devices}.{options.cases}.json"
    path = pathlib.Path(options.results, name)
    if not path.exists() or platform in options.again:
        start = time.monotonic()
        outcomes = run(platform, options.checkout, file, options)
        path.parent.mkdir(parents=True, exist_ok=True)
        seconds = round(time.monotonic() - start)
        path.write_text(json.dumps({"seconds": seconds, "outcomes": outcomes}))
    return {name: tuple(own) for name, own in json.loads(path.read_text())["outcomes"].items()}


def count(outcomes):
    """Numbers of passed, failed and skipped tests."""
    found = [outcome for outcome, _ in outcomes.values()]
    failed = found.count("failed") + found.count("crashed")
    return f"{found.count('passed')} / {failed} / {found.count('skipped')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", help="a checkout of jax-ml/jax at the version installed")
    parser.add_argument("files", nargs="+", help="files of its folder tests")
    parser.add_argument("--cases", type=int, default=2, help="cases of each generated test")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--x64", action="store_true")
    parser.add_argument("--timeout", type=int, default=120, help="seconds for a test")
    parser.add_argument("--select", help="tests, as for pytest -k")
    parser.add_argument("--known", help="a file with names of tests that may differ")
    parser.add_argument("--results", help="a directory where outcomes are kept")
    parser.add_argument(
        "--again", action="append", default=[], help="a platform whose kept outcomes are made anew"
    )
    options = parser.parse_args()
    known = set()
    if options.known:
        known = set(pathlib.Path(options.known).read_text().split())
    print("| file | stablo: passed / failed / skipped | cpu | differ |")
    print("|---|---|---|---|")
    different = []
    for file in options.files:
        own = kept("stablo", file, options)
        cpu = kept("cpu", file, options)
        worse = [
            (file, name, own.get(name, ("missing", "")))
            for name, (outcome, _) in cpu.items()
            if outcome == "passed" and own.get(name, ("missing", ""))[0] != "passed"
        ]
        different += worse
        print(f"| {file} | {count(own)} | {count(cpu)} | {len(worse)} |", flush=True)
    for file, name, (outcome, message) in different:
        print(f"{file} {name}: {outcome}: {message}")
    return any(name not in known for _, name, _ in different)


if __name__ == "__main__":
    sys.exit(main())
