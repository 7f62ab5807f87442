"""Ten seeded faults: does `stablo bisect` name the op at fault, and how small does `stablo reduce` make the program?

Each fault stands for a compiler that gets one kind of op wrong. For `bisect`, one such op in the middle of a program is changed; it must be
the one that is named. For `reduce`, all are; the test is that the program and what the compiler makes of it compute different results.

    python python/benches/seeded_faults.py --stablo target/release/stablo --programs ../shared/programs
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, NamedTuple, Optional

OP = r"^(?P<indent> *)(?P<result>%(?P<name>\w+)) = "
F32 = r"tensor<(?:\d+x)*f32>"


class Fault(NamedTuple):
    name: str
    program: str
    pattern: str
    """Matches lines of ops that the compiler gets wrong."""
    change: Callable[[re.Match[str]], Optional[str]]
    """The wrong lines; none if the compiler does this one right."""


def replaced(template: str) -> Callable[[re.Match[str]], str]:
    return lambda found: found.expand(template)


def wrong_contraction(found: re.Match[str]) -> Optional[str]:
    """Contracts the other dimension of a square matrix."""
    if found["rows"] != found["columns"]:
        return None
    other = "1" if found["dim"] == "0" else "0"
    return f"{found['before']} x [{other}]{found['after']}"


def off_by_one(found: re.Match[str]) -> Optional[str]:
    """Begins and ends a slice one element too late, if there is one."""
    sizes = [int(size) for size in found["shape"].rstrip("x").split("x")]
    ranges = [tuple(map(int, part.split(":"))) for part in found["ranges"].split(", ")]
    for at, (size, (start, limit, *stride)) in enumerate(zip(sizes, ranges)):
        if limit < size:
            ranges[at] = (start + 1, limit + 1, *stride)
            shown = ", ".join(":".join(map(str, part)) for part in ranges)
            return f"{found['before']}[{shown}]{found['after']}"
    return None


DETOUR = (
    r"\g<indent>%exact_\g<name> = \g<op> : \g<type>" + "\n"
    r"\g<indent>%short_\g<name> = stablehlo.convert %exact_\g<name> : (\g<type>) -> \g<shape>bf16>" + "\n"
    r"\g<indent>\g<result> = stablehlo.convert %short_\g<name> : (\g<shape>bf16>) -> \g<type>"
)

FAULTS = [
    Fault("changed constant", "flax_gpt_4l_128", OP + r"(?P<op>stablehlo\.constant dense<)9\.99999997E-7>", replaced(r"\g<indent>\g<result> = \g<op>1.0E-1>")),
    Fault("swapped operands", "hf_bert_6l_192", OP + r"stablehlo\.subtract (?P<a>%[\w#]+), (?P<b>%[\w#]+) :", replaced(r"\g<indent>\g<result> = stablehlo.subtract \g<b>, \g<a> :")),
    Fault("another rounding", "lax_low_precision", r"stablehlo\.round_nearest_even", replaced("stablehlo.floor")),
    Fault(
        "wrong dimension numbers",
        "hf_bert_6l_192",
        r"(?P<before>stablehlo\.dot_general .*contracting_dims = \[\d+\]) x \[(?P<dim>\d)\](?P<after>.*, tensor<(?P<rows>\d+)x(?P<columns>\d+)xf32>\) ->)",
        wrong_contraction,
    ),
    Fault(
        "dropped op",
        "haiku_conv2d_lstm",
        OP + rf"stablehlo\.tanh (?P<a>%[\w#]+) : (?P<type>{F32})",
        replaced(r"\g<indent>\g<result> = stablehlo.reshape \g<a> : (\g<type>) -> \g<type>"),
    ),
    Fault("changed comparison", "sci_brax_ant_spring", r"stablehlo\.compare +LT, (?P<rest>.*f32>, )", replaced(r"stablehlo.compare GE, \g<rest>")),
    Fault(
        "wrong pad value",
        "sci_fft_conv",
        OP + r"stablehlo\.pad (?P<a>%[\w#]+), %[\w#]+,(?P<rest>.*tensor<f32>\).*)",
        replaced(
            r"\g<indent>%padding_\g<name> = stablehlo.constant dense<1.0> : tensor<f32>" + "\n"
            r"\g<indent>\g<result> = stablehlo.pad \g<a>, %padding_\g<name>,\g<rest>"
        ),
    ),
    Fault(
        "slice off by one",
        "hf_llama_decode_kv",
        r"(?P<before>stablehlo\.slice %[\w#]+ )\[(?P<ranges>[\d:, ]+)\](?P<after> : \(tensor<(?P<shape>(?:\d+x)+)f32>)",
        off_by_one,
    ),
    Fault("detour by bf16", "torchxla_vit", OP + rf"(?P<op>stablehlo\.multiply %[\w#]+, %[\w#]+) : (?P<type>(?P<shape>tensor<(?:\d+x)*)f32>)", replaced(DETOUR)),
    Fault("wrong reduction body", "eqx_cnn_train_adam", r"applies stablehlo\.maximum", replaced("applies stablehlo.minimum")),
]


def miscompiled(fault: Fault, text: str, only: Optional[int] = None) -> tuple[str, list[int]]:
    """The program after the compiler, and the numbers of the lines that it got wrong: all, or one of them."""
    lines, wrong = text.split("\n"), []
    for number, line in enumerate(lines):
        found = re.search(fault.pattern, line)
        change = fault.change(found) if found else None
        if found and change is not None:
            wrong.append((number, line[: found.start()] + change + line[found.end() :]))
    if only is not None:
        wrong = wrong[only : only + 1]
    for number, change in wrong:
        lines[number] = change
    return "\n".join(lines), [number + 1 for number, _ in wrong]


def stablo(tool: str, *arguments: object, timeout: float = 600) -> subprocess.CompletedProcess[str]:
    return subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, timeout=timeout)


def is_miscompiled(tool: str, fault: Fault, file: Path) -> bool:
    """The test of `stablo reduce`."""
    text, wrong = miscompiled(fault, file.read_text())
    compiled = file.with_suffix(".compiled.mlir")
    compiled.write_text(text)
    if not wrong:
        return False
    outcome = stablo(tool, "diff", "--run", "--max-steps", 10**6, "--format", "json", file, compiled)
    return outcome.returncode == 1


def measure(tool: str, fault: Fault, programs: Path, folder: Path) -> bool:
    folder.mkdir()
    good, bad = folder / "good.mlir", folder / "bad.mlir"
    # Locations would stand for lines of Python.
    converted = stablo(tool, "convert", "--strip-debuginfo", programs / fault.program / "module.mlir", good)
    assert converted.returncode == 0, converted.stderr
    text = good.read_text()
    _, all_wrong = miscompiled(fault, text)
    assert all_wrong, f"{fault.name}: no op of {fault.program} is concerned"
    # One op in the middle, or the next one that changes results for the recorded inputs, else for random ones.
    half = len(all_wrong) // 2
    order = [*range(half, len(all_wrong)), *range(half)]
    recorded = ["--inputs", programs / fault.program]
    for inputs, only in [(inputs, only) for inputs in (recorded, []) for only in order]:
        wrong, (line,) = miscompiled(fault, text, only)
        bad.write_text(wrong)
        started = time.perf_counter()
        outcome = stablo(tool, "bisect", "--format", "json", good, bad, *inputs)
        bisected = time.perf_counter() - started
        if outcome.returncode != 0:
            break
    found = "trouble: " + outcome.stderr.strip().split("\n")[0]
    if outcome.stdout:
        parting = json.loads(outcome.stdout)
        place = parting["parting"]["left"]["source"] if parting["parts"] else "no line"
        found = "found" if f":{line}:" in place else f"named {place.split('/')[-1]}, not line {line}"
        # The op itself may be right, and what is made of its result wrong: then, a user's operand is another one.
        result = text.split("\n")[line - 1].split("=")[0].strip()
        if parting["parts"] and any(detail["left"] == result for detail in parting["parting"]["details"]):
            found = "found at its use"

    started = time.perf_counter()
    test = f"{sys.executable} {Path(__file__).resolve()} --stablo {tool} --test '{fault.name}' {{}}"
    small = folder / "small.mlir"
    outcome = stablo(tool, "reduce", good, "--test", test, "-o", small, timeout=1800)
    seconds = time.perf_counter() - started
    report = outcome.stderr.strip().split("\n")[0]
    before, after, tests = map(int, re.findall(r"\d+", report)) if outcome.returncode == 0 else (0, 0, 0)
    is_kept = outcome.returncode == 0 and is_miscompiled(tool, fault, small)
    print(f"| {fault.name} | {fault.program} | {found} | {bisected:.1f} s | {before} | {after} | {tests} | {seconds:.0f} s |", flush=True)
    if not is_kept:
        print(f"reduce: {report}", flush=True)
    return found.startswith("found") and is_kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stablo", required=True)
    parser.add_argument("--programs", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--test", nargs=2, metavar=("FAULT", "FILE"))
    options = parser.parse_args()
    if options.programs is None and options.test is None:
        parser.error("--programs is required: the folder with the programs")
    if options.test:
        name, file = options.test
        fault = next(fault for fault in FAULTS if fault.name == name)
        return 0 if is_miscompiled(options.stablo, fault, Path(file)) else 1
    print("| fault | program | bisect | in | ops | reduced to | tests | in |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    tool = str(Path(options.stablo).resolve())
    with tempfile.TemporaryDirectory() as folder:
        faults = [fault for fault in FAULTS if options.only in (None, fault.name)]
        done = [measure(tool, fault, options.programs, Path(folder) / fault.name.replace(" ", "_")) for fault in faults]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
