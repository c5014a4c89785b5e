"""Reductions: tasks that add to one datum at the same time, each to a part of its own.

The core calls this when a handle is named: `opened` when a task reduces it, `closed` when another names it otherwise.
"""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from weftrt import _core
from weftrt._core import Handle

Merge = Callable[[Any, Any], Any]


class Operation:
    """How a part begins, and how it is put into another."""

    def __init__(self, key: tuple[Any, ...], start: Callable[[Any], Any], merge: Merge) -> None:
        self.key, self.start, self.merge = key, start, merge

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operation) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class Parts:
    """What the tasks of a group add to. Each call is one of a list's, so threads need no lock here."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self._free: list[Any] = []

    def take(self, data: Any) -> Any:
        try:
            return self._free.pop()
        except IndexError:
            return self.operation.start(data)

    def give_back(self, part: Any) -> None:
        self._free.append(part)

    def apply(self, data: Any) -> None:
        """Who: the task that comes after the group, alone."""
        while self._free:
            self.operation.merge(data, self._free.pop())


def opened(core: _core.Core, h: Handle, open_now: Parts | None, operation: Operation) -> Parts:
    if open_now is not None:
        if open_now.operation == operation:
            return open_now
        closed(core, h, open_now)
    return Parts(operation)


def closed(core: _core.Core, h: Handle, parts: Parts) -> None:
    core.submit(parts.apply, (_core.write(h), _core.clause(0, "reduce")), None)._is_own = True


def operation(h: Handle, op: Any, start: Callable[[Any], Any] | None) -> Operation:
    """That of `weftrt.reduce(h, op, start=start)`."""
    numpy = sys.modules.get("numpy")
    if start is not None:
        if not callable(op):
            raise TypeError("weftrt: reduce(h, op, start=...) wants a function op(datum, part)")
        return Operation((op, start), start, op)
    if numpy is None or not isinstance(h.unguarded, numpy.ndarray):
        raise TypeError("weftrt: reduce() of what is no array needs op(datum, part) and start=: how a part begins, as "
                        "in reduce(h, Counter.update, start=lambda datum: Counter())")
    ufunc = numpy.add if op is None else op
    if not isinstance(ufunc, numpy.ufunc) or (ufunc.nin, ufunc.nout) != (2, 1):
        raise TypeError(f"weftrt: reduce() takes a ufunc of two arguments, as np.add, or op with start=; not {op!r}")
    neutral = _neutral(ufunc, h.unguarded.dtype)

    def begin(data: Any) -> Any:
        return numpy.full_like(data, neutral)

    def merge(data: Any, part: Any) -> None:
        ufunc(data, part, out=data)

    return Operation((ufunc,), begin, merge)


def _neutral(ufunc: Any, dtype: Any) -> Any:
    import numpy

    if ufunc in (numpy.minimum, numpy.maximum, numpy.fmin, numpy.fmax):
        least = ufunc in (numpy.maximum, numpy.fmax)
        if dtype.kind == "f":
            return -numpy.inf if least else numpy.inf
        if dtype.kind in "iu":
            about = numpy.iinfo(dtype)
            return about.min if least else about.max
        if dtype.kind == "b":
            return not least
    elif ufunc.identity is not None:
        return ufunc.identity
    raise TypeError(f"weftrt: {ufunc.__name__} on {dtype} has no value that changes nothing; give op and start=")
