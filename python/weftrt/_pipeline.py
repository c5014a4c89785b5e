"""Iterables through stages, with so many items on their way at most."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from weftrt._clauses import Handle, handle, named, write
from weftrt._future import Future
from weftrt._runtime import Runtime


class serial:
    """A stage that takes one item at a time, in the order of the source."""

    def __init__(self, f: Callable[[Any], Any]) -> None:
        self.f = f


class _Item:
    def __init__(self, value: Any) -> None:
        self.value = value
        self.failed: BaseException | None = None


def _step(f: Callable[[Any], Any], item: _Item, *_: Any) -> None:
    """A stage for one item. What it raises goes along with the item: a turn of others is not spoiled by it."""
    if item.failed is not None:
        return
    try:
        item.value = f(item.value)
    except BaseException as e:
        item.value, item.failed = None, e


def pipeline(runtime: Runtime, source: Iterable[Any], stages: Iterable[Callable[[Any], Any] | serial], *,
             ahead: int | None = None) -> Iterator[Any]:
    """Runtime.pipeline."""
    most = 4 * runtime.workers if ahead is None else ahead
    if most < 1:
        raise ValueError(f"weftrt: at least one item has to be on its way, not {most}")
    steps: list[tuple[Callable[[Any], Any], Handle | None]] = [
        (s.f, handle()) if isinstance(s, serial) else (s, None) for s in stages]
    if not steps:
        raise ValueError("weftrt: a pipeline has at least one stage")
    return _items(runtime, iter(source), steps, most)


def _enter(runtime: Runtime, value: Any, steps: list[tuple[Callable[[Any], Any], Handle | None]]
           ) -> tuple[_Item, Future[None]]:
    item = _Item(value)
    data = handle(item)
    done: Future[None] | None = None
    for f, turn in steps:
        name = named(getattr(f, "__qualname__", "stage"))
        if turn is None:
            done = runtime.submit(_step, f, write(data), name)
        else:
            done = runtime.submit(_step, f, write(data), write(turn), name)
    assert done is not None
    return item, done


def _result(of: tuple[_Item, Future[None]]) -> Any:
    item, done = of
    done.result()
    if item.failed is not None:
        raise item.failed
    return item.value


def _items(runtime: Runtime, source: Iterator[Any], steps: list[tuple[Callable[[Any], Any], Handle | None]],
           most: int) -> Iterator[Any]:
    under_way: deque[tuple[_Item, Future[None]]] = deque()
    try:
        for value in source:
            under_way.append(_enter(runtime, value, steps))
            del value
            if len(under_way) >= most:
                yield _result(under_way.popleft())
        while under_way:
            yield _result(under_way.popleft())
    except KeyboardInterrupt:
        while under_way:  # nobody waits for these
            under_way.popleft()[1].cancel()
        raise
    finally:  # an item that failed, or nobody wants the rest
        for _, done in under_way:
            done.exception()
