"""CPython's own tests of executors, on wf.Executor. They come with most builds of Python; Debian has them in
libpython3.11-testsuite (`make setup-python`)."""
import pathlib
import sys

import pytest

import weftrt as wf

test = pytest.importorskip("test")
debian = pathlib.Path(f"/usr/lib/python3.{sys.version_info.minor}/test")
if (debian / "test_concurrent_futures.py").is_file():
    test.__path__.append(str(debian))
theirs = pytest.importorskip("test.test_concurrent_futures")
PARTS = [theirs]
if hasattr(theirs, "__path__"):  # from 3.12 on they are a package
    PARTS += [pytest.importorskip(f"{theirs.__name__}.{part}")
              for part in ("test_executor", "test_wait", "test_as_completed", "test_shutdown", "executor", "util")]


def _find(name: str) -> type:
    return next(getattr(part, name) for part in PARTS if hasattr(part, name))


class WeftMixin(_find("ExecutorMixin")):
    executor_type = wf.Executor


Base = _find("BaseTestCase")


class TestWait(WeftMixin, _find("WaitTests"), Base):
    pass


class TestAsCompleted(WeftMixin, _find("AsCompletedTests"), Base):
    pass


class TestExecutor(WeftMixin, _find("ExecutorTest"), Base):
    pass


class TestShutdown(WeftMixin, _find("ExecutorShutdownTest"), Base):
    # These start a program that names the executor as one of concurrent.futures; test_process.py has their like.
    test_interpreter_shutdown = None
    test_submit_after_interpreter_shutdown = None
    test_hang_issue39205 = None
    test_hang_gh83386 = None
