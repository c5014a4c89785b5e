"""Runs of weft, and which of them a figure needs: what several run.py have in common."""
import concurrent.futures
import json
import os
import subprocess
import sys


def reply(weft: str, run, seconds_max: float, variables: dict[str, str] = {}) -> dict:
    """What `weft run` says of a run, which has arguments() and command(). The caller's own WEFT_ variables do not
    count. Throws if the program fails, or does not pass its own checks, or takes longer."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")} | variables
    done = subprocess.run([weft, "run", *run.arguments(), "--json"], capture_output=True, text=True,
                          timeout=seconds_max, env=environment)
    said = json.loads(done.stdout) if done.stdout else {}
    if done.returncode != 0 or not said.get("ok"):
        raise RuntimeError(f"{run.command()}: {said.get('error') or done.stderr or said.get('checks')}")
    return said


class Asked(dict):
    """Replies before anything has run: remembers what is asked for, and says 1 to everything."""

    def __missing__(self, run) -> dict:
        self[run] = Ones()
        return self[run]


class Ones(dict):
    def __missing__(self, field: str) -> float:
        return 1.0


class Sweep:
    """What follows from the replies: methods of a class of each paper. A figure of expected.json names one and its
    arguments."""

    def __init__(self, replies: dict):
        self.replies = replies

    def value(self, figure: dict) -> float:
        method, *arguments = figure["value"]
        return getattr(self, method)(*arguments)


def wanted(of: type[Sweep], figures: list[dict], ask=None) -> list:
    """The runs that the figures need, each once, and those that ask(sweep) looks at."""
    asked = Asked()
    for f in figures:
        of(asked).value(f)
    if ask is not None:
        ask(of(asked))
    return list(asked)


def run_all(weft: str, runs: list, jobs: int) -> list[tuple]:
    """Pairs of run and reply, with a line on stderr for each that has ended. Begins them in the given order, so the
    longest are to come first: none is left over at the end. A run has execute(weft), which throws if it fails, and
    command(); the first failure ends it all."""
    replies = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        pending = {pool.submit(r.execute, weft): r for r in runs}
        try:
            for n, done in enumerate(concurrent.futures.as_completed(pending), 1):
                replies.append((pending[done], done.result()))
                print(f"{n}/{len(runs)} {pending[done].command()}", file=sys.stderr, flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return replies
