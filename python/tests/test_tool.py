"""python -m weftrt hands over to the command, and what it says comes back as values."""
import os
import pathlib
import subprocess
import sys

import pytest

import weftrt as wf


def run(*arguments, **variables):
    return subprocess.run([sys.executable, "-m", "weftrt", *arguments], capture_output=True, text=True,
                          env={**os.environ, **variables})


def test_arguments_and_status(tmp_path):
    tool = tmp_path / "weft"
    tool.write_text("#!/bin/sh\necho \"$@\"; exit 3\n")
    tool.chmod(0o755)
    for variables in ({"WEFTRT_TOOL": str(tool)}, {"PATH": f"{tmp_path}:{os.environ['PATH']}", "WEFTRT_TOOL": ""}):
        done = run("report", "run.weft", **variables)
        assert (done.returncode, done.stdout) == (3, "report run.weft\n")


def test_without_the_tool(tmp_path):
    done = run("info", WEFTRT_TOOL=str(tmp_path / "none"))
    assert done.returncode == 2 and "is no program" in done.stderr


TOOL = os.environ.get("WEFTRT_TOOL") or str(pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "weft")
with_tool = pytest.mark.skipif(not os.access(TOOL, os.X_OK), reason="the weft command is not built")


@with_tool
def test_rows_are_the_commands(tmp_path, monkeypatch):
    monkeypatch.setenv("WEFTRT_TOOL", TOOL)
    trace = tmp_path / "run.weft"
    with wf.Runtime(2, trace=trace) as rt:
        for i in range(20):
            rt.submit(sum, range(1000 + i))
    rows = wf.whatif(trace, workers=[1, 4])
    assert [row["workers"] for row in rows if row["policy"] == "local"][:2] == [1, 4]
    assert all(row["makespan_ns"] > 0 and row["binds"] for row in rows)
    command = [TOOL, "whatif", str(trace), "--workers", "1,4"]
    assert str(rows) == subprocess.run(command, capture_output=True, text=True).stdout
    page = wf.report(trace)
    assert page == tmp_path / "run.html" and page.read_text().startswith("<!")
    assert wf.info()["usable_cpus"] >= 1


@with_tool
def test_a_trace_that_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("WEFTRT_TOOL", TOOL)
    with pytest.raises(RuntimeError, match="nothing.weft"):
        wf.whatif(tmp_path / "nothing.weft")
