#!/usr/bin/env python3
"""Programs that no figure of the model was chosen by: what virtual time says of them, beside real cores.

usage: predicted.py --weft PATH --programs PATH [--machine FILE] [--rounds N] [--only A,B] [--json FILE]
                    [--page FILE]

Each program of tests/predicted/programs.cpp runs on 1 and 2 real workers, with measured bodies on the calibrated
machine with 1 and 2 workers, and is recorded with 1 real worker and replayed with 1 and 2; all of them in turns,
round after round, and the least of each counts. Without --machine this computer is calibrated first; skipped where
that does not work. With --page the table replaces the one there. Status 0 whether the goals are met or not, since
that is the computer's affair as well; 2 if a run failed, or a program's result is not the same everywhere.
"""
import argparse
import collections
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = {"sparse_lu, 16 x 16": ("sparse_lu", "40", "16"), "sparse_lu, 32 x 32": ("sparse_lu", "28", "32"),
            "dag 1": ("dag", "1"), "dag 2": ("dag", "2"), "stencil, 890 ns": ("stencil", "890"),
            "wavefront": ("wavefront", "64"), "tree": ("tree", "11"), "sums": ("sums",), "triads": ("triads",)}
GOAL_MEDIAN, GOAL_WORST = 0.05, 0.12
BEGIN, END = "<!-- table of a run: tests/predicted.py -->", "<!-- end of the table of tests/predicted.py -->"


class Failed(Exception):
    pass


class Restless(Exception):
    """A computer whose costs cannot be told: calibrate's own checks fail, again and again."""


def in_front():
    """The kernel shares the cores among sessions; this one comes first where it may."""
    try:
        pathlib.Path("/proc/self/autogroup").write_text("-20")
        os.nice(-20)
    except OSError:
        pass


def output_of(command, **more):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**clean, **more},
                          start_new_session=True, preexec_fn=in_front)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


