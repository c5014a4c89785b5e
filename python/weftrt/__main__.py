"""`python -m weftrt` is the tool: the `weft` command, which reads the traces that a Runtime records.

It is in the wheel, with plain loops in the place of OpenBLAS. WEFTRT_TOOL says where another one is.
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
