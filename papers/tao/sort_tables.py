#!/usr/bin/env python3
"""The sort of TAO, §6: its Tables 2, 3 and 4 in virtual time, on the paper's machine.

usage: papers/tao/sort_tables.py [--weft build/release/weft] [--quick] [--json] [--explain] [-j N]

Prints what came out beside what the paper has; run.py judges it, by expected.json. Exit status 0 only if every run
passed its own checks.

32 Mi integers in 1024 parts, as in the paper, by `weft run tao_sort --modelled`: the real scheduler, and units that
charge what sorting and merging cost and do not sort (without --modelled they do, and the values are checked; the times
are the same within a few in a thousand, which is a row of its own). Speed-ups are over one worker on whose node all
values lie, at the clock of a core alone (core.py). Where
thieves go by chance a row is the mean of several seeds. What differs from the paper: sort.md.
  go:TAO     teams whose members stay awake; policy random, or no stealing; the arrays lie in blocks, as its placement
             of assemblies wants it
  TBB        the same units as tasks of one worker, policy random
  Qthreads   the same, policy shepherd
--explain prints what each assumption is worth: members that give their cores away, and where arrays lie.
"""
import argparse
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys

import core

MACHINE = "opteron-6220-interlagos-16"
VALUES = 32 * 1024 * 1024
SECONDS_MAX = 600  # of one run, against hangs
SEEDS = range(1, 9)
SEEDS_QUICK = range(1, 5)  # of teams that steal

TABLE_2 = {"dep-1": 5.39, "dep-2": 7.51, "dep-4": 7.34, "tab-2": 7.31, "tab-4": 7.42}
# (scheduler of the levels of width 4, stealing) -> by how many levels have width 2, from the leaves on.
TABLE_3 = {("tab", True): [6.87, 7.17, 7.38, 7.53], ("tab", False): [7.51, 7.94, 8.07, 8.11],
           ("dep", True): [7.11, 7.30, 7.46, 7.60], ("dep", False): [7.81, 7.93, 8.03, 8.06]}
TBB, QTHREADS = 7.87, 7.77
SPLITS = ["1+4", "2+3", "3+2", "4+1"]
BEST = "4+1"


def levels(kind: str, twos: int) -> str:
    return ",".join(["dep-2"] * twos + [f"{kind}-4"] * (5 - twos))


class Runs:
    """Runs of the program, each once, some at a time."""

    def __init__(self, weft: str, jobs: int, layout: str = "blocked", awake: bool = True, clock: str = ""):
        self.weft, self.layout, self.awake, self.clock = weft, layout, awake, clock
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.replies: dict[tuple, concurrent.futures.Future] = {}

    def ask(self, *arguments: str) -> concurrent.futures.Future:
        if arguments not in self.replies:
            self.replies[arguments] = self.pool.submit(self.run, arguments)
        return self.replies[arguments]

    def run(self, arguments: tuple) -> dict:
        command = [self.weft, "run", "tao_sort", "--n", str(VALUES), "--machine", MACHINE, "--json", *arguments]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
        workers = int(arguments[arguments.index("--workers") + 1]) if "--workers" in arguments else 16
        change = f"{core.instructions()}; {self.clock}" if self.clock else core.change(workers)
        environment |= {"WEFT_CHANGE": change}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS_MAX)
        reply = json.loads(done.stdout) if done.stdout else {}
        if done.returncode != 0 or not reply.get("ok"):
            raise SystemExit(f"{' '.join(command)}: {done.stderr or reply}")
        return reply

    def serial(self) -> concurrent.futures.Future:
        return self.ask("--levels", "dep-1", "--layout", "first-touch", "--workers", "1", "--modelled")

    def teams(self, of: str, stealing: bool, seed: int = 1) -> concurrent.futures.Future:
        how = ["--policy", "random", "--seed", str(seed)] if stealing else ["--no-stealing"]
        awake = ["--awake"] if self.awake else []
        return self.ask("--levels", of, "--layout", self.layout, *awake, *how, "--modelled")

    def tasks(self, policy: str, seed: int) -> concurrent.futures.Future:
        return self.ask("--tasks", "--layout", self.layout, "--policy", policy, "--seed", str(seed), "--modelled")

    def speedup(self, runs: list[concurrent.futures.Future]) -> float:
        serial = self.serial().result()["seconds"]
        return statistics.mean(serial / r.result()["seconds"] for r in runs)


def traffic(runs: list[concurrent.futures.Future]) -> float:
    """Bytes from memory, near or far, and from caches of other cores: what the paper's counter sums up."""
    return statistics.mean(sum(r.result()[f"{kind}_bytes"] for kind in ("dirty", "near", "far")) for r in runs)


