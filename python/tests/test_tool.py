"""python -m weftrt hands over to the command."""
import os
import subprocess
import sys


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
