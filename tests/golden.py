#!/usr/bin/env python3
"""Runs examples on the virtual machine and compares their output with examples/<name>/main.expect.

usage: golden.py BUILD_DIR [NAME...] [--update]

Each example runs twice with WEFT_MACHINE=virtual and no other WEFT_* variable but those in examples/<name>/main.env
(lines KEY=VALUE). Both outputs must equal main.expect, byte for byte. Without main.expect, exit status 0 is enough.
--update writes main.expect (where it exists, or for the examples named) from the first run: review it like code.
"""
import argparse
import difflib
import os
import pathlib
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
SECONDS_MAX = 600  # against hangs


def environment(folder: pathlib.Path) -> dict[str, str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
    env["WEFT_MACHINE"] = "virtual"
    extra = folder / "main.env"
    if extra.exists():
        for line in extra.read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                key, value = line.split("=", 1)
                env[key.strip()] = value.strip()
    return env


def run(program: pathlib.Path, env: dict[str, str]) -> str:
    done = subprocess.run([program], env=env, capture_output=True, text=True, timeout=SECONDS_MAX)
    if done.returncode != 0:
        raise RuntimeError(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def differences(expected: str, actual: str, what: str) -> str:
    lines = difflib.unified_diff(expected.splitlines(True), actual.splitlines(True), "main.expect", what)
    return "".join(line if line.endswith("\n") else line + "\n(no newline at end)\n" for line in lines)


def check(build: pathlib.Path, name: str, update: bool, named: bool) -> str:
    """Returns what is wrong, or an empty string."""
    folder = EXAMPLES / name
    expect = folder / "main.expect"
    try:
        outputs = [run(build / "examples" / name, environment(folder)) for _ in range(2)]
    except (OSError, RuntimeError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    if update and (expect.exists() or named):
        expect.write_text(outputs[0])
    if not expect.exists():
        return ""
    expected = expect.read_text()
    return (differences(expected, outputs[0], "first run")
            or differences(expected, outputs[1], "second run (the first was as expected)"))


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("build", type=pathlib.Path)
    args.add_argument("names", nargs="*")
    args.add_argument("--update", action="store_true")
    opt = args.parse_args()
    names = opt.names or sorted(p.parent.name for p in EXAMPLES.glob("*/main.*") if p.suffix in (".cpp", ".c", ".f90"))
    failed = 0
    for name in names:
        problem = check(opt.build.resolve(), name, opt.update, bool(opt.names))
        print(f"examples/{name}: {'FAILED' if problem else 'ok'}")
        if problem:
            failed += 1
            print(problem)
            print(f"if the new output is right: tests/golden.py {os.path.relpath(opt.build)} {name} --update")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
