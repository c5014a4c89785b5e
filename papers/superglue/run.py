#!/usr/bin/env python3
"""Reproduces what SuperGlue's paper claims, draws its figures and judges every number.

usage: papers/superglue/run.py [--weft build/release/weft] [--json] [--quick] [--figures FOLDER] [--update] [-j N]

Runs what expected.json lists: single runs, and sweeps over numbers of workers and lengths of tasks in cycles. A figure
is a formula of what the runs printed, and must lie within its bounds; a bound that is not given does not bind. Claims
about what the library can do are held by tests, which must be where expected.json says.
--quick leaves out what takes minutes. --update writes the tables of README.md and its drawings.
Exit status 0 only if every run passed its own checks, every figure is within its bounds and every test is there.
"""
import ast
import dataclasses
import itertools
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import types

import draw

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from claims import arguments, update  # noqa: E402
from runs import run_all  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SECONDS_MAX = 1800  # of one run, against hangs
GOOD = 0.9  # efficiency from which a task size is good; the paper draws it and gives no number


@dataclasses.dataclass
class Run:
    """One call of the tool."""
    name: str
    arguments: list[str]
    environment: dict[str, str]
    traced: bool
    slow: bool

    def command(self) -> str:
        before = [f"{key}='{value}'" for key, value in self.environment.items()]
        return " ".join([*before, "weft run", *self.arguments])

    def execute(self, weft: str) -> types.SimpleNamespace:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")} | self.environment
        with tempfile.TemporaryDirectory() as folder:
            trace = ["--trace", f"{folder}/run.weft"] if self.traced else []
            reply = called([weft, "run", *self.arguments, *trace, "--json"], environment)
            if not reply.get("ok"):
                raise RuntimeError(f"{self.command()}: {reply.get('error') or reply.get('checks')}")
            if self.traced:
                report = called([weft, "report", f"{folder}/run.weft", "--json"], environment)
                reply["report"] = types.SimpleNamespace(**report)
                reply["shares"] = {n["name"]: n["share"] for n in report["names"]}
        lengths = [k for k in reply if re.fullmatch(r"efficiency_\d+_ns", k)]
        if len(lengths) == 1:
            reply |= {"efficiency" + q: reply[lengths[0] + q] for q in ("", "_q1", "_q3") if lengths[0] + q in reply}
        return types.SimpleNamespace(**reply)


def called(command: list[str], environment: dict[str, str]) -> dict:
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX, env=environment)
    try:
        reply = json.loads(done.stdout)
    except ValueError:
        reply = {}
    if done.returncode != 0 or not reply:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}: {reply or done.stderr}")
    return reply


def filled(texts: list[str], values: dict) -> list[str]:
    return [text.format(**values) for text in texts]


def all_runs(expected: dict) -> dict[str, Run]:
    runs = [Run(name, r["arguments"], r.get("environment", {}), r.get("traced", False), r.get("slow", False))
            for name, r in expected["runs"].items()]
    for name, s in expected["sweeps"].items():
        for workers, cycles in itertools.product(s["workers"], s["cycles"]):
            values = {"workers": workers, "ns": round(cycles / s["GHz"])}
            runs.append(Run(f"{name}_{workers}_{cycles}", filled(s["arguments"], values), s.get("environment", {}),
                            False, True))
    return {r.name: r for r in runs}


def names_in(formula: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(formula)) if isinstance(n, ast.Name)}


class Results:
    """What the runs printed, and what formulas may say of it beside their fields."""

    def __init__(self, expected: dict, replies: dict[str, types.SimpleNamespace]):
        self.sweeps, self.replies = expected["sweeps"], replies

    def value(self, formula: str) -> float:
        known = {"good_from": self.good_from, "drop": self.drop, "min": min, "max": max}
        return eval(formula, {"__builtins__": {}}, known | self.replies)  # ours, not a stranger's

    def speedup(self, sweep: str, workers: int, cycles: int) -> float:
        return workers * self.replies[f"{sweep}_{workers}_{cycles}"].efficiency

    def good_from(self, sweep: str) -> float:
        """The shortest tasks, in cycles, from which all are good on the most workers; infinite if none are."""
        s = self.sweeps[sweep]
        most = max(s["workers"])
        bad = [c for c in s["cycles"] if self.replies[f"{sweep}_{most}_{c}"].efficiency < GOOD]
        return min((c for c in s["cycles"] if not bad or c > max(bad)), default=math.inf)

    def drop(self, sweep: str, cycles: int) -> float:
        """How much of the best speed-up is lost on the most workers: 2 is half."""
        workers = self.sweeps[sweep]["workers"]
        return max(self.speedup(sweep, w, cycles) for w in workers) / self.speedup(sweep, max(workers), cycles)


def needed(expected: dict, runs: dict[str, Run], quick: bool) -> tuple[list[dict], list[Run]]:
    """The figures to judge and the runs to make for them."""
    if not quick:
        return expected["figures"], list(runs.values())
    figures, wanted = [], set()
    for f in expected["figures"]:
        names = names_in(f["formula"])
        if names & {"good_from", "drop"} or any(runs[n].slow for n in names if n in runs):
            continue
        figures.append(f)
        wanted |= names & runs.keys()
    return figures, [r for r in runs.values() if r.name in wanted]


