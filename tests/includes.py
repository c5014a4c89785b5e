#!/usr/bin/env python3
"""Every file that is built with precompiled headers, or as one with its neighbours, once more alone: a missing #include
and a shadowed name are errors here, and nowhere else in that build.

usage: includes.py --build DIR [--target NAME]
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys


def without(command: list[str]) -> list[str]:
    """The same command without the precompiled headers, which only looks at the file. Both compilers' ways."""
    kept, rest = [], iter(command)
    for word in rest:
        if word == "-o":
            next(rest)
        elif word == "-include" or word == "-Xclang":
            what = next(rest)
            if "cmake_pch" not in what and what not in ("-include-pch", "-include"):
                kept += [word, what]
        elif word not in ("-c", "-Winvalid-pch"):
            kept.append(word)
    return [*kept, "-Wshadow", "-fsyntax-only"]  # -Wshadow: which weft_strict leaves out where files are one


def each_alone(entry: dict) -> list[dict]:
    """The commands of the files that are compiled as one in this."""
    if "/Unity/" not in entry["file"]:
        return [entry]
    files = re.findall(r'^#include "(.*)"', pathlib.Path(entry["file"]).read_text(), re.MULTILINE)
    return [{**entry, "file": f, "command": entry["command"].replace(entry["file"], f)} for f in files]


def looked_at(entry: dict) -> str:
    """What the compiler says, or ""."""
    done = subprocess.run(without(shlex.split(entry["command"])), cwd=entry["directory"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return "" if done.returncode == 0 else f"{entry['file']}: not alone\n{done.stdout}"


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--build", required=True, type=pathlib.Path)
    args.add_argument("--target", default="", help="only the files of this target")
    opt = args.parse_args()
    entries = json.loads((opt.build / "compile_commands.json").read_text())
    files = [f for e in entries if "cmake_pch" in e["command"] and "cmake_pch" not in e["file"]
             and (f"CMakeFiles/{opt.target}.dir/" if opt.target else "") in e["command"] for f in each_alone(e)]
    if not files:
        print("no file has precompiled headers")
        return 1
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        wrong = [said for said in pool.map(looked_at, files) if said]
    print(*wrong, f"{len(files)} files, {len(wrong)} of them wrong alone", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
