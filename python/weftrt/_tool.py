"""What the tool says of traces, as values: each call runs the `weft` command and reads its JSON.

What only these calls need they import, because to import the package shall be quick.
"""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pathlib


def path() -> str:
    """The command. Raises FileNotFoundError that says what to do."""
    import shutil

    tool = os.environ.get("WEFTRT_TOOL") or shutil.which("weft")
    if tool is not None and os.access(tool, os.X_OK):
        return tool
    where = f"WEFTRT_TOOL={tool} is no program" if tool is not None else "there is no 'weft' on the PATH"
    raise FileNotFoundError(f"weftrt: {where}; `make build` of Weft builds it; WEFTRT_TOOL=PATH says where")


def _run(*arguments: str) -> str:
    import subprocess

    done = subprocess.run([path(), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip())
    return done.stdout


def _said(*arguments: str) -> dict[str, Any]:
    import json

    said: dict[str, Any] = json.loads(_run(*arguments, "--json"))
    return said


class Rows(list[dict[str, Any]]):
    """Rows of a table, a dict each. As text it is what the command prints."""

    def __init__(self, rows: Iterable[dict[str, Any]], command: tuple[str, ...]) -> None:
        super().__init__(rows)
        self._command = command

    def __str__(self) -> str:
        return _run(*self._command)

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


def report(trace: str | os.PathLike[str], page: str | os.PathLike[str] | None = None) -> pathlib.Path:
    """Writes the page with the timeline, beside the trace if not told where. Returns its path."""
    import pathlib

    where = pathlib.Path(page) if page is not None else pathlib.Path(trace).with_suffix(".html")
    _run("report", os.fspath(trace), "--html", os.fspath(where))
    return where


def info() -> dict[str, Any]:
    """What there is: cores, machines, policies."""
    return _said("info")
