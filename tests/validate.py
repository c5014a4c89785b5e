#!/usr/bin/env python3
"""How well the virtual machine predicts this computer: real runs beside virtual runs of its machine file.

usage: validate.py --weft PATH --machine FILE --out DIR [--rounds N] [--programs A,B] [--grains-us X,Y] [--seconds S]
                   [--tries N] [--workers N,...] [--page FILE]

Each program runs on real cores with 1 and 2 workers, or as many as --workers says, in turns, round after round, and
the medians count. `independent` and `stencil` say in a cost clause how long a body is, and keep a core busy for just
that long; the virtual run is the same command with --machine FILE. The others are recorded with one real worker, once
in each round, and the record is replayed on the machine with as many (weft sim). Sizes are searched for so that the
mean task is the grain.
DIR/validation.json and DIR/validation.md are written; with --page the table replaces the one on that page of the guide.
A real run during which the hypervisor took a core away, or other programs had one, is disturbed and repeated, up to
--tries times; how often that was, and which figures hold a run that stayed disturbed, is said.
Status 0 whether the goals are met or not; 2 if a run failed.
"""
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

GRAINS_US = (1, 10, 100, 1000)
GOAL = {1: 0.25}  # by grain in microseconds; all others:
GOAL_OTHERWISE = 0.10
GOAL_MEDIAN = 0.05
TASKS_MAX = 200_000
OTHERS_MAX = 0.02  # seconds of cores that others may have during a run: two ticks
OTHERS_PART_MAX = 0.02  # or this part of a long run: no computer is without its own daemons
STOLEN_PART_MAX = 0.002  # the same of what the hypervisor takes
BEGIN, END = "<!-- table of a run: make validate -->", "<!-- end of the table -->"


class Failed(Exception):
    pass


def in_front():
    """The kernel shares the cores among sessions; this one comes first where it may."""
    try:
        pathlib.Path("/proc/self/autogroup").write_text("-20")
    except OSError:
        pass


def weft(*args) -> dict:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
    command = [WEFT, *map(str, args), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=clean, start_new_session=True,
                          preexec_fn=in_front)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


@dataclasses.dataclass
class Case:
    """One program at one grain."""
    program: str
    grain_us: float
    arguments: list  # of weft run
    recorded: bool  # its virtual run replays a record
    real: dict = dataclasses.field(default_factory=dict)  # workers -> seconds
    virtual: dict = dataclasses.field(default_factory=dict)
    tasks: int = 0
    body_us: float = 0
    repeated: dict = dataclasses.field(default_factory=dict)  # workers -> runs that were disturbed and made again
    disturbed: dict = dataclasses.field(default_factory=dict)  # workers -> runs that count and were disturbed


# --- programs whose bodies say how long they are


def independent(grain_us, seconds):
    n = min(TASKS_MAX, max(200, int(seconds * 1e6 / grain_us)))
    return Case("independent", grain_us, ["independent", "--n", n, "--grain-ns", int(grain_us * 1000)], False)


