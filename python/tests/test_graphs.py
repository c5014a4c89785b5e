"""Tasks that are recorded once and run again and again."""
import threading
import time

import numpy as np
import pytest

import weftrt as wf


@pytest.fixture(params=[1, 2])
def rt(request):
    with wf.Runtime(request.param) as made:
        yield made


def add(x, n):
    x += n


def into(x, total):
    total += x


def test_runs_in_the_order_of_accesses(rt):
    cells, total = [wf.handle(np.zeros(1)) for _ in range(4)], wf.handle(np.zeros(1))
    with rt.graph() as g:
        for c in cells:
            g.submit(add, wf.write(c), 1)
        for c in cells:
            g.submit(into, wf.read(c), wf.add(total))
    for _ in range(100):
        g.run()
    assert rt.get(total)[0] == 4 * sum(range(1, 101))
    assert len(g) == 8 and g.edges >= 7


def test_runs_between_other_tasks(rt):
    x = wf.handle([1])

    def times(v, n):
        v[0] *= n

    def plus(v):
        v[0] += 1

    with rt.graph() as g:
        g.submit(times, wf.write(x), 2)
        g.submit(plus, wf.write(x))
    first = rt.submit(g)
    rt.submit(times, wf.write(x), 10)
    last = rt.submit(g)
    assert rt.get(x) == [61] and first.result() is None and last.result() is None


def test_a_run_in_a_body(rt):
    x = wf.handle([0])
    with rt.graph() as g:
        g.submit(lambda v: v.append(len(v)), wf.write(x))

    def body():
        for _ in range(5):
            g.run()
        return len(x.unguarded)

    assert rt.submit(body).result() == 6


def test_the_first_failure_and_a_run_that_begins_anew(rt):
    a, b, other = wf.handle([0]), wf.handle([0]), wf.handle([0])
    fails = [True]

    def may_fail(x):
        if fails[0]:
            raise KeyError("a node")
        x[0] += 1

    with rt.graph() as g:
        g.submit(lambda x: x.append(1), wf.write(other))
        g.submit(may_fail, wf.write(a))
        g.submit(lambda x, y: y.append(x[0]), wf.read(a), wf.write(b))
        g.submit(lambda y: y.append(9), wf.write(b))
    with pytest.raises(KeyError, match="a node"):
        g.run()
    assert b.unguarded == [0] and other.unguarded == [0, 1]
    with pytest.raises(KeyError):
        g.run()
    fails[0] = False
    g.run()
    assert b.unguarded == [0, 1, 9] and len(other.unguarded) == 4
    rt.wait()


def test_a_failed_run_poisons_what_comes_after(rt):
    a = wf.handle([0], name="cell")

    def fails(x):
        raise KeyError("node")

    with rt.graph() as g:
        g.submit(fails, wf.write(a))
    run = rt.submit(g)
    reader = rt.submit(len, wf.read(a))
    assert isinstance(run.exception(), KeyError)
    assert isinstance(reader.exception(), wf.TaskSkipped) and "cell" in str(reader.exception())
    rt.wait()
    assert rt.submit(len, wf.read(a)).result() == 1


def test_a_failure_that_nobody_asked_for_is_waits():
    with wf.Runtime(2) as rt:
        with rt.graph() as g:
            g.submit(int, "x")
        rt.submit(g)
        with pytest.raises(ValueError, match="'x'"):
            rt.wait()


def test_what_nodes_submit_is_of_the_run(rt):
    done = []

    def late(i):
        time.sleep(0.002)
        done.append(i)

    def node():
        for i in range(5):
            rt.submit(late, i)

    with rt.graph() as g:
        g.submit(node)
    for n in range(1, 4):
        g.run()
        assert len(done) == 5 * n


def test_clauses(rt):
    x = wf.handle(np.ones((80, 80)))
    token = wf.handle()
    with rt.graph() as g:
        g.submit(np.matmul, wf.read(x), wf.read(x), wf.named("product"), wf.team(2), wf.cost(10))
        g.submit(len, [], wf.priority(1), wf.near(np.zeros(9)), wf.after(token))
        g.submit(wf.task(v=wf.write)(lambda v: v.fill(2)), x)
    g.run()
    g.run()
    assert x.unguarded[0, 0] == 2


def test_many_threads_run_one_graph():
    with wf.Runtime(2) as rt:
        x = wf.handle([0])

        def more(v):
            v[0] += 1

        with rt.graph() as g:
            g.submit(more, wf.write(x))
        threads = [threading.Thread(target=lambda: [g.run() for _ in range(50)]) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert rt.get(x) == [200]


def test_on_a_modelled_machine():
    with wf.Runtime(4, machine="virtual") as rt:
        x = [wf.handle([0]) for _ in range(4)]
        with rt.graph() as g:
            for h in x:
                g.submit(lambda v: v.append(1), wf.write(h), wf.cost(1e6))
        before = rt.now_ns()
        for _ in range(10):
            g.run()
        assert 10e6 <= rt.now_ns() - before < 12e6 and all(len(h.unguarded) == 11 for h in x)
        with pytest.raises(RuntimeError, match="outside of tasks"):
            rt.submit(g.run).result()


def test_nothing_is_kept():
    import gc
    import weakref

    class Data(list):
        pass

    with wf.Runtime(2) as rt:
        data = Data([1])
        gone = weakref.ref(data)
        with rt.graph() as g:
            g.submit(len, wf.read(wf.handle(data)))
        g.run()
        del data, g
        rt.wait()
        gc.collect()
        assert gone() is None

        def drops_its_graph():
            with rt.graph() as mine:
                mine.submit(int)
            mine.run()

        for _ in range(20):
            rt.submit(drops_its_graph).result()


def test_what_cannot_be_meant(rt):
    with rt.graph() as g:
        g.submit(int)
    with pytest.raises(RuntimeError, match="recorded already"):
        g.submit(int)
    with pytest.raises(TypeError, match="no arguments"):
        rt.submit(g, 1)
    gate = threading.Event()
    pending = wf.after(rt.submit(gate.wait))
    for wrong in ((len, wf.handle([])), (len, wf.reduce(wf.handle(np.zeros(1)))), (int, pending)):
        with pytest.raises(TypeError):
            with rt.graph() as h:
                h.submit(*wrong)
    gate.set()
    with wf.Runtime(1) as other, pytest.raises(ValueError, match="another runtime"):
        other.submit(g)
    with wf.Runtime(1) as ended:
        with ended.graph() as g:
            g.submit(int)
        g.run()
    for again in (g.run, lambda: g.edges):
        with pytest.raises(RuntimeError, match="ended"):
            again()
