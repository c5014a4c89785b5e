#!/usr/bin/env python3
"""Writes what the papers' pages say of results: their first lines, tables and numbers in prose, by expected.json.

usage: papers/pages.py [--check]

Each page papers/NAME/README.md has tables between marks, <!-- figures --> to <!-- end of figures -->, and numbers
between <!--=ID--> and <!--.-->, which are the pinned values of rows, or counts; <!--=ID:.0%--> has its form.
papers/README.md and papers/summary.json, all six side by side, are written whole.
--check writes nothing. Exit status 1 if a page has other text than it would be given, a miss has no cause, or a test
that a table of mechanisms names is no test case of that file.
"""
import json
import pathlib
import re
import sys

import claims
from whole import write_whole

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
PAPERS = {"superglue": "SuperGlue", "taskgenx": "TaskGenX", "pufferfish": "PufferFish", "tao": "TAO",
          "openstream": "OpenStream", "swarm": "Swarm"}
STATES = ("whole", "partial", "different", "absent")
TEST_CASE = re.compile(r'^\s*TEST_CASE(?:_TEMPLATE)?\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', re.MULTILINE)
PYTHON_TEST = re.compile(r"^\s*def (test_\w+)\(", re.MULTILINE)


def replaced(text: str, tables: dict[str, str], page: str) -> str:
    """The text with each table between its marks. Throws if one has none."""
    for name, lines in tables.items():
        pattern = rf"(?s)(<!-- {name} -->\n).*?(<!-- end of {name} -->)"
        text, count = re.subn(pattern, lambda m: m[1] + lines + "\n" + m[2], text)
        if count != 1:
            raise RuntimeError(f"{page}: the marks of the table {name} are missing")
    return text


def update(page: pathlib.Path, tables: dict[str, str]) -> None:
    """Puts each table between its marks. Throws, and changes nothing, if one has none."""
    write_whole(page, replaced(page.read_text(), tables, str(page)))


def with_values(text: str, rows: list[dict], counts: dict[str, int], page: str) -> str:
    """The text with its numbers."""
    known = {r["id"]: r["ours"] for r in rows if r["id"]} | counts

    def value(mark: re.Match) -> str:
        name, _, form = mark[1].partition(":")
        if name not in known:
            raise RuntimeError(f"{page}: no row and no count is called {name}")
        shown = format(known[name], form).replace("%", " %") if form else claims.shown(known[name])
        if name in counts:
            shown = str(known[name])
        return f"<!--={mark[1]}-->{shown}<!--.-->"
    return re.sub(r"<!--=([^>]*?)-->.*?<!--\.-->", value, text)


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *("| " + " | ".join(r) + " |" for r in rows)]


def verdict(row: dict) -> str:
    word = "reproduced" if row["holds"] else "**missed**: " + row["cause"]
    return "; ".join(x for x in (word, row["note"]) if x)


def figures(rows: list[dict], reasons: dict[str, str]) -> str:
    """Three tables: results, inputs, and what is ours."""
    of = {kind: [r for r in rows if r["kind"] == kind] for kind in claims.KINDS}
    lines = ["**Results**", ""]
    lines += table(["section", "claim", "paper", "ours", "reproduced if", "scaled: paper's, ours", ""],
                   [[r["section"], r["what"], r["paper"], claims.shown(r["ours"]),
                     f"{claims.bound_shown(r)} ({r['why']})", ", ".join(r["scaled"] or []), verdict(r)]
                    for r in of["result"]])
    used = list(dict.fromkeys(r["why"] for r in of["result"]))
    lines += ["", "Reasons of the bounds: " + "; ".join(f"*{w}*, {(claims.REASONS | reasons)[w]}" for w in used) + "."]
    for kind, title in (("input", "**Inputs**: put in, or following from what was; not counted"),
                        ("ours", "**Ours**: without a number in the paper; not counted")):
        if of[kind]:
            lines += ["", title, ""]
            lines += table(["section", "what", "paper", "ours", "size, if not the paper's", ""],
                           [[r["section"], r["what"], r["paper"], claims.shown(r["ours"]), (r["scaled"] or ["", ""])[1],
                             r["note"]] for r in of[kind]])
    return "\n".join(lines)


def by_cause(expected: dict) -> list[tuple[str, list[dict]]]:
    """Causes with the results that miss by them, most first."""
    rows = [r for r in claims.pinned_rows(expected) if r["holds"] is False]
    return sorted(((name, [r for r in rows if r["cause"] == name]) for name in expected["causes"]),
                  key=lambda pair: -len(pair[1]))


def misses(expected: dict) -> list[str]:
    """What each miss is put down to: paper against ours."""
    lines = []
    for name, rows in by_cause(expected):
        cause = expected["causes"][name]
        what = "; ".join(f"{r['what']} ({r['paper']}, {claims.shown(r['ours'])})" for r in rows)
        if rows:
            lines.append([name, str(len(rows)), what, cause["because"], cause["tried"]])
    return table(["missed", "results", "which (paper, ours)", "put down to", "tried"], lines)


def mechanisms(expected: dict) -> str:
    """A file or a page of ours has its link from papers/NAME."""
    lines = []
    for m in expected["mechanisms"]:
        files = " ".join(f"[{f.rpartition('/')[2]}](../../{f})" for f in m["files"])
        test = f"[{m['test'][1]}](../../{m['test'][0]})" if "test" in m else ""
        lines.append([m["section"], m["what"], m["state"] + (f": {m['note']}" if m.get("note") else ""), files, test])
    return "\n".join(table(["section", "mechanism", "state", "where", "test case"], lines))


