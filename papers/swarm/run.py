#!/usr/bin/env python3
"""Reproduces the Swarm paper: what ordered programs could gain (Table 1), and what its chip makes of them (Tables 2, 4
and 5, Figures 11 to 18). Draws the figures, and judges every number of these that the text has.

usage: papers/swarm/run.py [--quick] [--json] [--verdict] [--figures FOLDER] [--update] [--pin]
       [--commands WORDS] [--weft build/release/weft] [-j N]

Runs the paper's six programs, each on an input made to match the paper's, with the executor `oracle`: bodies run one
after the other, and it is computed how many could have run at a time; and with the executor `swarm`, the chip as a
model, of 1 to 64 cores, also without its task units: there one core runs the serial program, or all run a parallel one
with locks and atomic operations. A program also checks its result against a serial reference.
A row of expected.json has a pinned value, ours, and, if it is a result, a bound around the paper's number (claims.py).
Exit status 0 only if every run passed its own checks and every value is as pinned within its tolerance; with --verdict
only if every result holds, too.
--quick judges two of the programs by the oracle and one on the chip. --pin writes the values found into expected.json,
after a change of programs or inputs; --update also the pages and the drawings.

example: papers/swarm/run.py --weft build/release/weft --quick
"""
import dataclasses
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import claims  # noqa: E402
import draw  # noqa: E402
import runs  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SECONDS_MAX = 1200  # of one run, against hangs
# The inputs of Table 4, or ones alike: README.md says how. The longest run comes first.
INPUTS = {"bfs": ["bfs", "--width", "3656", "--height", "1948"],
          "astar": ["astar", "--width", "4800", "--height", "1000"],
          "des": ["des", "--adders", "4", "--toggles", "265"],
          "msf": ["msf", "--scale", "16", "--edges", "3180000"],
          "msf-size": ["msf", "--scale", "16", "--edges", "3180000", "--link", "size"],
          "sssp": ["sssp", "--width", "1186", "--height", "1186", "--rivers", "4"],
          "silo": ["silo", "--warehouses", "4", "--transactions", "32000", "--items", "100000", "--customers", "3000"]}
# A quarter of each for the chip, but for silo: there are more than a hundred runs.
CHIP_INPUTS = {"bfs": ["bfs", "--width", "1828", "--height", "974"],
               "astar": ["astar", "--width", "2400", "--height", "500"],
               "des": ["des", "--adders", "4", "--toggles", "66"],
               "des-save": ["des", "--adds", "save", "--adders", "3", "--bits", "36", "--toggles", "178"],
               "msf": ["msf", "--scale", "14", "--edges", "795000"],
               "sssp": ["sssp", "--width", "593", "--height", "593", "--rivers", "4"],
               "silo": INPUTS["silo"],
               "msf-unfiltered": ["msf", "--scale", "14", "--edges", "795000", "--unfiltered"],
               **{f"silo-{n}": ["silo", "--warehouses", str(n), *INPUTS["silo"][3:]] for n in (1, 16, 64)}}
PROGRAMS = draw.PROGRAMS
UNBOUNDED = "task_queue=0,commit_queue=0"
# Of Table 5; instructions of the task unit stay.
INSTANT = UNBOUNDED + ",instant_memory=1"
SERIAL = "task_units=0"
# Of Figure 18: 100,000 cycles from the middle of the run on, a sample each 500. The first is what others count from.
SAMPLED = "sample_period=500,sample_count=201,sample_from="
SAMPLED_FROM = 20_000_000
# Of a tile of Table 3: entries, and what an entry of each structure holds, in bits (§4.1 to §4.4).
TASK_ENTRIES, COMMIT_ENTRIES, CHILDREN, ARGUMENTS, FILTER_BITS = 256, 64, 8, 3, 2048
WORD = 64
VIRTUAL_TIME = 2 * WORD
TASK_POINTER = 12  # one of 16 tiles, one of 256 places


@dataclasses.dataclass(frozen=True)
class Run:
    program: str
    chip: str = ""  # options of the executor `swarm`; none: the executor `oracle`
    whole: bool = False  # the chip has the whole input, too
    threads: bool = False  # the program of threads on the chip's cores

    def arguments(self) -> list[str]:
        inputs = CHIP_INPUTS if self.chip and not self.whole else INPUTS
        executor = "threads" if self.threads else "swarm" if self.chip else "oracle"
        return [*inputs[self.program], "--executor", executor, "--workers", "1"]

    def command(self) -> str:
        return (f"WEFT_SWARM={self.chip} " if self.chip else "") + "weft run " + " ".join(self.arguments())

    def execute(self, weft: str) -> dict:
        return runs.reply(weft, self, SECONDS_MAX, {"WEFT_SWARM": self.chip} if self.chip else {})