def judged(results: Results, figures: list[dict]) -> list[dict]:
    rows = []
    for f in figures:
        found = results.value(f["formula"])
        low, high = f["bounds"]
        ok = math.isfinite(found) and (low is None or low <= found) and (high is None or found <= high)
        rows.append({"section": f["section"], "what": f["what"], "paper": f["paper"], "ours": found, "min": low,
                     "max": high, "ok": ok, "work": f["work"], "missed": f.get("missed", ""),
                     "note": f.get("note", ""), "formula": f["formula"]})
    return rows


def held(claims: list[dict]) -> list[dict]:
    """Claims about what the library can do: the file that holds each must say what expected.json says it does."""
    rows = []
    for c in claims:
        file, text = c["by"]
        path = ROOT / file
        rows.append(c | {"ok": path.is_file() and text in path.read_text()})
    return rows


def shown(x: float) -> str:
    if not math.isfinite(x):
        return "none"
    return f"{x:,.0f}" if abs(x) >= 100 or x == int(x) else f"{x:.3g}"


def bounds_shown(low, high) -> str:
    if low is None:
        return f"at most {shown(high)}"
    if high is None:
        return f"at least {shown(low)}"
    return f"{shown(low)} to {shown(high)}" if low != high else shown(low)


def verdict(row: dict) -> str:
    if not row["ok"]:
        return "**out of bounds**"
    is_claim = row["paper"] not in ("", "figure only")
    word = "**missed**" if row["missed"] else "reached" if is_claim else "no claim"
    return "; ".join(x for x in (word, row["missed"] or row["note"]) if x)


def figures_table(rows: list[dict]) -> str:
    lines = ["| section | claim | paper | ours | judged within | whose work | |", "|---|---|---|---|---|---|---|"]
    for r in rows:
        lines.append(f"| {r['section']} | {r['what']} | {r['paper']} | {shown(r['ours'])} | "
                     f"{bounds_shown(r['min'], r['max'])} | {r['work']} | {verdict(r)} |")
    return "\n".join(lines)


def formulas_table(rows: list[dict]) -> str:
    lines = ["| section | claim | is |", "|---|---|---|"]
    return "\n".join(lines + [f"| {r['section']} | {r['what']} | `{r['formula']}` |" for r in rows])


def commands_table(expected: dict, runs: dict[str, Run]) -> str:
    lines = ["| run | command |", "|---|---|"]
    in_sweeps = set()
    for name, s in expected["sweeps"].items():
        r = Run(name, [a.replace("{", "").replace("}", "").upper() if "{" in a else a for a in s["arguments"]],
                s.get("environment", {}), False, True)
        lines.append(f"| `{name}_WORKERS_CYCLES` | `{r.command()}` with NS = CYCLES / {s['GHz']}, rounded |")
        in_sweeps |= {n for n in runs if n.startswith(name + "_")}
    for name, r in runs.items():
        if name not in in_sweeps:
            traced = " `--trace run.weft`, then `weft report run.weft --json`" if r.traced else ""
            lines.append(f"| `{name}` | `{r.command()}`{traced} |")
    return "\n".join(lines)


def held_table(rows: list[dict]) -> str:
    lines = ["| section | claim | | held by |", "|---|---|---|---|"]
    for r in rows:
        state = r["state"] if r["ok"] else "**not there**"
        lines.append(f"| {r['section']} | {r['claim']} | {state} | [{r['by'][0]}](../../{r['by'][0]}): {r['by'][1]} |")
    return "\n".join(lines)


def print_rows(rows: list[dict], claims: list[dict]) -> None:
    for r in rows:
        word = "WRONG " if not r["ok"] else "missed" if r["missed"] else "ok    "
        print(f"{word} {shown(r['ours']):>9}  [{bounds_shown(r['min'], r['max'])}]  paper {r['paper'] or '-'}  "
              f"{r['section']} {r['what']}")
    for c in claims:
        if not c["ok"]:
            print(f"WRONG  {c['section']} {c['claim']}: {c['by'][0]} has no \"{c['by'][1]}\"")


def main() -> int:
    opt = arguments(__doc__, "Figures 6, 7, 11, 12 and 13", "README.md's tables and its drawings")
    expected = json.loads((HERE / "expected.json").read_text())
    runs = all_runs(expected)
    figures, wanted = needed(expected, runs, opt.quick)
    pairs = run_all(opt.weft, sorted(wanted, key=lambda r: not r.slow), max(1, opt.j))
    results = Results(expected, {r.name: reply for r, reply in pairs})
    rows, claims = judged(results, figures), held(expected["held"])
    ok = all(r["ok"] for r in rows + claims)
    folder = HERE / "figures" if opt.update else opt.figures
    if folder is not None:
        draw.all_figures(results, folder)
    if opt.update:
        tables = {"figures": figures_table(rows), "formulas": formulas_table(rows),
                  "commands": commands_table(expected, runs), "held": held_table(claims)}
        update(HERE / "README.md", tables)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime
    if opt.json:
        print(json.dumps({"figures": rows, "held": claims, "processor_seconds": seconds, "ok": ok}, indent=2))
    else:
        print_rows(rows, claims)
    print(f"{seconds:.0f} s of processor time, at most {used.ru_maxrss / 2**20:.1f} GiB a run", file=sys.stderr)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
