#!/usr/bin/env python3
"""Runs the programs of tests/found over machines, creations, policies and workers: tests/found/README.md.

usage: found.py --build BUILD_DIR [NAME...] [--long] [--times N] [--beside KIND] [--list]
       found.py --build BUILD_DIR --self-test

Without --long: each run on each machine with both creations and one policy, whose turn it is; on real cores beside
threads that disturb, too; WEFT_TEST_QUICK has the first of these alone. With it: every combination, alone and beside.
--times: each combination so often, with seeds from 1 on, and the sum at the end. --beside: beside that alone.
--turns: policies are no combinations of their own, but take turns by the seed.
"""
import argparse
import dataclasses
import itertools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import zlib

from beside import KINDS, beside

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests" / "found"
WORDS = {"Run", "Long", "Machines", "Creation", "Policies", "Workers", "Times", "Status", "Environment", "Alone"}
SCHEDULES = {"random", "pct"}  # of the virtual machine
OWN = "own"
SECONDS_MAX = 600  # against hangs
FAILURES_SHOWN = 3


@dataclasses.dataclass
class Head:
    runs: list[str]
    long: list[str]
    machines: list[str]
    creations: list[str]
    policies: list[str]
    workers: list[str]
    times: int = 1
    status: int = 0
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    alone: bool = False


@dataclasses.dataclass
class Run:
    program: pathlib.Path
    arguments: str
    environment: dict[str, str]
    status: int
    beside: str
    times: int
    turns: list[str] = dataclasses.field(default_factory=list)  # policies, one for each seed

    def line(self, seed: int) -> str:
        given = " ".join(f"{k}={shlex.quote(v)}" for k, v in self.variables(seed).items())
        with_others = "" if self.beside == "nothing" else f"   # beside {self.beside}"
        return f"{given} {os.path.relpath(self.program, ROOT)} {self.arguments}".strip() + with_others

    def variables(self, seed: int) -> dict[str, str]:
        policy = {"WEFT_POLICY": self.turns[(seed - 1) % len(self.turns)]} if self.turns else {}
        return self.environment | policy | ({"WEFT_SEED": str(seed)} if seed > 1 else {})


def policies() -> list[str]:
    return re.findall(r'^ *\{\{"(\w+)"', (ROOT / "src/sched/policies/built_in.cpp").read_text(), re.MULTILINE)


def head(source: pathlib.Path) -> Head:
    given: dict[str, list[str]] = {}
    for line in source.read_text().splitlines():
        if not line.startswith("//"):
            break
        word = re.match(r"// ([A-Z][a-z]+):(?: +(.*))?$", line)
        if word and word[1] in WORDS:
            given.setdefault(word[1], []).append((word[2] or "").strip())
    names = {key: " ".join(lines).split() for key, lines in given.items()}
    chosen = names.get("Policies", ["all"])
    return Head(
        runs=given.get("Run", [] if "Long" in given else [""]), long=given.get("Long", []),
        machines=names.get("Machines", ["host", "virtual"]), creations=names.get("Creation", ["inline", "decoupled"]),
        policies=policies() if chosen == ["all"] else chosen, workers=names.get("Workers", ["2", "4"]),
        times=int(names.get("Times", ["1"])[0]), status=int(names.get("Status", ["0"])[0]),
        environment=dict(pair.split("=", 1) for pair in names.get("Environment", [])), alone="Alone" in given)


def environment(h: Head, machine: str, creation: str, policy: str, workers: str) -> dict[str, str]:
    result = dict(h.environment)
    if machine in SCHEDULES:
        result |= {"WEFT_MACHINE": "virtual", "WEFT_SCHEDULE": machine}
    for key, value in (("MACHINE", machine), ("CREATION", creation), ("POLICY", policy), ("WORKERS", workers)):
        if value != OWN:
            result.setdefault("WEFT_" + key, value)
    return result


def possible(creation: str, workers: str) -> bool:
    return not (creation == "decoupled" and workers == "1")


def in_turn(name: str, items: list[str], turn: int) -> str:
    """Another for each program and turn, the same for each run of the test."""
    return items[(zlib.crc32(name.encode()) + turn) % len(items)]


def whole(program: pathlib.Path, h: Head, kinds: list[str], in_turns: bool = False) -> list[Run]:
    result = []
    turns = h.policies if in_turns and OWN not in h.policies else []
    for arguments, machine, creation, policy, workers in itertools.product(
            h.runs + h.long, h.machines, h.creations, [OWN] if turns else h.policies, h.workers):
        if possible(creation, workers):
            for kind in kinds if machine in ("host", OWN) and not h.alone else ["nothing"]:
                result.append(Run(program, arguments, environment(h, machine, creation, policy, workers), h.status,
                                  kind, 1, turns))
    return result


