"""What the tool says of traces and of programs, as values: each call runs the `weft` command and reads its JSON.

What only these calls need they import, because to import the package shall be quick.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weftrt._page import Page


def path() -> str:
    """The command: WEFTRT_TOOL, or that of the wheel, or that of the system. FileNotFoundError says what to do."""
    import shutil

    tool = os.environ.get("WEFTRT_TOOL")
    if tool:
        if os.access(tool, os.X_OK):
            return tool
        raise FileNotFoundError(f"weftrt: WEFTRT_TOOL={tool} is no program")
    mine = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "weft")
    if os.access(mine, os.X_OK):
        return mine
    tool = shutil.which("weft")
    if tool is None:
        raise FileNotFoundError("weftrt: this wheel was built without the tool, and there is no 'weft' on the PATH; "
                                "`make build` of Weft builds it, and WEFTRT_TOOL=PATH says where it is")
    return tool


def _run(*arguments: str, may_be: tuple[int, ...] = (0,), environment: dict[str, str] | None = None) -> str:
    import subprocess

    env = None if environment is None else {**os.environ, **environment}
    done = subprocess.run([path(), *arguments], capture_output=True, text=True, env=env)
    if done.returncode not in may_be:
        raise RuntimeError((done.stderr or done.stdout).strip())
    return done.stdout


def _said(*arguments: str) -> dict[str, Any]:
    import json

    said: dict[str, Any] = json.loads(_run(*arguments, "--json"))
    return said


class Rows(list[dict[str, Any]]):
    """Rows of a table, a dict each. As text it is what the command prints; in a notebook its page, with the curves."""

    def __init__(self, rows: Iterable[dict[str, Any]], command: tuple[str, ...]) -> None:
        super().__init__(rows)
        self._command = command

    def __str__(self) -> str:
        return _run(*self._command)

    def _repr_html_(self) -> str:
        import tempfile

        from weftrt._page import inline

        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "whatif.html")
            _run(*self._command, "--html", page)
            with open(page, encoding="utf-8") as file:
                return inline(file.read())

    def to_pandas(self) -> Any:
        import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]

        return pandas.DataFrame(list(self))


def whatif(trace: str | os.PathLike[str], *, workers: Iterable[int] | None = None,
           policies: Iterable[str] | None = None) -> Rows:
    """The run of a trace with other numbers of workers and other policies: a row each, with its makespan and bound."""
    command = ["whatif", os.fspath(trace)]
    if workers is not None:
        command += ["--workers", ",".join(str(int(w)) for w in workers)]
    if policies is not None:
        command += ["--policies", ",".join(policies)]
    return Rows(_said(*command)["rows"], tuple(command))


def report(trace: str | os.PathLike[str], page: str | os.PathLike[str] | None = None) -> Page:
    """Writes the page with the timeline, beside the trace if not told where. Returns its path; a notebook shows it.

    `.text` is what `weft report` prints.
    """
    from weftrt._page import Page

    name = os.fspath(trace)
    where = os.fspath(page) if page is not None else os.path.splitext(name)[0] + ".html"
    _run("report", name, "--html", where)
    made = Page(where)
    made.trace = name
    return made


def info() -> dict[str, Any]:
    """What there is: cores, machines, policies."""
    return _said("info")


class Checked:
    """What `check` has found. True: all schedules gave the same result. As text it is what the command printed."""

    def __init__(self, text: str, ok: bool, command: tuple[str, ...]) -> None:
        self.text, self.ok, self.command = text, ok, command

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def check(f: Callable[..., Any], *, schedules: int = 100, workers: Iterable[int] = (1, 2, 3, 4), seed: int = 1,
          keep: str | os.PathLike[str] | None = None) -> Checked:
    """Calls f(runtime) under many schedules of its tasks, each in a process of its own, and compares what it returns.

    If results differ it says which two tasks' order made the difference. f is a function of a module or of the program
    that is running; any other (a lambda, one of a notebook) needs the package cloudpickle. What is compared is the
    repr of what f returns, what it prints, and what it raises.
    """
    import sys
    import tempfile

    from weftrt import _checked

    command = ["check", "--schedules", str(int(schedules)), "--workers", ",".join(str(int(w)) for w in workers),
               "--seed", str(int(seed))]
    if keep is not None:
        command += ["--keep", os.fspath(keep)]
    with tempfile.TemporaryDirectory() as folder:
        program = [sys.executable, "-m", "weftrt._checked", *_checked.told(f, folder)]
        command += ["--", *program]
        # Sets and dicts of strings go in the same order in each run; modules are where they are for this process.
        env = {"PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)}
        text = _run(*command, may_be=(0, 1), environment=env)
    return Checked(text, "they DIFFER" not in text, tuple(command))
