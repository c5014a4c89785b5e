#!/usr/bin/env python3
"""clang-format-16 over every C++ file. Checks, and names the first line that differs; with --fix it rewrites.
Exit status 77 (skipped) where clang-format-16 is missing."""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["include", "src", "apps", "tools", "examples", "tests", "bench", "python"]


def first_difference(file: pathlib.Path, tool: str) -> str:
    wanted = subprocess.run([tool, "--style=file", file], capture_output=True, text=True, check=True).stdout
    old, new = file.read_text().splitlines(), wanted.splitlines()
    for number, (a, b) in enumerate(zip(old, new), 1):
        if a != b:
            return f"{file.relative_to(ROOT)}:{number}: clang-format-16 wants\n    {b}\n  here is\n    {a}"
    return "" if len(old) == len(new) else f"{file.relative_to(ROOT)}:{min(len(old), len(new))}: clang-format-16"


def main() -> int:
    tool = shutil.which("clang-format-16")
    if not tool:
        print("clang-format-16 is not installed: skipped")
        return 77
    files = sorted(p for f in FOLDERS for s in ("*.hpp", "*.cpp") for p in (ROOT / f).rglob(s))
    if "--fix" in sys.argv[1:]:
        return subprocess.run([tool, "--style=file", "-i", *files]).returncode if files else 0
    # One process for all of them, and one for each only if there is something to say: half of the time is their starts.
    said = subprocess.run([tool, "--style=file", "--dry-run", *files], capture_output=True, text=True)
    if said.returncode == 0 and not said.stderr:
        return 0
    problems = [d for d in (first_difference(f, tool) for f in files) if d]
    print(*problems, sep="\n")
    if problems:
        print(f"{len(problems)} of {len(files)} files: run `make format`")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
