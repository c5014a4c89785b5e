"""Claims, what came out, and whether they hold: what several run.py are asked for, judge, show and pin.

A figure of expected.json has section, what, paper (a text), ours (the pinned value), claim ([low, high], each may be
null; without it there is no claim), holds (whether it does), and perhaps note and tolerance."""
import argparse
import collections.abc
import dataclasses
import json
import os
import pathlib
import re
import time

from runs import Sweep, run_all, wanted
from whole import write_whole

TOLERANCE = 0.04  # of a pinned value, unless its figure says another: a change of the scheduler moves thefts


def judged(figure: dict, found: float) -> dict:
    """The row of a figure: ok if the value is near the pinned one, and the claim holds or not as is said."""
    low, high = figure.get("claim") or [None, None]
    claimed = low is not None or high is not None
    holds = claimed and (low is None or low <= found) and (high is None or found <= high)
    pinned = figure["ours"]
    near = abs(found - pinned) <= figure.get("tolerance", TOLERANCE) * max(abs(pinned), 0.01)
    return {"section": figure["section"], "what": figure["what"], "paper": figure["paper"], "ours": found,
            "pinned": pinned, "claim": [low, high] if claimed else None, "holds": holds if claimed else None,
            "ok": near and (not claimed or holds == figure["holds"]), "note": figure.get("note", "")}


def pinned(figures: list[dict], rows: list[dict]) -> list[dict]:
    """The figures with the values found."""
    return [f | {"ours": float(f"{r['ours']:.4g}") if r["ours"] < 1e4 else r["ours"]} |
            ({} if r["holds"] is None else {"holds": r["holds"]}) for f, r in zip(figures, rows)]


def as_text(expected: dict[str, list[dict]]) -> str:
    """expected.json, a figure a line."""
    lists = [f'  "{name}": [\n' + ",\n".join("    " + json.dumps(f, ensure_ascii=False) for f in figures) + "\n  ]"
             for name, figures in expected.items()]
    return "{\n" + ",\n".join(lists) + "\n}\n"


def shown(x: float) -> str:
    return f"{x:.3f}" if abs(x) < 1 else f"{x:.2f}" if abs(x) < 100 else f"{x:,.0f}"


def bounds_shown(claim: list | None) -> str:
    if claim is None:
        return ""
    low, high = claim
    if low is None or high is None:
        return f"at most {high:g}" if low is None else f"at least {low:g}"
    return f"{low:g} to {high:g}"


def verdict(row: dict) -> str:
    word = "no claim" if row["holds"] is None else "holds" if row["holds"] else "**does not hold**"
    return ("**not as pinned**; " if not row["ok"] else "") + "; ".join(x for x in (word, row["note"]) if x)


def table(rows: list[dict]) -> str:
    lines = ["| section | claim | paper | ours | holds if | |", "|---|---|---|---|---|---|"]
    return "\n".join(lines + [f"| {r['section']} | {r['what']} | {r['paper']} | {shown(r['ours'])} | "
                              f"{bounds_shown(r['claim'])} | {verdict(r)} |" for r in rows])


def print_rows(rows: list[dict]) -> None:
    for r in rows:
        word = "WRONG " if not r["ok"] else "      " if r["holds"] is None else "holds " if r["holds"] else "missed"
        print(f"{word} {shown(r['ours']):>8}  pinned {shown(r['pinned']):>8}  paper {r['paper'] or '-'}  "
              f"[{bounds_shown(r['claim'])}]  {r['section']} {r['what']}")


def update(page: pathlib.Path, tables: dict[str, str]) -> None:
    """Puts each table between its marks. Throws, and changes nothing, if one has none."""
    text = page.read_text()
    for name, lines in tables.items():
        pattern = rf"(?s)(<!-- {name} -->\n).*?(<!-- end of {name} -->)"
        text, count = re.subn(pattern, lambda m: m[1] + lines + "\n" + m[2], text)
        if count != 1:
            raise RuntimeError(f"{page}: the marks of the table {name} are missing")
    write_whole(page, text)


def processor_seconds() -> float:
    """Of all programs that this one has run."""
    spent = os.times()
    return spent.children_user + spent.children_system


def command_line(page: str, drawn: str, updated: str, pins: bool = False) -> argparse.ArgumentParser:
    """The options of a run.py: `page`, what --help says first; `drawn`, figures of the paper, or "" if it draws none;
    `updated`, what --update writes."""
    args = argparse.ArgumentParser(description=page, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.set_defaults(figures=None, pin=False)
    args.add_argument("--weft", default="build/release/weft")
    args.add_argument("--json", action="store_true")
    args.add_argument("--quick", action="store_true")
    if drawn:
        args.add_argument("--figures", type=pathlib.Path, help=f"draw {drawn} into this folder")
    args.add_argument("--update", action="store_true", help=f"write {updated}")
    if pins:
        args.add_argument("--pin", action="store_true", help="write the values found into expected.json")
    args.add_argument("-j", type=int, default=len(os.sched_getaffinity(0)), help="runs at a time")
    return args


def arguments(page: str, drawn: str, updated: str, pins: bool = False) -> argparse.Namespace:
    """What the caller asks for. Ends the program if --quick is to write what only the whole tells."""
    args = command_line(page, drawn, updated, pins)
    opt = args.parse_args()
    if opt.quick and (opt.update or opt.figures or opt.pin):
        *others, last = ["drawings"] * bool(drawn) + ["README.md"] + ["pins"] * pins
        args.error(f"{', '.join(others)} and {last} need the whole: leave --quick out")
    return opt


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
    # Of README.md, beside that of the claims.
    tables: collections.abc.Callable[[Sweep], dict[str, str]] = lambda sweep: {}
    # From options and expected.json: rows that come from elsewhere, and the lists of expected.json that pin them.
    more: collections.abc.Callable[..., tuple[list[dict], dict[str, list[dict]]]] = lambda opt, expected: ([], {})

    def judged(self, sweep: Sweep, figures: list[dict]) -> list[dict]:
        return [judged(f, sweep.value(f)) for f in figures]

    def main(self) -> int:
        """Runs what the figures need, judges, draws and writes what the caller asks for; returns the exit status."""
        updated = "README.md's tables and its drawings" if self.drawn else "README.md's table"
        opt = arguments(self.page, self.drawn, updated, pins=True)
        expected = json.loads((self.folder / "expected.json").read_text())
        figures = [f for f in expected["figures"] if not opt.quick or f.get("quick")]
        began = time.monotonic()
        runs = wanted(self.sweep, figures, None if opt.quick else self.ask)
        sweep = self.sweep(dict(run_all(opt.weft, sorted(runs, key=self.order), max(1, opt.j))))
        more, pins = self.more(opt, expected)
        if opt.pin:
            figures = pinned(figures, self.judged(sweep, figures))
            write_whole(self.folder / "expected.json", as_text({"figures": figures, **pins}))
        rows = self.judged(sweep, figures) + more
        folder = self.folder / "figures" if self.drawn and opt.update else opt.figures
        if folder is not None:
            self.draw(sweep, folder)
        if opt.update:
            update(self.folder / "README.md", {"figures": table(rows), **self.tables(sweep)})
        ok = all(r["ok"] for r in rows)
        cost = {"seconds": time.monotonic() - began, "processor_seconds": processor_seconds()}
        if opt.json:
            print(json.dumps({"figures": rows, **cost, "ok": ok}, indent=2))
        else:
            print_rows(rows)
            print(f"{len(runs)} runs in {cost['seconds']:.0f} s, {cost['processor_seconds']:.0f} s of processor time")
        return 0 if ok else 1
