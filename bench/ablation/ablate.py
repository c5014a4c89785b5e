#!/usr/bin/env python3
"""What the scheduler loses without each of its rules, over a fixed set of programs: the table of docs/ablation.md.

usage: ablate.py [--program PATH] [--state FILE] [--page FILE] [--data FILE] [--only NAME,...] [--workers N,...]
                 [--host N [--host-programs NAME,...]] [--off NAME,...] [--plant NAME=NUMBER] [--jobs N] [--json]
                 [--prune]

  bench/ablation/ablate.py --only tiny,stencil32 --workers 4,16     one rule, one program; prints the row
  make ablate                                                       all, with the page; again after a break goes on

Each program runs with all rules, and with one of them off, in virtual time on so many workers (4,16,64,256), and with
--host N on N real cores, in turns, there only without each rule that does not pay in virtual time. Names after --only
are rules or programs; where only rules are named all programs run, and the other way round. --off: rules that are off
in all runs, to see which cover for each other. --plant: one more row, a rule with another number.

Seeds. A modelled run is the same each time, but what a rule costs there may hang on the order of a few steps. So a
seed also makes each size a little larger. Where a rule makes a difference of 1 % or so, three seeds are compared pair
by pair, and the median counts. Where a rule seems to cost or gain most it is asked with six other seeds, which then
count alone. Noise: how far the same program lies apart with all rules on and other seeds, the middle three of five.

--prune: no runs. Page and data again from the data, without rules that the program has no more.

Runs are kept in FILE of --state (build/ablation/runs.json) with a digest of the program, so a call that was broken off
goes on. Page and data are written whole or not at all. Status 0; 1 if a run has failed; 2 for wrong arguments.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import pages

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKERS = (4, 16, 64, 256)
PAYS = 0.05  # a rule whose absence costs less than this everywhere goes
SEEN = 0.015  # less is asked with three seeds
FIRST_SEEDS, NOISE_SEEDS, OTHER_SEEDS = (1, 2, 3), (1, 2, 3, 4, 5), (6, 7, 8, 9, 10, 11)
CANDIDATES, TURNS = 2, 4  # at each end of a rule's costs so many are asked with other seeds at a time, so often
CHUNK = 5  # rules that are off together at first
HOST_ROUNDS, HOST_MORE_ROUNDS, HOST_PASSES = 4, 20, 10
PATIENCE_S = 300
# Rules that only act where neither a modelled machine nor a few cores come by, with what was measured there.
ELSEWHERE = {
    "main_moves": "real machines with five workers or more: `stencil` of 0.5 us on 16 cores 15.1 ms without, 8.1 with"
                  " (decision 0054)",
}


class Failed(Exception):
    pass


def written_whole(path: pathlib.Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".new")
    beside.write_text(text)
    os.replace(beside, path)


class Runs:
    """Runs of the program, each made once."""

    def __init__(self, program: pathlib.Path, state: pathlib.Path, jobs: int, off: tuple[str, ...]):
        self.program, self.state, self.off = program, state, off
        self.digest = hashlib.sha256(program.read_bytes()).hexdigest()[:16]
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.known: dict = {}
        self.saved_s = time.monotonic()
        if state.exists():
            try:
                kept = json.loads(state.read_text())
                self.known = kept["runs"] if kept["digest"] == self.digest else {}
            except (ValueError, KeyError, TypeError):
                raise Failed(f"{state} holds no runs; remove it, or name another one with --state")

    def save(self) -> None:
        written_whole(self.state, json.dumps({"digest": self.digest, "runs": self.known}))
        self.saved_s = time.monotonic()

    def call(self, name: str, workers: int, off: tuple[str, ...], seed: int, machine="virtual", passes=1) -> float:
        command = [str(self.program), name, "--workers", str(workers), "--machine", machine, "--seed", str(seed)]
        command += ["--passes", str(passes)]
        if rules := setting(self.off + off):
            command += ["--rules", rules]
        clean = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=clean, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise Failed(f"{' '.join(command)}: more than {PATIENCE_S} s")
        if done.returncode != 0:
            raise Failed(f"{' '.join(command)}: {done.stderr.strip()}")
        return json.loads(done.stdout)["time_ns"]

    def key(self, name, workers, off, seed) -> str:
        return f"{name} {workers} {setting(self.off + off)} {seed}"

    def ask(self, what: str, wanted) -> None:
        """Makes those runs, (program, workers, off, seed), that are not known."""
        todo = {self.key(*w): w for w in wanted}
        todo = {k: w for k, w in todo.items() if k not in self.known}
        # Long ones first, as far as anybody knows.
        order = sorted(todo, key=lambda k: -todo[k][1])
        futures = {self.pool.submit(self.call, *todo[k]): k for k in order}
        try:
            for n, f in enumerate(concurrent.futures.as_completed(futures), 1):
                self.known[futures[f]] = f.result()
                progress(what, n, len(futures))
                if time.monotonic() - self.saved_s > 5:
                    self.save()
        finally:
            for f in futures:
                f.cancel()
            self.save()

    def __call__(self, name, workers, off, seed) -> float:
        return self.known[self.key(name, workers, off, seed)]


def progress(what: str, n: int, of: int) -> None:
    if sys.stderr.isatty() or n == of or n % 500 == 0:
        print(f"\rablate: {what}: {n} of {of} ", end="\n" if n == of or not sys.stderr.isatty() else "",
              file=sys.stderr, flush=True)


def setting(off: tuple[str, ...]) -> str:
    return ",".join(r if "=" in r else r + "=off" for r in off)


def noise(runs: Runs, name: str, workers: int) -> float:
    times = sorted(runs(name, workers, (), seed) for seed in NOISE_SEEDS)
    return (times[3] - times[1]) / times[2]


def cost(runs: Runs, name: str, workers: int, rule: str, seeds) -> float:
    return statistics.median(runs(name, workers, (rule,), s) / runs(name, workers, (), s) for s in seeds) - 1


def modelled(runs: Runs, rules: list[str], programs: list[str], workers) -> dict:
    """{(rule, program, workers): {cost, noise, seeds}} of those where a rule makes any difference."""
    places = [(p, w) for p in programs for w in workers]
    runs.ask("all rules", [(p, w, (), s) for p, w in places for s in NOISE_SEEDS])
    usual, planted = [r for r in rules if "=" not in r], [r for r in rules if "=" in r]
    chunks = [tuple(usual[i:i + CHUNK]) for i in range(0, len(usual), CHUNK)] + [(r,) for r in planted]
    runs.ask("several off", [(p, w, c, 1) for p, w in places for c in chunks if len(c) > 1])
    differs = lambda p, w, off: runs(p, w, off, 1) != runs(p, w, (), 1)
    single = [(p, w, r) for p, w in places for c in chunks for r in c if len(c) == 1 or differs(p, w, c)]
    runs.ask("one off", [(p, w, (r,), 1) for p, w, r in single])
    single = [(p, w, r) for p, w, r in single if differs(p, w, (r,))]
    seeds = {x: (1,) for x in single}
    now = lambda x: cost(runs, *x, seeds[x])

    def ask_with(what, them, more):
        runs.ask(what, [(p, w, off, s) for p, w, r in them for s in more for off in ((r,), ())])
        seeds.update({x: more for x in them})

    ask_with("other seeds", [x for x in single if abs(now(x)) >= SEEN / 2], FIRST_SEEDS)
    for turn in range(TURNS):
        them = []
        for r in rules:
            mine = sorted((x for x in single if x[2] == r), key=now)
            doubtful = [x for x in mine[:CANDIDATES] + mine[-CANDIDATES:] if abs(now(x)) >= PAYS]
            them += [x for x in dict.fromkeys(doubtful) if seeds[x] != OTHER_SEEDS]
        if not them:
            break
        ask_with("once more", them, OTHER_SEEDS)
    return {(r, p, w): {"cost": now((p, w, r)), "noise": noise(runs, p, w), "seeds": len(seeds[p, w, r])}
            for p, w, r in single}


def apart(off: list[float], on: list[float]) -> float:
    """By how much runs without a rule take longer. Real ones often fall into two heaps; so both the quickest quarter
    and the quickest half must differ, and what differs less counts."""
    off, on = sorted(off), sorted(on)
    quarter, half = (off[i] / on[i] - 1 for i in (len(on) // 4, len(on) // 2))
    return 0.0 if quarter * half < 0 else min(quarter, half, key=abs)


def on_host(runs: Runs, rules: list[str], programs: list[str], workers: int) -> dict:
    """{(rule, program, workers): cost}, of runs in turns. What looks like 5 % is measured again, by itself."""
    found = {}

    def in_turns(p, some, rounds):
        times: dict[str, list[float]] = {r: [] for r in ["", *some]}
        for _ in range(rounds):
            for r in times:
                times[r].append(runs.call(p, workers, (r,) if r else (), 1, "host", HOST_PASSES))
        return {r: apart(times[r], times[""]) for r in some}

    for n, p in enumerate(programs, 1):
        key = f"host {p} {workers} {setting(runs.off)} {','.join(rules)}"
        if key not in runs.known:
            one = in_turns(p, rules, HOST_ROUNDS)
            again = [r for r in rules if one[r] >= PAYS]
            runs.known[key] = one | (in_turns(p, again, HOST_MORE_ROUNDS) if again else {})
            runs.save()
        found |= {(r, p, workers): c for r, c in runs.known[key].items()}
        progress(f"host, {workers} workers", n, len(programs))
    return found


def rows(rules: list[dict], virtual: dict, host: dict) -> list[dict]:
    def extreme(of: dict, name: str, best):
        mine = [(v["cost"] if isinstance(v, dict) else v, k) for k, v in of.items() if k[0] == name]
        if not mine:
            return None
        c, (_, p, w) = best(mine)
        n = of[name, p, w]["noise"] if isinstance(of[name, p, w], dict) else None
        return {"cost": round(c, 4), "program": p, "workers": w, "noise": None if n is None else round(n, 4)}

    def pays(x):
        return x is not None and x["cost"] >= PAYS and x["cost"] > 2 * (x["noise"] or 0)

    table = []
    for r in rules:
        name = r["name"]
        sure = {k: v for k, v in virtual.items() if v["seeds"] == len(OTHER_SEEDS) and v["cost"] > 2 * v["noise"]}
        worst = extreme(sure, name, max) or extreme(virtual, name, max)
        real = extreme(host, name, max)
        table.append({"rule": name, "what": r["what"], "worst": worst, "best": extreme(virtual, name, min),
                      "differs": sum(k[0] == name for k in virtual), "host": real,
                      "pays": pays(worst) or pays(real), "elsewhere": ELSEWHERE.get(name)})
    return table


def pruned(found: dict, rules: list[dict]) -> dict:
    """What was found, without rules that are not among these; it keeps their names, as they were on in its runs."""
    there = {r["name"] for r in rules}
    gone = {x["rule"] for x in found["rows"] if "=" not in x["rule"]} - there  # what was planted is no rule
    left = {k: [x for x in found[k] if x["rule"] in there] for k in ("rows", "modelled", "real")}
    return found | left | {"deleted": sorted(gone | set(found.get("deleted", ())))}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)

    def names(text: str) -> tuple[str, ...]:
        return tuple(text.split(","))

    def number(text: str) -> int:
        if not text.isascii() or not text.isdecimal() or int(text) == 0:
            raise argparse.ArgumentTypeError(f"'{text}' is no number above 0")
        return int(text)

    def numbers(text: str) -> tuple[int, ...]:
        return tuple(number(x) for x in text.split(","))

    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bench/ablation")
    parser.add_argument("--state", type=pathlib.Path, default=ROOT / "build/ablation/runs.json")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--only", type=names, default=())
    parser.add_argument("--off", type=names, default=())
    parser.add_argument("--workers", type=numbers, default=WORKERS)
    parser.add_argument("--host", type=number, default=0)
    parser.add_argument("--host-programs", type=names, default=())
    parser.add_argument("--plant", default="")
    parser.add_argument("--jobs", type=number, default=2)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--prune", action="store_true")
    return parser.parse_args()


def chosen(all_of_them: list[dict], only) -> list[dict]:
    return [x for x in all_of_them if x["name"] in only] or all_of_them


def main() -> int:
    a = arguments()
    if not a.program.is_file():
        return print(f"ablate: no {a.program}: build the target bench_ablation", file=sys.stderr) or 2
    listed = json.loads(subprocess.check_output([str(a.program), "--list"]))
    if a.prune:
        if not a.data or not a.data.is_file():
            return print("ablate: --prune needs the data, with --data", file=sys.stderr) or 2
        return told(a, pruned(json.loads(a.data.read_text()), listed["rules"]))
    known = {x["name"] for x in listed["rules"] + listed["programs"]}
    if wrong := [n for n in a.only + a.off + a.host_programs if n not in known]:
        return print(f"ablate: neither a rule nor a program: {', '.join(wrong)}", file=sys.stderr) or 2
    rules = [r for r in chosen(listed["rules"], a.only) if r["name"] not in a.off]
    if a.plant:
        rules.append({"name": a.plant, "what": "planted"})
    programs = [p["name"] for p in chosen(listed["programs"], a.only)]
    try:
        runs = Runs(a.program, a.state, a.jobs, a.off)
        virtual = modelled(runs, [r["name"] for r in rules], programs, a.workers)
        host = {}
        if a.host:  # of rules that do not pay already
            open_ = [t["rule"] for t in rows(rules, virtual, {}) if not t["pays"]]
            there = [p for p in programs if not a.host_programs or p in a.host_programs]
            host = on_host(runs, open_, there, a.host) if open_ else {}
    except Failed as e:
        return print(f"ablate: {e}", file=sys.stderr) or 1
    noises = {f"{p} {w}": noise(runs, p, w) for p in programs for w in a.workers}
    return told(a, pages.result(rows(rules, virtual, host), virtual, host, noises, listed["programs"], a))


def told(a: argparse.Namespace, result: dict) -> int:
    if a.data:
        written_whole(a.data, json.dumps(result, indent=1) + "\n")
    if a.page:
        written_whole(a.page, pages.page(result))
    print(json.dumps(result["rows"], indent=1) if a.json else pages.text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