class Case:
    def __init__(self, name):
        self.name = name
        self.seconds = collections.defaultdict(list)  # (how, workers) -> of each round
        self.checksums = set()
        self.body_us = 0

    def run(self, own, how, workers, **more):
        out = output_of([own.programs, *PROGRAMS[self.name]], WEFT_WORKERS=str(workers), **more).split()
        self.seconds[how, workers].append(float(out[0]))
        self.checksums.add(out[1])

    def round(self, own, folder):
        for w in (1, 2):
            self.run(own, "real", w)
            self.run(own, "measured", w, WEFT_MACHINE=own.machine, WEFT_BODY="measured")
        trace = folder / "run.weft"
        self.run(own, "recorded", 1, WEFT_TRACE=str(trace))
        for w in (1, 2):
            reply = json.loads(output_of([own.weft, "sim", trace, "--machine", own.machine, "--workers", w,
                                          "--submitter", "trace", "--json"]))
            self.seconds["replayed", w].append(reply["makespan_ns"] * 1e-9)
            self.body_us = reply["work_ns"] / reply["tasks"] / 1000

    def row(self):
        least = {at: min(all_of) for at, all_of in self.seconds.items()}
        found = {"program": self.name, "body_us": self.body_us}
        for w in (1, 2):
            real = sorted(self.seconds["real", w])
            found[f"real_{w}_s"], found[f"noise_{w}"] = real[0], real[len(real) // 2] / real[0] - 1
            for how in ("measured", "replayed"):
                found[f"{how}_{w}"] = least[how, w] / least["real", w] - 1
        found["recording"] = least["recorded", 1] / least["real", 1] - 1
        return found


def percent(part):
    return f"{100 * part:+.1f} %"


def summary(rows):
    lines = []
    for workers in (1, 2):
        for how in ("measured", "replayed"):
            errors = [abs(r[f"{how}_{workers}"]) for r in rows]
            middle, worst = statistics.median(errors), max(errors)
            met = "met" if middle <= GOAL_MEDIAN and worst <= GOAL_WORST else "missed"
            lines.append(f"| {how}, {workers} worker{'s' if workers > 1 else ''} | {100 * middle:.1f} % | "
                         f"{100 * worst:.1f} % | {met} |")
    return lines


def table(found):
    about, rows = found["about"], found["rows"]
    lines = [f"{about['date']}; least of {about['rounds']} runs each, in turns; other programs used "
             f"{about['others']:.2f} of {about['cores']} cores meanwhile, and the median of the real runs was "
             f"{about['noise']} above the least.",
             "", f"| | median error | worst | goal: {100 * GOAL_MEDIAN:.0f} %, {100 * GOAL_WORST:.0f} % |",
             "|---|---|---|---|", *summary(rows), "",
             "| program | mean body | real, 1 worker | measured bodies | replay | real, 2 workers | measured bodies | "
             "replay |", "|---|---|---|---|---|---|---|---|"]
    for r in rows:
        cells = [r["program"], f"{r['body_us']:.3g} us"]
        for w in (1, 2):
            cells += [f"{1000 * r[f'real_{w}_s']:.4g} ms", percent(r[f"measured_{w}"]), percent(r[f"replayed_{w}"])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def busy_seconds():
    fields = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]
    return sum(int(fields[i]) for i in (0, 1, 2, 5, 6)) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


def calibrate(own):
    try:
        output_of([own.weft, "calibrate", "--tries", 5, "--out", own.machine])
    except Failed as e:
        raise Restless(e) if pathlib.Path(own.machine).exists() else e


def compare(own, folder):
    cases = [Case(name) for name in PROGRAMS if not own.only or any(name.startswith(o) for o in own.only.split(","))]
    if not cases:
        raise Failed(f"--only {own.only}: none of {', '.join(PROGRAMS)}")
    before, start = busy_seconds() - own_seconds(), time.monotonic()
    for i in range(own.rounds):
        for case in cases:
            case.round(own, folder)
        print(f"predicted: round {i + 1} of {own.rounds}", file=sys.stderr)
    others = (busy_seconds() - own_seconds() - before) / (time.monotonic() - start)
    for case in cases:
        if len(case.checksums) != 1:
            raise Failed(f"{case.name}: its results differ: {', '.join(sorted(case.checksums))}")
    rows = [case.row() for case in cases]
    noise = [r[f"noise_{w}"] for r in rows for w in (1, 2)]
    return {"about": {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "rounds": own.rounds,
                      "others": max(others, 0), "cores": len(os.sched_getaffinity(0)),
                      "noise": f"{100 * min(noise):.0f} to {100 * max(noise):.0f} %"}, "rows": rows}


def replace_table(page, text):
    head, rest = page.read_text().split(BEGIN, 1)
    page.write_text(head + BEGIN + "\n" + text + END + rest.split(END, 1)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True, type=os.path.abspath)
    parser.add_argument("--programs", required=True, type=os.path.abspath)
    parser.add_argument("--machine", type=os.path.abspath, help="the file that weft calibrate wrote")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="programs whose names begin so")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path, help="a page of the guide whose table is to be replaced")
    own = parser.parse_args()
    if own.rounds < 1:
        parser.error(f"--rounds {own.rounds}: at least 1")
    if len(os.sched_getaffinity(0)) < 2:
        print("predicted: skipped: two cores are needed", file=sys.stderr)
        return 77
    try:
        with tempfile.TemporaryDirectory(prefix="weft-predicted-") as name:
            folder = pathlib.Path(name)
            if own.machine is None:
                own.machine = str(folder / "this-host.toml")
                calibrate(own)
            found = compare(own, folder)
        text = table(found)
        if own.json is not None:
            own.json.write_text(json.dumps(found, indent=2) + "\n")
        if own.page is not None:
            replace_table(own.page, text)
    except Restless as e:
        print(f"predicted: skipped: {e}", file=sys.stderr)
        return 77
    except (Failed, OSError) as e:
        print(f"predicted: {e}", file=sys.stderr)
        return 2
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
