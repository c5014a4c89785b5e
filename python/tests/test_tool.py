"""python -m weftrt is the tool, and what it says comes back as values."""
import os
import subprocess
import sys
import textwrap

import pytest

import weftrt as wf
from weftrt import _tool


def run(*arguments, **variables):
    return subprocess.run([sys.executable, "-m", "weftrt", *arguments], capture_output=True, text=True,
                          env={**os.environ, **variables})


def test_arguments_and_status(tmp_path):
    tool = tmp_path / "weft"
    tool.write_text("#!/bin/sh\necho \"$@\"; exit 3\n")
    tool.chmod(0o755)
    done = run("report", "run.weft", WEFTRT_TOOL=str(tool))
    assert (done.returncode, done.stdout) == (3, "report run.weft\n")


def test_without_the_tool(tmp_path):
    done = run("info", WEFTRT_TOOL=str(tmp_path / "none"))
    assert done.returncode == 2 and "is no program" in done.stderr


def test_the_wheel_has_the_tool():
    assert "WEFTRT_TOOL" in os.environ or _tool.path().startswith(os.path.dirname(wf.__file__))
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"weft {wf.__version__}\n", "")
    assert wf.info()["usable_cpus"] >= 1


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    file = tmp_path_factory.mktemp("trace") / "run.weft"
    with wf.Runtime(2, trace=file) as rt:
        for i in range(20):
            rt.submit(sum, range(1000 + i))
        with pytest.raises(RuntimeError, match="comes after"):
            rt.report()
    assert str(rt.report()) == str(file.with_suffix(".html"))
    return file


def test_rows_are_the_commands(trace):
    rows = wf.whatif(trace, workers=[1, 4])
    assert [row["workers"] for row in rows if row["policy"] == "local"][:2] == [1, 4]
    assert all(row["makespan_ns"] > 0 and row["binds"] for row in rows)
    assert str(rows) == run("whatif", str(trace), "--workers", "1,4").stdout
    assert rows._repr_html_().startswith("<iframe srcdoc=")


def test_a_report_is_the_commands(trace, tmp_path):
    page = wf.report(trace)
    assert page == trace.with_suffix(".html") and page.read_text().startswith("<!")
    assert page.text == run("report", str(trace)).stdout
    other = tmp_path / "other.html"
    run("report", str(trace), "--html", str(other))
    assert other.read_bytes() == page.read_bytes()
    assert page._repr_html_().startswith("<iframe srcdoc=")


def test_a_trace_that_is_none(tmp_path):
    with pytest.raises(RuntimeError, match="nothing.weft"):
        wf.whatif(tmp_path / "nothing.weft")
    with wf.Runtime(1) as rt:
        pass
    with pytest.raises(ValueError, match="no trace"):
        rt.report()


PROGRAM = """
import weftrt as wf

def sale(rt):
    price, shelf, discount = wf.handle([10]), wf.handle([0]), [0]
    def begins(p):
        p[0], discount[0] = 12, 2
    def sells(p, s):
        s[0] += p[0] - discount[0]
    def ends(t):
        discount[0] = 0
    rt.submit(begins, wf.write(price))
    rt.submit(sells, wf.read(price), wf.add(shelf))
    rt.submit(ends, wf.write(wf.handle([0])))
    return rt.get(shelf)

def fine(rt):
    h = wf.handle([1])
    for i in range(4):
        rt.submit(lambda x: x.append(len(x)), wf.write(h))
    return rt.get(h)
"""


def test_check(tmp_path, monkeypatch):
    (tmp_path / "to_check.py").write_text(textwrap.dedent(PROGRAM))
    monkeypatch.syspath_prepend(tmp_path)
    import to_check

    found = wf.check(to_check.sale, schedules=20, keep=tmp_path / "kept")
    assert not found and "they DIFFER" in str(found)
    good = wf.check(to_check.fine, schedules=6)
    assert good and "the same" in str(good)
    again = run(*good.command, PYTHONHASHSEED="0", PYTHONPATH=os.pathsep.join(sys.path))
    assert again.stdout.splitlines()[1:] == str(good).splitlines()[1:]  # the first line has the time


def test_check_of_what_no_process_finds(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(TypeError, match="cloudpickle"):
        wf.check(lambda rt: 1)


def stages(rt):
    h = wf.handle([0])
    for _ in range(4):
        rt.submit(lambda x: None, wf.write(h), wf.cost(1e6))
    for _ in range(64):
        rt.submit(int, wf.cost(1e6))
    return rt.submit(len, wf.read(h)).result()


def test_sim(tmp_path):
    small, big = wf.sim(stages, workers=2), wf.sim(stages, "epyc-7551-32")
    assert (small.result, small.workers, big.workers, big.machine) == (1, 2, 32, "epyc-7551-32")
    assert 30e6 < small.makespan_ns < 40e6 and 4e6 <= big.makespan_ns < 6e6
    with pytest.raises(ValueError):
        wf.sim(stages, "host")


def test_a_modelled_run_repeats_its_bytes(tmp_path):
    (tmp_path / "to_check.py").write_text(textwrap.dedent(PROGRAM))
    program = "import sys, to_check as t, weftrt as wf\n" \
              "print(wf.sim(t.fine, 'epyc-7551-32', seed=7, trace=sys.argv[1]))"

    def texts(name):
        file = tmp_path / name
        done = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, cwd=tmp_path)
        table = run("export", str(file), "--format", "csv").stdout
        return done.stdout, wf.report(file).text.replace(str(file), ""), table

    assert texts("one.weft") == texts("two.weft")
    assert "makespan_ns" in texts("one.weft")[0]
