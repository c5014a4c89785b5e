"""A Python function on a machine that is not there, in this process."""
from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weftrt._runtime import Runtime


@dataclass(frozen=True)
class Simulated:
    """One run of `sim`."""

    result: Any
    machine: str
    workers: int
    makespan_ns: float


def sim(f: Callable[[Runtime], Any], machine: str = "virtual", workers: int | None = None, *,
        policy: str | None = None, seed: int = 1, trace: str | os.PathLike[str] | None = None) -> Simulated:
    """Calls f(runtime) with a runtime on a modelled machine, and says how long its tasks took there.

    A body takes what its `cost` says. The same function, options and seed give the same time and trace.
    """
    if machine == "host":
        raise ValueError("weftrt: sim() is for modelled machines; `weftrt info` lists them")
    with Runtime(workers, machine=machine, policy=policy, seed=seed, trace=trace) as rt:
        result = f(rt)
        rt.wait()
        return Simulated(result, rt.machine, rt.workers, rt.now_ns())
