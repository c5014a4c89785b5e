"""Tasks that add to one datum at the same time."""
import threading
from collections import Counter

import numpy as np
import pytest

import weftrt as wf


@pytest.fixture(params=[1, 2])
def rt(request):
    with wf.Runtime(request.param) as made:
        yield made


def add(part, x):
    part += x


def test_a_sum(rt):
    h = wf.handle(np.full(3, 7))
    for i in range(100):
        rt.submit(add, wf.reduce(h), i)
    assert rt.get(h).tolist() == [7 + 4950] * 3
    for i in range(10):
        rt.submit(add, wf.reduce(h), 1)
    rt.wait()
    assert h.unguarded.tolist() == [7 + 4950 + 10] * 3


def test_reduces_run_together():
    """Each waits for the other: with one datum for both they could not be in their bodies at one time."""
    both = threading.Barrier(2, timeout=120)

    def body(part):
        both.wait()
        part += 1

    with wf.Runtime(2) as rt:
        h = wf.handle(np.zeros(1))
        for _ in range(2):
            rt.submit(body, wf.reduce(h))
        assert rt.get(h)[0] == 2


def test_order_with_other_accesses(rt):
    h = wf.handle(np.zeros(1))
    seen = []
    for i in range(20):
        for _ in range(5):
            rt.submit(add, wf.reduce(h), 1)
        seen.append(rt.submit(lambda x: float(x[0]), wf.read(h)))
        rt.submit(add, wf.write(h), 100)
    assert [f.result() for f in seen] == [5.0 * (i + 1) + 100 * i for i in range(20)]


@pytest.mark.parametrize("op, dtype, start, want", [
    (np.minimum, float, 3.0, -9.0), (np.maximum, float, 3.0, 9.0), (np.maximum, np.int8, 3, 9),
    (np.minimum, np.uint16, 3, 0), (np.multiply, float, 2.0, -0.0), (np.logical_or, bool, False, True),
    (np.bitwise_xor, np.int64, 5, 5 ^ 1)])
def test_ufuncs(rt, op, dtype, start, want):
    h = wf.handle(np.array([start], dtype))
    values = [v for v in (-9, -1, 0, 1, 9) if dtype not in (np.uint16, bool) or v >= 0]
    if op is np.bitwise_xor:
        values = [1, 2, 2]

    def body(part, v):
        op(part, np.array([v], dtype), out=part)

    for v in values:
        rt.submit(body, wf.reduce(h, op), v)
    assert rt.get(h)[0] == want


def test_two_operations_in_turn(rt):
    h = wf.handle(np.array([1.0]))
    for _ in range(3):
        rt.submit(add, wf.reduce(h), 1)
    rt.submit(lambda part: part.__imul__(10), wf.reduce(h, np.multiply))
    rt.submit(add, wf.reduce(h), 2)
    assert rt.get(h)[0] == 42


def test_what_is_no_array(rt):
    words = wf.handle(Counter())

    def count(part, text):
        part.update(text.split())

    for text in ("a b a", "b b", "c"):
        rt.submit(count, wf.reduce(words, Counter.update, start=lambda datum: Counter()), text)
    rt.wait()
    assert words.unguarded == Counter("a b a b b c".split())


def test_by_keyword_and_from_a_body(rt):
    h = wf.handle(np.zeros(2))

    def body(part):
        part += 1
        for _ in range(3):
            rt.submit(add, x=1, part=wf.reduce(h))

    rt.submit(body, wf.reduce(h)).result()
    rt.wait()
    assert h.unguarded.tolist() == [4, 4]


def test_a_failure_poisons(rt):
    h = wf.handle(np.zeros(1), name="sum")

    def fails(part):
        raise KeyError("part")

    rt.submit(fails, wf.reduce(h)).exception()
    with pytest.raises(wf.TaskSkipped, match="sum") as caught:
        rt.get(h)
    while caught.value.__cause__ is not None and isinstance(caught.value.__cause__, wf.TaskSkipped):
        caught = type("", (), {"value": caught.value.__cause__})
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_merge_that_fails(rt):
    def merge(datum, part):
        raise ZeroDivisionError

    h = wf.handle([])
    rt.submit(list.append, wf.reduce(h, merge, start=list), 1)
    with pytest.raises(ZeroDivisionError):
        rt.wait()


@pytest.mark.parametrize("call, error", [
    (lambda h: wf.reduce(h, max), TypeError),
    (lambda h: wf.reduce(h, np.sqrt), TypeError),
    (lambda h: wf.reduce(h, np.subtract), TypeError),
    (lambda h: wf.reduce(h, None, start=list), TypeError),
    (lambda h: wf.reduce(wf.handle([])), TypeError),
])
def test_what_cannot_be_meant(call, error):
    with pytest.raises(error):
        call(wf.handle(np.zeros(1)))


def test_twice_in_one_task(rt):
    h = wf.handle(np.zeros(1))
    for other in (wf.reduce, wf.read, lambda x: wf.reduce(x, np.maximum)):
        with pytest.raises(ValueError, match="two ways"):
            rt.submit(add, wf.reduce(h), other(h))
    assert rt.get(h)[0] == 0


def test_on_a_modelled_machine():
    with wf.Runtime(8, machine="virtual") as rt:
        h = wf.handle(np.zeros(1))
        for _ in range(8):
            rt.submit(add, wf.reduce(h), 1, wf.cost(1e6))
        assert rt.get(h)[0] == 8
        assert rt.now_ns() < 2e6
