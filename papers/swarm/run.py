#!/usr/bin/env python3
"""Reproduces Table 1 of the Swarm paper: what ordered programs could gain, by the oracle. Judges every number of it.

usage: papers/swarm/run.py [--weft build/release/weft] [--quick] [--json] [--update] [--pin] [-j N]

Runs the paper's six programs, each on an input made to match the paper's, with the executor `oracle`: bodies run one
after the other, and it is computed how many could have run at a time. A program also checks its result against a serial
reference. A figure of expected.json has a pinned value, ours, and the bounds of the paper's claim. Exit status 0 only
if every run passed its own checks, every figure is as pinned within its tolerance, and the claims hold that are said
to hold.
--quick judges two of the programs. --update writes the table of README.md. --pin writes the values found into
expected.json, after a change of programs or inputs.

example: papers/swarm/run.py --weft build/release/weft --quick
"""
import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import claims  # noqa: E402
from runs import run_all  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SECONDS_MAX = 1200  # of one run, against hangs
# The inputs of Table 4, or ones alike: README.md says how. The longest run comes first.
INPUTS = {"bfs": ["bfs", "--width", "3656", "--height", "1948"],
          "astar": ["astar", "--width", "4800", "--height", "1000"],
          "des": ["des", "--adders", "108", "--toggles", "710"],
          "msf": ["msf", "--scale", "16", "--edges", "3180000"],
          "msf-size": ["msf", "--scale", "16", "--edges", "3180000", "--link", "size"],
          "sssp": ["sssp", "--width", "1186", "--height", "1186", "--rivers", "4"],
          "silo": ["silo", "--warehouses", "4", "--transactions", "32000", "--items", "100000", "--customers", "3000"]}


@dataclasses.dataclass(frozen=True)
class Run:
    program: str

    def arguments(self) -> list[str]:
        return [*INPUTS[self.program], "--executor", "oracle"]

    def command(self) -> str:
        return "weft run " + " ".join(self.arguments())

    def execute(self, weft: str) -> dict:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
        done = subprocess.run([weft, "run", *self.arguments(), "--json"], capture_output=True, text=True,
                              timeout=SECONDS_MAX, env=environment)
        reply = json.loads(done.stdout) if done.stdout else {}
        if done.returncode != 0 or not reply.get("ok"):
            raise RuntimeError(f"{self.command()}: {reply.get('error') or done.stderr or reply.get('checks')}")
        return reply


def value(replies: dict[Run, dict], figure: dict) -> float:
    program, field = figure["value"]
    return replies[Run(program)][field]


def judged(replies: dict[Run, dict], figures: list[dict]) -> list[dict]:
    return [claims.judged(f, value(replies, f)) for f in figures]


def arguments() -> argparse.Namespace:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--weft", default="build/release/weft")
    args.add_argument("--json", action="store_true")
    args.add_argument("--quick", action="store_true")
    args.add_argument("--update", action="store_true", help="write README.md's table")
    args.add_argument("--pin", action="store_true", help="write the values found into expected.json")
    args.add_argument("-j", type=int, default=len(os.sched_getaffinity(0)), help="runs at a time")
    opt = args.parse_args()
    if opt.quick and (opt.update or opt.pin):
        args.error("README.md and pins need the whole: leave --quick out")
    return opt


def main() -> int:
    opt = arguments()
    expected = json.loads((HERE / "expected.json").read_text())
    figures = [f for f in expected["figures"] if not opt.quick or f.get("quick")]
    began = time.monotonic()
    programs = [p for p in INPUTS if any(f["value"][0] == p for f in figures)]
    replies = dict(run_all(opt.weft, [Run(p) for p in programs], max(1, opt.j)))
    if opt.pin:
        figures = claims.pinned(figures, judged(replies, figures))
        (HERE / "expected.json").write_text(claims.as_text({"figures": figures}))
    rows = judged(replies, figures)
    if opt.update:
        claims.update(HERE / "README.md", {"figures": claims.table(rows)})
    ok = all(r["ok"] for r in rows)
    if opt.json:
        print(json.dumps({"figures": rows, "seconds": time.monotonic() - began, "ok": ok}, indent=2))
    else:
        claims.print_rows(rows)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
