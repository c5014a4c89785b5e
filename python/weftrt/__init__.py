"""Weft for Python: tasks, NumPy arrays and nested work on one pool.

    import numpy as np, weftrt as wf
    with wf.Runtime() as rt:
        a, b, c = (wf.handle(np.random.rand(500, 500)) for _ in range(3))
        rt.submit(np.matmul, wf.read(a), wf.read(b), out=wf.write(c))
        print(rt.submit(np.sum, wf.read(c)).result())
"""
from weftrt import _interpreter as _interpreter  # before all others

from weftrt._clauses import (
    Access, Clause, Handle, add, after, cost, handle, named, near, priority, read, reduce, team, write)
from weftrt._core import version as _version
from weftrt._future import Future, TaskSkipped
from weftrt._runtime import Executor, Runtime, blocking, finish
from weftrt._tool import check, info, report, whatif

TYPE_CHECKING = False  # as typing's, which takes time to import
if TYPE_CHECKING:
    from weftrt._graph import Graph
    from weftrt._pipeline import serial
    from weftrt._sim import sim
    from weftrt._task import Task, task

_LATER = {  # imported when they are asked for
    "Graph": "_graph", "serial": "_pipeline", "sim": "_sim", "Task": "_task", "task": "_task"}


def __getattr__(name: str) -> object:
    import importlib

    if name in _LATER:
        return getattr(importlib.import_module(f"weftrt.{_LATER[name]}"), name)
    raise AttributeError(f"module 'weftrt' has no attribute {name!r}")


__version__ = _version()

__all__ = [
    "Access", "Clause", "Executor", "Future", "Graph", "Handle", "Runtime", "Task", "TaskSkipped", "add", "after",
    "blocking", "check", "cost", "finish", "handle", "info", "named", "near", "priority", "read", "reduce", "report",
    "serial", "sim", "task", "team", "whatif", "write",
]
