#!/usr/bin/env python3
"""Coarse mode beside fine: five shapes, bodies of 1, 10 and 100 us, 1 to 512 workers of the machine `virtual`.

In each place coarse is within a tenth of fine, or what `weft sim` says of the run cautions that it may not be. Where it
is known to be within a tenth (HOLDS) it must stay so. docs/decisions/0024 has the table and says what bounds it.

Run as: python3 tests/tool/coarse_table.py --weft PATH --shapes PATH
"""
import argparse
import json
import os
import subprocess
import sys

CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
BODIES_US = (1, 10, 100)
WORKERS = (1, 8, 64, 256, 512)
TENTH = 0.10
CHAINS = 0.15  # what the milder caution says of chains
# shape -> body in us -> workers. Not fork-join of 1 us with 512, which is right by chance between others that are not.
HOLDS = {
    "independent": {1: (1,), 10: (1, 8, 64, 256), 100: (1, 8, 64, 256, 512)},
    "chains": {1: (1,), 10: (1, 8), 100: (1, 8, 256, 512)},
    "stencil": {1: (1,), 10: (1, 8), 100: (1, 8, 64, 256)},
    "cholesky": {1: (1,), 10: (1, 8, 64, 256), 100: (1, 8, 64, 256, 512)},
    "fork-join": {1: (1,), 10: (1,), 100: (1, 8, 64, 256, 512)},
}


def cautioned(error: float, shape: str, caution: str) -> bool:
    """Whether the caution says as much as that."""
    if "may be a quarter" in caution:
        return True
    return shape == "chains" and "chains of tasks by 15 %" in caution and abs(error) <= CHAINS


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("--weft", required=True)
    args.add_argument("--shapes", required=True, help="the program of tests/check/shapes.cpp")
    opt = args.parse_args()

    def run(shape: str, body_us: int, workers: int, mode: str) -> dict:
        done = subprocess.run([opt.weft, "sim", "--json", "--workers", str(workers), "--mode", mode, opt.shapes, shape,
                               str(body_us * 1000)], capture_output=True, text=True, env=CLEAN)
        if done.returncode != 0:
            sys.exit(f"{shape}, {body_us} us, {workers} workers, {mode}: {done.stderr}")
        return json.loads(done.stderr)

    wrong, within = [], 0
    for shape, holds in HOLDS.items():
        for body_us in BODIES_US:
            line = []
            for workers in WORKERS:
                fine, coarse = (run(shape, body_us, workers, mode) for mode in ("fine", "coarse"))
                error = coarse["makespan_ns"] / fine["makespan_ns"] - 1
                fits = abs(error) <= TENTH
                within += fits
                line.append(f"{100 * error:+7.1f}{' ' if fits else '*'}")
                place = f"{shape}, {body_us} us, {workers} workers: coarse is off by {100 * error:.1f} %"
                if not fits and workers in holds[body_us]:
                    wrong.append(f"{place}; it was within a tenth")
                elif not fits and not cautioned(error, shape, coarse.get("caution", "")):
                    wrong.append(f"{place}, and the caution is only: {coarse.get('caution', 'none')}")
            print(f"{shape:12}{body_us:4} us {''.join(line)}", flush=True)
    print(f"{within} of {len(HOLDS) * len(BODIES_US) * len(WORKERS)} places within a tenth; * not")
    for complaint in wrong:
        print(complaint)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
