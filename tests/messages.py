#!/usr/bin/env python3
"""Holds docs/guide/62-messages.md against what the library says: each text of the page is one of include/ or src/, and
each text there that begins with "weft: " is on the page. What compilers say (static_assert) explains itself.

usage: messages.py [--self-test]
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = "docs/guide/62-messages.md"
ROW = re.compile(r"^\| `(weft: [^`]*)` \|", re.MULTILINE)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
SOMETHING = "..."  # what a message has from its case: a name, a number
WORDS_MIN = 2  # a text of fewer is the front of others


def template(code: str) -> str:
    """The text that an expression makes, of string literals and what is put between them."""
    text, at, depth = "", 0, 0
    while at < len(code) and code[at] != ";" and depth >= 0:
        if depth == 0 and (literal := LITERAL.match(code, at)):
            text, at = text + literal[1], literal.end()
            continue
        if literal := LITERAL.match(code, at):
            at = literal.end()
            continue
        depth += {"(": 1, ")": -1, "{": 1, "}": -1}.get(code[at], 0)
        if code[at] in "?,":
            break  # what follows is one of two, or what printf puts in
        if not code[at].isspace() and depth >= 0 and not text.endswith(SOMETHING):
            text += SOMETHING
        at += 1
    text = re.sub(r"%(?:ll|z)?[a-z.\d]*[usdgf]", SOMETHING, text)
    text = text.replace("\\n", "").replace('\\"', '"').replace("%%", "%")
    return re.sub(r"(?:\.\.\.)+", SOMETHING, text)


def templates(sources: dict[str, str]) -> dict[str, str]:
    """Each message, and where it is made."""
    found = {}
    for path, code in sources.items():
        code = re.sub(r"^\s*//.*$", "", code, flags=re.MULTILINE)
        code = re.sub(r"static_assert\(.*?\);", "", code, flags=re.DOTALL)
        for begin in re.finditer(r'"weft: ', code):
            text = template(code[begin.start():])
            if len(re.findall(r"\w+", text[len("weft: "):])) >= WORDS_MIN:
                found.setdefault(text, path)
    return found


def fits(row: str, text: str) -> bool:
    """Whether the text begins as the row says; what both have from the case may be anything."""
    return re.match(".*?".join(re.escape(part) for part in row.split(SOMETHING)), text) is not None


def complaints(page: str, sources: dict[str, str]):
    rows, said = ROW.findall(page), templates(sources)
    for row in rows:
        if not any(fits(row, text) for text in said):
            yield f"{PAGE}: nothing says: {row}"
        if rows.count(row) > 1:
            yield f"{PAGE}: twice: {row}"
    for text, path in said.items():
        if not any(fits(row, text) for row in rows):
            yield f"{path}: not on {PAGE}: {text}"


def self_test() -> int:
    sources = {"a.cpp": 'throw error("weft: a task " + name(t) + " is\\"\n "late; " + why());\n'
                        'std::fprintf(stderr, "weft: there are %d left\\n", n);\n'
                        'static_assert(x, "weft: not this one");\n'}
    good = "| `weft: a task ... is` | what |\n| `weft: there are ... left` | what |\n"
    unnoticed = list(complaints(good, sources))
    for bad in (good.replace("late", "early").replace("is`", "was`"), good.splitlines()[0], good + good,
                good + "| `weft: not this one` | x |\n"):
        if not list(complaints(bad, sources)):
            unnoticed.append(f"nothing of {bad!r}")
    for line in unnoticed:
        print(f"self-test: it says {line}")
    return 1 if unnoticed else 0


def main() -> int:
    if "--self-test" in sys.argv[1:]:
        return self_test()
    sources = {}
    for folder in ("include", "src"):
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            name = path.relative_to(ROOT).as_posix()
            if not name.endswith("_test.cpp") and "/lab/" not in name:
                sources[name] = path.read_text(encoding="utf-8")
    wrong = list(complaints((ROOT / PAGE).read_text(encoding="utf-8"), sources))
    for line in wrong:
        print(line)
    print(f"messages: {len(templates(sources))} of the library, {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
