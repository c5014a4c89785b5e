"""The same tasks on a machine that exists only in virtual time."""
import numpy as np
import pytest

import weftrt as wf


def test_tasks_on_a_modelled_machine():
    with wf.Runtime(4, machine="virtual") as rt:
        assert rt.machine == "virtual" and rt.workers == 4
        a = wf.handle(np.zeros(10))
        for _ in range(5):
            rt.submit(lambda x: np.add(x, 1, out=x), wf.write(a), wf.cost(1e6))
        assert rt.submit(np.sum, wf.read(a)).result() == 50


def test_a_body_submits_on_a_modelled_machine():
    with wf.Runtime(2, machine="virtual") as rt:
        seen = []

        def body():
            f = rt.submit(seen.append, 1)
            f.result()
            rt.submit(seen.append, 2)
            return len(seen)

        assert rt.submit(body).result() == 1
        rt.wait()
        assert seen == [1, 2]


def test_a_wait_that_a_modelled_machine_has_not():
    with wf.Runtime(2, machine="virtual") as rt:
        h = wf.handle([])

        def body():
            return rt.submit(len, wf.read(h)).result()

        with pytest.raises(RuntimeError, match="modelled machine"):
            rt.submit(body).result()


def test_a_trace(tmp_path):
    file = tmp_path / "run.weft"
    with wf.Runtime(2, trace=file) as rt:
        for i in range(10):
            rt.submit(pow, i, 2, wf.named(f"square {i % 2}"))
        assert rt.trace == str(file)
    assert file.stat().st_size > 0
    import sqlite3

    with sqlite3.connect(file) as db:
        tables = {row[0] for row in db.execute("select name from sqlite_master")}
        assert "tasks" in tables or "task" in tables
