#!/usr/bin/env python3
"""Reproduces what SuperGlue's paper claims, draws its figures and judges every number.

usage: papers/superglue/run.py [--quick] [--json] [--verdict] [--figures FOLDER] [--update] [--pin]
       [--weft build/release/weft] [-j N]

Runs what expected.json lists: single runs, and sweeps over numbers of workers and lengths of tasks in cycles. A row's
`value` is a formula of what the runs printed; it has a pinned value and, if it is a result, a bound around the paper's
number (claims.py). --quick leaves out what takes minutes. --pin writes the values found into expected.json; --update
also the pages and the drawings.
Exit status 0 only if every run passed its own checks and every value is as pinned within its tolerance; with --verdict
only if every result holds, too.
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
import claims  # noqa: E402
from runs import run_all  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
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
    core: str = ""  # whose instructions' prices are added to WEFT_CHANGE
    prices: str = ""

    def command(self) -> str:
        shown = dict(self.environment)
        if self.core:
            shown["WEFT_CHANGE"] = "; ".join(c for c in (shown.get("WEFT_CHANGE"), f"${self.core}") if c)
        before = [f'{key}="{value}"' for key, value in shown.items()]
        return " ".join([*before, "weft run", *self.arguments])

    def execute(self, weft: str) -> types.SimpleNamespace:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")} | self.environment
        if self.core:
            environment["WEFT_CHANGE"] = "; ".join(c for c in (environment.get("WEFT_CHANGE"), self.prices) if c)
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


def priced(expected: dict, r: dict) -> tuple[str, str]:
    """The core whose instructions a run has, and what they take."""
    return r.get("core", ""), expected["cores"].get(r.get("core"), "")


def all_runs(expected: dict) -> dict[str, Run]:
    runs = [Run(name, r["arguments"], r.get("environment", {}), r.get("traced", False), r.get("slow", False),
                *priced(expected, r)) for name, r in expected["runs"].items()]
    for name, s in expected["sweeps"].items():
        for workers, cycles in itertools.product(s["workers"], s["cycles"]):
            values = {"workers": workers, "ns": round(cycles / s["GHz"])}
            runs.append(Run(f"{name}_{workers}_{cycles}", filled(s["arguments"], values), s.get("environment", {}),
                            False, True, *priced(expected, s)))
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


def needed(expected: dict, runs: dict[str, Run], quick: bool) -> list[Run]:
    """The runs to make for the rows that are judged."""
    if not quick:
        return list(runs.values())
    wanted = set().union(*(names_in(f["value"]) for f in expected["figures"] if f.get("quick")))
    return [r for r in runs.values() if r.name in wanted]


def commands_table(expected: dict, runs: dict[str, Run]) -> str:
    lines = [f"`{core}='{prices}'`" for core, prices in expected["cores"].items()]
    lines = ["  \n".join(lines), "", "| run | command |", "|---|---|"]
    in_sweeps = set()
    for name, s in expected["sweeps"].items():
        r = Run(name, [a.replace("{", "").replace("}", "").upper() if "{" in a else a for a in s["arguments"]],
                s.get("environment", {}), False, True, *priced(expected, s))
        lines.append(f"| `{name}_WORKERS_CYCLES` | `{r.command()}` with NS = CYCLES / {s['GHz']}, rounded |")
        in_sweeps |= {n for n in runs if n.startswith(name + "_")}
    for name, r in runs.items():
        if name not in in_sweeps:
            traced = " `--trace run.weft`, then `weft report run.weft --json`" if r.traced else ""
            lines.append(f"| `{name}` | `{r.command()}`{traced} |")
    return "\n".join(lines)


def main() -> int:
    opt = claims.arguments(__doc__, "Figures 6, 7, 11, 12 and 13")
    expected = claims.load(HERE)
    runs = all_runs(expected)
    pairs = run_all(opt.weft, sorted(needed(expected, runs, opt.quick), key=lambda r: not r.slow), max(1, opt.j))
    results = Results(expected, {r.name: reply for r, reply in pairs})
    rows = claims.judge_all(expected, lambda f: results.value(f["value"]), opt.quick)
    folder = HERE / "figures" if opt.update else opt.figures
    if folder is not None:
        draw.all_figures(results, folder)
    claims.keep(opt, HERE, expected, rows, {"commands": commands_table(expected, runs)})
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return claims.conclude(opt, rows, {"runs": len(pairs), "processor_seconds": used.ru_utime + used.ru_stime,
                                       "run_gib_max": used.ru_maxrss / 2**20})


if __name__ == "__main__":
    sys.exit(main())
