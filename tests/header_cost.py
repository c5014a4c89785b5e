#!/usr/bin/env python3
"""What `#include <weft/weft.hpp>` costs its users, and `weft/core.hpp`, which is what most programs need: less compile
time than two common standard headers together, and none of the heavy ones by name. The time is the processor's, all are
compiled in turn, and the best of each counts, of as many tries as it takes, up to ATTEMPTS_MAX: busy neighbours make a
compiler slower, and none can make it faster than it is.

usage: header_cost.py --compiler CXX --include DIR
"""
import argparse
import pathlib
import re
import resource
import subprocess
import sys

ATTEMPTS_MIN, ATTEMPTS_MAX = 5, 30
# Of user time at -O2, against COMMON. Measured 0.87 and 0.35: 41,400 and 24,400 lines, 0.41 and 0.16 s.
RATIO_MAX = {"weft/weft.hpp": 0.95, "weft/core.hpp": 0.55}
BANNED = {"atomic", "thread", "mutex", "chrono", "functional", "iostream", "ranges", "memory", "string", "stdexcept"}
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
    programs = {header: f"#include <{header}>\nint main() {{}}\n" for header in RATIO_MAX}
    best = dict.fromkeys([*RATIO_MAX, ""], float("inf"))
    for attempt in range(ATTEMPTS_MAX):
        for name, program in [*programs.items(), ("", COMMON)]:
            best[name] = min(best[name], user_seconds(command, program))
        if attempt + 1 >= ATTEMPTS_MIN and all(best[h] <= most * best[""] for h, most in RATIO_MAX.items()):
            break
    for header, most in RATIO_MAX.items():
        ratio = best[header] / best[""]
        print(f"#include <{header}> costs {best[header]:.2f} s of user time at -O2, {ratio:.2f} times what "
              f"<functional> and <iostream> do, limit {most}")
        failed = failed or ratio > most
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
