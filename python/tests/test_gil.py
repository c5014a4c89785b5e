"""The GIL as a cause: how long bodies wait for it, in the trace, in the report and in what-if."""
import re
import subprocess
import sys
import time

import numpy as np
import pytest

import weftrt as wf

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    pytest.skip("this Python has no GIL", allow_module_level=True)


def spin(seconds):
    until = time.thread_time() + seconds  # of this thread alone: other programs make it no shorter
    while time.thread_time() < until:
        pass


def share(trace):
    text = wf.report(trace).text
    found = re.search(r"^  GIL +(\d+) %", text, re.MULTILINE)
    return int(found[1]) if found else 0


def test_bodies_of_python_wait_for_each_other(tmp_path):
    """Two workers, bodies that never leave the lock: half of the time in bodies is a wait for it."""
    trace = tmp_path / "python.weft"
    with wf.Runtime(2, trace=trace) as rt:
        for _ in range(12):
            rt.submit(spin, 0.05, wf.named("spin"))
    assert 15 <= share(trace) <= 70
    text = wf.report(trace).text
    assert "a wait for Python's lock, the GIL" in text
    said = str(wf.whatif(trace, workers=[2]))
    tried = re.search(r"(\d+) % of the time in bodies is a wait for Python's lock, the GIL, which it takes for work; "
                      r"tried: a Python without it saves (\d+) %", said)
    assert tried is not None, said
    assert int(tried[1]) == share(trace) and abs(int(tried[2]) - int(tried[1])) <= 20, said


def test_short_bodies_too(tmp_path):
    trace = tmp_path / "short.weft"
    with wf.Runtime(2, trace=trace) as rt:
        for _ in range(400):
            rt.submit(spin, 0.001)
    assert 10 <= share(trace) <= 75


def test_bodies_without_the_lock_do_not_wait(tmp_path):
    trace = tmp_path / "sleeps.weft"
    with wf.Runtime(2, trace=trace) as rt:
        for _ in range(10):
            rt.submit(time.sleep, 0.03)
        a = np.random.default_rng(0).random((500, 500))
        for _ in range(6):
            rt.submit(np.matmul, a, a)
    assert share(trace) <= 10
    assert "GIL" not in str(wf.whatif(trace, workers=[2]))


def test_a_wait_for_another_task_is_none(tmp_path):
    trace = tmp_path / "waits.weft"
    with wf.Runtime(2, trace=trace) as rt:
        def outer():
            return rt.submit(lambda x: time.sleep(0.02), wf.write(wf.handle([]))).result()

        for _ in range(6):
            rt.submit(outer)
    assert share(trace) <= 10


def test_fork_with_a_trace(tmp_path):
    program = "import os, sys, weftrt as wf\n" \
              "rt = wf.Runtime(2, trace=sys.argv[1])\n" \
              "rt.submit(pow, 2, 2).result()\n" \
              "child = os.fork()\n" \
              "if child == 0: sys.exit(0)\n" \
              "print(os.waitpid(child, 0)[1])\n"
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "fork.weft")], capture_output=True, text=True,
                          timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
