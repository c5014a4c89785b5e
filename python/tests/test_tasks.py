"""Tasks, their data, and what a future says."""
import asyncio
import concurrent.futures
import gc
import threading
import time
import traceback
import weakref
from concurrent.futures import CancelledError

import numpy as np
import pytest

import weftrt as wf


@pytest.fixture(params=[1, 2])
def rt(request):
    with wf.Runtime(request.param) as made:
        yield made


def test_a_result(rt):
    assert rt.submit(pow, 2, 10).result() == 1024
    assert rt.submit(int, "ff", base=16).result() == 255
    assert rt.workers in (1, 2) and rt.machine == "host"


def test_order_of_writes_and_reads(rt):
    a = wf.handle(np.zeros(4))
    seen = []

    def step(x, i):
        assert x[0] == i
        x += 1

    for i in range(50):
        rt.submit(step, wf.write(a), i)
        seen.append(rt.submit(lambda x: float(x.sum()), wf.read(a)))
    assert [f.result() for f in seen] == [4.0 * (i + 1) for i in range(50)]


def test_adds_are_alone(rt):
    total = wf.handle([0])

    def more(x):
        before = x[0]
        time.sleep(0)
        x[0] = before + 1

    for _ in range(200):
        rt.submit(more, wf.add(total))
    assert rt.get(total) == [200]


def test_matmul_by_out(rt):
    a, b, c = (wf.handle(np.random.default_rng(i).random((60, 60))) for i in range(3))
    for _ in range(8):
        rt.submit(np.matmul, wf.read(a), wf.read(b), out=wf.write(c))
    assert rt.submit(np.sum, wf.read(c)).result() == pytest.approx(np.sum(a.unguarded @ b.unguarded))


def test_an_undeclared_write_is_a_value_error_with_the_task(rt):
    a = wf.handle(np.ones(3))

    def clear(x):
        x[:] = 0

    f = rt.submit(clear, wf.read(a), wf.named("clear all"))
    with pytest.raises(ValueError) as caught:
        f.result()
    assert any("clear all" in note for note in caught.value.__notes__)
    assert a.unguarded.tolist() == [1, 1, 1]
    with pytest.raises(TypeError):
        rt.submit(lambda b: b.__setitem__(0, 1), wf.read(wf.handle(bytearray(2)))).result()


def test_an_exception_is_the_same_object_with_its_traceback(rt):
    thrown = KeyError("this")

    def inner_function():
        raise thrown

    f = rt.submit(inner_function)
    assert f.exception() is thrown
    with pytest.raises(KeyError) as caught:
        f.result()
    assert caught.value is thrown
    assert any(frame.name == "inner_function" for frame in traceback.extract_tb(thrown.__traceback__))


def test_a_reader_of_what_was_not_written_names_the_cause(rt):
    a, b = wf.handle(np.zeros(2), name="left"), wf.handle(np.zeros(2))
    thrown = ZeroDivisionError("no")

    def fails(x):
        raise thrown

    rt.submit(fails, wf.write(a), wf.named("writer")).exception()
    middle = rt.submit(np.copyto, wf.write(b), wf.read(a))
    last = rt.submit(np.sum, wf.read(b))
    with pytest.raises(wf.TaskSkipped) as caught:
        middle.result()
    assert caught.value.__cause__ is thrown and "left" in str(caught.value)
    assert isinstance(last.exception().__cause__, wf.TaskSkipped)
    rt.wait()  # told: whoever waits knows, and may use it again
    assert rt.submit(np.sum, wf.read(a)).result() == 0


def test_a_wait_raises_what_nobody_asked_for():
    with wf.Runtime(2) as rt:
        rt.submit(int, "x")
        told = rt.submit(int, "y")
        told.exception()
        with pytest.raises(ValueError, match="'x'"):
            rt.wait()
        rt.wait()
    with pytest.raises(ValueError, match="'z'"), wf.Runtime(2) as rt:
        rt.submit(int, "z")


def test_a_future_is_standard(rt):
    fs = [rt.submit(pow, i, 2) for i in range(20)]
    assert all(isinstance(f, concurrent.futures.Future) for f in fs)
    assert sorted(f.result() for f in concurrent.futures.as_completed(fs)) == [i * i for i in range(20)]
    called = []
    gate = threading.Event()
    f = rt.submit(gate.wait)
    f.add_done_callback(called.append)
    assert f.running() or not f.done()
    gate.set()
    done, rest = concurrent.futures.wait([f])
    assert done == {f} and not rest
    rt.wait()
    assert called == [f]
    f.add_done_callback(called.append)
    assert called == [f, f]
    with pytest.raises(concurrent.futures.InvalidStateError):
        f.set_result(1)


