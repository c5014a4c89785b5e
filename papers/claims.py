"""Claims, what came out, and the two verdicts on it: what every run.py is asked for, judges, shows and pins.

A row of expected.json is of a `kind`: a *result*, where ours could have come out differently; an *input*, which was put
in or follows from what was; or *ours*, which the paper has no number for. Only results have a bound and are counted.
  regression  the value is what it was last time, within 4 %
  reproduced  the value is inside a bound around the paper's number, which has two sides and a reason
A row has section, what, paper (a text) and ours (the pinned value), and perhaps
  bound      ["ratio", n], 15 % either side of n, or ["ratio", n, share] for less; ["count", n], n itself;
             [reason, low, high], where `reasons` of the file says what the reason is
  scaled     [the paper's size, ours], where they differ: such results are counted apart
  cause      of a miss, a name of `causes` of the file, which say what it is put down to and what was tried
  tolerance  of the pinned value, in place of 4 %; or within, [low, high], of a row of ours that is an error
  quick      true if --quick judges it, or the pinned value of --quick where that has parts only
  id         what prose calls it by; note
"""
import argparse
import collections
import collections.abc
import dataclasses
import json
import math
import os
import pathlib
import re
import time

from runs import Sweep, run_all, wanted
from whole import write_whole

TOLERANCE = 0.04  # of a pinned value, unless its row says another: a change of the scheduler moves thefts
RATIO = 0.15  # either side of a number of the paper
KINDS = ("result", "input", "ours")
REASONS = {"ratio": "15 % either side of the paper's number", "count": "a count is exact"}
NUMBER = re.compile(r"[+-]?[\d,]*\.?\d+(x| %)?")


def refuse(row: dict, why: str) -> None:
    raise ValueError(f"{row.get('section')}, {row.get('what')}: {why}")


def bound(row: dict, reasons: dict[str, str]) -> tuple[float, float] | None:
    """Both sides of a result's bound. Throws if it is wider than its reason allows, or has one side only."""
    if row["kind"] != "result":
        return refuse(row, f"a bound, but it is no result but of kind {row['kind']}") if "bound" in row else None
    why, *numbers = row.get("bound") or refuse(row, "a result without a bound")
    if not all(isinstance(n, (int, float)) and math.isfinite(n) for n in numbers):
        refuse(row, f"a bound with one side: {row['bound']}")
    if why == "ratio":
        of, share = numbers if len(numbers) == 2 else (*numbers, RATIO)
        if not 0 < share <= RATIO:
            refuse(row, f"a ratio is not within {share:g}, but within {RATIO:g} or less")
        return of - abs(of) * share, of + abs(of) * share
    if why == "count":
        return numbers[0], numbers[0]
    if why not in reasons:
        refuse(row, f"no reason is called {why}")
    if len(numbers) != 2 or numbers[0] >= numbers[1]:
        refuse(row, f"a bound needs two sides, the lower first: {row['bound']}")
    if NUMBER.fullmatch(row["paper"]):
        said = float(row["paper"].rstrip("x %").replace(",", ""))
        said /= 100 if row["paper"].endswith("%") and abs(numbers[1]) <= 1.5 else 1
        if not all(abs(n - said) <= RATIO * abs(said) + 1e-9 for n in numbers):
            refuse(row, f"a bound that is wider than 15 % around the paper's {row['paper']}: {numbers}")
    return numbers[0], numbers[1]


def check(expected: dict) -> None:
    """Throws if a row says something that is not so, or leaves out what it has to say."""
    for row in expected["figures"]:
        if row.get("kind") not in KINDS:
            refuse(row, f"of kind {row.get('kind')}, not one of {', '.join(KINDS)}")
        sides = bound(row, expected.get("reasons", {}))
        if "scaled" in row and (len(row["scaled"]) != 2 or row["scaled"][0] == row["scaled"][1]):
            refuse(row, "scaled says the paper's size and ours, which differ")
        if "within" in row and (row["kind"] != "ours" or None in row["within"]):
            refuse(row, "within has two sides, and is for rows of ours")
        cause = row.get("cause")
        if cause is not None and cause not in expected["causes"]:
            refuse(row, f"no cause is called {cause}")
        if sides is None and cause is not None:
            refuse(row, "a cause, but no bound that it could miss")


def uncaused(expected: dict) -> list[str]:
    """Misses, by pinned values, without a cause; and causes of what is none."""
    found = []
    for row in pinned_rows(expected):
        name = f"{row['section']}, {row['what']}"
        if row["holds"] is False and not row["cause"]:
            found.append(f"{name}: {shown(row['ours'])} misses, and no cause is given")
        if row["holds"] and row["cause"]:
            found.append(f"{name}: {shown(row['ours'])} holds, and a cause is given ({row['cause']})")
    return found


