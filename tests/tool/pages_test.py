#!/usr/bin/env python3
"""Commands in README.md and the guide, and what the pages say that they print: where a run is in virtual time, it is
the same everywhere, so it is run here and compared.

A page shows a command and its output in one of two ways: a block with lines `$ weft ...`, each with its output below;
or a ```sh block of commands and, as the next block, a plain one, which is the output of the last. Its lines must be
lines of the real output, in that order, spaces aside; a page may leave lines out. Commands of host runs, whose times
are the machine's mood, are left out: of what reads a trace, that is decided by the command that recorded it.

Run as: python3 tests/tool/pages_test.py --weft PATH [unittest arguments]
"""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

import command_line

WEFT = "weft"
ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHECKS = ("check",)  # virtual time by itself
READS = ("report", "whatif", "sim", "export")
COMPARED_MIN = 3  # in the guide, or its pages have another form than this test


class Shown:
    """A command on a page and the lines that it is said to print; None: nothing is said."""

    def __init__(self, line: int, command: str, output: list[str] | None):
        self.line, self.output = line, output
        self.words = shlex.split(command, comments=True)

    def option(self, name: str) -> str:
        at = self.words.index(name) if name in self.words[:-1] else -1
        return self.words[at + 1] if at >= 0 else ""

    def written(self) -> str:
        return self.option("--trace")

    def virtual(self, recorded: set[str]) -> bool:
        verb = self.words[1] if len(self.words) > 1 else ""
        if verb in READS:
            return any(word in recorded for word in self.words)
        return verb in CHECKS or self.option("--machine") not in ("", "host")


def joined(block: str) -> str:
    return re.sub(r"\\\n\s*", "", block)


def of_page(text: str) -> list[Shown]:
    fences, found = list(FENCE.finditer(text)), []
    for i, fence in enumerate(fences):
        line = text.count("\n", 0, fence.start()) + 2
        body = joined(fence[2])
        if re.search(r"^\$ weft ", body, re.MULTILINE):
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                if command.startswith("weft "):
                    found.append(Shown(line, command, output.splitlines() or None))
            continue
        commands = [row for row in body.splitlines() if row.startswith("weft ")]
        if fence[1] != "sh" or not commands:
            continue
        follows = fences[i + 1] if i + 1 < len(fences) and fences[i + 1][1] == "" else None
        near = follows and len([p for p in re.split(r"\n\s*\n", text[fence.end():follows.start()].strip()) if p]) <= 1
        said = follows[2].splitlines() if near and body.splitlines()[-1] == commands[-1] else None
        found += [Shown(line, c, None) for c in commands[:-1]] + [Shown(line, commands[-1], said)]
    return found


def unwrapped(said: list[str]) -> list[str]:
    """A page breaks the long line of a piece of advice, `- ...`, and goes on below it with spaces."""
    rows = []
    for row in said:
        if rows and rows[-1].startswith("- ") and row.startswith("  "):
            rows[-1] += " " + row.strip()
        else:
            rows.append(row)
    return rows


def missing(said: list[str], printed: str) -> str:
    """The first line that the page has and the output has not, in that order; or an empty string."""
    lines = iter(" ".join(row.split()) for row in printed.splitlines())
    for row in unwrapped(said):
        wanted = " ".join(row.split())
        if wanted not in ("", "...") and wanted not in lines:
            return row
    return ""


class Pages(unittest.TestCase):
    compared = 0

    def run_command(self, shown: Shown, folder: str) -> str:
        words = [WEFT] + [
            str(pathlib.Path(WEFT).parent / w.removeprefix("build/release/"))
            if w.startswith("build/release/") else w for w in shown.words[1:]]
        clean = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
        done = subprocess.run(words, cwd=folder, env=clean, capture_output=True, text=True, timeout=600, check=False)
        return done.stdout

    def check(self, page: pathlib.Path) -> None:
        shown = of_page(page.read_text(encoding="utf-8"))
        recorded = set()
        with tempfile.TemporaryDirectory() as folder:
            for i, s in enumerate(shown):
                if not s.virtual(recorded):
                    continue
                needed = s.written() and any(s.written() in later.words and later.output for later in shown[i + 1:])
                if s.output is None and not needed:
                    continue
                with self.subTest(place=f"{page.name}:{s.line}", command=" ".join(s.words)):
                    printed = self.run_command(s, folder)
                    if s.written():
                        recorded.add(s.written())
                    if s.output is None:
                        continue
                    Pages.compared += 1
                    row = missing(s.output, printed)
                    self.assertEqual(row, "", f"the page has a line that is not printed (there)\n{row}\nIt prints:\n"
                                              f"{printed}")

    def test_readme(self):
        self.check(ROOT / "README.md")

    def test_guide(self):
        for page in sorted((ROOT / "docs/guide").glob("*.md")):
            self.check(page)
        self.assertGreaterEqual(Pages.compared, COMPARED_MIN)

    def test_what_is_wrong_is_found(self):
        page = of_page("```sh\nweft run x --machine virtual --trace t\nweft report t\n```\n```\na  b\nc\n```\n")
        self.assertEqual([(p.words[1], p.output) for p in page], [("run", None), ("report", ["a  b", "c"])])
        self.assertTrue(page[1].virtual({"t"}))
        self.assertFalse(page[1].virtual(set()))
        self.assertEqual(missing(page[1].output, "x\na b\ny\nc\n"), "")
        self.assertEqual(missing(page[1].output, "c\na b\n"), "c")
        self.assertEqual(missing(["a 1"], "a 2\n"), "a 1")
        self.assertEqual(missing(["- a", "  b", "- c"], "- a b\n- c\n"), "")


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