class Tables:
    """What the tables are made of: asked for all at once, so that runs go on side by side."""

    def __init__(self, runs: Runs, quick: bool):
        self.runs = runs
        seeds = SEEDS_QUICK if quick else SEEDS
        kinds = [(k, False) for k in ("tab", "dep")] if quick else list(TABLE_3)
        splits = SPLITS[2:] if quick else SPLITS  # many teams of four that wait awake take the longest to model
        runs.serial()
        self.uniform = {of: [runs.teams(of, False)] for of in TABLE_2}
        self.hybrid = {(kind, stealing, split): [runs.teams(levels(kind, int(split[0])), stealing, s)
                                                 for s in (seeds if stealing else [1])]
                       for kind, stealing in kinds for split in splits}
        self.hybrid["tab", True, BEST] = [runs.teams(levels("tab", int(BEST[0])), True, s) for s in seeds]
        self.tbb = [runs.tasks("random", s) for s in SEEDS]
        self.qthreads = [runs.tasks("shepherd", s) for s in SEEDS]
        best = ["--levels", levels("tab", int(BEST[0])), "--layout", runs.layout, "--awake", "--no-stealing"]
        self.full = [] if quick else [runs.ask(*best)]

    def speedups(self) -> dict[str, float]:
        found = {of: self.runs.speedup(r) for of, r in self.uniform.items()}
        for (kind, stealing, split), r in self.hybrid.items():
            found[f"{split} {kind} {'stealing' if stealing else 'no stealing'}"] = self.runs.speedup(r)
        found["TBB"] = self.runs.speedup(self.tbb)
        found["Qthreads"] = self.runs.speedup(self.qthreads)
        return found


def rank_correlation(a: list[float], b: list[float]) -> float:
    """Spearman's, of equal values the mean rank."""
    def ranks(of: list[float]) -> list[float]:
        return [sum(v < x for v in of) + (sum(v == x for v in of) + 1) / 2 for x in of]
    return statistics.correlation(ranks(a), ranks(b))


def papers(found: dict[str, float]) -> dict[str, float]:
    """The paper's numbers of Table 3, by the same names, as many as there are."""
    named = {f"{split} {kind} {'stealing' if stealing else 'no stealing'}": paper
             for (kind, stealing), row in TABLE_3.items() for split, paper in zip(SPLITS, row)}
    return {k: v for k, v in (named | {"TBB": TBB, "Qthreads": QTHREADS}).items() if k in found}


def values(weft: str, quick: bool, jobs: int = 2) -> dict[str, float]:
    """What Tables 2 to 4 have, and what the text says of them, by the names of rows in expected.json."""
    tables = Tables(Runs(weft, jobs), quick)
    found = tables.speedups()
    out = {f"{of}: speed-up of the uniform sort": found[of] for of in TABLE_2}
    out["the five uniform sorts in order: rank correlation with the paper"] = rank_correlation(
        [found[of] for of in TABLE_2], list(TABLE_2.values()))
    out["dep-2's over the greatest: dep-2 is the best"] = found["dep-2"] / max(found[of] for of in TABLE_2)
    out |= {name: found[name] for name in papers(found)} | of_table_3(found) | of_table_4(tables)
    for full in tables.full:
        modelled = tables.hybrid["tab", False, BEST][0].result()["seconds"]
        out["4+1 tab, sorted really and checked: its time over that of the charges alone"] = (
            full.result()["seconds"] / modelled)
    return out


def of_table_3(found: dict[str, float]) -> dict[str, float]:
    said = papers(found)
    still = {k: v for k, v in found.items() if k.endswith("no stealing")}
    stolen = [(k, k.replace("no stealing", "stealing")) for k in still]
    teams = max(found[k] for k in said if k not in ("TBB", "Qthreads"))
    return {"all teams, TBB and Qthreads in order: rank correlation with the paper":
            rank_correlation([found[k] for k in said], list(said.values())),
            "no stealing over stealing, the least of all pairs": min(found[a] / found[b] for a, b in stolen
                                                                      if b in found),
            "4+1 tab, no stealing, over the greatest of all teams': it is the best":
            found["4+1 tab no stealing"] / teams,
            "the best team over TBB": max(still.values()) / found["TBB"],
            "the best team over Qthreads": max(still.values()) / found["Qthreads"]}


def of_table_4(tables: Tables) -> dict[str, float]:
    of_tbb, teams = traffic(tables.tbb), tables.hybrid["tab", False, BEST]
    dirty = [r.result()["dirty_bytes"] for r in (teams[0], *tables.tbb)]
    return {"traffic of go:TAO (4+1 tab, no stealing) over TBB's": traffic(teams) / of_tbb,
            "of that, from caches of other cores that had written it": dirty[0] / statistics.mean(dirty[1:]),
            "traffic of Qthreads over TBB's": traffic(tables.qthreads) / of_tbb}


def explain(weft: str, jobs: int) -> None:
    print("speed-ups, where arrays lie and whether members keep their cores:")
    serial = Runs(weft, 1).serial().result()["seconds"]
    slow = Runs(weft, 1, clock=core.clock(16)).serial().result()["seconds"]
    print(f"one worker at 3.3 GHz and not 3.6: {slow / serial:.3f} of the time")
    variants = [(layout, awake) for layout in ("blocked", "first-touch", "interleaved") for awake in (True, False)]
    found = [Tables(Runs(weft, jobs, *v), True).speedups() for v in variants]
    print(f"{'':24}" + "".join(f"{layout + (' awake' if awake else ''):>20}" for layout, awake in variants))
    for name in found[0]:
        print(f"{name:24}" + "".join(f"{f[name]:20.2f}" for f in found))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="build/release/weft")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--explain", action="store_true")
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count() or 1)
    opt = parser.parse_args()
    if opt.explain:
        explain(opt.weft, opt.jobs)
        return 0
    found = values(opt.weft, opt.quick, opt.jobs)
    if opt.json:
        print(json.dumps(found, indent=1))
        return 0
    said = {f"{of}: speed-up of the uniform sort": paper for of, paper in TABLE_2.items()} | papers(found)
    for name, ours in found.items():
        print(f"{name:82} paper {said.get(name, '-'):>8}  ours {ours:7.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
