#!/usr/bin/env python3
"""Reproduces PufferFish's evaluation in virtual time, draws its figures and judges every number of its text.

usage: papers/pufferfish/run.py [--quick] [--json] [--verdict] [--figures DIR] [--update] [--pin]
       [--commands WORDS] [--weft build/release/weft] [-j N]

Runs LULESH, SOR, SRAD and CilkSort, regular and irregular, in the paper's versions on its machine (`weft run sor` and
so on).
A row of expected.json has a pinned value, ours, and, if it is a result, a bound around the paper's number (claims.py).
Exit status 0 only if every run passed its own checks and every value is as pinned within its tolerance; with --verdict
only if every result holds, too.
--quick judges what SOR and SRAD on four nodes tell. --pin writes the
values found into expected.json, after a change of the scheduler that moves virtual times; --update also the pages and
the drawings.

example: papers/pufferfish/run.py --weft build/release/weft --quick
"""
import dataclasses
import math
import pathlib
import sys

import draw

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import claims  # noqa: E402
import runs  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SECONDS_MAX = 600  # of one run, against hangs
MACHINE = "epyc-7551-32"
# Arrays are filled as the paper's artifact fills them: SOR's by its first sweep, a tree; SRAD's image and LULESH's mesh
# by the main thread; what CilkSort sorts by a block for each worker. All others are first written by the sweeps.
SOR, SRAD, LULESH = ["--fill", "tree"], ["--fill", "serial"], ["--fill", "serial"]
PROGRAMS = {"lulesh": ["lulesh", "--size", "32", "--steps", "5", *LULESH],
            "lulesh-ir": ["lulesh", "--size", "32", "--steps", "5", *LULESH, "--irregular"],
            "sor": ["sor", "--size", "4096", "--iterations", "5", *SOR],
            "sor-ir": ["sor", "--size", "4096", "--iterations", "5", *SOR, "--irregular"],
            "srad": ["srad", "--size", "2048", "--iterations", "5", *SRAD],
            "srad-ir": ["srad", "--size", "2048", "--iterations", "5", *SRAD, "--irregular"],
            "cilksort": ["cilksort", "--count", "16777216", "--fill", "blocks"]}
LARGE = {"lulesh": ["lulesh", "--size", "48", "--steps", "3", *LULESH],
         "lulesh-ir": ["lulesh", "--size", "48", "--steps", "3", *LULESH, "--irregular"],
         "sor": ["sor", "--size", "8192", "--iterations", "3", *SOR],
         "sor-ir": ["sor", "--size", "8192", "--iterations", "3", *SOR, "--irregular"],
         "srad": ["srad", "--size", "4096", "--iterations", "3", *SRAD],
         "srad-ir": ["srad", "--size", "4096", "--iterations", "3", *SRAD, "--irregular"]}


@dataclasses.dataclass(frozen=True)
class Version:
    """How a version of the paper, or of ours, is run. `name`: as drawings and tables call it; none: not drawn."""
    name: str
    layout: str
    policy: str = ""
    hints: bool = False
    published: bool = False  # the paper has figures of it

    def arguments(self) -> list[str]:
        return [*([] if self.hints else ["--no-hints"]), "--layout", self.layout,
                *(["--policy", self.policy] if self.policy else ["--workers", "1"])]


VERSIONS = {"sequential": Version("", "first-touch"),
            "hclib-ft": Version("HClib (FT)", "first-touch", "random", published=True),
            "hclib-il": Version("HClib (IL)", "interleaved", "random", published=True),
            "cilk-ft": Version("CilkPlus (FT)", "first-touch", "work_first", published=True),
            "cilk-il": Version("CilkPlus (IL)", "interleaved", "work_first", published=True),
            "hpt": Version("HClib (HPT_DA)", "blocked", "hpt", hints=True, published=True),
            "pufferfish": Version("PufferFish", "blocked", "pufferfish", hints=True, published=True),
            "near": Version("near (ours)", "blocked", "near", hints=True),
            "local": Version("local (ours)", "interleaved", "local")}
