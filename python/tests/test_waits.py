"""Waits in tasks: none may take the last worker from what it waits for."""
import concurrent.futures
import sys
import threading
import time

import pytest

import weftrt as wf


@pytest.fixture(params=[1, 2])
def rt(request):
    with wf.Runtime(request.param) as made:
        yield made


@pytest.mark.parametrize("depth", [1, 2, 3, 7, 15, 30])
def test_nested_submits_end(rt, depth):
    def level(d):
        if d == 0:
            return 1
        return sum(f.result() for f in [rt.submit(level, d - 1)] * 3)

    assert rt.submit(level, depth).result() == 3**depth


@pytest.mark.parametrize("depth", [1, 5, 30])
def test_nested_submits_that_no_waiter_can_call(rt, depth):
    """Each names data, so it has to be run by a worker while the body that waits for it keeps its thread."""

    def level(d, x):
        x[0] += 1
        if d != 0:
            mine = wf.handle([x[0]])
            return rt.submit(level, d - 1, wf.write(mine)).result()
        return x[0]

    assert rt.submit(level, depth, wf.write(wf.handle([0]))).result() == depth + 1


def test_a_body_stays_on_its_thread(rt):
    def body(x):
        before = threading.get_ident()
        rt.submit(time.sleep, 0.005, wf.after(wf.handle())).result()
        return before == threading.get_ident()

    fs = [rt.submit(body, wf.write(wf.handle([i]))) for i in range(20)]
    assert all(f.result() for f in fs)


def test_a_wait_for_the_standard_librarys(rt):
    """A body in blocking() may wait for what Weft knows nothing of."""
    gate = threading.Event()

    def waits(_):
        with wf.blocking():
            gate.wait()
        return 1

    fs = [rt.submit(waits, i) for i in range(6)]
    opener = rt.submit(gate.set)
    assert opener.result() is None
    assert sum(f.result() for f in fs) == 6


def test_wait_in_a_body_is_for_its_children(rt):
    seen = []

    def body():
        for i in range(10):
            rt.submit(seen.append, i)
        rt.wait()
        return len(seen)

    assert rt.submit(body).result() == 10
    seen.clear()
    assert rt.submit(lambda x: body(), wf.write(wf.handle([]))).result() == 10


def test_finish_in_a_body(rt):
    seen = []

    def body():
        with rt.finish():
            for i in range(10):
                rt.submit(seen.append, i)
        return len(seen)

    assert rt.submit(body).result() == 10


def test_as_completed_in_a_body(rt):
    def body():
        fs = [rt.submit(pow, i, 2) for i in range(10)]
        with wf.blocking():
            return sum(f.result() for f in concurrent.futures.as_completed(fs))

    assert rt.submit(body).result() == sum(i * i for i in range(10))


def test_endless_recursion_is_an_error(rt):
    def down(n):
        return down(n + 1) + 1

    with pytest.raises(RecursionError):
        rt.submit(down, 0).result()
    assert rt.submit(pow, 2, 3).result() == 8


def test_a_chain_of_waits_is_no_recursion(rt):
    """Deeper than what is called where it is wanted: beyond that the worker is given away."""

    def level(d):
        return 0 if d == 0 else rt.submit(level, d - 1).result() + 1

    assert rt.submit(level, 120).result() == 120


def test_deep_recursion_in_a_body(rt):
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:

        def down(n):
            return 0 if n == 0 else max([down(n - 1)], key=lambda v: v) + 1

        assert rt.submit(down, 3000).result() == 3000
    finally:
        sys.setrecursionlimit(before)


def test_two_runtimes_in_one_another():
    with wf.Runtime(1) as one, wf.Runtime(1) as two:

        def body(n):
            if n == 0:
                return 0
            return (two if n % 2 else one).submit(body, n - 1, wf.after(wf.handle())).result() + 1

        assert one.submit(body, 8).result() == 8


def test_threads_stay_few():
    """Bodies that wait hold a thread each, and give it back."""
    with wf.Runtime(2) as rt:

        def level(d, x):
            return rt.submit(level, d - 1, wf.write(wf.handle([]))).result() if d else 0

        for _ in range(20):
            rt.submit(level, 6, wf.write(wf.handle([]))).result()
        assert rt._core.threads <= 2 + 7 + 2
