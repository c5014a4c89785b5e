"""`python -m weftrt` is the tool: the `weft` command of the system, which reads the traces that a Runtime records.

It is not in the wheel: beside the commands for traces it has the papers' programs, which link the system's OpenBLAS.
WEFTRT_TOOL says where it is, if it is not on the PATH.
"""
from __future__ import annotations

import os
import shutil
import sys


def main() -> int:
    tool = os.environ.get("WEFTRT_TOOL") or shutil.which("weft")
    if tool is None or not os.access(tool, os.X_OK):
        where = f"WEFTRT_TOOL={tool} is no program" if tool is not None else "there is no 'weft' on the PATH"
        print(f"weftrt: {where}; `make build` of Weft builds it; WEFTRT_TOOL=PATH says where", file=sys.stderr)
        return 2
    os.execv(tool, [tool, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