NAMES = {v: version.name for v, version in VERSIONS.items() if version.name}
PUBLISHED = [v for v, version in VERSIONS.items() if version.published]
SEARCH_US = "1000000"  # longer than any run: the workers of HClib never sleep
TWO_NODES = 'topology.hwloc = "Package:1 NUMANode:2 L3:2 L2:4 PU:1"'
CHANGES = {"": "", "lines": "memory.lines_in_flight.count = 20", "dear": "", "serial": ""}
TASKS = {"dear": "runtime.submit.ns = 100; runtime.run.ns = 300"}  # not of the sequential program, which has none


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of a program in a version; `large`: of LARGE; `change`: of CHANGES, what is different on the machine, or,
    "serial", that one task fills all arrays."""
    program: str
    version: str
    nodes: int = 4
    large: bool = False
    change: str = ""

    def arguments(self) -> list[str]:
        program = list((LARGE if self.large else PROGRAMS)[self.program])
        if self.change == "serial":
            program[program.index("--fill") + 1] = "serial"
        return [*program, *VERSIONS[self.version].arguments(), "--machine", MACHINE]

    def changes(self) -> str:
        tasks = "" if self.version == "sequential" else TASKS.get(self.change, "")
        return "; ".join(x for x in (TWO_NODES if self.nodes == 2 else "", CHANGES[self.change], tasks) if x)

    def command(self) -> str:
        change = self.changes()
        return (f"WEFT_SEARCH_US={SEARCH_US} " + (f"WEFT_CHANGE='{change}' " if change else "") + "weft run " +
                " ".join(self.arguments()))

    def execute(self, weft: str) -> dict:
        said = runs.reply(weft, self, SECONDS_MAX, {"WEFT_CHANGE": self.changes(), "WEFT_SEARCH_US": SEARCH_US})
        joules, memory = said["joules"], said["local_bytes"] + said["remote_bytes"]
        return said | {"joules_total": joules["total"], "bytes": memory,
                        "bytes_behind_core": memory + said["shared_bytes"] + said["modified_bytes"],
                        "idle": joules["searching"] / (joules["searching"] + joules["running"])}


def geomean(values: list[float]) -> float:
    return math.exp(sum(math.log(v) for v in values) / len(values))


class Sweep(runs.Sweep):
    def of(self, field: str, program: str, version: str, nodes: int = 4, **more) -> float:
        return self.replies[Run(program, version, nodes, **more)][field]

    def speedup(self, program: str, version: str, nodes: int = 4, **more) -> float:
        serial = self.of("seconds", program, "sequential", **more)  # of one node, whatever the others are
        return serial / self.of("seconds", program, version, nodes, **more)

    def mean(self, version: str, nodes: int = 4, change: str = "") -> float:
        """The geometric mean of speed-ups."""
        return geomean([self.speedup(p, version, nodes, change=change) for p in PROGRAMS])

    def mean_over(self, version: str, other: str, nodes: int = 4, change: str = "") -> float:
        return self.mean(version, nodes, change) / self.mean(other, nodes, change)

    def over(self, program: str, version: str, other: str, nodes: int = 4) -> float:
        return self.speedup(program, version, nodes) / self.speedup(program, other, nodes)

    def large(self, program: str, version: str) -> float:
        return self.speedup(program, version, large=True)

    def large_over(self, program: str, version: str, other: str) -> float:
        return self.large(program, version) / self.large(program, other)

    def wins(self, program: str, nodes: int, change: str = "") -> float:
        """PufferFish's lead over the best other version of the paper."""
        others = [self.speedup(program, v, nodes, change=change) for v in PUBLISHED if v != "pufferfish"]
        return self.speedup(program, "pufferfish", nodes, change=change) / max(others)

    def beside(self, other: str, *programs: str) -> float:
        return min(self.speedup(p, "pufferfish") for p in programs) / self.speedup(other, "pufferfish")

    def called(self, program: str, nodes: int) -> float:
        """Share of the asyncs that became calls; hpt makes a task of each."""
        return (self.of("calls", program, "pufferfish", nodes) / self.of("tasks", program, "hpt", nodes))

    def most_called(self, nodes: int) -> float:
        return max(self.called(p, nodes) for p in PROGRAMS)

    def called_least(self, nodes: int) -> float:
        """LULESH's share, the greater of both, over the least of all others."""
        lulesh = [p for p in PROGRAMS if p.startswith("lulesh")]
        return (max(self.called(p, nodes) for p in lulesh) /
                min(self.called(p, nodes) for p in PROGRAMS if p not in lulesh))

    def relative(self, field: str, version: str, *programs: str) -> float:
        """The geometric mean of a count relative to HClib's with first touch."""
        return geomean([self.of(field, p, version) / self.of(field, p, "hclib-ft") for p in programs or PROGRAMS])

    def relative_over(self, field: str, version: str, other: str) -> float:
        return self.relative(field, version) / self.relative(field, other)

    def remote(self, version: str) -> float:
        """Share of the bytes from memory that are from another node."""
        return (sum(self.of("remote_bytes", p, version) for p in PROGRAMS) /
                sum(self.of("bytes", p, version) for p in PROGRAMS))

    def count_over(self, field: str, program: str, version: str, other: str) -> float:
        return self.of(field, program, version) / self.of(field, program, other)

    def count_over_program(self, field: str, program: str, other: str) -> float:
        return self.of(field, program, "hpt") / self.of(field, other, "hpt")

    def asyncs_of_a_sweep(self, program: str, rows: int, sweeps: int) -> float:
        return self.of("tasks", program, "hpt") / sweeps / (rows - 2)

    def asyncs_of_an_iteration(self, program: str, rows: int, sweeps: int) -> float:
        """Of two half sweeps."""
        return 2 * self.asyncs_of_a_sweep(program, rows, sweeps)

    def asyncs_of_a_run(self, program: str, cycles: int) -> float:
        """Of as many steps as the blast takes, without what fills the arrays: three asyncs."""
        return (self.of("tasks", program, "hpt") - 3) / self.of("steps", program, "hpt") * cycles

    def asyncs_of_a_value(self) -> float:
        return self.of("tasks", "cilksort", "hpt") / 16777216

    def from_memory(self, program: str) -> float:
        everything = self.of("bytes", program, "pufferfish") + self.of("cached_bytes", program, "pufferfish")
        return self.of("bytes", program, "pufferfish") / everything

    def from_memory_over(self, program: str, *others: str) -> float:
        return self.from_memory(program) / max(self.from_memory(p) for p in others)


