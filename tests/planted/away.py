#!/usr/bin/env python3
"""Asks for planted faults on another machine, which has more cores and no compiler. faults.py says what a fault is.

usage: away.py pack FOLDER                      here, after faults.py make: what that machine needs
       tests/planted/away.py there [--seconds 420] [--sample 500] [--seed 1] [--jobs N]
                                                there, in that folder: each test without a fault, then the faults in the
                                                order in which they were drawn; writes away.json
       away.py back FILE                        here: what away.json says counts as if it had been asked here

Faults are begun in the order in which they were drawn, and each that was begun counts: one that time ran out for is not
found. Who survives is asked for longer than who is found, so what happens to be over would be no fair sample.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

import faults

KEPT = ("tests/planted", "tests/golden.py", "tests/found.py", "tests/beside.py", "tests/found", "tests/leaks.supp")
READ = ("examples/*/main.*", "src/sched/policies/built_in.cpp", "machines/*", "tests/conformance/*.expect")
LIBC = re.compile(r"ld-linux|lib(c|m|dl|rt|pthread|resolv)\.so")


def programs() -> list[pathlib.Path]:
    found = [faults.BUILD / "weft_unit", faults.BUILD / "weft_conformance"]
    for folder in ("examples", "found"):
        found += [p for p in sorted((faults.BUILD / folder).rglob("*")) if p.is_file() and os.access(p, os.X_OK)]
    return found


def libraries(of: pathlib.Path) -> set[pathlib.Path]:
    text = subprocess.run(["ldd", of], capture_output=True, text=True, check=True).stdout
    found = (re.match(r"\s*(\S+) => (/\S+)", line) for line in text.split("\n"))
    return {pathlib.Path(m[2]) for m in found if m and not LIBC.match(m[1])}


def put(source: pathlib.Path, to: pathlib.Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, to)


def pack(opt) -> int:
    tree = opt.folder / faults.TREE.relative_to(faults.ROOT)
    for pattern in KEPT + READ:
        for name in [faults.ROOT / pattern] if "*" not in pattern else sorted(faults.ROOT.glob(pattern)):
            for source in sorted(name.rglob("*")) if name.is_dir() else [name]:
                if source.is_file() and "__pycache__" not in source.parts:
                    put(source, tree / source.relative_to(faults.ROOT))
    shutil.copytree(tree / "tests/planted", opt.folder / "tests/planted", dirs_exist_ok=True)
    needed = set()
    for program in programs():
        to = tree / program.relative_to(faults.TREE)
        to.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["strip", "-o", to, program], check=True)
        needed |= libraries(program)
    for library in needed:
        put(library, opt.folder / "lib" / library.name)
        subprocess.run(["strip", "--strip-unneeded", opt.folder / "lib" / library.name], check=True)
    every = json.dumps(faults.tests()).replace(str(faults.TREE), "{tree}").replace(sys.executable, "{python}")
    work = opt.folder / faults.WORK.relative_to(faults.ROOT)
    (work / "tests.json").write_text(re.sub(r'"/[^"]*/python3[\d.]*"', '"{python}"', every))
    put(faults.WORK / "faults.json", work / "faults.json")
    print(f"{len(needed)} libraries, {len(json.loads(every))} tests")
    return 0


def there(opt) -> int:
    begin = time.monotonic()
    text = (faults.WORK / "tests.json").read_text()
    text = text.replace("{tree}", str(faults.TREE)).replace("{python}", sys.executable)
    (faults.WORK / "tests.json").write_text(text)
    os.environ["LD_LIBRARY_PATH"] = str(faults.ROOT / "lib")
    opt.again, opt.lost, opt.long, opt.at = False, False, False, None
    if opt.anew:
        (faults.WORK / "results.json").unlink(missing_ok=True)
    faults.reach(opt)
    opt.seconds = opt.seconds - (time.monotonic() - begin) - faults.PATIENCE_S
    faults.run(opt)
    numbers = sorted(faults.load("faults.json", {})["faults"], key=int)
    drawn = random.Random(opt.seed).sample(numbers, min(opt.sample, len(numbers)))
    results = faults.load("results.json", {})
    begun = [n for n in drawn if n in results]
    (faults.ROOT / "away.json").write_text(json.dumps({
        "seed": opt.seed, "begun": begun, "results": results,
        "seconds": {name: r["seconds"] for name, r in faults.load("reached.json", {}).items()}}))
    print(f"of {len(begun)} that were begun {sum(bool(results[n]['found']) for n in begun)} are found")
    return 0


def back(opt) -> int:
    came, planted = json.loads(opt.file.read_text()), faults.load("faults.json", {})["faults"]
    stand = {n: faults.key(row) for n, row in planted.items()}
    anew = {n: r for n, r in came["results"].items() if stand.get(n) == faults.key(r)}
    faults.save("results.json", anew if opt.instead else faults.load("results.json", {}) | anew)
    print(f"{len(anew)} of {len(came['results'])}, {sum(bool(r['found']) for r in anew.values())} of them found")
    return 0


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = args.add_subparsers(dest="what", required=True)
    verbs.add_parser("pack").add_argument("folder", type=lambda name: pathlib.Path(name).resolve())
    away = verbs.add_parser("there")
    away.add_argument("--seconds", type=float, default=420)
    away.add_argument("--sample", type=int, default=500)
    away.add_argument("--seed", type=int, default=1)
    away.add_argument("--jobs", type=int, default=os.cpu_count())
    away.add_argument("--most", type=int, default=1000)
    away.add_argument("--anew", action="store_true", help="also what was asked before")
    home = verbs.add_parser("back")
    home.add_argument("file", type=pathlib.Path)
    home.add_argument("--instead", action="store_true", help="of what was asked here")
    opt = args.parse_args()
    return {"pack": pack, "there": there, "back": back}[opt.what](opt)


if __name__ == "__main__":
    sys.exit(main())
