#!/usr/bin/env python3
"""Runs files of JAX's own tests on stablo, and what fails there on JAX's platform cpu.

    git clone --depth 1 --branch jax-v0.10.2 https://github.com/jax-ml/jax
    pip install jax==0.10.2 scipy absl-py hypothesis pytest pytest-timeout cloudpickle ./python
    python tools/jax_tests.py jax lax_numpy_test.py linalg_test.py

Each file runs in a process, one after the other. A test that ends its process, or hangs in native
code, is recorded as such, and the others run on in another process. Prints a line of Markdown for
each file, and the tests that pass on cpu and not on stablo, with the last lines of their errors.
With --results, outcomes are kept in a directory, with the ends of tracebacks, and tests that have
theirs do not run again. Exit code 1 if tests differ that --sample does not list.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import zlib

# Seconds that a process has beyond the limit of a test, for what it does before and after.
GRACE = 300


# The hooks of pytest, which runs this file as a plugin, too.


def _record(**values):
    """Appends an event to the file of the run."""
    with open(os.environ["JAX_TESTS_EVENTS"], "a") as events:
        events.write(json.dumps(values) + "\n")


def pytest_collection_modifyitems(config, items):
    """Leaves out tests that have run, and those that were not asked for."""
    chosen = json.loads(pathlib.Path(os.environ["JAX_TESTS_CHOSEN"]).read_text())
    done, only = set(chosen["done"]), chosen["only"] and set(chosen["only"])
    every = chosen["every"]
    is_wanted = lambda name: (
        name not in done
        and (not only or name in only)
        and zlib.crc32(name.encode()) % every == 0
    )
    dropped = [item for item in items if not is_wanted(_name(item.nodeid))]
    items[:] = [item for item in items if is_wanted(_name(item.nodeid))]
    config.hook.pytest_deselected(items=dropped)


def _name(node):
    """The name of a test without its file."""
    return node.split("::", 1)[-1].replace("::", ".")


def pytest_collectreport(report):
    """Records a file that cannot be read, or skips itself."""
    if report.outcome != "passed":
        _record(name="(the file)", outcome=report.outcome, text=_text(report))


def pytest_runtest_logstart(nodeid):
    """Records that a test begins."""
    _record(name=_name(nodeid))


def pytest_runtest_logreport(report):
    """Records the outcome of a test: of its call, or of what is around it if that fails."""
    if report.when == "call" or report.outcome != "passed":
        seconds = round(report.duration, 2)
        outcome, text = report.outcome, _text(report)
        _record(name=_name(report.nodeid), outcome=outcome, text=text, seconds=seconds)


def _text(report):
    """The end of the error of a test, or the reason why it is skipped."""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2]
    return report.longreprtext[-4000:] if report.outcome != "passed" else ""


# The program.


def run(platform, file, options, outcomes, only):
    """Runs the tests of a file that have no outcome, and adds those."""
    environment = dict(os.environ)
    environment.update(
        JAX_PLATFORMS=platform,
        JAX_ENABLE_X64=str(int(options.x64)),
        JAX_NUM_GENERATED_CASES=str(options.cases),
        JAX_SKIP_SLOW_TESTS="1",
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONPATH=os.pathsep.join(
            [str(pathlib.Path(__file__).resolve().parent)]
            + [path for path in [os.environ.get("PYTHONPATH")] if path]
        ),
    )
    if options.devices > 1:
        flag = f"--xla_force_host_platform_device_count={options.devices}"
        environment["XLA_FLAGS"] = flag
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "jax_tests"]
    command += [f"--timeout={options.timeout}", "--tb=short", f"tests/{file}"]
    if options.select:
        command += ["-k", options.select]
    deadline = time.time() + options.limit if options.limit else float("inf")
    while True:
        with tempfile.TemporaryDirectory() as folder:
            events, chosen = pathlib.Path(folder, "events"), pathlib.Path(folder, "chosen")
            every = options.sample.get(file, 1)
            chosen.write_text(json.dumps({"done": list(outcomes), "only": only, "every": every}))
            environment.update(JAX_TESTS_EVENTS=str(events), JAX_TESTS_CHOSEN=str(chosen))
            events.touch()
            with open(pathlib.Path(folder, "output"), "w+") as output:
                code = finish(command, environment, events, output, options, deadline)
                output.seek(0)
                text = output.read()[-4000:]
            running = None
            for line in events.read_text().splitlines():
                event = json.loads(line)
                name = running = event.pop("name")
                if "outcome" in event:
                    # An error after a test replaces that it passed, and nothing else.
                    if outcomes.get(name, {"outcome": "passed"})["outcome"] == "passed":
                        outcomes[name] = event
                    running = None
            # All tests have run, passed or failed, or there are none; or there is no time left.
            if code in (0, 1, 5) or time.time() > deadline:
                return
            found = "hung" if code is None else f"crashed with code {code}"
            name = running or "(the process)"
            outcomes[name] = {"outcome": "crashed", "text": f"{text}\n{found}"}
            if running is None:
                return


def finish(command, environment, events, output, options, deadline):
    """The exit code of a process of pytest; None if it was ended: it stopped to make progress, or
    its time is over."""
    with subprocess.Popen(
        command, cwd=options.checkout, env=environment, stdout=output, stderr=subprocess.STDOUT
    ) as process:
        while True:
            try:
                return process.wait(timeout=1)
            except subprocess.TimeoutExpired:
                is_hanging = time.time() - events.stat().st_mtime > options.timeout + GRACE
                if is_hanging or time.time() > deadline:
                    process.kill()
                    process.wait()
                    return None


def outcomes_of(platform, file, options, only=None):
    """The outcome, text and seconds of each test of a file, from the results if they are there."""
    bits = "x64" if options.x64 else "x32"
    name = f"{file}.{platform}.{bits}.{options.devices}.{options.cases}.json"
    path = options.results and pathlib.Path(options.results, name)
    outcomes = {}
    if path and path.exists():
        outcomes = json.loads(path.read_text())
    is_done = bool(outcomes)
    if options.again and platform in options.again:
        kept = {name: own for name, own in outcomes.items() if own["outcome"] not in FAILED}
        is_done, outcomes = False, kept
    if only is None and is_done:
        return outcomes
    if only != []:
        run(platform, file, options, outcomes, only)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(outcomes, indent=0))
    return outcomes


FAILED = ("failed", "crashed")


def count(outcomes):
    """Numbers of passed, failed and skipped tests."""
    found = [own["outcome"] for own in outcomes.values()]
    failed = sum(found.count(outcome) for outcome in FAILED)
    return f"{found.count('passed')} / {failed} / {found.count('skipped')}"


def last_lines(text):
    """The lines of an error that say what is wrong, in one."""
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    lines = lines or [line.strip() for line in text.splitlines() if line.strip()][-1:]
    return " | ".join(line for line in lines if line)[:300]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", help="a checkout of jax-ml/jax at the version installed")
    parser.add_argument("files", nargs="*", help="files of its folder tests")
    parser.add_argument("--cases", type=int, default=2, help="cases of each generated test")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--x64", action="store_true")
    parser.add_argument("--timeout", type=int, default=120, help="seconds for a test")
    parser.add_argument(
        "--limit", type=int, help="seconds for a file; --again runs the tests that are left"
    )
    parser.add_argument("--select", help="tests, as for pytest -k")
    parser.add_argument(
        "--sample",
        help="a file with lines of `FILE N`, to run one of N tests of each, and of `- NAME` for "
        "those that may differ",
    )
    parser.add_argument("--results", help="a directory where outcomes are kept")
    parser.add_argument(
        "--cpu",
        choices=["all", "failed", "none"],
        default="failed",
        help="tests that run on cpu, too: by default those that fail on stablo",
    )
    parser.add_argument(
        "--again",
        action="append",
        default=[],
        help="a platform whose tests run again unless they passed or were skipped",
    )
    options = parser.parse_args()
    known, sample = set(), {}
    if options.sample:
        lines = pathlib.Path(options.sample).read_text().splitlines()
        for line in (line for line in lines if line and not line.startswith("#")):
            first, second = line.split(maxsplit=1)
            if first == "-":
                known.add(second.split("  #")[0].strip())
            else:
                sample[first] = int(second)
    options.sample = sample
    print("| file | stablo: passed / failed / skipped | fail on cpu | differ |")
    print("|---|---|---|---|")
    different = []
    total = 0
    for file in options.files or sample:
        own = outcomes_of("stablo", file, options)
        failed = [name for name, outcome in own.items() if outcome["outcome"] in FAILED]
        cpu = {}
        if options.cpu != "none":
            cpu = outcomes_of("cpu", file, options, failed if options.cpu == "failed" else None)
        is_same = lambda name: name in cpu and cpu[name]["outcome"] != "passed"
        worse = [(file, name, own[name]["text"]) for name in failed if not is_same(name)]
        different += worse
        total += len(own)
        columns = [file, count(own), str(len(failed) - len(worse)), str(len(worse))]
        print("| " + " | ".join(columns) + " |", flush=True)
    for file, name, text in different:
        print(f"{file} {name}: {last_lines(text)}")
    unknown = [name for _, name, _ in different if name not in known]
    print(f"{total} tests, {len(different)} differ, {len(unknown)} of which are not listed")
    return bool(unknown)


if __name__ == "__main__":
    sys.exit(main())
