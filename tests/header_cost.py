#!/usr/bin/env python3
"""What `#include <weft/weft.hpp>` costs its users: little more compile time than two common standard headers together,
and none of the heavy ones by name. The time is the processor's, both are compiled in turn, and the best of each counts,
of as many tries as it takes, up to ATTEMPTS_MAX: busy neighbours make a compiler slower, and none can make it faster
than it is.

usage: header_cost.py --compiler CXX --include DIR
"""
import argparse
import pathlib
import re
import resource
import subprocess
import sys

ATTEMPTS_MIN, ATTEMPTS_MAX = 5, 30
RATIO_MAX = 1.3  # of user time at -O2; measured 1.19: 0.60 s on a slow computer, <string> and <vector> alone 0.29
BANNED = {"atomic", "thread", "mutex", "chrono", "functional", "iostream", "ranges", "memory"}
PROGRAM = "#include <weft/weft.hpp>\nint main() {}\n"
COMMON = "#include <functional>\n#include <iostream>\nint main() {}\n"


def user_seconds(command: list[str], program: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, input=program, text=True, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main() -> int:
    args = argparse.ArgumentParser()
    args.add_argument("--compiler", required=True)
    args.add_argument("--include", required=True, type=pathlib.Path)
    opt = args.parse_args()
    failed = False

    for header in sorted(opt.include.rglob("*.hpp")):
        for number, line in enumerate(header.read_text().splitlines(), 1):
            include = re.match(r"\s*#\s*include\s*<(\w+)>", line)
            if include and include[1] in BANNED:
                print(f"{header}:{number}: <{include[1]}> is too heavy for a public header")
                failed = True

    command = [opt.compiler, "-std=c++20", "-O2", "-I", str(opt.include), "-c", "-x", "c++", "-", "-o", "/dev/null"]
    ours = common = float("inf")
    for attempt in range(ATTEMPTS_MAX):
        ours = min(ours, user_seconds(command, PROGRAM))
        common = min(common, user_seconds(command, COMMON))
        if attempt + 1 >= ATTEMPTS_MIN and ours <= RATIO_MAX * common:
            break
    print(f"#include <weft/weft.hpp> costs {ours:.2f} s of user time at -O2, {ours / common:.2f} times what "
          f"<functional> and <iostream> do, limit {RATIO_MAX}")
    return 1 if failed or ours > RATIO_MAX * common else 0


if __name__ == "__main__":
    sys.exit(main())