def load(folder: pathlib.Path) -> dict:
    expected = json.loads((folder / "expected.json").read_text())
    check(expected)
    return expected


def judged(row: dict, found: float, reasons: dict[str, str], quick: bool = False) -> dict:
    """A row with both verdicts on the value found: `as_pinned`, and `holds`, None where nothing is claimed."""
    sides = bound(row, reasons)
    pin = row["quick"] if quick and isinstance(row.get("quick"), float) else row["ours"]
    off = row.get("tolerance", TOLERANCE) * max(abs(pin), 0.01)
    low, high = row.get("within") or (pin - off, pin + off)
    return {"kind": row["kind"], "section": row["section"], "what": row["what"], "paper": row["paper"], "ours": found,
            "pinned": pin, "as_pinned": low <= found <= high, "bound": sides and list(sides),
            "why": row["bound"][0] if sides else "", "holds": sides and sides[0] - 1e-9 <= found <= sides[1] + 1e-9,
            "scaled": row.get("scaled"), "cause": row.get("cause", ""), "note": row.get("note", ""),
            "id": row.get("id", "")}


def pinned_rows(expected: dict) -> list[dict]:
    """All rows, judged by their pinned values: what pages say."""
    return [judged(f, f["ours"], expected.get("reasons", {})) for f in expected["figures"]]


def tally(rows: list[dict]) -> dict[str, int]:
    """Results at the paper's size, and those at another size apart; what is not counted."""
    results = [r for r in rows if r["kind"] == "result"]
    full, scaled = ([r for r in results if bool(r["scaled"]) == apart] for apart in (False, True))
    held = sum(r["holds"] for r in full)
    return {"results": len(full), "reproduced": held, "missed": len(full) - held, "scaled": len(scaled),
            "scaled_reproduced": sum(r["holds"] for r in scaled), "inputs": sum(r["kind"] == "input" for r in rows),
            "ours": sum(r["kind"] == "ours" for r in rows)}


def pinned(figures: list[dict], rows: list[dict]) -> list[dict]:
    """The figures with the values found."""
    return [f | {"ours": float(f"{r['ours']:.4g}") if r["ours"] < 1e4 else r["ours"]} for f, r in zip(figures, rows)]


