"""The runtime: workers that call Python functions as tasks."""
from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor as StandardExecutor
from contextvars import ContextVar, Token
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from weftrt import _core
from weftrt._clauses import Clause, Handle, named
from weftrt._future import Future, TaskSkipped

if TYPE_CHECKING:
    from weftrt._graph import Graph
    from weftrt._page import Page
    from weftrt._pipeline import serial

P = ParamSpec("P")
T = TypeVar("T")

_live: set[_core.Core] = set()
_here: ContextVar[Runtime | None] = ContextVar("weftrt", default=None)  # whose `with` the program is in
_NOT_CALLED: set[type] = set()  # what submit() is given and is no body: a Task, a Graph
_leaving: list[threading.Thread] = []
_exits = False
_BETWEEN_LINES = 0.2  # seconds


def _read_view(data: Any) -> Any:
    """What a task gets that reads: an array, or a buffer, that cannot be written."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(data, numpy.ndarray):
        view = data.view()
        view.flags.writeable = False
        return view
    if isinstance(data, (bytearray, memoryview)):
        return memoryview(data).toreadonly()
    return data


def _check_result(result: Any, data: tuple[Any, ...]) -> Any:
    """A view would change, or go on being read, behind the back of the versions."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(result, numpy.ndarray):
        return result
    if any(result is x for x in data):
        return result  # out=: what it has written
    x: Any = result
    while x is not None:
        if any(x is d for d in data):
            raise TypeError("weftrt: a task returns a view of the data of a handle, which other tasks may change while "
                            "the view is in use; return a copy, or write into a handle of its own")
        x = getattr(x, "base", None)
    return result


def _reduction_opened(*arguments: Any) -> Any:
    from weftrt._reduce import opened

    return opened(*arguments)


def _reduction_closed(*arguments: Any) -> None:
    from weftrt._reduce import closed

    closed(*arguments)


_core.set_up(Future, TaskSkipped, _read_view, _check_result)
_core.set_up_reductions(_reduction_opened, _reduction_closed)


def _await(register: Callable[[threading.Lock], bool], meanwhile: Callable[[], None] | None = None) -> None:
    lock = threading.Lock()
    lock.acquire()
    if not register(lock):
        return
    given = _core.give_away()
    try:
        if meanwhile is not None:
            while not lock.acquire(timeout=_BETWEEN_LINES):
                meanwhile()
        else:
            lock.acquire()  # whoever ends the last of them releases it; a signal interrupts this
    finally:
        if given:
            _core.get_back()


def _end(core: _core.Core) -> None:
    if not core.gone:
        core.close_reductions()
    core.end()
    _live.discard(core)


def _let_go(core: _core.Core) -> None:
    """Nobody has the runtime any more. What it has goes on to its end, beside the program."""
    if core.gone or _exits:
        return
    thread = threading.Thread(target=_end, args=(core,), daemon=True, name="weftrt-end")
    _leaving.append(thread)
    thread.start()


def _end_all() -> None:
    global _exits
    _exits = True
    for core in list(_live):
        if not core.gone:
            _end(core)
    for thread in _leaving:
        thread.join()


def _in_child() -> None:
    for core in _live:
        core.abandon()
    _live.clear()
    _leaving.clear()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_in_child)


class blocking:
    """While a body is in this, its worker runs other tasks: for one that sleeps, or waits for what is no future here.

    Outside of tasks it does nothing. The thread is the same before and after.
    """

    def __enter__(self) -> None:
        self._given = _core.give_away()

    def __exit__(self, *_: object) -> None:
        if self._given:
            _core.get_back()


class finish:
    """Leaves when everything is done that was submitted in it, what those tasks submitted included."""

    def __init__(self, runtime: Runtime) -> None:
        self._scope = _core.Finish(runtime._core)
        self._core = runtime._core

    def __enter__(self) -> None:
        self._scope.enter()

    def __exit__(self, *_: object) -> None:
        if self._core.modelled:
            self._core.run_modelled()
        _await(self._scope.leave)