def stencil(grain_us, seconds):
    width = 32
    steps = min(TASKS_MAX // width, max(10, int(seconds * 1e6 / grain_us / width)))
    arguments = ["stencil", "--width", width, "--steps", steps, "--cells", 1, "--grain-ns", int(grain_us * 1000)]
    return Case("stencil", grain_us, arguments, False)


# --- programs whose bodies take what they take: `size` sets the length of a task, which grows with size ** power


def cholesky_arguments(tile, grain_us, seconds):
    tiles = 10
    while tiles < 60 and tiles ** 3 / 6 * grain_us * 1e-6 < seconds / 2:
        tiles += 1
    return ["cholesky", "--n", tile * tiles, "--tile", tile, "--height", tile, "--repeat", 1, "--no-compare"]


def nbody_arguments(block, grain_us, seconds):
    blocks = 16
    steps = min(1000, max(2, int(seconds * 1e6 / grain_us / 152)))  # 136 pairs and 16 moves in each
    return ["nbody", "--n", blocks * block, "--block", block, "--steps", steps]


def shallow_water_arguments(block, grain_us, seconds):
    side = max(20, int((16 * block) ** 0.5))
    tasks_per_step = 200  # about: 4 stages of 16 blocks and their tiles
    steps = max(2, int(seconds * 1e6 / grain_us / tasks_per_step))
    return ["shallow-water", "--side", side, "--block", block, "--steps", min(steps, 1000)]


def sparse_lu_arguments(size, grain_us, seconds):
    blocks = 8
    while blocks < 40 and blocks ** 3 / 5 * grain_us * 1e-6 < seconds / 2:  # about: what is zero and does not fill in
        blocks += 1
    return ["sparse_lu", "--blocks", blocks, "--size", size, "--width", 1]


# Half of its tasks are spins of that length whatever the size, so the mean grows more slowly than the products.
def random_graph_arguments(size, grain_us, seconds):
    tasks = min(TASKS_MAX, max(200, int(seconds * 1e6 / grain_us)))
    return ["random-graph", "--tasks", tasks, "--size", size, "--grain-ns", int(grain_us * 1000)]


RECORDED = {"cholesky": (cholesky_arguments, 24, 3, 4), "nbody": (nbody_arguments, 32, 2, 2),
            "shallow-water": (shallow_water_arguments, 40, 1, 2), "sparse_lu": (sparse_lu_arguments, 16, 3, 4),
            "random-graph": (random_graph_arguments, 24, 1, 2)}
# Written when the calibrator was done: no figure of a machine file was ever chosen by what they say.
UNSEEN = ("sparse_lu", "random-graph")


def mean_body_us(trace) -> tuple:
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as db:
        count, ns = db.execute(BODIES).fetchone()
    return count, ns / 1000 / max(count, 1)


BODIES = "SELECT count(*), total(finished_ns - started_ns) FROM tasks WHERE finished_ns IS NOT NULL"


def record(arguments, folder):
    trace = folder / "run.weft"
    weft("run", *arguments, "--workers", 1, "--trace", trace)
    return trace


def recorded(program, grain_us, seconds, folder):
    """Searches for the size: the length of a task is some power of it, until caches say otherwise."""
    arguments_of, size, power, smallest = RECORDED[program]
    best = None
    for _ in range(5):
        arguments = arguments_of(size, grain_us, min(seconds, 0.05))
        count, body_us = mean_body_us(record(arguments, folder))
        off = max(body_us / grain_us, grain_us / max(body_us, 1e-6))
        if best is None or off < best[0]:
            best = (off, size)
        if off < 1.1:
            break
        size = max(smallest, round(size * (grain_us / body_us) ** (1 / power)))
        if size == best[1]:
            break
    return Case(program, grain_us, arguments_of(best[1], grain_us, seconds), True)


# --- running them


def stolen_seconds():
    """What the hypervisor took of the computer's cores since it started."""
    fields = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]
    return int(fields[7]) / os.sysconf("SC_CLK_TCK") if len(fields) > 7 else 0.0


def undisturbed(tries, run):
    """What run() returns, of the first time that nobody disturbed it; and how many times before somebody did."""
    for again in range(tries):
        stolen, others, start = stolen_seconds(), busy_seconds() - own_seconds(), time.monotonic()
        result = run()
        took = time.monotonic() - start
        quiet = (stolen_seconds() - stolen <= STOLEN_PART_MAX * took
                 and busy_seconds() - own_seconds() - others <= max(OTHERS_MAX, OTHERS_PART_MAX * took))
        if quiet:
            break
    return result, again, not quiet


def one_round(case, machine, workers, tries, folder):
    for w in workers:
        reply, again, disturbed = undisturbed(tries, lambda: weft("run", *case.arguments, "--workers", w))
        case.real.setdefault(w, []).append(reply["seconds"])
        case.repeated[w] = case.repeated.get(w, 0) + again
        case.disturbed[w] = case.disturbed.get(w, 0) + disturbed
    if case.recorded:
        trace, _, _ = undisturbed(tries, lambda: record(case.arguments, folder))
        case.tasks, case.body_us = mean_body_us(trace)
        for w in workers:
            reply = weft("sim", trace, "--machine", machine, "--workers", w)
            case.virtual.setdefault(w, []).append(reply["makespan_ns"] * 1e-9)
    else:
        for w in workers:
            if w in case.virtual:
                continue  # it would be the same to the bit
            reply = weft("run", *case.arguments, "--workers", w, "--machine", machine)
            case.virtual[w] = [reply["seconds"]]
            case.tasks, case.body_us = reply["tasks"], case.grain_us


