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
TURBO = 1.2  # 3.6 GHz over 3.0


def turbo(workers: int) -> str:
    """The cores of a package of which more than half are at work run at 3.0 GHz, others at 3.6."""
    of_package = [min(workers, 8), max(0, workers - 8)]
    types = ", ".join("8 base" if n > 4 else "8 boost" for n in of_package)
    if len(set(types.split(", "))) == 1:
        types = "16 " + types.split(", ")[0][2:]
    return f'topology.types = "{types}"; types.base.speed.x = 1; types.boost.speed.x = {TURBO}'


CHANGES = {"": lambda workers: "", "turbo": turbo,
           "dear": lambda workers: "runtime.run.ns = 1000",
           "dearer": lambda workers: "runtime.run.ns = 2500",
           # What a spawn and join of each took with one thread of a Zen 4 core, on top of ours, which is less.
           "tbb's": lambda workers: "runtime.run.ns = 72",
           "massivethreads'": lambda workers: "runtime.run.ns = 44",
           "qthreads'": lambda workers: "runtime.run.ns = 868",
           "halves": lambda workers: "shared_speed_of.uts.x = 0.5"}


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
        change = CHANGES[self.change](self.workers)
        return (f"WEFT_CHANGE='{change}' " if change else "") + "weft run " + " ".join(self.arguments())

    def execute(self, weft: str) -> dict:
        return runs.reply(weft, self, SECONDS_MAX, {"WEFT_CHANGE": CHANGES[self.change](self.workers)})


class Sweep(runs.Sweep):
    def of(self, field: str, *run, **more) -> float:
        return self.replies[Run(*run, **more)][field]

    def speedup(self, version: str, workers: int = 16, change: str = "") -> float:
        """Over the program without tasks on one core, which with Turbo Core is a fast one."""
        policy, width = VERSIONS[version]
        fast = TURBO if change == "turbo" else 1
        return self.of("speedup", policy, width, workers, change=change) / fast

    def over(self, version: str, other: str, workers: int = 16, change: str = "") -> float:
        return self.speedup(version, workers, change) / self.speedup(other, workers, change)

    def over_best(self, workers: int) -> float:
        return self.speedup("tao", workers) / max(self.speedup(v, workers) for v in RIVALS)

    def gain(self, version: str, change: str = "") -> float:
        return self.speedup(version, 16, change) - self.speedup(version, 12, change)

    def gain_more(self, version: str, other: str) -> float:
        return self.gain(version) - self.gain(other)

    def width(self, width: int, cost_ns: int = 3000, together: bool = False) -> float:
        return self.of("speedup", "tao", width, cost_ns=cost_ns, together=together)

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
