"""Functions that are tasks where they are called."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any, Generic, TypeVar, overload

from weftrt import _core
from weftrt._core import Access, Clause, Handle
from weftrt._future import Future
from weftrt._runtime import _NOT_CALLED, Runtime, _here

T = TypeVar("T")


class Task(Generic[T]):
    """What `@task` makes of a function. To call it submits it; `.plain(...)` calls the function itself."""

    def __init__(self, f: Callable[..., T], clauses: tuple[Clause, ...],
                 uses: dict[str, Callable[[Handle], Access]]) -> None:
        functools.update_wrapper(self, f)
        self._function, self._clauses, self._uses = f, clauses, uses
        for c in clauses:
            if not isinstance(c, Clause):
                raise TypeError(f"weftrt: task() takes clauses such as cost(1e6), and accesses by parameter as in "
                                f"task(a=read, b=write); not {c!r}")
        names = list(inspect.signature(f).parameters)
        for name, how in uses.items():
            if name not in names:
                raise TypeError(f"weftrt: {f.__qualname__} has no parameter {name!r}, whose access task() is told")
            if not callable(how):
                raise TypeError(f"weftrt: task({name}=...) takes read, write, add or reduce; not {how!r}")
        self._positions = [(i, uses[name]) for i, name in enumerate(names) if name in uses]

    @property
    def plain(self) -> Callable[..., T]:
        """The function."""
        return self._function

    def __call__(self, *args: Any, **kwargs: Any) -> Future[T]:
        """Submits the function: in a task to the runtime that this runs on, else to the one whose `with` is open."""
        core = _core.running_core()
        if core is None:
            runtime = _here.get()
            if runtime is None:
                raise RuntimeError(f"weftrt: {self._function.__qualname__} is a task, and there is no runtime here: "
                                   "call it inside `with Runtime():`, submit it to one by rt.submit, or call .plain()")
            return self._submit_to(runtime, args, kwargs)
        return core.submit(self._function, self._arguments(args, kwargs), kwargs or None)

    def _submit_to(self, runtime: Runtime, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Future[T]:
        return runtime._submit(self._function, self._arguments(args, kwargs), kwargs or None)

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """With the accesses that were said once, where handles stand; what was said at the call stays."""
        if self._uses:
            given = list(args)
            for i, how in self._positions:
                if i < len(given) and type(given[i]) is Handle:
                    given[i] = how(given[i])
            for name, how in self._uses.items():
                if type(kwargs.get(name)) is Handle:
                    kwargs[name] = how(kwargs[name])
            args = tuple(given)
        return args + self._clauses

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)


@overload
def task(f: Callable[..., T], /) -> Task[T]: ...
@overload
def task(*clauses: Clause, **uses: Callable[[Handle], Access]) -> Callable[[Callable[..., T]], Task[T]]: ...
def task(*clauses: Any, **uses: Any) -> Any:
    """A decorator: to call the function submits it, and gives its future.

        @wf.task(a=wf.read, b=wf.read, out=wf.write)
        def multiply(a, b, out):
            np.matmul(a, b, out=out)

        with wf.Runtime():
            multiply(a, b, c)               # handles

    By parameter it says how handles are used that are passed bare; beside that, clauses that hold for each call.
    """
    if len(clauses) == 1 and not uses and not isinstance(clauses[0], Clause):
        return Task(clauses[0], (), {})
    return lambda f: Task(f, clauses, uses)


_NOT_CALLED.add(Task)
