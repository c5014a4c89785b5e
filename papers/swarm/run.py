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
import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import claims  # noqa: E402
import runs  # noqa: E402

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
        return runs.reply(weft, self, SECONDS_MAX)


class Sweep(runs.Sweep):
    """A figure of expected.json names a program and a field of its reply."""

    def value(self, figure: dict) -> float:
        program, field = figure["value"]
        return self.replies[Run(program)][field]


PAPER = claims.Paper(__doc__, HERE, Sweep, order=lambda r: list(INPUTS).index(r.program))

if __name__ == "__main__":
    sys.exit(PAPER.main())
