"""Runs of weft side by side, with a line on stderr for each that has ended: what several run.py have in common."""
import concurrent.futures
import sys


def run_all(weft: str, runs: list, jobs: int) -> list[tuple]:
    """Pairs of run and reply. Begins them in the given order, so the longest are to come first: none is left over at
    the end. A run has execute(weft), which throws if it fails, and command(); the first failure ends it all."""
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
