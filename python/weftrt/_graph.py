"""Graphs that run again: tasks that are recorded once, with their order."""
from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from weftrt import _core
from weftrt._clauses import handle
from weftrt._future import Future
from weftrt._runtime import _NOT_CALLED, Runtime, _await, blocking


class Graph:
    """What `with rt.graph() as g:` records by `g.submit`; `g.run()` runs it, as often as wanted.

    A node is ordered as the same task would be, but for adds on one handle, which run as they were recorded. To others
    a run is one task that names all handles of its nodes. Results of nodes are dropped; data are what they leave.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._nodes: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any] | None]] = []
        self._token = handle(name="a run of a graph")
        self._graph: _core.Graph | None = None
        self._one_at_a_time = threading.Lock()

    def submit(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
        """Records a task, with the clauses that `Runtime.submit` takes; but `after` takes handles alone, and there is
        no `reduce`.
        """
        if self._graph is not None:
            raise RuntimeError("weftrt: the graph is recorded already; make another one")
        if isinstance(f, Graph):
            raise TypeError("weftrt: a graph cannot hold another graph")
        if type(f) in _NOT_CALLED:
            f, args = f._function, f._arguments(args, kwargs)  # type: ignore[attr-defined]
        self._nodes.append((f, args, kwargs or None))

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 where: TracebackType | None) -> None:
        if error is None:
            self._sealed()

    def run(self) -> None:
        """Returns when a run is done. Raises its first failure, in the order of recording."""
        self._submit_to(self._runtime, (), {}).result()

    def __len__(self) -> int:
        """How many tasks a run has."""
        return len(self._nodes)

    @property
    def edges(self) -> int:
        """How many waits of one for another a run has, without what others imply."""
        return self._sealed().edges

    def _sealed(self) -> _core.Graph:
        if self._graph is None:
            self._graph = _core.Graph(self._runtime._core, self._nodes, self._token)
        return self._graph

    def _submit_to(self, runtime: Runtime, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Future[None]:
        if args or kwargs:
            raise TypeError("weftrt: a graph takes no arguments: its tasks have theirs")
        if runtime is not self._runtime:
            raise ValueError("weftrt: the graph was made for another runtime")
        graph = self._sealed()
        if not self._one_at_a_time.acquire(blocking=False):
            with blocking():
                self._one_at_a_time.acquire()
        try:
            graph.submit()
            return runtime._submit(self._end_of_run, (_core.clause(4, (self._token, None)),), None)
        finally:
            self._one_at_a_time.release()

    def _end_of_run(self) -> None:
        """Who: a task that comes after the run, and before the next one."""
        graph = self._graph
        assert graph is not None
        if not self._runtime._core.modelled:
            _await(graph.await_children)
        failure = graph.take_failure()
        if failure is not None:
            raise failure


_NOT_CALLED.add(Graph)
