#!/usr/bin/env python3
"""Reproduces TAO's evaluation in virtual time, draws its figures and judges every number of its text.

usage: papers/tao/run.py [--quick] [--json] [--verdict] [--figures DIR] [--update] [--pin]
       [--commands WORDS] [--weft build/release/weft] [-j N]

Runs the unbalanced tree search of §5 (`weft run uts`), by assemblies of each width and in the rivals' way, on the
paper's machine, and the sort of §6 (sort_tables.py).
A row of expected.json has a pinned value, ours, and, if it is a result, a bound around the paper's number (claims.py).
Exit status 0 only if every run passed its own checks and every value is as pinned within its tolerance; with --verdict
only if every result holds, too.
--quick judges what 16 cores tell. --pin writes the values found into expected.json, after a change of the scheduler
that moves virtual times; --update also the pages and the drawings.

example: papers/tao/run.py --weft build/release/weft --quick
"""
import dataclasses
import pathlib
import sys

import core
import draw
import sort_tables

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import claims  # noqa: E402
import runs  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SECONDS_MAX = 600  # of one run, against hangs
MACHINE = "opteron-6220-interlagos-16"
CORES = [1, 2, 4, 8, 12, 16]
WIDTHS = [1, 2, 4, 8]
GRAINS_NS = [300, 3000, 30000]
# What stands for whom: a policy of ours, and the width of assemblies; 0: a task for each node.
VERSIONS = {"tao": ("tao", 4), "tbb": ("random", 0), "massivethreads": ("work_first", 0), "qthreads": ("shepherd", 0)}
NAMES = {"tao": "go:TAO, width 4", "tbb": "TBB", "massivethreads": "MassiveThreads", "qthreads": "Qthreads"}
RIVALS = ["tbb", "massivethreads", "qthreads"]
# What a spawn and join of a rival's took with one thread of the Zen 4 server, ns: an input. Measured for Weft's own
# comparison in 2026 (recursive Fibonacci numbers, medians of 14), with the libraries as they were then, not those of
# 2015; the paper has no such numbers. How a rival's search for work costs is not in it.
TASK_NS = {"random": 71.7, "work_first": 44.0, "shepherd": 868}


def run_cycles(policy: str, width: int) -> int:
    return core.cycles(TASK_NS[policy]) if width == 0 else core.OUR_RUN


CHANGES = {"": lambda r: core.change(r.workers, run_cycles(r.policy, r.width)),
           # One assumption changed, the others as they are.
           "steady": lambda r: core.instructions(run_cycles(r.policy, r.width)),
           "zen": lambda r: core.clock(r.workers),
           "alike": lambda r: core.change(r.workers),
           "dear": lambda r: core.change(r.workers, 3000),
           "dearer": lambda r: core.change(r.workers, 7500),
           "halves": lambda r: core.change(r.workers) + "; shared_speed_of.uts.x = 0.5"}


@dataclasses.dataclass(frozen=True)
class Run:
    policy: str
    width: int
    workers: int = 16
    cost_ns: int = 3000
    together: bool = False
    change: str = ""

    def arguments(self) -> list[str]:
        return ["uts", "--tree", "tao", "--width", str(self.width), "--cost", str(self.cost_ns),
                *(["--together"] if self.together else []), "--policy", self.policy, "--workers", str(self.workers),
                "--machine", MACHINE]

    def command(self) -> str:
        return f"WEFT_CHANGE='{CHANGES[self.change](self)}' weft run " + " ".join(self.arguments())

    def execute(self, weft: str) -> dict:
        return runs.reply(weft, self, SECONDS_MAX, {"WEFT_CHANGE": CHANGES[self.change](self)})


class Sweep(runs.Sweep):
    def of(self, field: str, *run, **more) -> float:
        return self.replies[Run(*run, **more)][field]

    def speedup(self, version: str, workers: int = 16, change: str = "") -> float:
        """Over the program without tasks on one core, whose clock is that of a core alone."""
        policy, width = VERSIONS[version]
        return self.of("speedup", policy, width, workers, change=change) / (1 if change == "steady" else core.FAST)

    def over(self, version: str, other: str, workers: int = 16, change: str = "") -> float:
        return self.speedup(version, workers, change) / self.speedup(other, workers, change)

    def over_best(self, workers: int) -> float:
        return self.speedup("tao", workers) / max(self.speedup(v, workers) for v in RIVALS)

    def gain(self, version: str, change: str = "") -> float:
        return self.speedup(version, 16, change) - self.speedup(version, 12, change)

    def gain_more(self, version: str, other: str) -> float:
        return self.gain(version) - self.gain(other)

    def width(self, width: int, cost_ns: int = 3000, together: bool = False) -> float:
        return self.of("speedup", "tao", width, cost_ns=cost_ns, together=together) / core.FAST

    def task_ns(self, version: str) -> float:
        """What a task of a rival's takes on a core of 3.0 GHz, ns."""
        return run_cycles(*VERSIONS[version]) / core.STEADY_GHZ

    def width_over(self, width: int, other: int) -> float:
        return self.width(width) / self.width(other)

    def best_width_over(self, version: str) -> float:
        return max(self.width(w) for w in WIDTHS) / self.speedup(version)

    def narrow_over_wide(self) -> float:
        return min(self.width(1), self.width(2)) / max(self.width(4), self.width(8))

    def worker_us(self, width: int) -> float:
        """What a worker computes in an assembly."""
        members = self.of("tasks", "tao", width) * (width / (width + 1) if width > 1 else 1)
        return self.of("serial_seconds", "tao", width) * 1e6 / members

    def asynchronous(self, width: int, cost_ns: int) -> float:
        """Speed-up of assemblies whose members come and go over those that begin and end as one."""
        return self.width(width, cost_ns) / self.width(width, cost_ns, True)

    def asynchronous_least(self, cost_ns: int) -> float:
        return min(self.asynchronous(w, cost_ns) for w in WIDTHS)

    def asynchronous_grows(self, cost_ns: int) -> float:
        """The least step from a width to the next."""
        ratios = [self.asynchronous(w, cost_ns) for w in WIDTHS]
        return min(b / a for a, b in zip(ratios, ratios[1:]))

    def asynchronous_falls(self, width: int) -> float:
        """The least step from a grain to the next."""
        ratios = [self.asynchronous(width, c) for c in GRAINS_NS]
        return min(a / b for a, b in zip(ratios, ratios[1:]))

    def tree(self, field: str) -> float:
        return self.of(field, "tao", 4)


def speedups_table(sweep: Sweep) -> str:
    lines = ["| workers | " + " | ".join(NAMES.values()) + " |", "|---" * (1 + len(NAMES)) + "|"]
    return "\n".join(lines + [f"| {n} | " + " | ".join(f"{sweep.speedup(v, n):.2f}" for v in NAMES) + " |"
                              for n in CORES])


PAPER = claims.Paper(__doc__, HERE, Sweep, drawn="Figures 4, 6 and 7", ask=draw.ask, draw=draw.all_figures,
                     tables=lambda sweep: {"speedups": speedups_table(sweep)},
                     more=lambda opt: sort_tables.values(opt.weft, opt.quick))

if __name__ == "__main__":
    sys.exit(PAPER.main())
