"""The line that `Runtime.wait(progress=True)` writes and writes over, on a terminal and in a notebook."""
from __future__ import annotations

import sys
import time

from weftrt import _core


class Line:
    """How many tasks are done, and in which time the rest would be at the rate so far."""

    def __init__(self, core: _core.Core) -> None:
        self._core = core
        self._since = time.monotonic()
        self._before = core.counts[1]
        self._length = 0

    def tell(self) -> None:
        submitted, done = self._core.counts
        seconds = time.monotonic() - self._since
        new = done - self._before
        text = f"{done} of {submitted} tasks, {seconds:.1f} s"
        if 0 < new and done < submitted:
            text += f", {(submitted - done) * seconds / new:.1f} s to go"
        sys.stderr.write("\r" + text.ljust(self._length))
        sys.stderr.flush()
        self._length = len(text)

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.tell()
        sys.stderr.write("\n")
