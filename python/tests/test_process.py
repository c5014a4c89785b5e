"""What a process with weftrt does at its beginning, at its end, after fork() and on Ctrl-C: each in one of its own."""
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest


def run(text: str, *, status: int = 0, timeout: float = 60) -> str:
    """The output of a program. It has to end with that status and say nothing on stderr."""
    program = [sys.executable, "-c", textwrap.dedent(text)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=timeout)
    assert (done.returncode, done.stderr) == (status, ""), done.stderr
    return done.stdout


def test_import_starts_no_thread():
    out = run("import os, weftrt; print(len(os.listdir('/proc/self/task')))")
    assert out == "1\n"


def test_import_is_quick():
    """Beside what it imports of the standard library. The least of some: a busy machine only adds."""
    text = """
        import concurrent.futures.thread, threading, atexit, weakref, os, sys, logging, time
        t = time.process_time(); import weftrt; print(time.process_time() - t)
        """
    assert min(float(run(text)) for _ in range(5)) < 0.03


def test_exit_with_tasks_that_are_pending():
    out = run("""
        import time, weftrt as wf
        rt = wf.Runtime(2)
        fs = [rt.submit(time.sleep, 0.001) for _ in range(50)]
        rt.submit(print, "ran", flush=True)
        """)
    assert out == "ran\n"


def test_a_lambda_that_captures_the_runtime():
    out = run("""
        import gc, weftrt as wf
        def program():
            rt = wf.Runtime(2)
            h = wf.handle([0])
            for i in range(20):
                rt.submit(lambda x, rt=rt: x.append(rt.workers), wf.write(h))
            return rt.submit(lambda x: (len(x), rt.submit(int).result()), wf.read(h))
        f = program()
        gc.collect()
        print(f.result())
        """)
    assert out == "(21, 0)\n"


def test_exit_with_results_and_failures_that_nobody_read():
    run("""
        import weftrt as wf
        rt = wf.Runtime(2)
        rt.submit(int, "x")
        ex = wf.Executor(1)
        ex.submit(int, "y")
        f = ex.submit(list, range(10))
        """)


def test_exit_while_a_daemon_thread_submits():
    for _ in range(3):
        run("""
            import threading, time, weftrt as wf
            rt = wf.Runtime(2)
            def forever():
                while True:
                    rt.submit(pow, 2, 2)
            threading.Thread(target=forever, daemon=True).start()
            time.sleep(0.1)
            """)


def test_exit_by_sys_exit_and_by_an_exception():
    run("import sys, weftrt as wf; rt = wf.Runtime(1); rt.submit(pow, 2, 2); sys.exit(3)", status=3)


def test_a_body_that_waits_at_exit():
    run("""
        import time, weftrt as wf
        rt = wf.Runtime(1)
        def outer(x):
            return rt.submit(time.sleep, 0.05, wf.after(wf.handle())).result()
        for _ in range(3):
            rt.submit(outer, wf.write(wf.handle([])))
        time.sleep(0.02)
        """)


def test_fork():
    out = run("""
        import os, weftrt as wf
        rt = wf.Runtime(2)
        f = rt.submit(pow, 2, 2)
        f.result()
        child = os.fork()
        if child == 0:
            try:
                rt.submit(pow, 2, 2)
                print("no error", flush=True)
            except RuntimeError as e:
                print("fork" in str(e), f.result(), flush=True)
            with wf.Runtime(2) as mine:
                print(mine.submit(pow, 3, 2).result(), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print(rt.submit(pow, 2, 3).result())
        """)
    assert out == "True 4\n9\n8\n"


def test_spawn(tmp_path):
    program = tmp_path / "spawned.py"
    program.write_text(textwrap.dedent("""
        import multiprocessing, weftrt as wf
        def work(n):
            with wf.Runtime(1) as rt:
                return rt.submit(pow, n, 2).result()
        if __name__ == "__main__":
            with wf.Runtime(1), multiprocessing.get_context("spawn").Pool(2) as pool:
                print(pool.map(work, range(4)))
        """))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[0, 1, 4, 9]\n", "")


