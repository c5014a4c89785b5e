#!/usr/bin/env python3
"""Has the programs of bench/flow take turns and prints a table of medians, the least and the greatest beside.

usage: run.py --programs build/release/bench/flow [--rounds 9] [--also PROBLEM:PATH ...] [--first CMD]

--also adds a program that takes the same arguments and prints the same line. A wrong result ends with 1.
"""
import argparse
import statistics
import subprocess
import sys
from pathlib import Path

# problem, workers, elements a message, body in ns
CASES = [
    (problem, workers, batch, body)
    for problem in ("channel", "pipeline4")
    for body in (0, 1000)
    for workers in (1, 2)
    for batch in (1, 64)
]


def sample(front: list[str], program: Path, case: tuple) -> float:
    command = [*front, str(program), *map(str, case)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return float(done.stdout.split()[-1])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--programs", type=Path, required=True)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--also", action="append", default=[], metavar="PROBLEM:PATH")
    arguments.add_argument("--first", default="", help="a command that runs its arguments before other programs")
    arguments.add_argument("--only", default="", help="cases whose 'problem workers batch body' begins so")
    given = arguments.parse_args()
    programs = [(None, p) for p in sorted(given.programs.iterdir()) if p.is_file()]
    programs += [(problem, Path(path)) for problem, path in (also.split(":", 1) for also in given.also)]
    print("| problem | workers | elements a message | body, ns | system | ns an element | least .. greatest |")
    print("|---|---:|---:|---:|---|---:|---:|")
    for case in CASES:
        if not " ".join(map(str, case)).startswith(given.only):
            continue
        here = [p for problem, p in programs if problem in (None, case[0])]
        ns: dict[str, list[float]] = {p.name: [] for p in here}
        for _ in range(given.rounds):
            for p in here:
                ns[p.name].append(sample(given.first.split(), p, case))
        for name, all_ns in ns.items():
            row = (*(case[i] for i in range(4)), name, f"{statistics.median(all_ns):.1f}")
            print("|", " | ".join(map(str, row)), "|", f"{min(all_ns):.1f} .. {max(all_ns):.1f} |", flush=True)


if __name__ == "__main__":
    main()
