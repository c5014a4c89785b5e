#!/usr/bin/env python3
"""Programs on ranks that are processes, under mpiexec: the same bits and messages for any number of ranks, large
messages in parts, and what ends a run with words: different programs, exceptions, a rank that gives up or is killed.

usage: mpi_tests.py --mpiexec MPIEXEC --program weft-mpi [--kills N]
Every limit is a guard against hangs.
"""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import time

LIMIT_S = 600
FLAGS: list[str] = []
failed = 0


def check(condition: bool, what: str, output: str) -> None:
    global failed
    if not condition:
        failed += 1
        print(f"FAILED: {what}\n{output}")


def environment() -> dict[str, str]:
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(opt: argparse.Namespace, ranks: int, *args: object) -> tuple[int, str]:
    command = [opt.mpiexec, *FLAGS, "-n", str(ranks), opt.program, *map(str, args)]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S,
                          env=environment())
    return done.returncode, f"$ {' '.join(command)}\n{done.stdout}"


def same_bits(opt: argparse.Namespace) -> None:
    moved = {("8", 1): 0, ("8", 2): 28, ("8", 3): 67, ("4", 2): 6}
    for program, n, b in (("cholesky", "8", 16), ("cholesky", "4", 64), ("stencil", "8", 20)):
        sums = set()
        for ranks in (1, 2, 3, 4, 7):
            rc, out = run(opt, ranks, program, n, b)
            found = re.findall(r"checksum (\w+)", out)
            check(rc == 0 and len(found) == ranks, f"{program} on {ranks} ranks", out)
            sums.update(found)
            blocks = sum(map(int, re.findall(r": (\d+) blocks moved", out)))
            check(program != "cholesky" or moved.get((n, ranks), blocks) == blocks, f"{blocks} blocks moved", out)
        check(len(sums) == 1, f"{program}: {sums}", "")


def parts(opt: argparse.Namespace) -> None:
    for size, part in ((1, 1), (1000, 7), (3_000_000, 1 << 20), (1 << 20, 1 << 20), ((1 << 20) + 1, 1 << 20)):
        rc, out = run(opt, 2, "ring", size, 0, part)
        check(rc == 0, f"a ring of {size} bytes in parts of {part}", out)


def words(opt: argparse.Namespace) -> None:
    rc, out = run(opt, 3, "differ")
    check(rc != 0 and "different programs: step 1 is 'even' on handle 1 on rank" in out
          and "'odd' on handle 1 on rank 2" in out, "programs that differ", out)
    rc, out = run(opt, 3, "throws")
    check(rc == 0 and out.count("no such file") == 3 and out.count("and now 3") == 3, "an exception", out)
    rc, out = run(opt, 3, "leave")
    check(rc != 0 and "this rank gives up" in out, "a rank that gives up", out)


def kill(opt: argparse.Namespace, number: int) -> None:
    """One rank is killed at a random moment: the run ends, and not by itself."""
    rng = random.Random(number)
    command = [opt.mpiexec, *FLAGS, "-n", "3", opt.program, "spin"]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment()) as run_of:
        pids = {}
        while len(pids) < 3:
            line = run_of.stdout.readline()
            if not line:
                break
            if found := re.match(r"pid (\d+) rank (\d+)", line):
                pids[int(found[2])] = int(found[1])
        check(len(pids) == 3, f"kill, seed {number}: ranks have not begun", str(pids))
        time.sleep(rng.random() * 0.2)
        begin = time.monotonic()
        if pids:
            os.kill(pids[rng.randrange(3)], signal.SIGKILL)
        try:
            out, _ = run_of.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            run_of.kill()
            out = ""
            check(False, f"kill, seed {number}: the other ranks hang", "")
        check(run_of.returncode != 0, f"kill, seed {number}: the run ends as if all were well", out)
        print(f"killed a rank; all had ended after {time.monotonic() - begin:.1f} s")


def main() -> int:
    args = argparse.ArgumentParser()
    args.add_argument("--mpiexec", required=True)
    args.add_argument("--program", required=True)
    args.add_argument("--kills", type=int, default=3)
    opt = args.parse_args()
    version = subprocess.run([opt.mpiexec, "--version"], text=True, capture_output=True).stdout
    if "Open MPI" in version or "OpenRTE" in version:
        FLAGS.extend(["--oversubscribe"])
    same_bits(opt)
    parts(opt)
    words(opt)
    for number in range(opt.kills):
        kill(opt, number)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
