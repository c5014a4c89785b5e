#!/usr/bin/env python3
"""Every machine that hwloc described, of a folder of files: Weft makes a machine of it, or says why not, and where.

usage: hwloc_files.py --weft PATH [FOLDER]

FOLDER, or else the folder that WEFT_TEST_HWLOC names, has XML files that lstopo wrote, such as those that hwloc is
tested with; they are not Weft's, and so not in here. Skipped without one. Of each file: `weft info` gives cores and
memory nodes, all of them that the file has; a small program runs on it and its data may lie on any node; or it is
refused with status 2 and one line that names file and line, unless its version or a number of it is the reason.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

LIMIT_S = 600


def run(weft, *words):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
    return subprocess.run([weft, *map(str, words)], capture_output=True, text=True, timeout=LIMIT_S, env=clean)


def count_of(path, kind):
    """Objects of that kind that the file has, allowed or not; None: it is no XML."""
    try:
        return sum(o.get("type") == kind for o in ElementTree.parse(path).iter("object"))
    except ElementTree.ParseError:
        return None


def disallowed(path):
    root = ElementTree.parse(path).find("object")
    return root is not None and any(root.get(f"allowed_{s}") != root.get(f"complete_{s}")
                                    for s in ("cpuset", "nodeset"))


def judge(weft, path):
    """What is wrong, or None; and what came of it."""
    told = run(weft, "info", "--machine", path, "--json")
    if told.returncode == 2:
        lines = told.stderr.strip().split("\n")
        if len(lines) != 1 or path.name not in lines[0]:
            return f"refused without words: {told.stderr.strip()!r}", ""
        if not re.search(r"line \d+: |more than|at most|no core|no memory", lines[0]):
            return f"refused, and does not say where: {lines[0]}", ""
        return None, "refused: " + lines[0].split(path.name, 1)[1]
    if told.returncode != 0:
        return f"weft info ends with {told.returncode}: {told.stderr.strip()}", ""
    machine = json.loads(told.stdout)
    cores, nodes = count_of(path, "PU"), count_of(path, "NUMANode")
    if not disallowed(path) and cores is not None and (machine["cores"], machine["nodes"]) != (cores, max(nodes, 1)):
        return f"{machine['cores']} cores and {machine['nodes']} nodes of {cores} and {nodes}", ""
    done = run(weft, "run", "independent", "--n", 500, "--machine", path, "--json")
    if done.returncode != 0 or json.loads(done.stdout)["workers"] != machine["cores"]:
        return f"a program on it: status {done.returncode}: {done.stderr.strip()}", ""
    return None, f"{machine['cores']} cores, {machine['nodes']} memory nodes"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True, type=os.path.abspath)
    parser.add_argument("folder", nargs="?", default=os.environ.get("WEFT_TEST_HWLOC"))
    own = parser.parse_args()
    if own.folder is None:
        print("hwloc_files: skipped: no folder with machines that hwloc described; give one, or WEFT_TEST_HWLOC")
        return 77
    files = sorted(pathlib.Path(own.folder).glob("*.xml"))
    if not files:
        print(f"hwloc_files: {own.folder} has no .xml file", file=sys.stderr)
        return 2
    bad = 0
    for path in files:
        wrong, came = judge(own.weft, path)
        bad += wrong is not None
        print(f"{path.name}: {'WRONG: ' + wrong if wrong else came}")
    print(f"hwloc_files: {len(files)} files, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