def speedups_table(sweep: Sweep) -> str:
    lines = ["| nodes | program | " + " | ".join(NAMES[v] for v in NAMES) + " |",
             "|---" * (2 + len(NAMES)) + "|"]
    for nodes in (2, 4):
        for p in PROGRAMS:
            cells = [f"{sweep.speedup(p, v, nodes):.1f}" for v in NAMES]
            lines.append(f"| {nodes} | {p} | " + " | ".join(cells) + " |")
        cells = [f"{sweep.mean(v, nodes):.1f}" for v in NAMES]
        lines.append(f"| {nodes} | geometric mean | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def ask(sweep: Sweep) -> None:
    """Looks at all that is drawn."""
    for p in PROGRAMS:
        for v in VERSIONS:
            for nodes in [4] if v == "sequential" else [2, 4]:
                sweep.of("seconds", p, v, nodes)


PAPER = claims.Paper(__doc__, HERE, Sweep, order=lambda r: (r.program != "cilksort", not r.large),
                     drawn="Figures 9 to 16", ask=ask,
                     draw=lambda sweep, folder: draw.all_figures(sweep, NAMES, list(PROGRAMS), folder),
                     tables=lambda sweep: {"speedups": speedups_table(sweep)})

if __name__ == "__main__":
    sys.exit(PAPER.main())
