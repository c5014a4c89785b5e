#!/usr/bin/env python3
"""Checks one promise of the form "this does not compile". The file must compile as it is, must not compile with BAD
defined, and then the compiler must say what the file's line `// expect: REGEX` asks for. So it fails for the right
reason, and its good branch proves that nothing else is wrong with it. With `// expect in N: REGEX` the first N lines of
the message must say it: who makes the mistake reads no more. Lines of source that a compiler quotes do not count, nor
does the one that names HEADER, which a user does not have.

usage: compile_fail.py --compiler CXX --flags "..." [--precompiled HEADER] FILE

A file that includes <weft/weft.hpp> is given HEADER, which tests/precompile.py made of it.
"""
import argparse
import re
import shlex
import subprocess
import sys


def main() -> int:
    args = argparse.ArgumentParser()
    args.add_argument("--compiler", required=True)
    args.add_argument("--flags", default="")
    args.add_argument("--precompiled", default="")
    args.add_argument("file")
    opt = args.parse_args()
    with open(opt.file, encoding="utf-8") as f:
        text = f.read()
    shared = ["-include", opt.precompiled] if opt.precompiled and "#include <weft/weft.hpp>\n" in text else []
    command = [opt.compiler, *shlex.split(opt.flags), "-fsyntax-only", *shared, opt.file]

    expect = re.search(r"^// expect(?: in (\d+))?: (.+)$", text, re.MULTILINE)
    if not expect:
        print(f"{opt.file}: no line `// expect: REGEX` or `// expect in N: REGEX`")
        return 1

    good = subprocess.run(command, capture_output=True, text=True)
    if good.returncode != 0:
        print(f"{opt.file}: the good branch does not compile\n{good.stderr}")
        return 1
    bad = subprocess.run(command + ["-DBAD"], capture_output=True, text=True)
    if bad.returncode == 0:
        print(f"{opt.file}: the bad branch compiles")
        return 1
    lines = [line for line in bad.stderr.splitlines(keepends=True)
             if not re.match(r"\s*\d* \|", line) and not (shared and opt.precompiled in line)]
    read = "".join(lines[:int(expect[1])] if expect[1] else lines)
    if not re.search(expect[2], read):
        where = f" in the first {expect[1]} lines" if expect[1] else ""
        print(f"{opt.file}: the bad branch fails, but not with {expect[2]!r}{where}\n{bad.stderr}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