class Sweep(runs.Sweep):
    """What follows from the replies; `options` are those of the chip beside its cores."""

    def oracle(self, program: str, field: str) -> float:
        return self.replies[Run(program)][field]

    def chip(self, program: str, field: str, cores: int = 64, options: str = "") -> float:
        return self.replies[Run(program, f"cores={cores}" + ("," + options if options else ""))][field]

    def most(self, field: str, *programs: str) -> float:
        """On 64 cores."""
        return max(self.chip(p, field) for p in programs)

    def queue_gains_least(self) -> float:
        """The chip with an unbounded commit queue over one of 512 entries, where it gains least."""
        return min(self.faster(p, "commit_queue=0", 64, 64, "commit_queue=8") for p in PROGRAMS)

    def faster(self, program: str, options: str, cores: int = 64, than_cores: int = 64, than: str = "") -> float:
        """How many times as fast the chip of these options is, beside another."""
        return self.chip(program, "cycles", than_cores, than) / self.chip(program, "cycles", cores, options)

    def foreseen(self, program: str) -> float:
        """64 cores over 1 where helpers have the timestamp of who asks for them."""
        return self.faster(program, "helpers_foresee=0", 64, 1, "helpers_foresee=0")

    def mean_faster(self, *how) -> float:
        return statistics.geometric_mean(self.faster(p, *how) for p in PROGRAMS)

    def self_relative(self, program: str, cores: int) -> float:
        return self.faster(program, "", cores, 1)

    def over_serial(self, program: str, cores: int) -> float:
        """Beside the serial program on a chip of the same size without task units (Fig. 12)."""
        return self.faster(program, "", cores, cores, SERIAL)

    def by_threads(self, program: str, cores: int) -> float:
        """Cycles of the parallel program with locks."""
        return self.replies[Run(program, f"cores={cores}", threads=True)]["cycles"]

    def threads_over_serial(self, program: str, cores: int, by: str = "") -> float:
        """Beside the serial program; `by` is the name of another program by threads than its own."""
        return self.chip(program, "cycles", cores, SERIAL) / self.by_threads(by or program, cores)

    def threads_self_relative(self, program: str, cores: int) -> float:
        return self.by_threads(program, 1) / self.by_threads(program, cores)

    def over_threads(self, program: str, cores: int) -> float:
        """How many times as fast Swarm is as the parallel program with locks."""
        return self.by_threads(program, cores) / self.chip(program, "cycles", cores)

    def threads_beside_24(self, program: str) -> float:
        """Speed-up over the serial program, 64 cores beside 24."""
        return self.threads_over_serial(program, 64) / self.threads_over_serial(program, 24)

    def serial_run(self, program: str) -> float:
        """Billions of cycles that the serial program takes, with its whole input, on Table 3's caches (Table 4)."""
        return self.replies[Run(program, f"cores=64,{SERIAL}", True)]["cycles"] / 1e9

    def over_time(self) -> str:
        """Samples of the tiles while astar runs on 16 cores (Fig. 18)."""
        return self.replies[Run("astar", f"cores=16,{SAMPLED}{SAMPLED_FROM}")]["samples"]

    def kib(self, structure: str) -> float:
        """Of a tile, by what its entries hold (Table 2)."""
        bits = {"filters": COMMIT_ENTRIES * 2 * FILTER_BITS,
                "beside filters": COMMIT_ENTRIES * (VIRTUAL_TIME + WORD + CHILDREN * TASK_POINTER),
                "order queue": TASK_ENTRIES * 2 * WORD,
                # A function, a timestamp, the arguments; the rest of a virtual time, the parent, and how it stands.
                "task queue": TASK_ENTRIES * ((2 + ARGUMENTS) * WORD + VIRTUAL_TIME - WORD + TASK_POINTER + 4)}
        return bits[structure] / 8 / 1024

    def core_state(self) -> float:
        """Bytes that each core has beside: two filters, the undo log's place, its children by their places."""
        return (2 * FILTER_BITS + WORD + CHILDREN * (TASK_POINTER - 2)) / 8

    def table_5(self, row: str, column: str) -> float:
        options = {"baseline": "", "unbounded": UNBOUNDED, "instant": INSTANT}[row]
        cores, than = {"1c vs 1c-base": (1, ""), "64c vs 1c-base": (64, ""), "64c vs 1c": (64, options)}[column]
        return self.mean_faster(options, cores, 1, than)

    def parallelism(self, which: str) -> float:
        """The least or the greatest, of the programs: with all idealizations that is all there is to gain."""
        return (min if which == "least" else max)(self.faster(p, INSTANT, 64, 1, INSTANT) for p in PROGRAMS)

    def overhead_traffic(self) -> float:
        """Bytes beside those of memory, for each of those; mean of the programs."""
        kinds = ("enqueue", "abort", "gvt")
        return statistics.mean(sum(self.chip(p, "traffic_" + k) for k in kinds) / self.chip(p, "traffic_memory")
                               for p in PROGRAMS)

    def cycles_a_check(self, field: str, program: str = "") -> float:
        """Of a tile, from one check of signatures or virtual times to the next; mean of the programs, or of one."""
        each = [p for p in PROGRAMS if program in ("", p)]
        return statistics.mean(self.chip(p, "cycles") * self.chip(p, "tiles") / self.chip(p, field) for p in each)

    def canary_checks(self) -> float:
        """Global checks with a canary for each line, for each with one for a set; mean of the programs."""
        return statistics.mean(self.chip(p, "checks_global", 64, "canary_per_line=1") / self.chip(p, "checks_global")
                               for p in PROGRAMS)


def order(r: Run) -> int:
    return list(INPUTS).index(r.program.partition("-")[0] if r.program not in INPUTS else r.program)


PAPER = claims.Paper(__doc__, HERE, Sweep, order=order, drawn="Figures 11 to 18", ask=draw.ask, draw=draw.all_figures)

if __name__ == "__main__":
    sys.exit(PAPER.main())
