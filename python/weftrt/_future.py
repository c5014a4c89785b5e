"""The future of a task: a concurrent.futures.Future that is made without a lock and gets one when somebody waits."""
from __future__ import annotations

import threading
from collections.abc import Generator
from concurrent.futures import Future as StandardFuture
from concurrent.futures import InvalidStateError
from typing import TYPE_CHECKING, Any, TypeVar

from weftrt import _core

if TYPE_CHECKING:
    from weftrt._core import Job

T = TypeVar("T")

_DONE = ("FINISHED", "CANCELLED", "CANCELLED_AND_NOTIFIED")
_furnishing = threading.Lock()


class TaskSkipped(RuntimeError):
    """A task was not called, because what it was to use was left unwritten. `__cause__` is the reason."""

    def __init__(self, task: str | None, handle: str, cause: BaseException | None) -> None:
        why = f": {type(cause).__name__}: {cause}" if cause is not None else ""
        super().__init__(f"task '{task}' was skipped: the task that was to write {handle} failed{why}")
        self.__cause__ = cause


class Future(StandardFuture[T]):
    """What `submit` returns. Beside what every such future has it can be awaited in asyncio.

    The core writes `_state`, `_result` and `_exception`. It does so without the condition, which most futures never
    have; whoever makes one tells the task first, and the core then comes here (`_announce`).
    """

    _state = "PENDING"
    _result = None
    _exception = None
    _job: Job | None = None
    _told = False
    _is_own = False  # nobody has it but the package: that it was skipped is no news
    _order = 0

    def __init__(self) -> None:
        raise TypeError("a Future is made by submit()")

    def __getattr__(self, name: str) -> Any:
        if name not in ("_condition", "_waiters", "_done_callbacks"):
            raise AttributeError(name)
        with _furnishing:
            has = self.__dict__
            if "_condition" not in has:
                has["_waiters"], has["_done_callbacks"] = [], []
                has["_condition"] = threading.Condition()
                job = self._job
                if job is not None:
                    job.watch()
        return has[name]

    def _announce(self) -> None:
        """Who: the core, when the state is final."""
        cancelled = self._state == "CANCELLED_AND_NOTIFIED"
        with self._condition:
            for waiter in self._waiters:
                if cancelled:
                    waiter.add_cancelled(self)
                elif self._exception is not None:
                    waiter.add_exception(self)
                else:
                    waiter.add_result(self)
            self._condition.notify_all()
        if not cancelled:
            self._invoke_callbacks()

    def cancel(self) -> bool:
        job = self._job
        was = self._state
        if job is None or was.startswith("CANCELLED"):
            return was.startswith("CANCELLED")
        if not job.cancel():
            return False
        with self._condition:
            self._condition.notify_all()
        self._invoke_callbacks()
        return True

    def _await(self, timeout: float | None) -> None:
        job = self._job
        if job is None or self._state in _DONE:
            return
        why = job.gone()
        if why is not None:
            raise RuntimeError(why)
        if _core.in_task() and job.call_here():
            return
        if job.run_modelled():
            return
        given = _core.give_away()
        try:
            with self._condition:
                if self._state not in _DONE:
                    self._condition.wait(timeout)
        finally:
            if given:
                _core.get_back()

    def result(self, timeout: float | None = None) -> T:
        self._told = True
        if self._state != "FINISHED":
            self._await(timeout)
            return super().result(0)
        if self._exception is None:
            return self._result  # type: ignore[return-value]
        return super().result(0)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self._told = True
        self._await(timeout)
        return super().exception(0)

    def set_running_or_notify_cancel(self) -> bool:
        raise InvalidStateError("the runtime runs the tasks of its futures")

    def set_result(self, result: T) -> None:
        raise InvalidStateError("the task of this future sets its result")

    def set_exception(self, exception: BaseException | None) -> None:
        raise InvalidStateError("the task of this future sets its exception")

    def __await__(self) -> Generator[Any, None, T]:
        import asyncio

        return asyncio.wrap_future(self).__await__()
