"""BLAS inside tasks: one thread for each call, or a team of workers, by OpenBLAS' callback."""
import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import weftrt as wf

control = pytest.importorskip("threadpoolctl")


def blas_threads():
    return [row["num_threads"] for row in control.threadpool_info() if row["internal_api"] == "openblas"]


if not blas_threads():
    pytest.skip("NumPy has another BLAS here", allow_module_level=True)


def test_threads_are_as_before_at_the_end():
    before = blas_threads()
    with wf.Runtime(2) as rt:
        assert rt.submit(blas_threads).result() == [1] * len(before)
        with wf.Runtime(1):
            pass
        assert blas_threads() == [1] * len(before)
        rt.submit(np.matmul, np.ones((300, 300)), np.ones((300, 300)), wf.team(2)).result()
        until = time.monotonic() + 60  # the result is there before the team is over
        while blas_threads() != [1] * len(before):
            assert time.monotonic() < until
            time.sleep(0.001)
    assert blas_threads() == before


def test_a_team_has_its_workers():
    a = np.random.default_rng(1).random((700, 700))
    with wf.Runtime(2) as rt:
        seen = rt.submit(blas_threads, wf.team(2), wf.named("seen")).result()
        assert set(seen) == {min(2, len(os.sched_getaffinity(0)))}
        for _ in range(5):
            h, c = wf.handle(a), wf.handle(np.zeros_like(a))
            rt.submit(np.matmul, wf.read(h), wf.read(h), wf.team(2), out=wf.write(c))
            assert np.allclose(rt.get(c), a @ a)


def test_teams_beside_other_tasks():
    a = np.ones((300, 300))
    with wf.Runtime(2) as rt:
        fs = [rt.submit(np.matmul, a, a, wf.team(2)) if i % 3 == 0 else rt.submit(np.matmul, a, a) for i in range(60)]
        assert all((f.result() == 300).all() for f in fs)


def test_a_failure_in_a_team():
    def fails():
        raise KeyError("team")

    with wf.Runtime(2) as rt:
        with pytest.raises(KeyError, match="team"):
            rt.submit(fails, wf.team(2)).result()
        assert rt.submit(pow, 2, 3, wf.team(2)).result() == 8


def test_a_team_cannot_wait():
    with wf.Runtime(2) as rt:
        def waits():
            return rt.submit(len, wf.read(wf.handle([]))).result()

        with pytest.raises(RuntimeError, match="cannot wait"):
            rt.submit(waits, wf.team(2)).result()
        rt.wait()


def test_wider_than_the_runtime_and_none():
    with wf.Runtime(1) as rt:
        assert rt.submit(pow, 2, 3, wf.team(8)).result() == 8
    with wf.Runtime(4, machine="virtual") as rt:
        assert rt.submit(pow, 2, 3, wf.team(4)).result() == 8
    for wrong in (0, -1, 2000, 1.5):
        with pytest.raises(ValueError):
            wf.team(wrong)


def test_threads_of_the_process():
    """What NumPy's library made when it was loaded stays, and sleeps; Weft's are a thread for each worker and two."""
    program = textwrap.dedent("""
        import os, numpy as np, weftrt as wf
        def threads(): return len(os.listdir("/proc/self/task"))
        a = np.random.default_rng(0).random((400, 400)); a @ a
        before, most = threads(), []
        with wf.Runtime(2) as rt:
            fs = [rt.submit(lambda: (a @ a, most.append(threads()))) for _ in range(8)]
            fs += [rt.submit(np.matmul, a, a, wf.team(2)) for _ in range(4)]
            [f.result() for f in fs]; most.append(threads())
        print(max(most) - before)
        """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 2 + 2


def test_import_registers_nothing():
    before = blas_threads()
    done = subprocess.run([sys.executable, "-c", textwrap.dedent("""
        import numpy, threadpoolctl
        say = lambda: [r["num_threads"] for r in threadpoolctl.threadpool_info() if r["internal_api"] == "openblas"]
        one = say(); import weftrt; print(one == say())
        """)], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n" and blas_threads() == before
