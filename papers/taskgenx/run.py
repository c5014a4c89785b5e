#!/usr/bin/env python3
"""Reproduces TaskGenX's evaluation in virtual time, draws Figures 1 and 3 to 6, and judges every number of its text.

usage: papers/taskgenx/run.py [--quick] [--json] [--verdict] [--figures DIR] [--update] [--pin]
       [--weft build/release/weft] [-j N]

Runs the eleven workloads of Table 1 on the paper's systems (`weft run taskgenx`), all that expected.json needs. The
figures at 512 equal cores are of whole workloads; elsewhere most run in part (PARTS), and the rows "parts" show what
what that changes. A row of expected.json has a pinned value, and one of --quick, and, if it is a result, a bound around
the paper's number (claims.py). --quick runs smaller parts, few numbers of cores, and judges the rows that can be judged
then. --pin writes the values found into expected.json; --update also the pages and the drawings.
Exit status 0 only if every run passed its own checks and every value is as pinned within its tolerance; with --verdict
only if every result holds, too.
"""
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import draw

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import claims  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SECONDS_MAX = 1800  # against hangs
# Of a workload's steps one in so many, of a matrix so many times fewer tiles a side.
PARTS = {"cholesky128": 2, "blackscholes": 10, "bodytrack": 15, "canneal": 40, "fluidanimate": 20, "streamcluster": 40}
QUICK_PARTS = {"cholesky256": 2, "cholesky128": 4, "qr128": 4, "blackscholes": 25, "bodytrack": 60, "canneal": 200,
               "ferret": 4, "fluidanimate": 50, "streamcluster": 200}
WORKLOADS = ["cholesky256", "cholesky128", "qr512", "qr128", "blackscholes", "bodytrack", "canneal", "dedup", "ferret",
             "fluidanimate", "streamcluster"]
