#!/usr/bin/env python3
"""Reproduces OpenStream's evaluation in virtual time, draws its figures and judges every number of its text.

usage: papers/openstream/run.py [--quick] [--json] [--verdict] [--figures DIR] [--update] [--pin]
       [--commands WORDS] [--weft build/release/weft] [-j N]

Runs programs of Table 3 at the paper's sizes, with tasks on private buffers (DSA) and on shared arrays (SHM), on the
paper's two machines. Bodies say what they compute and move, and do nothing.
A row of expected.json has a pinned value, ours, and, if it is a result, a bound around the paper's number (claims.py).
Exit status 0 only if every run passed its own checks and every value is as pinned within its tolerance; with --verdict
only if every result holds, too.
--quick judges what k-means tells. --pin writes the values found into expected.json, after a change of the scheduler
that moves virtual times; --update also the pages and the drawings.

example: papers/openstream/run.py --weft build/release/weft --quick
"""
import dataclasses
import json
import math
import pathlib
import sys

import draw

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import claims  # noqa: E402
import runs  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SECONDS_MAX = 1200  # of one run, against hangs
MACHINES = {"opteron": "opteron-6282-64", "sgi": "sgi-uv2000-192"}
NODES = {"opteron": 8, "sgi": 24}
# Of Table 3: cells, and cells of a block on each machine.
SQUARE, CUBOID = [2**14, 2**14], [2**10, 2**9, 2**9]
STENCILS = {"jacobi-1d": ([2**28], [2**16], [2**16]),
            "jacobi-2d": (SQUARE, [2**10, 2**6], [2**8, 2**8]),
            "jacobi-3d": (CUBOID, [2**5, 2**6, 2**5], [2**4, 2**6, 2**6]),
            "seidel-1d": ([2**28], [2**16], [2**16]),
            "seidel-2d": (SQUARE, [2**8, 2**8], [2**7, 2**9]),
            "seidel-3d": (CUBOID, [2**6, 2**5, 2**5], [2**4, 2**8, 2**4])}
BLUR = {"opteron": (2**15, [2**9, 2**6]), "sgi": (2**16, [2**10, 2**6])}  # pixels of a side, and of a block
VALUES, SORTED = 2**28, 2**16  # of bitonic, and of a block
POINTS = 40_960_000  # of k-means
# Of bodies, for each element; count.py has counted them.
INSTRUCTIONS = json.loads((HERE / "instructions.json").read_text())
PROGRAMS = draw.PROGRAMS
# Tables 1 and 2 say what a line costs a core that goes through memory; see README.md.
CHANGE = "memory.lines_in_flight.count = 1"
# Form, policy and when memory for streams is taken.
VERSIONS = {"base": ("dsa", "near", "immediate"), "input": ("dsa", "push_input", "immediate"),
            "output": ("dsa", "push_output", "immediate"), "weighted": ("dsa", "push_weighted", "immediate"),
            "dfa": ("dsa", "near", "deferred"), "opt": ("dsa", "push_input", "deferred"),
            "shm": ("shm", "near", "deferred")}
# The same on pages of so many KiB, and with a system that moves them. Small ones lie as the model's chunks do.
PAGES = {"small": 4, "huge": 2048}
VERSIONS |= {f"shm-{name}-moved": (*VERSIONS["shm"], kib, True) for name, kib in PAGES.items()}
VERSIONS["shm-huge"] = (*VERSIONS["shm"], PAGES["huge"], False)
STAYING = {"small": "shm", "huge": "shm-huge"}
HEURISTICS = ["input", "output", "weighted", "dfa", "opt"]
ITERATIONS = 12  # where the paper has 60
PASSES = draw.PASSES  # through a buffer before the next: Fig. 11
CHOLESKY = (8192, 256)  # rows; the paper does not say how large its blocks are
# Nodes of a buffer that are so far from node 0, by rows of Tables 1 and 2.
APART = {"opteron": [0, 1, 2, 3], "sgi": [0, 1, 2, 16]}


def sides(kind: str, of: list[int]) -> list[str]:
    return [word for axis, n in zip("xyz", of) for word in (f"--{kind}{axis}", str(n))]


def in_pages(kib: int = 0, migrate: bool = False) -> list[str]:
    return (["--pages", str(kib)] if kib else []) + (["--migrate"] if migrate else [])


def sizes(program: str, machine: str, iterations: int) -> list[str]:
    """The program's options for Table 3."""
    if program == "block-cholesky":
        return ["--n", str(CHOLESKY[0]), "--block", str(CHOLESKY[1])]
    if program == "bitonic":
        return ["--count", str(VALUES), "--block", str(SORTED)]
    if program == "kmeans":
        return ["--points", str(POINTS), "--block", "10000", "--dimensions", "10", "--clusters", "11", "--iterations",
                str(iterations)]
    if program == "blur-roberts":
        side, block = BLUR[machine]
        return sides("n", [side, side]) + sides("b", block)
    cells, *blocks = STENCILS[program]
    return sides("n", cells) + sides("b", blocks[list(MACHINES).index(machine)]) + ["--iterations", str(iterations)]


