"""Pages that the tool writes, which notebooks show in place: all of them is in one file, so no network is needed."""
from __future__ import annotations

import html
import pathlib


def inline(page: str) -> str:
    return f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:620px;border:0"></iframe>'


class Page(type(pathlib.Path())):  # type: ignore[misc]  # PosixPath
    """The path of a page. A notebook shows the page."""

    trace: str

    @property
    def text(self) -> str:
        """What `weft report` prints of the trace."""
        from weftrt._tool import _run

        return _run("report", self.trace)

    def _repr_html_(self) -> str:
        return inline(self.read_text(encoding="utf-8"))
