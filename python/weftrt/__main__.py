"""`python -m weftrt` is the tool: the `weft` command of the system, which reads the traces that a Runtime records.

It is not in the wheel: beside the commands for traces it has the papers' programs, which link the system's OpenBLAS.
WEFTRT_TOOL says where it is, if it is not on the PATH.
"""
from __future__ import annotations

import os
import sys

from weftrt._tool import path


def main() -> int:
    try:
        tool = path()
    except FileNotFoundError as e:
        print(e, file=sys.stderr)
        return 2
    os.execv(tool, [tool, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