def unmanaged(program: str, machine: str) -> int:
    """Bytes of arrays, interleaved over all nodes, that tasks load first and store last: what streams do not manage."""
    if program == "kmeans":
        return 4 * 409_600_000
    return 2 * 8 * (BLUR[machine][0]**2 if program == "blur-roberts" else 2**28)


def elements(program: str, machine: str) -> int:
    """Cells, points, pixels or values."""
    if program in STENCILS:
        return math.prod(STENCILS[program][0])
    return {"kmeans": POINTS, "blur-roberts": BLUR[machine][0]**2, "bitonic": VALUES}[program]


def instructions(program: str, machine: str) -> float:
    """Of all bodies."""
    levels = int(math.log2(VALUES // SORTED))
    times = {"bitonic": levels * (levels + 1) // 2, "blur-roberts": 0}.get(program, ITERATIONS)
    counts = INSTRUCTIONS[program]
    return elements(program, machine) * (counts["once"] + counts["each"] * times)


@dataclasses.dataclass(frozen=True)
class Run:
    program: str
    machine: str
    version: str
    iterations: int = ITERATIONS
    control: str = ""  # as the paper's: tasks submit tasks

    def arguments(self) -> list[str]:
        form, policy, allocation, *pages = VERSIONS[self.version]
        control = self.control or ("chained" if self.program in STENCILS and form == "dsa" else "parallel")
        return [self.program, "--form", form, "--allocation", allocation, "--control", control, "--model-only",
                *sizes(self.program, self.machine, self.iterations), "--policy", policy,
                "--machine", MACHINES[self.machine], *in_pages(*pages)]

    def command(self) -> str:
        return f"WEFT_CHANGE='{CHANGE}' weft run " + " ".join(self.arguments())

    def execute(self, weft: str) -> dict:
        return runs.reply(weft, self, SECONDS_MAX, {"WEFT_CHANGE": CHANGE})


@dataclasses.dataclass(frozen=True)
class Traversal:
    """Of 1 GiB, by the core that Tables 1 and 2 have."""
    machine: str
    hops: int  # a row of the table
    adds: bool

    def arguments(self) -> list[str]:
        return ["traverse", "--mib", "1024", "--node", str(APART[self.machine][self.hops]), "--model-only",
                *(["--adds"] if self.adds else []), "--machine", MACHINES[self.machine]]

    def command(self) -> str:
        return f"WEFT_CHANGE='{CHANGE}' weft run " + " ".join(self.arguments())

    def execute(self, weft: str) -> dict:
        return runs.reply(weft, self, SECONDS_MAX, {"WEFT_CHANGE": CHANGE})


@dataclasses.dataclass(frozen=True)
class Passes:
    """§6.2: 64 threads, each so often through a buffer of its own of 64 MiB. Sets of buffers are alike, so one."""
    passes: int
    kib: int = 0
    migrate: bool = False

    def arguments(self) -> list[str]:
        return ["traverse", "--mib", "64", "--threads", "64", "--passes", str(self.passes), "--adds", "--model-only",
                "--machine", MACHINES["opteron"], *in_pages(self.kib, self.migrate)]

    def command(self) -> str:
        return f"WEFT_CHANGE='{CHANGE}' weft run " + " ".join(self.arguments())

    def execute(self, weft: str) -> dict:
        return runs.reply(weft, self, SECONDS_MAX, {"WEFT_CHANGE": CHANGE})


class Sweep(runs.Sweep):
    counts = INSTRUCTIONS

    def of(self, field: str, *run, **more) -> float:
        return self.replies[Run(*run, **more)][field]

    def traversal(self, machine: str, hops: int, adds: bool) -> float:
        """Milliseconds."""
        return 1e3 * self.replies[Traversal(machine, hops, adds)]["seconds"]

    def share(self, *run) -> float:
        """Of all bytes from memory those of the own node, in per cent."""
        local, remote = (self.of(f"{x}_bytes", *run) for x in ("local", "remote"))
        return 100 * local / (local + remote)

    def seconds(self, *run) -> float:
        return self.of("seconds", *run)

    def managed(self, program: str, machine: str, version: str, times: float = 1) -> float:
        """The same without what is loaded first and stored last; or with it, for so many times the iterations."""
        local, remote = (self.of(f"{x}_bytes", program, machine, version) for x in ("local", "remote"))
        arrays = unmanaged(program, machine)
        kept, lost = local - arrays / NODES[machine], remote - arrays * (1 - 1 / NODES[machine])
        if times == 1:
            return 100 * kept / (kept + lost)
        return 100 * (kept * times + arrays / NODES[machine]) / ((kept + lost) * times + arrays)

    def misses(self, program: str, machine: str = "sgi") -> float:
        """Lines from memory for a thousand instructions of bodies, with DSA-BASE."""
        moved = sum(self.of(f"{x}_bytes", program, machine, "base") for x in ("local", "remote"))
        return 1e3 * moved / 64 / instructions(program, machine)

    def misses_over(self, programs: list[str], others: list[str]) -> float:
        """The means of both."""
        mean, of_others = (sum(map(self.misses, of)) / len(of) for of in (programs, others))
        return mean / of_others

    def misses_least(self, programs: list[str], others: list[str]) -> float:
        """The least of some over the greatest of others."""
        return min(map(self.misses, programs)) / max(map(self.misses, others))

    def of_inputs(self, program: str, machine: str) -> float:
        """With deferred allocation, what is written is local; as much is read."""
        return 2 * self.managed(program, machine, "opt") - 100

    def of_60(self, program: str, machine: str, version: str) -> float:
        """Local share as for the paper's iterations, from those that ran."""
        return self.managed(program, machine, version, 60 / ITERATIONS)

    def better(self, program: str, machine: str, version: str, than: str) -> float:
        """Points by which the local share is higher."""
        return self.share(program, machine, version) - self.share(program, machine, than)

    def least_better(self, machine: str, version: str, than: str, programs: list[str] = PROGRAMS) -> float:
        return min(self.better(p, machine, version, than) for p in programs)

    def least_managed(self, machine: str, version: str) -> float:
        """Points of managed data by which the local share is higher than with DSA-BASE, in the program with fewest."""
        return min(self.managed(p, machine, version) - self.managed(p, machine, "base") for p in PROGRAMS)

    def most_local(self, machine: str) -> float:
        """Greatest local share of all accesses with DSA-OPT, as of 60 iterations where there are some."""
        return max(self.of_60(p, machine, "opt") if p in STENCILS else self.share(p, machine, "opt") for p in PROGRAMS)

    def behind_best(self, machine: str, programs: list[str] = PROGRAMS) -> float:
        """Points of DSA-OPT over output only and weighted, the better of both, where it has the fewest."""
        return min(self.better(p, machine, "opt", v) for p in programs for v in ("output", "weighted"))

    def gains_least(self, program: str, machine: str) -> float:
        """How many of the other programs gain more points by DSA-OPT."""
        return sum(self.better(p, machine, "opt", "base") > self.better(program, machine, "opt", "base")
                   for p in PROGRAMS if p != program)

    def speedup(self, program: str, machine: str, version: str, over: str, *more) -> float:
        return self.seconds(program, machine, over, *more) / self.seconds(program, machine, version, *more)

    def ms(self, *run) -> float:
        return 1e3 * self.seconds(*run)

    def greatest(self, machine: str, over: str) -> float:
        return max(self.speedup(p, machine, "opt", over) for p in PROGRAMS)

    def first(self, machine: str) -> float:
        """Programs in which DSA-OPT is the fastest way to have private buffers, or as fast within 2 %."""
        others = [v for v in draw.VERSIONS if v != "shm"]
        return sum(all(self.speedup(p, machine, "opt", v) >= 0.98 for v in others) for p in PROGRAMS)

    def higher_on_sgi(self, versions: list[str]) -> float:
        return sum(self.speedup(p, "sgi", v, "base") > self.speedup(p, "opteron", v, "base")
                   for p in PROGRAMS for v in versions)

    def input_behind(self, machine: str) -> float:
        """Of Jacobi's stencils: time of input only over that of others, least."""
        return min(self.speedup(p, machine, v, "input") for p in PROGRAMS[:3] for v in ("output", "weighted", "opt"))

    def moved(self, passes: int, pages: str) -> float:
        """Speed-up of the synthetic benchmark by a system that moves pages."""
        return self.replies[Passes(passes)]["seconds"] / self.replies[Passes(passes, PAGES[pages], True)]["seconds"]

    def moved_shared(self, program: str, pages: str) -> float:
        """Speed-up of tasks on shared arrays, against the same pages that stay."""
        return self.speedup(program, "opteron", f"shm-{pages}-moved", STAYING[pages])

    def best_moved(self) -> float:
        return max(self.moved_shared(p, pages) for p in PROGRAMS for pages in PAGES)

    def hardly_moved(self, pages: str) -> float:
        """Of the five programs that the paper says stay as fast within small variations, those within 5 %."""
        return sum(abs(self.moved_shared(p, pages) - 1) <= 0.05 for p in
                   ("jacobi-3d", "seidel-2d", "seidel-3d", "kmeans", "blur-roberts"))

    def footprint(self, program: str, machine: str, control: str) -> float:
        """The most that buffers took at a time: immediate over deferred allocation."""
        peaks = [self.of("buffers_peak_bytes", program, machine, v, ITERATIONS, control) for v in ("base", "dfa")]
        return peaks[0] / peaks[1]


PAPER = claims.Paper(__doc__, HERE, Sweep, drawn="Figures 5 to 12", ask=draw.ask, draw=draw.all_figures,
                     tables=draw.tables)

if __name__ == "__main__":
    sys.exit(PAPER.main())