WAITS = ["f.result()", "rt.wait()", "rt.get(h)", "f.exception(90)", "rt.for_each(2, lambda part: time.sleep(0.5))",
         "list(rt.pipeline(range(3), lambda x: time.sleep(0.5)))", "rt.submit(g).result()",
         "asyncio.run(awaits(f))", "[f.result() for f in concurrent.futures.as_completed([f])]",
         "[rt.submit(int) for _ in range(100_000)]"]


def interrupted(text: str) -> float:
    """Seconds from SIGINT to where the program has it. What it had not begun it has cancelled, and ends."""
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(text)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        time.sleep(0.1)
        sent = time.time()
        os.kill(child.pid, signal.SIGINT)
        came = float(child.stdout.readline())
        assert child.stdout.readline() == "True\n"
        assert child.wait(30) == 0
        return came - sent


@pytest.mark.parametrize("waits", WAITS)
def test_ctrl_c(waits):
    text = f"""
        import asyncio, concurrent.futures, sys, time, weftrt as wf
        async def awaits(f): return await f
        try:
            with wf.Runtime(1) as rt:
                h = wf.handle([0])
                with rt.graph() as g: g.submit(len, wf.write(h))
                f = rt.submit(lambda x: time.sleep(0.5), wf.write(h))
                rest = [rt.submit(time.sleep, 100) for _ in range(3)]
                print("ready", flush=True)
                try:
                    {waits}
                except KeyboardInterrupt:
                    print(time.time(), flush=True)
                    raise
        except KeyboardInterrupt:
            print(all(f.cancelled() for f in rest), flush=True)
        """
    # A busy machine only adds: the least of some.
    assert any(interrupted(text) < 0.1 for _ in range(6))


def test_ctrl_c_at_the_end_of_with():
    interrupted("""
        import signal, time, weftrt as wf
        class Told(KeyboardInterrupt): pass
        def tell(*_):
            print(time.time(), flush=True)
            raise Told
        signal.signal(signal.SIGINT, tell)
        try:
            with wf.Runtime(1) as rt:
                rt.submit(time.sleep, 0.5)
                rest = [rt.submit(time.sleep, 100) for _ in range(3)]
                print("ready", flush=True)
        except Told:
            print(all(f.cancelled() for f in rest), flush=True)
        """)


def test_ctrl_c_on_a_modelled_machine():
    text = """
        import time, weftrt as wf
        fs = []
        def program(rt):
            for _ in range(300): fs.append(rt.submit(time.sleep, 0.7))
            print("ready", flush=True)
            try:
                rt.wait()
            except KeyboardInterrupt:
                print(time.time(), flush=True)
                raise
        try:
            wf.sim(program)
        except KeyboardInterrupt:
            print(sum(f.cancelled() for f in fs) >= 295, flush=True)
        """
    assert any(interrupted(text) < 0.1 for _ in range(6))


def test_a_subinterpreter_is_told():
    out = run("""
        import _xxsubinterpreters as them
        it = them.create()
        try:
            them.run_string(it, "import weftrt")
        except them.RunFailedError as e:
            print("main interpreter" in str(e))
        """)
    assert out == "True\n"


def test_a_million_submits_in_flat_memory():
    out = run(
        """
        import resource, weftrt as wf
        def most(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        with wf.Runtime(2) as rt:
            for _ in range(100_000): rt.submit(int)
            rt.wait(); before = most()
            for _ in range(900_000): rt.submit(int)
            rt.wait(); print(most() - before)
        """, timeout=100)
    assert int(out) < 10  # MiB


def test_an_idle_runtime_says_nothing():
    run("""
        import time, weftrt as wf
        with wf.Runtime(2) as rt:
            rt.submit(pow, 2, 2).result()
            time.sleep(5)
            rt.submit(pow, 2, 2).result()
        """)
