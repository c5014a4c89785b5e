#!/usr/bin/env python3
"""Counts instructions of the programs' bodies, for Fig. 5, and writes instructions.json.

usage: papers/openstream/count.py [--weft build/release/weft]

Runs each program with real bodies, streams and one worker under valgrind's callgrind, which counts inside the bodies
only: in what the runtime calls for a task of the program. Blocks are those of the SGI, so that loops are as long as
there, in a grid of two blocks a side. A program that iterates runs with 2 and with 4 iterations: the difference is of
two iterations, and what is left is of loading and storing. Needs valgrind, which `make setup` installs.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from whole import write_whole  # noqa: E402

import run  # noqa: E402


def small(program: str, iterations: int) -> tuple[list[str], int]:
    """Options for two blocks a side, and how many elements that are."""
    if program == "bitonic":
        return ["--count", str(2**18), "--block", str(2**16)], 2**18
    if program == "kmeans":
        return ["--points", "40000", "--block", "10000", "--dimensions", "10", "--clusters", "11", "--iterations",
                str(iterations)], 40_000
    block = run.BLUR["sgi"][1] if program == "blur-roberts" else run.STENCILS[program][2]
    cells = 1
    for n in block:
        cells *= 2 * n
    more = [] if program == "blur-roberts" else ["--iterations", str(iterations)]
    return run.sides("n", [2 * n for n in block]) + run.sides("b", block) + more, cells


def counted(weft: str, arguments: list[str], body: str) -> int:
    """Instructions inside the bodies of a class, or of one of its functions: of what takes or fills streams."""
    inside = f"--toggle-collect=*detail::invoke_streams<*::{body}(*"
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no",
                           inside, weft, "run", *arguments, "--form", "dsa", "--policy", "near", "--allocation",
                           "immediate", "--workers", "1"], capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None or int(found[1]) == 0:
        raise RuntimeError(f"{' '.join(done.args)}: {done.stderr[-2000:]}")
    return int(found[1])


def of_bodies(weft: str, program: str) -> dict[str, float]:
    """For each element: `each` in an iteration, or in one comparison of bitonic; `once` in all other bodies."""
    if program == "bitonic":
        options, n = small(program, 0)
        sort, split, store = (counted(weft, [program, *options], f"bitonic::{body}") / n
                              for body in ("sort_streams", "compare_streams", "store"))
        stages = 3  # of four blocks
        return {"each": round(split / stages, 2), "once": round(sort + store, 2)}
    if program == "blur-roberts":
        options, n = small(program, 0)
        return {"each": 0.0, "once": round(counted(weft, [program, *options], "blur_roberts::*") / n, 2)}
    body = "stencil::*" if program in run.STENCILS else "kmeans::*"
    few, many = (counted(weft, [program, *options], body) / n for options, n in (small(program, i) for i in (2, 4)))
    each = (many - few) / 2
    return {"each": round(each, 2), "once": round(few - 2 * each, 2)}


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--weft", default="build/release/weft")
    opt = args.parse_args()
    try:
        found = {p: of_bodies(opt.weft, p) for p in run.PROGRAMS}
    except (RuntimeError, OSError) as e:
        print(f"count.py: {e}", file=sys.stderr)
        return 2
    lines = [f"  {json.dumps(p)}: {json.dumps(counts)}" for p, counts in found.items()]
    write_whole(HERE / "instructions.json", "{\n" + ",\n".join(lines) + "\n}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
