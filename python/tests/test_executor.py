"""wf.Executor in the place of ThreadPoolExecutor."""
import concurrent.futures
import threading
import time

import pytest

import weftrt as wf


def test_map_in_order():
    with wf.Executor(2) as ex:
        assert list(ex.map(pow, range(50), [2] * 50)) == [i * i for i in range(50)]
        with pytest.raises(ZeroDivisionError):
            list(ex.map(lambda x: 1 // x, [1, 0, 2]))


def test_map_in_a_task():
    with wf.Executor(1) as ex:
        assert ex.submit(lambda: sum(ex.map(lambda i: sum(ex.map(abs, range(i))), range(8)))).result() == 56


def test_shutdown():
    ex = wf.Executor(2)
    f = ex.submit(time.sleep, 0.01)
    ex.shutdown()
    assert f.done()
    with pytest.raises(RuntimeError, match="after shutdown"):
        ex.submit(pow, 2, 2)
    ex.shutdown()


def test_shutdown_without_a_wait():
    ex = wf.Executor(1)
    gate = threading.Event()
    f = ex.submit(gate.wait)
    ex.shutdown(wait=False)
    assert not f.done()
    gate.set()
    assert f.result() is True


def test_shutdown_cancels():
    ex = wf.Executor(1)
    gate, begun = threading.Event(), threading.Event()
    first = ex.submit(lambda: (begun.set(), gate.wait()))
    rest = [ex.submit(pow, 2, i) for i in range(5)]
    begun.wait()
    threading.Timer(0.05, gate.set).start()
    ex.shutdown(cancel_futures=True)
    assert first.done() and all(f.cancelled() for f in rest)
    assert not concurrent.futures.wait(rest, timeout=5).not_done


def test_a_failure_is_the_futures_alone():
    with wf.Executor(2) as ex:
        assert isinstance(ex.submit(int, "x").exception(), ValueError)
        ex.submit(int, "y")


def test_wrong_workers():
    for wrong in (0, -1):
        with pytest.raises(ValueError):
            wf.Executor(wrong)


def test_many_threads_submit():
    with wf.Executor(2) as ex:
        sums = []

        def one():
            sums.append(sum(f.result() for f in [ex.submit(pow, i, 1) for i in range(200)]))

        threads = [threading.Thread(target=one) for _ in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert sums == [19900] * 6
