#!/usr/bin/env python3
"""Every public header that is included by an older C++ says first of all that Weft needs C++20, and how to get it.

usage: language.py --compiler CXX
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAID = "Weft needs C++20: compile with -std=c++20"


def first_error(compiler: str, include: pathlib.Path, header: str) -> str:
    words = [compiler, "-std=c++17", "-Wfatal-errors", "-fsyntax-only", f"-I{include}", "-x", "c++", "-"]
    done = subprocess.run(words, text=True,
                          input=f"#include <weft/{header}>\n", capture_output=True, check=False)
    return next((row for row in done.stderr.splitlines() if "error: " in row), "")


def silent(compiler: str, include: pathlib.Path) -> list[str]:
    """Headers that say something else, with what they say."""
    headers = sorted(p.name for p in (include / "weft").glob("*.hpp"))
    assert headers, f"no header in {include}"
    found = [(h, first_error(compiler, include, h)) for h in headers]
    return [f"{h}: {said or 'no error'}" for h, said in found if SAID not in said]


def self_test(compiler: str) -> None:
    """A header that begins with something else is found."""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place, "weft")
        folder.mkdir()
        (folder / "good.hpp").write_text(f'#if __cplusplus < 202002L\n#error "{SAID}"\n#endif\nconstinit int x = 1;\n')
        (folder / "bad.hpp").write_text("constinit int x = 1;\n")
        assert [row.split(":")[0] for row in silent(compiler, pathlib.Path(place))] == ["bad.hpp"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    given = parser.parse_args()
    self_test(given.compiler)
    wrong = silent(given.compiler, ROOT / "include")
    print("\n".join(wrong) or "every header says that it needs C++20")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