class Runtime:
    """Workers, and the tasks that are submitted to them.

    workers   how many; default: the cores that this process may use, by affinity and cgroup quota
    trace     a file to record a trace in, for `report`, `whatif` and `python -m weftrt`
    machine   "host", or a modelled machine as "virtual" or "epyc-7551-32", on which the same tasks run in virtual time
    policy, seed   as in C++
    """

    def __init__(self, workers: int | None = None, trace: str | os.PathLike[str] | None = None,
                 machine: str | None = None, policy: str | None = None, seed: int | None = None) -> None:
        if workers is not None and not 1 <= workers <= 1024:
            raise ValueError(f"weftrt: workers is 1 to 1024, not {workers}")
        if _exits:
            raise RuntimeError("weftrt: cannot make a runtime at interpreter shutdown")
        file = os.fspath(trace) if trace is not None else ""
        if workers is None and machine in (None, "host") and not {"WEFT_WORKERS", "WEFT_MACHINE"} & os.environ.keys():
            workers = _core.workers_by_default()
        self._core = _core.Core(workers or 0, machine or "", file, policy or "", seed or 0)
        self._submit = self._core.submit
        self._outer: list[Token[Runtime | None]] = []
        _live.add(self._core)
        self._finalizer = weakref.finalize(self, _let_go, self._core)
        self._finalizer.atexit = False

    @property
    def workers(self) -> int:
        return self._core.workers

    @property
    def machine(self) -> str:
        return self._core.machine

    @property
    def trace(self) -> str | None:
        """The file that the trace goes to."""
        return self._core.trace or None

    def now_ns(self) -> float:
        """The time since the runtime was made: of the machine, which may be modelled."""
        return self._core.now_ns()

    def report(self, page: str | os.PathLike[str] | None = None) -> Page:
        """The page of the trace, when the runtime has ended: as `weftrt.report`."""
        from weftrt._tool import report

        if self.trace is None:
            raise ValueError("weftrt: no trace was recorded; Runtime(trace=\"run.weft\") records one")
        if not self._core.gone:
            raise RuntimeError("weftrt: the trace is written when the runtime ends: report() comes after `with`")
        return report(self.trace, page)

    def submit(self, f: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Calls f(*args, **kwargs) when the data that the arguments name are there.

        Among the arguments `read(h)`, `write(h)` and `add(h)` are replaced by the data of the handle; what is read
        cannot be written. `named`, `cost`, `priority`, `near` and `after` may stand anywhere among them and are none.
        """
        try:
            if type(f) in _NOT_CALLED:
                return f._submit_to(self, args, kwargs)  # type: ignore[no-any-return,attr-defined]
            return self._submit(f, args, kwargs or None)
        except RuntimeError:
            if _exits and not _core.in_task() and threading.current_thread() is not threading.main_thread():
                _sleep_for_good()
            raise

    def wait(self, *, progress: bool = False) -> None:
        """Returns when everything is done; in a task, when what it has submitted is.

        `progress`: a line on stderr tells meanwhile how many tasks of those that are submitted are done.
        Raises, outside of tasks, the first failure in order of submission that nobody has asked its future for.
        """
        core = self._core
        if not core.in_body():
            core.close_reductions()
            if core.modelled:
                core.run_modelled()
        if progress:
            from weftrt._progress import Line

            with Line(core) as line:
                _await(core.await_all, line.tell)
        else:
            _await(core.await_all)
        if core.in_body():
            return
        failed = [f for f in core.take_failed()
                  if not f._told and not (f._is_own and isinstance(f._exception, TaskSkipped))]
        core.heal()
        if failed:
            first = min(failed, key=lambda f: f._order)
            first.result()

    def get(self, h: Handle) -> Any:
        """The data of h, when the accesses that are submitted so far are done. Raises what left it unwritten."""
        return self.submit(_data_of, h.unguarded, _core.clause(4, (h, None)), named("get")).result()

    def graph(self) -> Graph:
        """Tasks that are recorded once and run again: `with rt.graph() as g: g.submit(...)`, then `g.run()`."""
        from weftrt._graph import Graph

        return Graph(self)

    def finish(self) -> finish:
        """with rt.finish(): leaves when everything is done that was submitted in it."""
        return finish(self)

    def for_each(self, over: range | int, f: Callable[[range], Any], *clauses: Clause,
                 chunk: int | None = None) -> None:
        """Calls f(part) for parts of a range, as tasks, and returns when all are done.

        `chunk` is how many indices a part has; default: four parts for each worker. Raises the first failure in order.
        """
        all_of = over if isinstance(over, range) else range(over)
        if chunk is None:
            chunk = max(1, -(-len(all_of) // (4 * self.workers)))
        if chunk < 1:
            raise ValueError(f"weftrt: a chunk has at least one index, not {chunk}")
        parts = [self.submit(f, all_of[i : i + chunk], *clauses) for i in range(0, len(all_of), chunk)]
        failures = [e for e in [part.exception() for part in parts] if e is not None]
        if failures:
            raise failures[0]

    def pipeline(self, source: Iterable[Any], *stages: Callable[[Any], Any] | serial,
                 ahead: int | None = None) -> Iterator[Any]:
        """Yields what the last stage made of each item of the source, in its order.

        A stage is a function of one argument, which runs for several items at a time, or `serial(f)`, which does not.
        `ahead` is how many items are on their way at most, four for each worker by default: no more are taken from the
        source, so memory stays bounded, whoever is slow. What a stage raises is raised in the place of its item.
        """
        from weftrt._pipeline import pipeline

        return pipeline(self, source, stages, ahead=ahead)

    def cancel(self) -> None:
        """What has not begun is not begun any more; its futures are cancelled."""
        self._core.cancel_all()

    def end(self) -> None:
        """Waits for everything, then ends the workers. A second call does nothing."""
        core = self._core
        if core.gone:
            return
        if core.in_body():
            raise RuntimeError("weftrt: a task cannot end the runtime that it runs in")
        if not core.modelled:
            _await(core.await_all)
        _end(core)

    def __enter__(self) -> Runtime:
        self._outer.append(_here.set(self))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 where: TracebackType | None) -> None:
        _leave(self._outer.pop())
        try:
            if error is None:
                self.wait()
        except KeyboardInterrupt as e:
            error = e
            raise
        finally:
            if error is not None:
                self.cancel()
            self.end()


def _leave(outer: Token[Runtime | None]) -> None:
    try:
        _here.reset(outer)
    except ValueError:  # entered in another thread, which has a context of its own
        pass


def _data_of(data: Any) -> Any:
    return data


def _sleep_for_good() -> None:
    """A daemon thread that asks for more while the program exits: it has nobody to tell."""
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


class Executor(StandardExecutor):
    """A concurrent.futures.Executor on a runtime, in the place of ThreadPoolExecutor. A task may wait for tasks."""

    def __init__(self, max_workers: int | None = None, *, runtime: Runtime | None = None) -> None:
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._owns = runtime is None
        self._runtime = runtime if runtime is not None else Runtime(max_workers)
        self._is_shut = False
        self._asked = False
        self._mine = self._runtime._submit
        self._max_workers = self._runtime.workers  # by this name dask asks how many tasks to have on their way

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        self._asked = True
        if self._is_shut:
            raise RuntimeError("cannot schedule new futures after shutdown")
        if _exits:
            return self._runtime.submit(fn, *args, **kwargs)
        return self._mine(fn, args, kwargs or None)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._is_shut = True
        if cancel_futures:
            for _ in range(500):  # a thread of ThreadPoolExecutor has its first task before submit() returns
                if self._runtime._core.begun or not self._asked:
                    break
                time.sleep(0.001)
            self._runtime.cancel()
        if not self._owns:
            if wait:
                _await(self._runtime._core.await_all)
        elif wait:
            self._runtime.end()
        else:
            self._runtime._finalizer()
