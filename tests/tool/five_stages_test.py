#!/usr/bin/env python3
"""What docs/guide/42-streams.md shows of a pipeline of five stages, line by line, by the commands that it shows.

Run as: python3 tests/tool/five_stages_test.py --weft PATH [unittest arguments]
The example is the one that was built beside the tool; without it, the test is skipped.
"""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import command_line

WEFT = "weft"
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/42-streams.md"
HEADING = "### Which stage binds, and where its data lie"


def steps() -> list[tuple[str, list[str]]]:
    """Commands, and lines of their output, in the order of the page."""
    section = PAGE.read_text(encoding="utf-8").split(HEADING)[1].split("\n## ")[0]
    found = re.findall(r"^```sh\n(.*?)^```\n```\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return [(commands, shown.splitlines()) for commands, shown in found]


class FiveStages(unittest.TestCase):
    def test_page(self):
        tool = pathlib.Path(WEFT).resolve()
        examples = tool.parent / "examples"
        if not (examples / "15-five-stages").exists():
            self.skipTest("the target example_15-five-stages is not built")
        clean = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
        clean["PATH"] = f"{tool.parent}:{examples}:{clean['PATH']}"
        self.assertGreaterEqual(len(steps()), 4)
        with tempfile.TemporaryDirectory() as folder:
            for commands, shown in steps():
                with self.subTest(commands=commands):
                    done = subprocess.run(["bash", "-e", "-c", commands], cwd=folder, env=clean, capture_output=True,
                                          text=True, timeout=600, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    printed = done.stdout.splitlines()
                    for line in shown:
                        self.assertIn(line, printed)


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
