#!/usr/bin/env python3
"""ablate.py over one program: it finds a rule that is known to matter, and nothing where nothing was changed.

usage: ablate_test.py --program PATH      PATH: the program bench_ablation
"""
import argparse
import json
import pathlib
import stat
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parent / "ablate.py"


def check(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"ablate_test: {what}")


def ablate(program, folder: pathlib.Path, *args) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(SCRIPT), "--program", str(program), "--state", str(folder / "runs.json"),
                           *args], capture_output=True, text=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    program = parser.parse_args().program.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        page, data = folder / "page.md", folder / "data.json"
        one = ["--only", "tiny,stencil32", "--workers", "4", "--plant", "tiny=60", "--json", "--page", str(page),
               "--data", str(data)]
        done = ablate(program, folder, *one)
        check(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
        rows = {row["rule"]: row for row in json.loads(done.stdout)}
        check(rows.keys() == {"tiny", "tiny=60"}, f"rows {rows.keys()}")
        tiny = rows["tiny"]
        check(tiny["pays"] and tiny["worst"]["cost"] > 0.5, f"empty tasks lose little without `tiny`: {tiny}")
        check(tiny["worst"]["program"] == "stencil32" and tiny["worst"]["workers"] == 4, f"where: {tiny}")
        planted = rows["tiny=60"]  # its usual number
        check(not planted["pays"] and planted["worst"] is None, f"what changes nothing has an effect: {planted}")
        check("| `tiny` |" in page.read_text() and json.loads(data.read_text())["rows"][0] == tiny, "page or data")

        listing = folder / "listing"  # a program that can only list
        listing.write_text(f'#!/bin/sh\n[ "$1" = --list ] && exec {program} --list\nexit 1\n')
        listing.chmod(listing.stat().st_mode | stat.S_IXUSR)
        state = json.loads((folder / "runs.json").read_text())
        again = ablate(program, folder, *one)
        check(again.stdout == done.stdout and "one off" not in again.stderr, "it runs again what it knows")
        check(json.loads((folder / "runs.json").read_text()) == state, "it does not keep what it knows")

        # A run that fails leaves page and data as they were.
        before = page.read_text()
        failed = ablate(listing, folder, *one)
        check(failed.returncode == 1 and "stencil32" in failed.stderr, f"a failed run: {failed}")
        check(page.read_text() == before, "a failed run has written the page")
        for word, value in (("--workers", "4,0"), ("--workers", "x"), ("--jobs", "-1"), ("--host", "0")):
            refused = ablate(program, folder, word, value)
            check(refused.returncode == 2 and "no number above 0" in refused.stderr, f"{word} {value}: {refused}")
        # A rule that the program has no more goes from page and data, and nothing else does.
        found = json.loads(data.read_text())
        data.write_text(json.dumps(found | {"rows": [*found["rows"], dict(tiny, rule="gone")],
                                            "real": [{"rule": "gone", "program": "fib", "workers": 2, "cost": 0.0}]}))
        done = ablate(listing, folder, "--prune", "--page", str(page), "--data", str(data))
        check(done.returncode == 0 and "| `gone`" not in page.read_text(), f"--prune: {done}")
        check("deleted since, were on: `gone`." in page.read_text(), "the page does not say what ran")
        found = json.loads(data.read_text())
        check(found["rows"] == [tiny] and found["real"] == [], "--prune changes other rows")
        check(ablate(listing, folder, "--prune").returncode == 2, "--prune without data")

        broken = folder / "broken.json"
        broken.write_text('{"digest": "')
        cut = ablate(program, folder, *one, "--state", str(broken))
        check(cut.returncode == 1 and "holds no runs" in cut.stderr, f"a state that is cut off: {cut}")
        wrong = ablate(program, folder, "--only", "tinny")
        check(wrong.returncode == 2 and "tinny" in wrong.stderr, f"an unknown name: {wrong}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