SYSTEMS = ["baseline", "rtopt", "taskgenx", "runtime", "dependences"]
CORES = [8, 16, 32, 64, 128, 256, 512]
BIG_LITTLE = [(total, total * share // 4) for total in (32, 128, 512) for share in (1, 2, 3)]
RATIOS = [1, 4, 16, 64, 256, 1024]
MASTER_CORES = [8, 16, 32, 64, 128]  # of Figure 1; its Cholesky is taken to be this one:
MASTER_WORKLOAD = "cholesky256"
ACTIVITIES = ["create", "runtime", "tasks", "idle"]
SATURATED = 0.75  # of the most: so many cores are where a speed-up saturates
SAME = 0.02  # as fast, either way


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of a workload; `part` None: the one of the sweep. dependences+50: half of creation is served, too."""
    workload: str
    system: str
    cores: int
    big: int = 0
    master: str = "big"
    r: int = 16
    part: int | None = None
    fine: bool = False
    traced: bool = False  # what the master does is in the reply

    def arguments(self, parts: dict[str, int]) -> list[str]:
        part = parts.get(self.workload, 1) if self.part is None else self.part
        system, _, inserts = self.system.partition("+")
        return ["taskgenx", "--workload", self.workload, "--system", system, "--cores", str(self.cores),
                "--inserts", inserts or "0", "--big", str(self.big), "--master", self.master, "--r", str(self.r),
                "--part", str(part), *["--fine"] * self.fine]


class Sweep:
    """The runs and what follows from them. A figure of expected.json names a method and its arguments."""

    def __init__(self, weft: str, quick: bool, jobs: int):
        self.weft, self.jobs = weft, jobs
        self.parts = QUICK_PARTS if quick else PARTS
        self.cores = [32, 512] if quick else CORES
        self.pairs = [(512, 256)] if quick else BIG_LITTLE
        self.master_cores = [8, 64] if quick else MASTER_CORES
        self.whole = not quick
        self.results: dict[Run, dict] = {}

    # --- running

    def wanted(self) -> list[Run]:
        runs = [Run(w, s, c) for c in self.cores for s in SYSTEMS for w in WORKLOADS]
        runs += [Run(w, s, total, big, master) for total, big in self.pairs for master in ("big", "little")
                 for s in ("baseline", "taskgenx") for w in WORKLOADS]
        runs += [Run(w, "dependences+50", 512) for w in WORKLOADS]
        runs += [Run("canneal", "taskgenx", c, r=r) for c in self.cores for r in RATIOS]
        runs += [self.master_run(c) for c in self.master_cores]
        if self.whole:
            runs += [Run(w, "taskgenx", 512, r=1) for w in WORKLOADS]
            runs += [Run(w, s, 512, part=1) for s in SYSTEMS for w in self.parts]
            runs += [Run(w, s, 512, 256, "little", part=1) for s in ("baseline", "taskgenx") for w in self.parts]
            runs += [Run(w, s, 64, part=QUICK_PARTS.get(w, 1), fine=fine) for w in WORKLOADS
                     for s in ("baseline", "taskgenx", "runtime", "dependences") for fine in (False, True)]
        return list(dict.fromkeys(runs))

    def master_run(self, cores: int) -> Run:
        return Run(MASTER_WORKLOAD, "baseline", cores, traced=True)

    def run_one(self, run: Run) -> dict:
        if not run.traced:
            return self.called("run", *run.arguments(self.parts))
        with tempfile.TemporaryDirectory() as folder:
            trace = f"{folder}/run.weft"
            reply = self.called("run", *run.arguments(self.parts), "--trace", trace)
            report = self.called("report", trace)
        master, all_ns = report["per_worker"][0], report["duration_ns"]
        spent = [master["main_program_ns"], master["rest_ns"], master["bodies_ns"], master["asleep_ns"]]
        return reply | {"master": {name: ns / all_ns for name, ns in zip(ACTIVITIES, spent)}}

    def called(self, *arguments: str) -> dict:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
        done = subprocess.run([self.weft, *arguments, "--json"], capture_output=True, text=True, timeout=SECONDS_MAX,
                              env=environment)
        reply = json.loads(done.stdout) if done.stdout else {}
        if done.returncode != 0 or not reply.get("ok"):
            why = reply.get("error") or done.stderr or reply.get("checks")
            raise RuntimeError(f"weft {' '.join(arguments)}: {why}")
        return reply

    def run_all(self) -> None:
        runs = self.wanted()
        # The longest first, so that none is left over at the end.
        length = {w: i for i, w in enumerate(("cholesky128", "streamcluster", "canneal", "qr128", "cholesky256"))}
        runs.sort(key=lambda r: (r.part is None, length.get(r.workload, 9)))
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            pending = {pool.submit(self.run_one, r): r for r in runs}
            try:
                for i, future in enumerate(concurrent.futures.as_completed(pending), 1):
                    self.results[pending[future]] = future.result()
                    if sys.stderr.isatty() or i % 50 == 0 or i == len(runs):
                        end = "\r" if sys.stderr.isatty() and i < len(runs) else "\n"
                        print(f"{i}/{len(runs)} runs", file=sys.stderr, end=end, flush=True)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    # --- what follows from the runs

    def value(self, row: dict) -> float:
        method, *arguments = row["value"]
        return getattr(self, method)(*arguments)

    def speedup(self, workload: str, system: str, cores: int, big: int = 0, master: str = "big", r: int = 16) -> float:
        """Over one core, a little one where there are some; of the whole workload where that has run."""
        run = Run(workload, system, cores, big, master, r)
        whole = dataclasses.replace(run, part=1)
        return self.results[whole if whole in self.results else run]["speedup"]

    def improvement(self, system: str, workload: str, cores: int, big: int = 0, master: str = "big") -> float:
        return (self.speedup(workload, system, cores, big, master) /
                self.speedup(workload, "baseline", cores, big, master))

    def mean_speedup(self, system: str, cores: int, big: int = 0, master: str = "big") -> float:
        return sum(self.speedup(w, system, cores, big, master) for w in WORKLOADS) / len(WORKLOADS)

    def improvement_of_mean(self, system: str, cores: int, big: int = 0, master: str = "big") -> float:
        """How much higher the mean speed-up is: the average bars of Figures 3 and 5."""
        return self.mean_speedup(system, cores, big, master) / self.mean_speedup("baseline", cores, big, master)

    def mean_improvement(self, system: str, cores: int, big: int = 0, master: str = "big") -> float:
        """The mean of what the workloads gain: Figure 6."""
        return sum(self.improvement(system, w, cores, big, master) for w in WORKLOADS) / len(WORKLOADS)

    def most_mean_improvement(self, system: str) -> float:
        return max(self.mean_improvement(system, c) for c in self.cores)

    def share_beyond(self, system: str, cores: int) -> float:
        """The part of TaskGenX's improvement that the other system's lacks."""
        return 1 - self.mean_improvement(system, cores) / self.mean_improvement("taskgenx", cores)

    def gain_in_means(self, system: str, cores: int) -> float:
        return self.mean_speedup("taskgenx", cores) / self.mean_speedup(system, cores) - 1

    def saturates(self, workload: str, system: str) -> int:
        most = max(self.speedup(workload, system, c) for c in self.cores)
        return next(c for c in self.cores if self.speedup(workload, system, c) >= SATURATED * most)

    def least_improvement(self, system: str) -> float:
        return min(self.improvement(system, w, c) for w in WORKLOADS for c in self.cores)

    def most_improvement(self, system: str, cores: int, big: int = 0, master: str = "big") -> float:
        return max(self.improvement(system, w, cores, big, master) for w in WORKLOADS)

    def rises(self, system: str) -> float:
        """The least step of the improvement of the mean from one number of cores to the next."""
        steps = [self.improvement_of_mean(system, c) for c in self.cores]
        return min(b - a for a, b in zip(steps, steps[1:]))

    def slowed_down(self, system: str) -> float:
        """The share of all cases that are slower by more than SAME."""
        cases = [self.improvement(system, w, c) for w in WORKLOADS for c in self.cores]
        return sum(x < 1 - SAME for x in cases) / len(cases)

    def creator_alone(self) -> float:
        """What the workloads gain on average where creation has a core of its own that is as fast as any (§3.2)."""
        alone, without = ([self.results[Run(w, s, 512, r=r)]["speedup"] for w in WORKLOADS]
                          for s, r in (("taskgenx", 1), ("baseline", 16)))
        return sum(a / b for a, b in zip(alone, without)) / len(WORKLOADS)

    def time_over(self, a: str, b: str, system: str, cores: int) -> float:
        """How long one workload takes over another, whole."""
        seconds = [self.results[Run(w, system, cores, part=1 if w in self.parts else None)]["seconds"] for w in (a, b)]
        return seconds[0] / seconds[1]

    def qr_blocks(self, system: str) -> float:
        return self.speedup("qr128", system, 512) / self.speedup("qr512", system, 512)

    def over(self, system: str, other: str, *cores: int) -> float:
        """The least mean improvement over the other's, of those numbers of cores."""
        return min(self.mean_improvement(system, c) / self.mean_improvement(other, c) for c in cores)

    def by_ratio(self, r: int, other: int, cores: int) -> float:
        return self.speedup("canneal", "taskgenx", cores, r=r) / self.speedup("canneal", "taskgenx", cores, r=other)

    def efficiency(self, workload: str, system: str, cores: int) -> float:
        return self.speedup(workload, system, cores) / cores

    def little_over_big(self, system: str, which: str) -> float:
        """The mean speed-up with the master on a little core over that with it on a big one."""
        pick = {"least": min, "most": max}[which]
        return pick(self.mean_speedup(system, t, b, "little") / self.mean_speedup(system, t, b) for t, b in self.pairs)

    def master(self, activity: str, cores: int) -> float:
        """The share of the run that the core of the program spends on it: Figure 1."""
        return self.results[self.master_run(cores)]["master"][activity]

    def master_change(self, activity: str, few: int, many: int) -> float:
        return self.master(activity, many) - self.master(activity, few)

    def ratio_needed(self, workload: str) -> float:
        """Equation 1, cut to two places as the paper's table has it."""
        return int(self.results[Run(workload, "baseline", 512)]["needed_r"] * 100) / 100

    def parts_apart(self, big: int = 0, master: str = "big") -> float:
        """How far a speed-up of a part is from the whole's, the worst at 512 cores."""
        worst = 0.0
        for run, reply in self.results.items():
            in_part = dataclasses.replace(run, part=None)
            if run.part == 1 and (run.cores, run.big, run.master) == (512, big, master) and in_part in self.results:
                worst = max(worst, abs(self.results[in_part]["speedup"] / reply["speedup"] - 1))
        return worst

    def coarse_apart(self) -> float:
        """How far a speed-up is from that of fine mode, the worst of those that have run in both."""
        coarse = {run: self.results[dataclasses.replace(run, fine=False)] for run in self.results if run.fine}
        return max(abs(c["speedup"] / self.results[run]["speedup"] - 1) for run, c in coarse.items())


def main() -> int:
    opt = claims.arguments(__doc__, "Figures 1 and 3 to 6")
    expected = claims.load(HERE)
    began = time.monotonic()
    sweep = Sweep(opt.weft, opt.quick, max(1, opt.j))
    sweep.run_all()
    rows = claims.judge_all(expected, sweep.value, opt.quick)
    folder = HERE / "figures" if opt.update else opt.figures
    if folder is not None:
        draw.all_figures(sweep, WORKLOADS, RATIOS, folder)
    claims.keep(opt, HERE, expected, rows, {})
    return claims.conclude(opt, rows, {"runs": len(sweep.results), "seconds": time.monotonic() - began,
                                       "processor_seconds": claims.processor_seconds()})


if __name__ == "__main__":
    sys.exit(main())
