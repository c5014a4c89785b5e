#!/usr/bin/env python3
"""Small limits, refused system calls, no /proc and no /sys: each front of weft_faults comes out right or says what is
missing; no crash, no hang, nothing lost.

usage: limits.py --faults PROGRAM --refuse PROGRAM [--whole]

Without --whole: a few of each. What this user may not do is left out, and said so.
"""
import argparse
import dataclasses
import os
import resource
import subprocess
import sys
import tempfile

SECONDS_MAX = 300  # against hangs
MIB = 1 << 20
NOBODY = 65534

LIMITS = {  # name: (what, from the least to the most, only some of which end well)
    "address space": (resource.RLIMIT_AS,
                      [mib * MIB for mib in (48, 64, 96, 128, 160, 192, 256, 320, 384, 448, 512, 768)]),
    "data": (resource.RLIMIT_DATA, [mib * MIB for mib in (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 128)]),
    "descriptors": (resource.RLIMIT_NOFILE, [3, 4, 5, 6, 7, 8, 10, 16]),
    "stack": (resource.RLIMIT_STACK, [kib * 1024 for kib in (128, 256, 512, 1024, 2048)]),
    "processes": (resource.RLIMIT_NPROC, [1, 2, 3, 4]),
    "locked memory": (resource.RLIMIT_MEMLOCK, [0]),
    "file size": (resource.RLIMIT_FSIZE, [0, 1024, 65536]),
}
CALLS = ["sched_getaffinity", "sched_setaffinity", "mbind", "get_mempolicy", "set_mempolicy", "move_pages",
         "perf_event_open", "membarrier", "madvise", "getcpu", "setpriority", "sched_setscheduler", "sysinfo", "statx"]
ALL_CALLS = ",".join(CALLS)
ENOSYS_ONLY = ["clone3"]  # libc tries another way then, and only then


@dataclasses.dataclass
class Case:
    name: str
    command: list[str]
    limit: tuple[int, int] | None = None
    may_not_start: bool = False  # the loader itself may be short of it


def cases(opt: argparse.Namespace, machine: str) -> list[Case]:
    once = [opt.faults, "--once", "--machine", machine]
    result = []
    for name, (what, values) in LIMITS.items():
        for value in values if opt.whole else values[1::4]:
            result.append(Case(f"{name} {value}", once, (what, value), may_not_start=True))
    refused = [(c, e) for c in CALLS for e in ("EPERM", "ENOSYS")] + [(c, "ENOSYS") for c in ENOSYS_ONLY]
    refused += [(ALL_CALLS, e) for e in ("EPERM", "ENOSYS")]
    for calls, error in refused if opt.whole else refused[:2] + refused[-2:]:
        shown = "all of these calls" if calls == ALL_CALLS else calls
        result.append(Case(f"{shown} {error}", [opt.refuse, error, calls, *once]))
    hide = "mount -t tmpfs none {} && exec \"$@\""
    for folder in ("/proc", "/sys"):
        result.append(Case(f"no {folder}", ["unshare", "-m", "sh", "-c", hide.format(folder), "sh", *once]))
    both = "mount -t tmpfs none /proc && " + hide.format("/sys")
    result.append(Case("no /proc, no /sys", ["unshare", "-m", "sh", "-c", both, "sh", *once]))
    return result


def what_is_wrong(case: Case, folder: str) -> tuple[str, int]:
    """What is wrong, and how many fronts came out right. The folder is a place to write to."""
    def restrict() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if case.limit is not None:
            if case.limit[0] == resource.RLIMIT_NPROC and os.getuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)  # the limit does not hold for root
            resource.setrlimit(case.limit[0], (case.limit[1], case.limit[1]))

    env = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")} | {"TMPDIR": folder}
    try:
        done = subprocess.run(case.command, env=env, capture_output=True, text=True, errors="replace",
                              timeout=SECONDS_MAX, preexec_fn=restrict, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as hung:
        return f"hangs: not over after {SECONDS_MAX} s\n{(hung.stdout or b'').decode(errors='replace')[-800:]}", 0
    right = sum(1 for line in done.stdout.splitlines() if ": " in line and not line.startswith("FELL"))
    said = (done.stdout + done.stderr)[-1200:]
    if done.returncode == 0:
        return "", right
    loader = ("error while loading shared libraries", "cannot allocate memory", "Cannot allocate memory",
              "cannot apply additional memory protection", "Too many open files")
    if case.may_not_start and not done.stdout and (not said.strip() or any(word in said for word in loader)):
        return "", 0  # not a line of ours has run
    if done.returncode == -6 and "weft: no memory for one more stack" in said:
        return "", right  # the one end that README.md names
    return f"status {done.returncode}\n{said}", right


def can_hide() -> bool:
    probe = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /sys"]
    try:
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--faults", required=True)
    args.add_argument("--refuse", required=True)
    args.add_argument("--whole", action="store_true")
    opt = args.parse_args()
    opt.faults, opt.refuse = os.path.abspath(opt.faults), os.path.abspath(opt.refuse)
    hides = can_hide()
    count = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        for machine in ("host", "virtual"):
            for case in cases(opt, machine):
                if case.command[0] == "unshare" and not hides:
                    print(f"left out, since this user may not mount: {case.name}")
                    continue
                wrong, right = what_is_wrong(case, folder)
                count += 1
                if wrong:
                    failed += 1
                    print(f"FAILED: {machine}, {case.name}: {wrong}", flush=True)
                elif opt.whole:
                    print(f"{machine}, {case.name}: {right} fronts ended as they should", flush=True)
    print(f"limits: {failed} of {count} failed" if failed else f"limits: {count} runs, ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
