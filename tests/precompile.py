#!/usr/bin/env python3
"""What the programs of the pages and the files of tests/compile_fail have in common, done once: OUT/precompiled.hpp
includes <weft/weft.hpp> and has a precompiled header beside it. Of an archive OUT has a copy without what debuggers
read, with which a link takes a quarter of the time.

usage: precompile.py --compiler CXX --flags "..." [--strip STRIP --archive FILE] --out DIR

ctest runs it before each of them (a fixture), so it is never older than the headers.
"""
import argparse
import pathlib
import shlex
import subprocess
import sys


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--compiler", required=True)
    args.add_argument("--flags", default="")
    args.add_argument("--strip")
    args.add_argument("--archive", type=pathlib.Path)
    args.add_argument("--out", type=pathlib.Path, required=True)
    opt = args.parse_args()
    opt.out.mkdir(parents=True, exist_ok=True)
    header = opt.out / "precompiled.hpp"
    compiled = header.with_suffix(".hpp.gch")
    compiled.unlink(missing_ok=True)
    header.write_text("#include <weft/weft.hpp>\n")
    commands = [[opt.compiler, *shlex.split(opt.flags), "-x", "c++-header", str(header), "-o", str(compiled)]]
    if opt.archive:
        commands.append([opt.strip, "--strip-debug", "-o", str(opt.out / opt.archive.name), str(opt.archive)])
    for command in commands:
        done = subprocess.run(command)
        if done.returncode != 0:
            print(f"status {done.returncode}: {shlex.join(command)}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