def short(program: pathlib.Path, h: Head, quick: bool, host_only: bool) -> list[Run]:
    result = []
    for turn, (arguments, machine, creation) in enumerate(itertools.product(h.runs, h.machines, h.creations)):
        real = machine in ("host", OWN)
        if host_only and not real:
            continue
        workers = [w for w in h.workers if possible(creation, w)] or ["2"]
        first = Run(program, arguments, environment(h, machine, creation, h.policies[0], workers[0]), h.status,
                    "nothing", h.times if real else 1)
        result.append(first)
        if not quick:
            another = environment(h, machine, creation, in_turn(program.name, h.policies, turn),
                                  in_turn(program.name, workers, turn + 1))
            result.append(dataclasses.replace(first, environment=another))
            if real and not h.alone:
                result.append(dataclasses.replace(first, beside="disturb"))
    return result


def what_is_wrong(run: Run, seed: int, seconds: int) -> str:
    env = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")} | run.variables(seed)
    command = [run.program, *shlex.split(run.arguments)]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired as hung:
        said = b"".join(x or b"" for x in (hung.stdout, hung.stderr)).decode(errors="replace")
        return f"hangs: not over after {seconds} s\n{said}"
    if done.returncode == run.status:
        return ""
    return f"status {done.returncode}, not {run.status}\n{(done.stdout + done.stderr)[-2000:]}"


def carry_out(build: pathlib.Path, runs: list[Run], times: int, seconds: int, patient: bool) -> tuple[int, int]:
    """How many runs there were, and how many of them failed. Without patience it ends after a few failures."""
    count = failed = 0
    for kind, group in itertools.groupby(sorted(runs, key=lambda r: r.beside), key=lambda r: r.beside):
        with beside(build, kind):
            for run in group:
                bad = 0
                for seed in range(1, (times or run.times) + 1):
                    count += 1
                    wrong = what_is_wrong(run, seed, seconds)
                    if wrong:
                        bad += 1
                        if bad == 1 and failed < 10 * FAILURES_SHOWN:
                            print(f"FAILED: {run.line(seed)}\n{wrong}", flush=True)
                failed += bad
                if bad and times > 1:
                    print(f"{bad} of {times}: {run.line(1)}", flush=True)
                if failed >= FAILURES_SHOWN and not patient:
                    return count, failed
    return count, failed


def self_test(build: pathlib.Path) -> int:
    """The broken program fails in each way, where it should and nowhere else."""
    program, source = build / "found" / "broken" / "broken", PROGRAMS / "broken" / "broken.cpp"
    cases = {  # how it is broken: how many of the runs of one worker number fail, of how many
        "": (0, 4), "value": (4, 4), "status": (4, 4), "crash": (4, 4), "decoupled": (2, 4), "hang": (1, 1),
        "central": (1, len(policies())), "seed": (4, 12)}
    wrong = 0
    for how, expected in cases.items():
        h = dataclasses.replace(head(source), workers=["2"], runs=[how])
        if how != "central":
            h.policies = h.policies[:1]
        if how in ("hang", "central"):
            h.machines, h.creations = h.machines[:1], h.creations[:1]
        count, failed = carry_out(build, whole(program, h, ["disturb"]), 3 if how == "seed" else 1,
                                  2 if how == "hang" else SECONDS_MAX, True)
        if (failed, count) != expected:
            print(f"self-test: broken {how}: {failed} of {count} runs failed, not {expected[0]} of {expected[1]}")
            wrong += 1
    print(f"self-test: {'FAILED' if wrong else 'ok, the failures above are meant'}")
    return 1 if wrong else 0


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--build", type=pathlib.Path, required=True)
    args.add_argument("names", nargs="*")
    args.add_argument("--long", action="store_true")
    args.add_argument("--times", type=int, default=0)
    args.add_argument("--beside", choices=["nothing", *KINDS])
    args.add_argument("--host-only", action="store_true", help="no modelled machines: what ThreadSanitizer can see")
    args.add_argument("--turns", action="store_true")
    args.add_argument("--list", action="store_true")
    args.add_argument("--self-test", action="store_true")
    opt = args.parse_args()
    build = opt.build.resolve()
    if opt.self_test:
        return self_test(build)
    failed = 0
    for name in opt.names or sorted(p.stem for p in PROGRAMS.glob("*.cpp")):
        h, program = head(PROGRAMS / f"{name}.cpp"), build / "found" / name
        if opt.long or opt.times or opt.beside:
            kinds = [opt.beside] if opt.beside else ["nothing", "busy", "disturb"]
            runs = whole(program, h if opt.long else dataclasses.replace(h, long=[]), kinds, opt.turns)
        else:
            runs = short(program, h, "WEFT_TEST_QUICK" in os.environ, opt.host_only)
        if opt.list:
            print("\n".join(run.line(1) for run in runs))
            continue
        count, bad = carry_out(build, runs, opt.times, SECONDS_MAX, opt.times > 0)
        print(f"found/{name}: {bad} of {count} runs failed" if bad else f"found/{name}: {count} runs, ok", flush=True)
        failed += bad
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
