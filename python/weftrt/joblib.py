"""A backend of joblib, and so of scikit-learn. To import this registers it.

    import joblib, weftrt.joblib
    with joblib.parallel_config(backend="weft"):
        GridSearchCV(estimator, grid).fit(X, y)

Its tasks run on the workers of one runtime. A Parallel inside of a task runs on the same workers, to any depth, and the
task that waits for it takes none of them.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future as StandardFuture
from contextlib import contextmanager
from typing import Any

from joblib import register_parallel_backend  # type: ignore[import-untyped,import-not-found,unused-ignore]
from joblib.parallel import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
    FallbackToBackend, ParallelBackendBase, SequentialBackend)

from weftrt import _core
from weftrt._runtime import Runtime, blocking

_runtimes: dict[tuple[int, int], Runtime] = {}  # by process and number of workers: made once, idle between calls


def _runtime_of(workers: int) -> Runtime:
    key = os.getpid(), workers
    found = _runtimes.get(key)
    if found is None or found._core.gone:
        for old in [k for k in _runtimes if k[0] != key[0]]:  # of the parent of this process
            del _runtimes[old]
        found = _runtimes[key] = Runtime(workers)
    return found


class WeftBackend(ParallelBackendBase):  # type: ignore[misc]
    """n_jobs is how many workers the runtime has; inside of a task it is the runtime that the task runs on."""

    supports_retrieve_callback = True
    supports_sharedmem = True
    uses_threads = True
    default_n_jobs = -1

    def __init__(self, *, outer: Runtime | None = None, runtime: Runtime | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self._runtime = runtime if runtime is not None else outer
        self._is_given = self._runtime is not None
        self._pending: set[StandardFuture[Any]] = set()

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        if n_jobs is None:
            return 1
        usable = self._runtime.workers if self._is_given and self._runtime is not None else _core.usable_cpus()
        return n_jobs if n_jobs > 0 else max(usable + 1 + n_jobs, 1)

    def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
        n_jobs = self.effective_n_jobs(n_jobs)
        if n_jobs == 1:
            raise FallbackToBackend(SequentialBackend(nesting_level=self.nesting_level))
        self.parallel = parallel
        if not self._is_given:
            self._runtime = _runtime_of(n_jobs)
        return n_jobs

    def submit(self, func: Callable[[], Any], callback: Callable[[Any], Any] | None = None) -> StandardFuture[Any]:
        assert self._runtime is not None
        future = self._runtime.submit(func)
        future._told = True  # joblib asks it: wait() need not tell of its failure
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def retrieve_result_callback(self, out: StandardFuture[Any]) -> Any:
        return out.result()

    def abort_everything(self, ensure_ready: bool = True) -> None:
        for future in list(self._pending):
            future.cancel()

    def get_nested_backend(self) -> tuple[WeftBackend, None]:
        return WeftBackend(nesting_level=(self.nesting_level or 0) + 1, outer=self._runtime), None

    @contextmanager
    def retrieval_context(self) -> Iterator[None]:
        """A task that waits for its own Parallel: joblib looks again and again, and the worker is needed elsewhere."""
        with blocking():
            yield


register_parallel_backend("weft", WeftBackend)
