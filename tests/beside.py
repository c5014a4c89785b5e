#!/usr/bin/env python3
"""Runs a command beside threads that disturb it (tests/found/beside/disturb.cpp), and ends with its status.

usage: beside.py --build BUILD_DIR KIND [--times N] COMMAND...

KIND is `busy`, four busy loops, or `disturb`, four threads that spin and sleep for random times of up to 300 us.
"""
import argparse
import contextlib
import pathlib
import subprocess
import sys

KINDS = {"busy": ("busy", "4"), "disturb": ("disturb", "4", "300")}


@contextlib.contextmanager
def beside(build: pathlib.Path, kind: str):
    """They run until the end of the block, and not longer than this process: they end when their input does."""
    if kind == "nothing":
        yield
        return
    with subprocess.Popen([build / "found" / "beside" / "disturb", *KINDS[kind]], stdin=subprocess.PIPE) as process:
        try:
            yield
            if process.poll() is not None:
                raise RuntimeError(f"what disturbs has ended by itself, with status {process.returncode}")
        finally:
            process.kill()


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--build", type=pathlib.Path, required=True)
    args.add_argument("--times", type=int, default=1)
    args.add_argument("kind", choices=KINDS)
    args.add_argument("command", nargs=argparse.REMAINDER)
    opt = args.parse_args()
    with beside(opt.build.resolve(), opt.kind):
        for time in range(opt.times):
            status = subprocess.run(opt.command, check=False).returncode
            if status != 0:
                print(f"beside.py: status {status} beside {opt.kind}, run {time + 1} of {opt.times}")
                return status if status > 0 else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