def rows_of(cases):
    rows = []
    for case in cases:
        for w in case.real:
            real, virtual = sorted(case.real[w]), statistics.median(case.virtual[w])
            middle = statistics.median(real)
            rows.append({"program": case.program, "grain_us": case.grain_us, "workers": w, "tasks": case.tasks,
                         "body_us": case.body_us, "real_s": middle, "real_min_s": real[0], "real_max_s": real[-1],
                         "virtual_s": virtual, "error": virtual / middle - 1, "rounds": len(real),
                         "replayed": case.recorded, "repeated": case.repeated[w], "disturbed": case.disturbed[w],
                         "arguments": [str(a) for a in case.arguments]})
    return rows


def summary_of(rows):
    """Of each grain, and of each number of workers: the median and the worst error, and whether that meets the goal."""
    found = []

    def add(rows, **about):
        errors = [abs(r["error"]) for r in rows]
        found.append({"grain_us": None, "workers": None, "replayed": None, "unseen": False, **about,
                      "runs": len(errors), "median": statistics.median(errors), "worst": max(errors)})
        return found[-1]

    for grain in sorted({r["grain_us"] for r in rows}):
        s = add([r for r in rows if r["grain_us"] == grain], grain_us=grain)
        s["goal_worst"] = GOAL.get(grain, GOAL_OTHERWISE)
        s["met"] = s["worst"] <= s["goal_worst"]
    unseen = [r for r in rows if r["program"] in UNSEEN]
    if unseen:
        add(unseen, unseen=True)
    for workers in sorted({r["workers"] for r in rows}):
        those = [r for r in rows if r["workers"] == workers]
        s = add(those, workers=workers)
        s["goal_median"] = GOAL_MEDIAN
        s["met"] = s["median"] <= s["goal_median"]
        for replayed in (False, True):
            kind = [r for r in those if r["replayed"] == replayed]
            if kind:
                add(kind, workers=workers, replayed=replayed)
    return found


def grain_text(us):
    return f"{us:g} us" if us < 1000 else f"{us / 1000:g} ms"


def percent(part, signed=False):
    return f"{100 * part:+.1f} %" if signed else f"{100 * part:.1f} %"


def summary_text(s):
    if s["grain_us"] is not None:
        return grain_text(s["grain_us"])
    if s["unseen"]:
        return "all of the two programs it was not made with"
    kind = {None: "all", False: "of these, the same command", True: "of these, replays"}[s["replayed"]]
    return f"{kind}, {s['workers']} worker{'s' if s['workers'] > 1 else ''}"


def disturbance_text(rows, tries):
    repeated, left = sum(r["repeated"] for r in rows), sum(r["disturbed"] for r in rows)
    return (f"{repeated} of the real runs were disturbed and made again; of those that count {left} were disturbed all "
            f"{tries} times.")


def table_of(found):
    about = found["about"]
    lines = [f"{about['date']}; {about['processor']}, {about['cores']} usable cores; {about['compiler']}; medians of "
             f"{about['rounds']} real runs. Other programs used {about['others']} cores meanwhile. "
             f"{disturbance_text(found['rows'], about['tries'])}", "",
             "| | runs | median error | worst error | goal | |", "|---|---|---|---|---|---|"]
    for s in found["summary"]:
        goal = (f"worst <= {percent(s['goal_worst'])}" if "goal_worst" in s else
                f"median <= {percent(s['goal_median'])}" if "goal_median" in s else "")
        met = "" if not goal else "met" if s["met"] else "missed"
        lines.append(f"| {summary_text(s)} | {s['runs']} | {percent(s['median'])} | {percent(s['worst'])} | {goal} | "
                     f"{met} |")
    lines += ["", "| program | grain | workers | tasks | mean body | real, ms | from - to | virtual, ms | error |",
              "|---|---|---|---|---|---|---|---|---|"]
    for r in found["rows"]:
        ms = lambda key: f"{1000 * r[key]:.4g}"
        lines.append(f"| {r['program']} | {grain_text(r['grain_us'])} | {r['workers']} | {r['tasks']} | "
                     f"{r['body_us']:.3g} us | {ms('real_s')} | {ms('real_min_s')} - {ms('real_max_s')} | "
                     f"{ms('virtual_s')} | {percent(r['error'], True)} |")
    return "\n".join(lines) + "\n"


