"""A controller for threadpoolctl. To import this registers it: threadpool_info() then has a row for Weft.

    import threadpoolctl, weftrt.threadpoolctl
    with threadpoolctl.threadpool_limits(1, user_api="tasks"):
        with weftrt.Runtime() as rt: ...           # has one worker

A limit holds for runtimes that are made while it is in force and are not told how many workers to have.
"""
from __future__ import annotations

from threadpoolctl import LibController, register  # type: ignore[import-untyped,import-not-found,unused-ignore]

from weftrt import _core


class WeftController(LibController):  # type: ignore[misc]
    user_api = "tasks"
    internal_api = "weft"
    filename_prefixes = ("_core.",)
    check_symbols = ("weftrt_get_workers",)

    def get_num_threads(self) -> int:
        return _core.workers_by_default()

    def set_num_threads(self, num_threads: int) -> None:
        _core.limit_workers(int(num_threads))

    def get_version(self) -> str:
        return _core.version()


register(WeftController)
