"""Functions that are tasks where they are called."""
import threading

import numpy as np
import pytest

import weftrt as wf


@wf.task
def power(x, n):
    return x**n


@wf.task(wf.named("multiply"), a=wf.read, b=wf.read, out=wf.write)
def multiply(a, b, out):
    """c = a b"""
    np.matmul(a, b, out=out)


def test_a_call_is_a_submission():
    with wf.Runtime(2):
        assert power(3, n=2).result() == 9
        assert isinstance(power(3, 2), wf.Future)
    assert power.plain(2, 3) == 8 and multiply.__doc__ == "c = a b" and multiply.__name__ == "multiply"


def test_accesses_by_parameter():
    a, b = (wf.handle(np.full((2, 2), v)) for v in (2.0, 3.0))
    c = wf.handle(np.zeros((2, 2)))
    with wf.Runtime(2) as rt:
        multiply(a, b, c)
        multiply(a, out=b, b=c)
        assert rt.get(b)[0, 0] == 48
        multiply(np.eye(2), np.eye(2), c)  # what is no handle is passed as it is
        assert rt.get(c)[0, 1] == 0
        multiply(wf.write(a), b, c)  # what is said at the call stays
        rt.submit(multiply, a, b, c)
        assert rt.get(c)[0, 0] == 192


def test_an_undeclared_write():
    @wf.task(x=wf.read)
    def spoils(x):
        x[0] = 1

    with wf.Runtime(1):
        error = spoils(wf.handle(np.zeros(1))).exception()
    assert isinstance(error, ValueError) and "spoils" in error.__notes__[0]


def test_in_a_task_it_is_the_runtime_that_runs_it():
    @wf.task
    def fib(n):
        if n < 2:
            return n
        x = fib(n - 1)
        return fib(n - 2).result() + x.result()

    with wf.Runtime(1) as one, wf.Runtime(2) as two:
        assert fib(10).result() == 55  # of the inner `with`
        begun = two._core.begun
        assert begun > 50
        assert one.submit(fib, 8).result() == 21
        assert two._core.begun == begun
    with wf.Executor(1) as ex:
        assert ex.submit(fib.plain, 6).result() == 8


def test_without_a_runtime():
    with pytest.raises(RuntimeError, match="no runtime here"):
        power(2, 2)
    with wf.Runtime(1):
        failed = []

        def other_thread():
            try:
                power(2, 2)
            except RuntimeError as e:
                failed.append(e)

        t = threading.Thread(target=other_thread)
        t.start()
        t.join()
        assert failed
    with pytest.raises(RuntimeError, match="no runtime here"):
        power(2, 2)


def test_a_method():
    class Counter:
        def __init__(self):
            self.n = 0

        @wf.task(h=wf.write)
        def more(self, h):
            h[0] += 1
            self.n += 1

    with wf.Runtime(2) as rt:
        c, h = Counter(), wf.handle([0])
        for _ in range(5):
            c.more(h)
        assert rt.get(h) == [5] and c.n == 5


def test_a_reduction_by_parameter():
    @wf.task(total=wf.reduce)
    def add(total, x):
        total += x

    with wf.Runtime(2) as rt:
        h = wf.handle(np.zeros(1))
        for i in range(10):
            add(h, i)
        assert rt.get(h)[0] == 45


@pytest.mark.parametrize("call", [
    lambda: wf.task(nothing=wf.read)(lambda x: x),
    lambda: wf.task(x="read")(lambda x: x),
    lambda: wf.task(wf.cost(1), 3)(lambda x: x),
])
def test_what_cannot_be_meant(call):
    with pytest.raises(TypeError, match="weftrt"):
        call()
