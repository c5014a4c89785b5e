#!/usr/bin/env python3
"""figures.cpp with libgomp and with Weft, in turns: the least of the rounds, in nanoseconds.

usage: figures.py --program PATH --library libweft-omp.so [--threads 1,2] [--rounds 5] [ROW]
"""
import argparse
import os
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument("--program", required=True)
parser.add_argument("--library", required=True)
parser.add_argument("--threads", default="1,2")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("row", nargs="*")
options = parser.parse_args()

for threads in options.threads.split(","):
    least: dict[str, list[float]] = {}
    for _ in range(options.rounds):
        for which, more in enumerate(({}, {"LD_PRELOAD": options.library})):
            env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"} | more | {"OMP_NUM_THREADS": threads}
            done = subprocess.run([options.program, *options.row], env=env, capture_output=True, text=True, check=True)
            for line in done.stdout.splitlines():
                name, ns = line.split()
                both = least.setdefault(name, [1e30, 1e30])
                both[which] = min(both[which], float(ns))
    print(f"{threads} thread{'s' if threads != '1' else ''}    libgomp       Weft   Weft / libgomp")
    for name, (theirs, ours) in least.items():
        print(f"{name:12} {theirs:10.2f} {ours:10.2f} {ours / theirs:8.2f}")