def as_text(expected: dict) -> str:
    """expected.json, a row a line."""
    parts = []
    for name, part in expected.items():
        if isinstance(part, list):
            lines = [json.dumps(row, ensure_ascii=False) for row in part]
        else:
            lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in part.items()]
        open_, close = "[]" if isinstance(part, list) else "{}"
        parts.append(f'  "{name}": {open_}\n' + ",\n".join("    " + line for line in lines) + f"\n  {close}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def shown(x: float) -> str:
    if not math.isfinite(x):
        return "none"
    if x == int(x) and abs(x) >= 8:
        return f"{x:,.0f}"
    return f"{x:.3f}" if abs(x) < 1 else f"{x:.2f}" if abs(x) < 100 else f"{x:,.0f}"


def bound_shown(row: dict) -> str:
    if row["bound"] is None:
        return ""
    low, high = (f"{n:,.10g}" if abs(n) >= 1e4 else f"{n:.4g}" for n in row["bound"])
    return low if low == high else f"{low} to {high}"


def print_rows(rows: list[dict]) -> None:
    for r in rows:
        judgement = r["kind"] if r["holds"] is None else "holds" if r["holds"] else "missed"
        word = judgement if r["as_pinned"] else "MOVED"
        print(f"{word:6} {shown(r['ours']):>8}  pinned {shown(r['pinned']):>8}  paper {r['paper'] or '-'}  "
              f"[{bound_shown(r)}]  {'scaled ' if r['scaled'] else ''}{r['section']} {r['what']}")


def conclude(opt: argparse.Namespace, rows: list[dict], cost: dict) -> int:
    """Prints rows and both verdicts; returns the exit status."""
    moved, counts = sum(not r["as_pinned"] for r in rows), tally(rows)
    all_hold = all(r["holds"] for r in rows if r["kind"] == "result")
    verdicts = {"regression": {"as_pinned": len(rows) - moved, "moved": moved}, "reproduced": counts}
    ok = moved == 0 and (all_hold or not opt.verdict)
    if opt.json:
        print(json.dumps({"figures": rows, **cost, **verdicts, "ok": ok}, indent=2))
    else:
        print_rows(rows)
        print(f"regression: {len(rows) - moved} of {len(rows)} values as pinned")
        print(f"reproduced: {counts['reproduced']} of {counts['results']} results, and "
              f"{counts['scaled_reproduced']} of {counts['scaled']} at another size than the paper's")
    return 0 if ok else 1


def processor_seconds() -> float:
    """Of all programs that this one has run."""
    spent = os.times()
    return spent.children_user + spent.children_system


def arguments(page: str, drawn: str, commands: bool = False) -> argparse.Namespace:
    """What the caller asks for: `page`, what --help says first; `drawn`, figures of the paper, or "" if none is drawn;
    `commands`: whether there is --commands. Ends the program if --quick is to write what only the whole tells."""
    args = argparse.ArgumentParser(description=page, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.set_defaults(figures=None, commands=None)
    args.add_argument("--weft", default="build/release/weft")
    args.add_argument("--json", action="store_true")
    args.add_argument("--quick", action="store_true")
    args.add_argument("--verdict", action="store_true", help="exit status 1 unless every result holds")
    if drawn:
        args.add_argument("--figures", type=pathlib.Path, help=f"draw {drawn} into this folder")
    args.add_argument("--pin", action="store_true", help="write the values found into expected.json")
    args.add_argument("--update", action="store_true", help="--pin, and write the pages and the drawings")
    if commands:
        args.add_argument("--commands", metavar="WORDS", help="run nothing: print what rows with these words are of")
    args.add_argument("-j", type=int, default=len(os.sched_getaffinity(0)), help="runs at a time")
    opt = args.parse_args()
    if opt.quick and (opt.update or opt.figures or opt.pin):
        args.error("drawings, pages and pins need the whole: leave --quick out")
    return opt


def judge_all(expected: dict, value: collections.abc.Callable[[dict], float], quick: bool) -> list[dict]:
    """The rows that are asked for, each with the value that value(row) finds."""
    rows = [f for f in expected["figures"] if not quick or f.get("quick")]
    return [judged(f, value(f), expected.get("reasons", {}), quick) for f in rows]


def keep(opt: argparse.Namespace, folder: pathlib.Path, expected: dict, rows: list[dict],
         tables: dict[str, str]) -> None:
    """Writes what --pin and --update ask for, of the rows of a whole run and what other tables README.md has."""
    import pages  # which needs this file
    if opt.pin or opt.update:
        expected = expected | {"figures": pinned(expected["figures"], rows)}
        write_whole(folder / "expected.json", as_text(expected))
    if opt.update:
        pages.update(folder / "README.md", tables)
        pages.write_all()


@dataclasses.dataclass(frozen=True)
class Paper:
    """What a run.py has of its own: `page`, its docstring; `folder`, where README.md and expected.json are; `sweep`,
    what its figures are methods of; `order`, a key that sorts runs, the longest first."""
    page: str
    folder: pathlib.Path
    sweep: type[Sweep]
    order: collections.abc.Callable[[object], object] = lambda run: 0
    # Figures of the paper, or "" if nothing is drawn; ask(sweep) looks at all that draw(sweep, folder) shows.
    drawn: str = ""
    ask: collections.abc.Callable[[Sweep], None] | None = None
    draw: collections.abc.Callable[[Sweep, pathlib.Path], None] | None = None
    # Of README.md, beside those of the claims.
    tables: collections.abc.Callable[[Sweep], dict[str, str]] = lambda sweep: {}
    # From options: values that come from elsewhere, of rows whose `value` is ["elsewhere", name].
    more: collections.abc.Callable[[argparse.Namespace], dict[str, float]] = lambda opt: {}

    def print_commands(self, figures: list[dict]) -> None:
        """Of each row the method of its sweep, and the runs that this one looks at."""
        for f in figures:
            method, *given = f["value"]
            print(f"{f['section']} {f['what']}\n  ours {shown(f['ours'])} = {method}({', '.join(map(str, given))})")
            for run in wanted(self.sweep, [f]) if method != "elsewhere" else []:
                print(f"  {run.command()}")

    def main(self) -> int:
        """Runs what the figures need, judges, draws and writes what the caller asks for; returns the exit status."""
        opt = arguments(self.page, self.drawn, commands=True)
        expected = load(self.folder)
        if opt.commands is not None:
            self.print_commands([f for f in expected["figures"] if opt.commands in f["what"]])
            return 0
        asked = [f for f in expected["figures"] if not opt.quick or f.get("quick")]
        of_runs = [f for f in asked if f["value"][0] != "elsewhere"]
        began = time.monotonic()
        runs = wanted(self.sweep, of_runs, None if opt.quick else self.ask)
        sweep = self.sweep(dict(run_all(opt.weft, sorted(runs, key=self.order), max(1, opt.j))))
        more = self.more(opt)
        rows = judge_all(expected, lambda f: more[f["value"][1]] if f["value"][0] == "elsewhere" else sweep.value(f),
                         opt.quick)
        folder = self.folder / "figures" if self.drawn and opt.update else opt.figures
        if folder is not None:
            self.draw(sweep, folder)
        keep(opt, self.folder, expected, rows, self.tables(sweep) if opt.update else {})
        cost = {"runs": len(runs), "seconds": time.monotonic() - began, "processor_seconds": processor_seconds()}
        return conclude(opt, rows, cost)