def busy_seconds():
    """All busy time of the computer's cores since it started."""
    fields = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]
    user, nice, system, _idle, _wait, irq, softirq = map(int, fields[:7])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


def about_here(own, others):
    info = weft("info")
    processor = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().split("\n"):
        if line.startswith("model name"):
            processor = line.split(": ", 1)[1]
            break
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "processor": processor,
            "cores": info["usable_cpus"], "compiler": info["compiler"], "version": info["version"],
            "rounds": own.rounds, "tries": own.tries, "others": others}


def validate(own):
    workers = [w for w in own.workers if w <= len(os.sched_getaffinity(0))]
    if not workers:
        raise Failed(f"--workers: all are more than the {len(os.sched_getaffinity(0))} cores there are")
    programs = own.programs.split(",")
    grains = [float(g) for g in own.grains_us.split(",")]
    before, start = (busy_seconds() - own_seconds()), os.times().elapsed
    with tempfile.TemporaryDirectory(prefix="weft-validate-") as name:
        folder = pathlib.Path(name)
        cases = []
        for program in programs:
            for grain in grains:
                print(f"validate: {program}, {grain:g} us", file=sys.stderr)
                if program in RECORDED:
                    cases.append(recorded(program, grain, own.seconds, folder))
                else:
                    cases.append({"independent": independent, "stencil": stencil}[program](grain, own.seconds))
        for i in range(own.rounds):
            for case in cases:
                one_round(case, own.machine, workers, own.tries, folder)
            print(f"validate: round {i + 1} of {own.rounds}", file=sys.stderr)
    others = (busy_seconds() - own_seconds() - before) / max(os.times().elapsed - start, 1e-9)
    rows = rows_of(cases)
    return {"about": about_here(own, f"{max(others, 0):.2f}"), "summary": summary_of(rows), "rows": rows}


def replace_table(page, table):
    text = page.read_text()
    head, rest = text.split(BEGIN, 1)
    _, tail = rest.split(END, 1)
    page.write_text(head + BEGIN + "\n" + table + END + tail)


def write(path, text):
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    part.rename(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True)
    parser.add_argument("--machine", required=True, help="the file that weft calibrate wrote")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs", default="independent,stencil,cholesky,nbody,shallow-water,sparse_lu,random-graph")
    parser.add_argument("--grains-us", default=",".join(map(str, GRAINS_US)))
    parser.add_argument("--seconds", type=float, default=0.2, help="about how long a run shall be with one worker")
    parser.add_argument("--tries", type=int, default=8, help="how often a disturbed run is made, at most")
    parser.add_argument("--workers", default="1,2", help="numbers of workers; more than there are cores are left out")
    parser.add_argument("--page", type=pathlib.Path, help="a page of the guide whose table is to be replaced")
    own = parser.parse_args()
    for name in ("rounds", "tries"):
        if getattr(own, name) < 1:
            parser.error(f"--{name} {getattr(own, name)}: at least 1")
    try:
        own.workers = sorted({int(w) for w in own.workers.split(",")})
    except ValueError:
        own.workers = [0]
    if own.workers[0] < 1:
        parser.error("--workers: numbers of at least 1 are needed, as in 1,2,4")
    global WEFT
    WEFT = os.path.abspath(own.weft)
    own.machine = os.path.abspath(own.machine)
    try:
        own.out.mkdir(parents=True, exist_ok=True)
        found = validate(own)
        table = table_of(found)
        write(own.out / "validation.json", json.dumps(found, indent=2) + "\n")
        write(own.out / "validation.md", table)
        if own.page is not None:
            replace_table(own.page, table)
    except (Failed, OSError) as e:
        print(f"validate: {e}", file=sys.stderr)
        return 2
    print(table, end="")
    return 0


WEFT = "weft"
if __name__ == "__main__":
    sys.exit(main())
