"""10^5 of each call: what Python counts as allocated, and the memory of the process, stay where they are."""
import gc
import os
import tracemalloc

import numpy as np
import pytest

import weftrt as wf

MANY = 100_000


def counted_in(call, rt, n) -> int:
    before = tracemalloc.get_traced_memory()[0]
    call(rt, n)
    settle(rt)
    return tracemalloc.get_traced_memory()[0] - before


def resident_kib() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def fails():
    raise KeyError


def submit(rt, n):
    for _ in range(n):
        rt.submit(int)


def results(rt, n):
    for _ in range(n // 100):
        for f in [rt.submit(int) for _ in range(100)]:
            f.result()


def failures(rt, n):
    for _ in range(n // 100):
        for f in [rt.submit(fails) for _ in range(100)]:
            assert isinstance(f.exception(), KeyError)


def handles(rt, n):
    for _ in range(n):
        rt.submit(len, wf.write(wf.handle([])))


def readers(rt, n):
    h = wf.handle(np.zeros(10))
    for _ in range(n):
        rt.submit(len, wf.read(h))


def clauses(rt, n):
    h = wf.handle()
    for _ in range(n):
        rt.submit(int, wf.named("named"), wf.cost(1.0), wf.priority(1), wf.after(h))


def nested(rt, n):
    def body():
        for _ in range(100):
            rt.submit(int).result()

    for _ in range(n // 100):
        rt.submit(body)


def finishes(rt, n):
    for _ in range(n // 10):
        with rt.finish():
            rt.submit(int)


def items(rt, n):
    assert sum(1 for _ in rt.pipeline(range(n // 4), abs, wf.serial(abs))) == n // 4


def add_one(part):
    part += 1


def reductions(rt, n):
    h = wf.handle(np.zeros(4))
    for _ in range(n // 10):
        for _ in range(9):
            rt.submit(add_one, wf.reduce(h))
        rt.submit(len, wf.read(h))


@wf.task(x=wf.write)
def touch(x):
    len(x)


def decorated(rt, n):
    h = wf.handle([])
    for _ in range(n):
        rt.submit(touch, h)


def graphs(rt, n):
    with rt.graph() as g:
        h = wf.handle(np.zeros(4))
        for _ in range(10):
            g.submit(add_one, wf.write(h))
    for _ in range(n // 10):
        rt.submit(g)


def graphs_that_are_made(rt, n):
    for _ in range(n // 20):
        with rt.graph() as g:
            g.submit(len, wf.read(wf.handle([])))
        g.run()


def callbacks(rt, n):
    for _ in range(n):
        rt.submit(int).add_done_callback(id)


def settle(rt):
    """What a body has called itself, where it wanted the result, stands in the queue until a worker comes by."""
    rt.wait()
    rt.submit(int).result()
    rt.wait()
    gc.collect()


CALLS = [submit, results, failures, handles, readers, clauses, nested, finishes, items, callbacks, reductions,
         decorated, graphs, graphs_that_are_made]


@pytest.mark.parametrize("call", CALLS, ids=lambda f: f.__name__)
def test_flat(call):
    with wf.Runtime(2) as rt:
        call(rt, MANY // 10)  # what is made once: windows, magazines, names
        settle(rt)
        before = resident_kib()
        call(rt, MANY)
        settle(rt)
        grown = resident_kib() - before
        tracemalloc.start()
        try:
            call(rt, 1000)
            settle(rt)
            counted = min(counted_in(call, rt, 4000) for _ in range(3))  # free lists fill once
        finally:
            tracemalloc.stop()
    assert grown < 12 * 1024, "KiB of the process"
    assert counted < 20_000, "bytes that Python counts, of 4000 calls"


def test_runtimes_end():
    def make():
        with wf.Runtime(2) as rt:
            rt.submit(int).result()

    for _ in range(20):
        make()
    before, threads = resident_kib(), len(os.listdir("/proc/self/task"))
    for _ in range(60):
        make()
    assert resident_kib() - before < 8 * 1024
    assert len(os.listdir("/proc/self/task")) <= threads