def test_a_time_out(rt):
    gate = threading.Event()
    f = rt.submit(gate.wait)
    with pytest.raises(TimeoutError):
        f.result(0.02)
    gate.set()
    assert f.result(5) is True


def test_cancel():
    with wf.Runtime(1) as rt:
        gate, begun = threading.Event(), threading.Event()

        def first():
            begun.set()
            gate.wait()

        a, b = rt.submit(first), rt.submit(pow, 2, 2)
        begun.wait()
        called = []
        b.add_done_callback(called.append)
        assert not a.cancel() and b.cancel() and b.cancel() and b.cancelled()
        assert called == [b]
        gate.set()
        with pytest.raises(CancelledError):
            b.result()
        assert a.result() is None


def test_await(rt):
    async def both():
        return await asyncio.gather(one(rt.submit(pow, 3, 2)), one(rt.submit(pow, 2, 3)))

    async def one(f):
        return await f

    assert asyncio.run(both()) == [9, 8]


def test_after_priority_near_cost_named(rt):
    order = []
    gate = threading.Event()
    first = rt.submit(lambda: (gate.wait(), order.append(1)))
    second = rt.submit(order.append, 2, wf.after(first), wf.priority(1), wf.cost(1e3), wf.named("second"))
    third = rt.submit(order.append, 3, wf.after(second), wf.near(np.zeros(100)))
    gate.set()
    third.result()
    assert order == [1, 2, 3]
    token = wf.handle()
    rt.submit(lambda t: order.append(4), wf.write(token))
    rt.submit(order.append, 5, wf.after(token)).result()
    assert order == [1, 2, 3, 4, 5]


def test_finish(rt):
    done = []

    def parent():
        for i in range(5):
            rt.submit(done.append, i)

    with rt.finish():
        rt.submit(parent)
        rt.submit(parent)
    assert len(done) == 10


def test_for_each(rt):
    x = np.zeros(1000)

    def fill(part):
        x[part.start : part.stop] = part.start

    rt.for_each(range(1000), fill, chunk=100)
    assert x[::100].tolist() == list(range(0, 1000, 100))

    def odd(part):
        if part.start % 2:
            raise ValueError(part.start)

    with pytest.raises(ValueError, match="^1$"):
        rt.for_each(10, odd, chunk=1)


def test_data_end_with_their_last_reader(rt):
    class Data:
        pass

    data = Data()
    h = wf.handle(data)
    gone = weakref.ref(data)
    del data
    rt.submit(lambda d: None, wf.write(h)).result()
    rt.submit(lambda d: None, wf.read(h)).result()
    del h
    gc.collect()
    rt.wait()
    assert gone() is None


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda rt: rt.submit(len, wf.handle([])), TypeError),
        (lambda rt: wf.priority(2), ValueError),
        (lambda rt: wf.cost(float("nan")), ValueError),
        (lambda rt: wf.after(3), TypeError),
        (lambda rt: wf.near([1]), TypeError),
        (lambda rt: wf.named(3), TypeError),
        (lambda rt: wf.handle(np.array([None])), TypeError),
        (lambda rt: rt.for_each(3, print, chunk=0), ValueError),
        (lambda rt: wf.Runtime(0), ValueError),
        (lambda rt: wf.Runtime(policy="none of these"), ValueError),
        (lambda rt: wf.Future(), TypeError),
    ],
)
def test_what_cannot_be_meant(rt, call, error):
    with pytest.raises(error):
        call(rt)
    assert rt.submit(pow, 2, 2).result() == 4


def test_one_handle_in_two_ways(rt):
    h = wf.handle([1])
    with pytest.raises(ValueError):
        rt.submit(print, wf.read(h), wf.write(h))
    assert rt.submit(len, wf.read(h)).result() == 1


def test_a_view_of_the_input_is_refused(rt):
    a = wf.handle(np.arange(6.0))
    with pytest.raises(TypeError, match="copy"):
        rt.submit(lambda x: x[2:4], wf.read(a)).result()
    assert rt.submit(lambda x: x[2:4].copy(), wf.read(a)).result().tolist() == [2, 3]


def test_a_non_contiguous_array(rt):
    a = np.zeros((4, 4))
    h = wf.handle(a[:, 1])
    rt.submit(lambda x: x.fill(3), wf.write(h)).result()
    assert a[:, 1].tolist() == [3] * 4 and a[:, 0].tolist() == [0] * 4


def test_after_the_runtime():
    with wf.Runtime(1) as rt:
        h = wf.handle([1])
        f = rt.submit(len, wf.read(h))
    assert f.result() == 1 and h.unguarded == [1]
    with pytest.raises(RuntimeError, match="after shutdown"):
        rt.submit(len, wf.read(h))
    with wf.Runtime(1) as other:
        assert other.submit(len, wf.read(h)).result() == 1
