#!/usr/bin/env python3
"""Holds the programs of examples/from-* against what they come from, which stands beside each of them: original.cpp, or
original/main.rs. A port has no more lines of code than its original, and both print the same on real cores. A page of
the guide shows the port whole, and before it lines of its original.

usage: originals.py --build DIR [--rounds N] | --self-test

DIR has the programs: examples/from-x and examples/originals/from-x. An original that is not there was not built, for
want of its library: a line says so, and the other half of the test stands. With --rounds the two take turns, N times,
and a Markdown table has the shortest time of each.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS_MAX = 600  # against hangs
PAIRS_MIN = 6


def code_lines(text: str) -> int:
    """Lines that are neither empty nor comment alone."""
    return sum(bool(re.match(r"\s*(?!//)\S", line)) for line in text.splitlines())


def original_of(folder: pathlib.Path) -> pathlib.Path:
    found = [p for p in (folder / "original.cpp", folder / "original" / "main.rs") if p.exists()]
    if len(found) != 1:
        raise RuntimeError(f"{folder.name}: one original, not {len(found)}")
    return found[0]


def longer(port: str, original: str) -> str:
    ours, theirs = code_lines(port), code_lines(original)
    return f"{ours} lines, and its original has {theirs}" if ours > theirs else ""


def without_essay(text: str) -> str:
    return re.sub(r"\A(//.*\n)+", "", text)


def shown(pages: list[str], port: str, original: str) -> str:
    """What is wrong with how the pages show the two, or an empty string."""
    there = {line.strip() for line in original.splitlines()}
    for page in pages:
        blocks = [fence[1] for fence in FENCE.finditer(page)]
        if without_essay(port) not in blocks:
            continue
        at = blocks.index(without_essay(port))
        gone = [line for line in blocks[at - 1].splitlines() if line.strip() not in there] if at else ["nothing"]
        return f"its page shows as the original, and it is not: {gone[0]}" if gone else ""
    return "no page of the guide shows it as it is"


def run(program: pathlib.Path) -> tuple[str, float]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
    begin = time.monotonic()
    done = subprocess.run([program], env=env, capture_output=True, text=True, timeout=SECONDS_MAX)
    took = time.monotonic() - begin
    if done.returncode != 0:
        raise RuntimeError(f"{program} ends with status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, took


def check(folder: pathlib.Path, build: pathlib.Path, rounds: int) -> tuple[str, str]:
    """What is wrong, and a row of the table."""
    port, original = (folder / "main.cpp").read_text(), original_of(folder).read_text()
    pages = [page.read_text() for page in sorted((ROOT / "docs" / "guide").glob("*.md"))]
    problem = longer(port, original) or shown(pages, port, original)
    programs = [build / "examples" / folder.name, build / "examples" / "originals" / folder.name]
    if not programs[1].exists():
        return problem, f"| {folder.name} | {run(programs[0])[1]:.2f} | not built here |"
    best = [float("inf"), float("inf")]
    for _ in range(max(1, rounds)):
        said = [run(program) for program in programs]
        best = [min(b, took) for b, (_, took) in zip(best, said)]
        if said[0][0] != said[1][0]:
            return f"it prints\n{said[0][0]}and its original\n{said[1][0]}", ""
    return problem, f"| {folder.name} | {best[0]:.2f} | {best[1]:.2f} |"


def self_test() -> int:
    short, long = "// A comment.\n\nint main() {}\n", "int main() {\n}\n"
    unnoticed = [] if longer(long, short) else ["a port that is longer"]
    if longer(short, short) or longer(short + "  // another\n", short):
        unnoticed.append("that comments are no code")
    page = "```cpp\nint x;\n```\n```cpp\nint main() {}\n```\n"
    if shown([page], "int main() {}\n", "int x;\nint y;\n"):
        unnoticed.append("that a page is right")
    for what, port, original in (("a page with another program", "int main() { }\n", "int x;\n"),
                                 ("a page with another original", "int main() {}\n", "int y;\n")):
        if not shown([page], port, original):
            unnoticed.append(what)
    for what in unnoticed:
        print(f"self-test: unnoticed: {what}")
    return 1 if unnoticed else 0


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--build", type=pathlib.Path)
    args.add_argument("--rounds", type=int, default=0)
    args.add_argument("--self-test", action="store_true")
    opt = args.parse_args()
    if opt.self_test:
        return self_test()
    if opt.build is None:
        args.error("--build says where the programs are")
    folders = sorted(ROOT.glob("examples/from-*"))
    failed = len(folders) < PAIRS_MIN
    rows = []
    for folder in folders:
        problem, row = check(folder, opt.build.resolve(), opt.rounds)
        missing = ", its original is not built" if "not built" in row else ""
        print(f"{folder.name}: {'FAILED: ' + problem if problem else 'ok'}{missing}")
        failed |= bool(problem)
        rows.append(row)
    if opt.rounds:
        print("\n| | Weft, s | the original, s |\n|---|---:|---:|", *rows, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
