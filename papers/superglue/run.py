#!/usr/bin/env python3
"""Reproduces in virtual time what SuperGlue's paper says, as far as README.md claims it, and judges every figure.

usage: papers/superglue/run.py [--weft build/release/weft] [--json]

Runs what expected.json lists; a figure is one value of a run, or the ratio of two, and must lie within its bounds.
Exit status 0 only if every run passed its own checks and every figure is within its bounds.
"""
import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SECONDS_MAX = 600  # against hangs


def run(weft: str, arguments: list[str]) -> dict:
    done = subprocess.run([weft, "run", *arguments, "--json"], capture_output=True, text=True, timeout=SECONDS_MAX)
    reply = json.loads(done.stdout) if done.stdout else {}
    if done.returncode != 0 or not reply.get("ok"):
        why = reply.get("error") or done.stderr or reply.get("checks")
        raise RuntimeError(f"weft run {' '.join(arguments)}: {why}")
    return reply


def value(figure: dict, results: dict) -> float:
    if "of" in figure:
        name, field = figure["of"]
        return results[name][field]
    (a, a_field), (b, b_field) = figure["over"]
    return results[a][a_field] / results[b][b_field]


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--weft", default="build/release/weft")
    args.add_argument("--json", action="store_true")
    opt = args.parse_args()
    expected = json.loads((HERE / "expected.json").read_text())
    results = {}
    for i, (name, arguments) in enumerate(expected["runs"].items(), 1):
        print(f"{i}/{len(expected['runs'])} weft run {' '.join(arguments)}", file=sys.stderr, flush=True)
        results[name] = run(opt.weft, arguments)
    rows = []
    for figure in expected["figures"]:
        found = value(figure, results)
        rows.append({"claim": figure["claim"], "what": figure["what"], "value": found, "min": figure["min"],
                     "max": figure["max"], "ok": figure["min"] <= found <= figure["max"]})
    if opt.json:
        print(json.dumps({"figures": rows, "ok": all(r["ok"] for r in rows)}, indent=2))
    else:
        for r in rows:
            verdict = "ok    " if r["ok"] else "WRONG "
            print(f"{verdict} {r['value']:8.3f}  [{r['min']:g}, {r['max']:g}]  {r['claim']}: {r['what']}")
    return 0 if all(r["ok"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
