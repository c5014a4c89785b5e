#!/usr/bin/env python3
"""What weft report says of ordered sections: on real cores, on modelled ones, and on a modelled chip.

Run as: python3 tests/tool/sections_test.py --weft PATH [unittest arguments]
"""
import json
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

import command_line

WEFT = "weft"


class Sections(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weft-sections-")
        self.addCleanup(scratch.cleanup)
        self.trace = pathlib.Path(scratch.name) / "run.weft"
        self.page = pathlib.Path(scratch.name) / "run.html"

    def weft(self, *args):
        done = subprocess.run([WEFT, *map(str, args)], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def run_program(self, *args):
        """What the program itself counted, and what the report says of it."""
        counted = json.loads(self.weft("run", *args, "--trace", self.trace, "--json"))
        reply = json.loads(self.weft("report", self.trace, "--html", self.page, "--json"))
        self.assertEqual(len(reply["sections"]), 1)
        section = reply["sections"][0]
        self.assertEqual(section["runs"], 1)
        self.assertEqual(section["committed"], counted["calls_committed"])
        self.assertEqual(section["calls"], counted["calls_started"])
        self.assertLessEqual(section["again"], section["in_vain"])
        self.assertEqual(section["in_vain"], section["calls"] - section["committed"])
        text = self.weft("report", self.trace)
        self.assertIn("ordered sections", text)
        self.assertIn(section["text"], text)
        self.assertIn("Ordered sections", self.page.read_text())
        return section

    def test_modelled_cores(self):
        section = self.run_program("ledger", "--executor", "speculative", "--workers", "16", "--machine", "virtual")
        self.assertEqual(section["executor"], "speculative")
        self.assertGreater(section["committed"], section["in_order"])
        self.assertIsNotNone(section["gain"])
        self.assertRegex(section["text"], "^(yes|no|even)")
        self.assertAlmostEqual(section["gain"], section["serial_ns"] / section["took_ns"])

    def test_real_cores(self):
        for workers in (1, 7):
            section = self.run_program("network", "--executor", "speculative", "--workers", workers)
            self.assertGreater(section["took_ns"], 0)
            if workers == 1:  # nobody could run ahead
                self.assertEqual((section["in_order"], section["in_vain"]), (section["committed"], 0))

    def test_chip(self):
        section = self.run_program("sssp", "--executor", "swarm", "--workers", "1", "--width", "100", "--height", "50")
        self.assertEqual(section["executor"], "swarm")
        self.assertGreater(section["in_vain"], 0)
        self.assertGreater(section["gain"], 2)

    def test_serial(self):
        section = self.run_program("bfs", "--executor", "serial", "--workers", "2", "--width", "60", "--height", "30")
        self.assertEqual((section["executor"], section["gain"], section["text"]), ("serial", None, "-"))

    def test_levels(self):
        """Bodies of a level at the same time: the branches of its loop lie in the trace, whoever took them."""
        for workers in (1, 2, 3, 4):
            section = self.run_program("bfs", "--executor", "levels", "--workers", workers)
            self.assertEqual((section["executor"], section["in_vain"]), ("levels", 0))

    def test_table(self):
        self.run_program("bfs", "--executor", "levels", "--workers", "2", "--machine", "virtual", "--width", "60",
                         "--height", "30")
        with sqlite3.connect(self.trace) as db:
            rows = db.execute("SELECT executor, ended_ns > began_ns, serial_ns FROM sections").fetchall()
        self.assertEqual(rows, [("levels", 1, None)])


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
