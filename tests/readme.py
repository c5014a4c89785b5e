#!/usr/bin/env python3
"""Extracts the first C++ program of a Markdown page, so that the page's code is compiled and run.

usage: readme.py README.md out.cpp
"""
import re
import sys


def main() -> int:
    page, out = sys.argv[1:]
    with open(page, encoding="utf-8") as f:
        blocks = re.findall(r"^```cpp\n(.*?)^```", f.read(), re.MULTILINE | re.DOTALL)
    programs = [b for b in blocks if "int main" in b]
    if not programs:
        print(f"{page}: no ```cpp block with `int main` in it", file=sys.stderr)
        return 1
    with open(out, "w", encoding="utf-8") as f:
        f.write(f'#line 1 "README.md, first program"\n{programs[0]}')
    return 0


if __name__ == "__main__":
    sys.exit(main())
