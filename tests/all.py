#!/usr/bin/env python3
"""Everything `make test` runs, in one place, with one sum at the end; with --long, what `make test-long` runs instead.

A preset is configured, built and tested; its test preset in CMakePresets.json says which labels. A step that fails
before its tests counts as one failure and the other presets still run.

What --long adds to `make test`, which has all of these in short: stress programs with ten times the work, also under
ThreadSanitizer; a hundred thousand seeds for each case that has seeds; under ThreadSanitizer also all small programs in
all of their orders (conformance/enumeration); papers whole that `make test` has in parts; clang's optimised build.
Hours, if need be; for the night, and before a release.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# test preset: preset that is built for it, what it is
SHORT = {
    "release": ("release", "everything but unit and conformance, as users get it"),
    "asan": ("asan", "with clang, under AddressSanitizer and UndefinedBehaviorSanitizer: unit, conformance, stress"),
    "tsan": ("tsan", "what has threads under ThreadSanitizer"),
}
LONG = {
    "long": ("release", "unit, conformance, stress tenfold, many seeds, papers whole, the shared library"),
    "clang": ("clang", "library, unit and examples with clang, optimised"),
    "long-tsan": ("tsan", "stress tenfold and small programs in all orders, under ThreadSanitizer"),
}


def run(*command: str) -> tuple[int, str]:
    """Runs a command, shows its output as it comes, returns exit status and output."""
    lines = []
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(line)
    return process.returncode, "".join(lines)


def count(output: str) -> tuple[int, int]:
    """Passed and failed, from ctest's last lines. Skipped tests are neither."""
    total = re.search(r"^\d+% tests passed, (\d+) tests? failed out of (\d+)$", output, re.MULTILINE)
    if not total:
        return 0, 1
    skipped = len(re.findall(r"^.*\*\*\*Skipped", output, re.MULTILINE))
    failed = int(total[1])
    return int(total[2]) - failed - skipped, failed


def preset(name: str, built: str, jobs: int) -> tuple[int, int]:
    steps = [("cmake", "--preset", built, "--log-level=WARNING"), ("cmake", "--build", "--preset", built, f"-j{jobs}")]
    more = {
        "release": "all_verify_interface_header_sets",
        "long": "night",
        "long-tsan": "found",
    }
    if name in more:
        steps.append((*steps[-1], "--target", more[name]))
    for step in steps:
        if run(*step)[0] != 0:
            print(f"==> {name}: FAILED: {' '.join(step)}")
            return 0, 1
    # One more than the cores: some tests only wait, for reports of what stands still or for idle workers.
    status, output = run("ctest", "--preset", name, f"-j{jobs + 1}")
    passed, failed = count(output)
    return passed, max(failed, 1) if status != 0 else failed


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--jobs", type=int, default=2)
    args.add_argument("--long", action="store_true")
    args.add_argument("presets", nargs="*")
    opt = args.parse_args()
    presets = LONG if opt.long else SHORT
    for name in opt.presets:
        if name not in presets:
            args.error(f"no preset {name}; there are {', '.join(presets)}")
    results = []
    for name in opt.presets or presets:
        built, what = presets[name]
        print(f"==> test {name}: {what}", flush=True)
        start = time.monotonic()
        passed, failed = preset(name, built, opt.jobs)
        results.append((name, passed, failed, time.monotonic() - start))
    print()
    for name, passed, failed, seconds in results:
        print(f"==> {name:9} {passed:4} passed, {failed} failed, {seconds:.0f} s")
    passed, failed = sum(r[1] for r in results), sum(r[2] for r in results)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
