#!/usr/bin/env python3
"""Instructions per task of Weft with one worker, counted by callgrind and compared with bench/instructions.json.

usage: instructions.py --programs DIR --compiler NAME [--update]
       instructions.py --self-test    a count that is too high must be noticed

A clock on a shared machine cannot see 15 %, a count can. Each problem runs twice, with few and with more timed passes;
the difference, over the tasks of the passes that were more, has no start-up and no checks in it. The scheduler times
more bodies where the clock tells it that they are long, and under callgrind on a busy computer many look long: a clock
only adds. So a count that is too high is taken again, and the least of up to five runs counts.
A count depends on the compiler, so the record names its compiler, and with another one the comparison is skipped (exit
status 77).
Exit status 1 if a count is more than 15 % above its record. --update counts and writes the record anew: review it like
code.
"""
import argparse
import json
import math
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

RECORD = pathlib.Path(__file__).resolve().parent.parent / "bench" / "instructions.json"
TOLERANCE = 0.15
SKIPPED = 77
PASSES = (1, 4)
# By name: program and problem, and tasks a pass. Of fib(18) a task is a fork; weft-here hands the place along, and
# weft-async has an async and a finish in its place.
PROBLEMS = {name: ("weft", name, tasks) for name, tasks in
            {"independent": 5000, "chain1": 5000, "chain3": 5000, "stencil4": 5000, "cholesky20": 1540}.items()}
PROBLEMS |= {"fib": ("weft", "fib", 4180), "fib-here": ("weft-here", "fib", 4180),
             "fib-async": ("weft-async", "fib", 4180)}
SECONDS_MAX = 600  # against hangs
RUNS_MAX = 5


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def instructions(programs: pathlib.Path, system: str, problem: str, tasks: int, passes: int) -> int:
    """Of the whole process."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", programs / "weft", system, problem,
             "--tasks", str(tasks), "--passes", str(passes)],
            env=env, capture_output=True, text=True, timeout=SECONDS_MAX)
    total = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if done.returncode != 0 or total is None:
        raise SystemExit(f"valgrind {programs}/weft {system} {problem}: exit status {done.returncode}\n"
                         f"{done.stdout}{done.stderr}")
    reply = json.loads(done.stdout)
    if not (reply["counts_right"] and reply["order_right"] and reply["tasks"] == tasks):
        raise SystemExit(f"{problem}: wrong result: {done.stdout}")
    return int(total[1])


def least_per_task(count, tasks: int, limit: float) -> float:
    """count(passes) gives the instructions of one run; ends as soon as the least is not above `limit`."""
    least = {passes: math.inf for passes in PASSES}
    for _ in range(RUNS_MAX):
        least = {passes: min(before, count(passes)) for passes, before in least.items()}
        per_task = round((least[PASSES[1]] - least[PASSES[0]]) / (tasks * (PASSES[1] - PASSES[0])), 1)
        if per_task <= limit:
            break
    return per_task


def judge(name: str, counted: float, recorded: float) -> bool:
    """Prints one line; false if the count is too high."""
    change = counted / recorded - 1
    verdict = "ok"
    if change > TOLERANCE:
        verdict = f"WORSE by more than {TOLERANCE:.0%}"
    elif change < -TOLERANCE:
        verdict = f"better by more than {TOLERANCE:.0%}: renew the record with --update"
    print(f"{name:12} {counted:8.1f} instructions per task, record {recorded:8.1f}, {change:+6.1%}: {verdict}")
    return change <= TOLERANCE


def self_test() -> int:
    wanted = [judge("as before", 100.0, 100.0), judge("14 % more", 114.0, 100.0), judge("half", 50.0, 100.0),
              not judge("16 % more", 116.0, 100.0), not judge("twice", 200.0, 100.0)]
    for runs, least in (([130, 120, 101, 90], 101.0), ([130, 120, 125, 128, 126, 90], 120.0)):
        more = iter(runs)
        wanted.append(least_per_task(lambda passes: 0 if passes == PASSES[0] else 3 * next(more), 1, 115.0) == least)
    return 0 if all(wanted) else 1


def main() -> int:
    if "--self-test" in sys.argv[1:]:
        return self_test()
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--programs", required=True, type=pathlib.Path)
    args.add_argument("--compiler", required=True, help="name and version, as the record has it")
    args.add_argument("--record", type=pathlib.Path, default=RECORD)
    args.add_argument("--update", action="store_true")
    opt = args.parse_args()
    here = {"compiler": opt.compiler, "processor": platform.machine()}
    record = json.loads(opt.record.read_text()) if opt.record.exists() else {}
    if shutil.which("valgrind") is None:
        skip("valgrind is not installed (package valgrind)")
    for key, value in here.items():
        if not opt.update and record.get(key) != value:
            skip(f"the record was made with {key} {record.get(key)}, here is {value}; --update makes a new one")
    if not opt.update and set(record["instructions"]) != set(PROBLEMS):
        raise SystemExit("the record has other problems than this script: renew it with --update")
    counts = {}
    for name, (system, problem, tasks) in PROBLEMS.items():
        limit = 0.0 if opt.update else record["instructions"][name] * (1 + TOLERANCE)
        counts[name] = least_per_task(lambda passes: instructions(opt.programs, system, problem, tasks, passes),
                                      tasks, limit)
    fine = [judge(name, count, record.get("instructions", {}).get(name, count)) for name, count in counts.items()]
    if opt.update:
        opt.record.write_text(json.dumps({**here, "instructions": counts}, indent=2) + "\n")
        print(f"written: {opt.record.name}")
        return 0
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
