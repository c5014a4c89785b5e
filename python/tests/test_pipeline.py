"""Items through stages, with bounded memory."""
import time
import tracemalloc

import numpy as np
import pytest

import weftrt as wf


@pytest.fixture(params=[1, 2])
def rt(request):
    with wf.Runtime(request.param) as made:
        yield made


def test_in_order(rt):
    assert list(rt.pipeline(range(100), lambda x: x + 1, str, wf.serial(len))) == [len(str(i + 1)) for i in range(100)]
    assert list(rt.pipeline([], str)) == []


def test_a_serial_stage_is_alone_and_in_order(rt):
    seen, inside = [], [0]

    def alone(x):
        inside[0] += 1
        assert inside[0] == 1
        time.sleep(0.0002)
        seen.append(x)
        inside[0] -= 1
        return x

    assert list(rt.pipeline(range(50), wf.serial(alone))) == list(range(50)) == seen


def test_no_more_are_taken_than_are_ahead(rt):
    taken = [0]

    def source():
        for i in range(1000):
            taken[0] += 1
            yield i

    items = rt.pipeline(source(), str, ahead=5)
    assert taken[0] == 0
    for i in range(20):
        assert next(items) == str(i)
        assert taken[0] == i + 5
    items.close()
    assert taken[0] == 24


def test_memory_is_bounded(rt):
    tracemalloc.start()
    try:
        arrays = (np.ones(100_000) for _ in range(200))  # 160 MB in all
        total = sum(rt.pipeline(arrays, lambda a: a * 2, np.sum, ahead=4))
        assert total == 2 * 100_000 * 200
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_a_failure_comes_in_its_place(rt):
    def fails(x):
        if x == 7:
            raise KeyError(x)
        return x

    got = []
    with pytest.raises(KeyError, match="7"):
        for x in rt.pipeline(range(20), fails, wf.serial(abs)):
            got.append(x)
    assert got == list(range(7))
    rt.wait()


def test_in_a_task(rt):
    assert rt.submit(lambda: sum(rt.pipeline(range(30), abs, wf.serial(abs)))).result() == 435


def test_what_cannot_be_meant(rt):
    with pytest.raises(ValueError):
        rt.pipeline([1])
    with pytest.raises(ValueError):
        rt.pipeline([1], str, ahead=0)