def tests_of(path: pathlib.Path) -> set[str]:
    """Names of the test cases of a file, whole."""
    text = path.read_text()
    if path.suffix == ".py":
        return set(PYTHON_TEST.findall(text))
    return {"".join(re.findall(r'"((?:[^"\\]|\\.)*)"', m)).replace('\\"', '"') for m in TEST_CASE.findall(text)}


def untested(expected: dict) -> list[str]:
    """What a table of mechanisms says that is not so."""
    wrong = []
    for m in expected["mechanisms"]:
        name = f"{m['section']}, {m['what']}"
        if m["state"] not in STATES:
            wrong.append(f"{name}: {m['state']} is not one of {', '.join(STATES)}")
        wrong += [f"{name}: there is no {f}" for f in m["files"] if not (ROOT / f).is_file()]
        if "test" in m:
            file, case = m["test"]
            if not (ROOT / file).is_file() or case not in tests_of(ROOT / file):
                wrong.append(f"{name}: {file} has no test case \"{case}\"")
        elif m["state"] in ("whole", "partial"):
            wrong.append(f"{name} is {m['state']}, and no test shows it")
    return wrong


def head(name: str, expected: dict, counts: dict[str, int]) -> list[str]:
    """The first three lines of a page: how many of how many, and what is missing and why."""
    second = (f"Reproduced: **{counts['reproduced']} of {counts['results']} results** at the paper's size"
              f", and {counts['scaled_reproduced']} of {counts['scaled']} at another (*scaled*)"
              f"; not counted: {counts['inputs']} inputs, {counts['ours']} rows of ours.")
    parts = [f"{expected['causes'][cause]['short']} ({len(rows)})" for cause, rows in by_cause(expected) if rows]
    return [f"# {name}, claim by claim", second, "Missing, with the number of results: " + "; ".join(parts) + "."]


def formulas(expected: dict) -> str:
    """Of each row how it is worked out."""
    def said(value) -> str:
        return value if isinstance(value, str) else f"{value[0]}({', '.join(map(str, value[1:]))})"
    return "\n".join(table(["section", "claim", "is"],
                           [[f["section"], f["what"], f"`{said(f['value'])}`"] for f in expected["figures"]]))


def page_text(folder: str, text: str) -> str:
    """A page as it is to be, of what it is."""
    expected = claims.load(HERE / folder)
    rows = claims.pinned_rows(expected)
    counts = claims.tally(rows)
    tables = {"figures": figures(rows, expected["reasons"]), "misses": "\n".join(misses(expected)),
              "mechanisms": mechanisms(expected)}
    if "<!-- formulas -->" in text:
        tables["formulas"] = formulas(expected)
    text = replaced(with_values(text, rows, counts, folder), tables, folder)
    return "\n".join([*head(PAPERS[folder], expected, counts), *text.split("\n")[3:]])


def summary() -> dict[str, dict[str, int]]:
    return {folder: claims.tally(claims.pinned_rows(claims.load(HERE / folder))) for folder in PAPERS}


def side_by_side() -> str:
    """papers/README.md."""
    counts = summary()
    rows = [[f"[{name}]({folder}/README.md)", *(str(counts[folder][k]) for k in
             ("results", "reproduced", "missed", "scaled", "scaled_reproduced", "inputs", "ours"))]
            for folder, name in PAPERS.items()]
    total = {k: sum(c[k] for c in counts.values()) for k in next(iter(counts.values()))}
    rows.append(["all", *map(str, total.values())])
    lines = ["# Six papers, side by side", "",
             "`papers/pages.py` writes this page and [summary.json](summary.json) by what each paper's `expected.json` "
             "pins.", "", "```sh",
             "papers/NAME/run.py             # exit status 1 if a value is not as pinned, within 4 %: regression",
             "papers/NAME/run.py --verdict   # also if a result does not hold: reproduced",
             "papers/NAME/run.py --commands WORDS   # by which commands rows with these words are repeated (two papers "
             "have a table of them)",
             "papers/pages.py --check        # whether all pages say what is pinned", "```", "",
             "A *result* could have come out differently, and holds inside a bound around the paper's number, which "
             "has two sides and a reason. *Scaled* results are of another size than the paper's and counted apart. An "
             "*input* was put in, or follows from what was; *ours* is what the paper has no number for. Neither is "
             "counted. A cause is a hypothesis until it was tried. Why it is so: [decision "
             "0073](../docs/decisions/0073-verdicts.md).", "",
             *table(["paper", "results", "reproduced", "missed", "scaled", "of these reproduced", "inputs", "ours"],
                    rows)]
    for folder, name in PAPERS.items():
        lines += ["", f"## {name}: what misses", "", *misses(claims.load(HERE / folder))]
    return "\n".join(lines) + "\n"


def texts() -> dict[pathlib.Path, str]:
    """All that is written, by file."""
    pages = {HERE / folder / "README.md": page_text(folder, (HERE / folder / "README.md").read_text())
             for folder in PAPERS}
    return pages | {HERE / "README.md": side_by_side(), HERE / "summary.json": json.dumps(summary(), indent=2) + "\n"}


def write_all() -> None:
    for path, text in texts().items():
        if not path.is_file() or path.read_text() != text:
            write_whole(path, text)


def wrong() -> list[str]:
    found = [f"papers/{path.relative_to(HERE)} has other text than papers/pages.py would write" for path, text in
             texts().items() if not path.is_file() or path.read_text() != text]
    for folder in PAPERS:
        expected = claims.load(HERE / folder)
        found += [f"papers/{folder}: {line}" for line in claims.uncaused(expected) + untested(expected)]
    return found


def main() -> int:
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__)
        return 2
    if not sys.argv[1:]:
        write_all()
    found = wrong()
    print("\n".join(found) if found else f"{len(texts())} files are as pinned")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
