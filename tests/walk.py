#!/usr/bin/env python3
"""Holds docs/walk.md against the code: each function of its tables is there, and makes the call that leads on.

usage: tests/walk.py [--self-test]
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = "docs/walk.md"
ROW = re.compile(r"\| (\d+) \| `([^`]+)` \| `(\w+)` \| `(\w+)` \|$")
STEPS_MIN = 30  # a page whose tables are gone is no walk


def bodies(text: str, name: str) -> list[str]:
    """Of each function of that name that is defined in text: from its parameters to its closing brace."""
    found = []
    for at in re.finditer(rf"\b{name}\(", text):
        i, depth = at.end(), 1
        while depth and i < len(text):
            depth += {"(": 1, ")": -1}.get(text[i], 0)
            i += 1
        begin = re.match(r"(?: const| noexcept| override|\s*->\s*[\w:<>&* ]+)*\s*(?::[^;{]*)?\{", text[i:])
        if not begin:
            continue
        start = i = i + begin.end()
        depth = 1
        while depth and i < len(text):
            depth += {"{": 1, "}": -1}.get(text[i], 0)
            i += 1
        found.append(text[start:i])
    return found


def complaints(page: str, read) -> list[str]:
    rows = [match for line in page.splitlines() if (match := ROW.match(line))]
    wrong = [] if len(rows) >= STEPS_MIN else [f"{len(rows)} steps; the tables are not read, or gone"]
    for number, row in enumerate(rows, 1):
        step, path, function, call = row.groups()
        if int(step) != number:
            wrong.append(f"step {step} is the {number}th")
        text = read(path)
        if text is None:
            wrong.append(f"step {step}: there is no {path}")
            continue
        defined = bodies(text, function)
        if not defined:
            wrong.append(f"step {step}: {path} defines no {function}()")
        elif not any(re.search(rf"\b{call}(?:<[\w<>:]*>)?\(", body) for body in defined):
            wrong.append(f"step {step}: no {function}() of {path} calls {call}()")
    return wrong


def from_tree(path: str):
    file = ROOT / path
    return file.read_text() if file.is_file() else None


def self_test(page: str) -> int:
    """A page that is wrong in one word is noticed."""
    good = next(line for line in page.splitlines() if ROW.match(line))
    step, path, function, call = ROW.match(good).groups()
    bad = {"a file that is gone": good.replace(path, path + "x"), "a function that is gone": good.replace(
        f"`{function}` | `{call}`", f"`nobody` | `{call}`"), "a call that is gone": good.replace(
            f"`{function}` | `{call}`", f"`{function}` | `nobody`"), "a row left out": ""}
    unnoticed = [what for what, line in bad.items() if not complaints(page.replace(good, line, 1), from_tree)]
    if not complaints("", from_tree):
        unnoticed.append("an empty page")
    for what in unnoticed:
        print(f"self-test: unnoticed: {what}")
    print(f"self-test: {len(bad) + 1} bad pages, {len(unnoticed)} unnoticed")
    return 1 if unnoticed else 0


def main() -> int:
    if "--help" in sys.argv or "-h" in sys.argv:
        print(__doc__)
        return 0
    page = (ROOT / PAGE).read_text()
    if "--self-test" in sys.argv:
        return self_test(page)
    wrong = complaints(page, from_tree)
    for line in wrong:
        print(f"{PAGE}: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
