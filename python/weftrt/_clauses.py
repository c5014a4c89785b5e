"""What a task says about itself, anywhere among the arguments of submit()."""
from __future__ import annotations

from concurrent.futures import Future as StandardFuture
from collections.abc import Callable
from typing import Any

from weftrt import _core
from weftrt._core import Access, Clause, Handle, add, read, write

__all__ = ["Access", "Clause", "Handle", "add", "after", "cost", "handle", "named", "near", "priority", "read",
           "reduce", "team", "write"]

_NAMED, _COST, _PRIORITY, _NEAR, _AFTER, _TEAM = range(6)


def handle(data: Any = None, name: str | None = None) -> Handle:
    """Puts an object under the care of the runtime: tasks that name it run in the order that their accesses want.

    `data` is an array, or anything else that tasks change in place; None: it only orders tasks.
    """
    if data is not None and getattr(getattr(data, "dtype", None), "hasobject", False):
        raise TypeError("weftrt: an array of objects cannot be read-only, so no handle can have it; use a list, or an "
                        "array of numbers")
    made = Handle(data)
    if name is not None:
        made.name = name
    return made


def named(text: str) -> Clause:
    """The task's name in traces, reports and errors; else that of the function."""
    if not isinstance(text, str):
        raise TypeError("weftrt: a task's name is a str")
    return _core.clause(_NAMED, text)


def cost(nanoseconds: float) -> Clause:
    """How long the body takes on a modelled machine. Real ones ignore it."""
    ns = float(nanoseconds)
    if not 0 <= ns < 1e15:
        raise ValueError(f"weftrt: a cost is 0 to 10^15 nanoseconds, not {nanoseconds}")
    return _core.clause(_COST, ns)


def priority(level: int) -> Clause:
    """0, or 1 for a task that goes first when it is ready."""
    if level not in (0, 1):
        raise ValueError(f"weftrt: there are two priorities, 0 and 1, which goes first; not {level}")
    return _core.clause(_PRIORITY, level)


def team(workers: int) -> Clause:
    """The BLAS calls of the task have so many of the runtime's workers as their threads; without it they have one.

    Of the libraries that NumPy and SciPy bring along. The task cannot wait for others.
    """
    if not isinstance(workers, int) or not 1 <= workers <= 1024:
        raise ValueError(f"weftrt: a team is 1 to 1024 workers, not {workers!r}")
    return _core.clause(_TEAM, workers)


def reduce(h: Handle, op: Any = None, *, start: Callable[[Any], Any] | None = None) -> Access:
    """Tasks that reduce a handle run together: each gets a part of its own to add to, in the place of the datum.

    `op` is a ufunc of NumPy as `np.add`, which is the default, `np.minimum` or `np.logical_or`; or a function
    `op(datum, part)` that puts a part into the datum, with `start(datum)`, which makes a part that changes nothing.
    Parts are put together when another task names the handle, and by a wait for all. In which order is open, so sums
    of floats may differ in their last bits.
    """
    from weftrt._reduce import operation

    return _core.reduce(h, operation(h, op, start))


def near(data: Any) -> Clause:
    """Where the task wants to run: near these data, an array or a handle of one."""
    if isinstance(data, Handle):
        data = data.unguarded
    memoryview(data)  # an error here says what is wrong
    return _core.clause(_NEAR, data)


def after(what: StandardFuture[Any] | Handle) -> Clause:
    """The task begins when that future is done, however it ended, or when the tasks that name that handle are."""
    if isinstance(what, Handle):
        return _core.clause(_AFTER, (what, None))
    if not isinstance(what, StandardFuture):
        raise TypeError("weftrt: after() takes a future or a handle")
    token = Handle(None)
    if what.done():
        return _core.clause(_AFTER, (token, None))
    gate = _core.Gate(token)
    what.add_done_callback(gate.open)
    return _core.clause(_AFTER, (token, gate))
