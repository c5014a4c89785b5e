#!/usr/bin/env python3
"""Compiles and runs every C++ program of a Markdown page, and compares its output with what the page says.

usage: pages.py PAGE.md --compiler CXX --flags "..." --link "..." --scratch DIR [--precompiled HEADER]

A program is a ```cpp block with `int main` in it. If the next fence of the page is a plain ``` block, with at most one
paragraph in between, that block is the program's exact output with WEFT_MACHINE=virtual; otherwise the program only has
to end with status 0. A program that includes <weft/weft.hpp> is given HEADER, which tests/precompile.py made of it. A
page without a program is an error when it is the README, whose reader must find one.
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys

SECONDS_MAX = 600  # against hangs
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PARAGRAPHS_BETWEEN_MAX = 1


def programs(text: str) -> list[tuple[int, str, str | None]]:
    """(line, program, expected output or None) of each program."""
    fences = list(FENCE.finditer(text))
    found = []
    for i, fence in enumerate(fences):
        if fence[1] != "cpp" or "int main" not in fence[2]:
            continue
        expected = None
        if i + 1 < len(fences) and fences[i + 1][1] == "":
            between = text[fence.end():fences[i + 1].start()].strip()
            if len([p for p in re.split(r"\n\s*\n", between) if p]) <= PARAGRAPHS_BETWEEN_MAX:
                expected = fences[i + 1][2]
        found.append((text.count("\n", 0, fence.start()) + 2, fence[2], expected))
    return found


def check(page: pathlib.Path, line: int, program: str, expected: str | None, opt: argparse.Namespace) -> str:
    """What is wrong, or an empty string."""
    opt.scratch.mkdir(parents=True, exist_ok=True)
    source = opt.scratch / f"{page.stem}-{line}.cpp"
    binary = source.with_suffix("")
    source.write_text(f'#line {line} "{page.name}"\n{program}')
    shared = ["-include", opt.precompiled] if opt.precompiled and "#include <weft/weft.hpp>\n" in program else []
    command = [opt.compiler, *shlex.split(opt.flags), *shared, str(source), "-o", str(binary), *shlex.split(opt.link)]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        return f"does not compile\n{built.stderr}"
    env = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
    if expected is not None:
        env["WEFT_MACHINE"] = "virtual"
    done = subprocess.run([str(binary)], env=env, capture_output=True, text=True, timeout=SECONDS_MAX)
    if done.returncode != 0:
        return f"ends with status {done.returncode}\n{done.stdout}{done.stderr}"
    if expected is not None and done.stdout + done.stderr != expected:
        return f"the page says:\n{expected}but it prints:\n{done.stdout}{done.stderr}"
    return ""


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("page", type=pathlib.Path)
    args.add_argument("--compiler", required=True)
    args.add_argument("--flags", default="")
    args.add_argument("--link", default="")
    args.add_argument("--precompiled", default="")
    args.add_argument("--scratch", type=pathlib.Path, required=True)
    opt = args.parse_args()
    found = programs(opt.page.read_text(encoding="utf-8"))
    if not found and opt.page.name == "README.md" and opt.page.parent.name != "guide":
        print(f"{opt.page}: no ```cpp block with `int main` in it", file=sys.stderr)
        return 1
    failed = 0
    for line, program, expected in found:
        problem = check(opt.page, line, program, expected, opt)
        print(f"{opt.page.name}:{line}: {'FAILED: ' + problem if problem else 'ok'}")
        failed += bool(problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
