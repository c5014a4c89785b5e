#!/usr/bin/env python3
"""`weft bench` on problems that fork and join.

usage: bench_recursion_test.py --weft PATH [unittest arguments]
"""
import json
import pathlib
import subprocess
import tempfile
import unittest

import command_line

WEFT = ""
RECURSIONS = {"fib": 1346268, "uts": 953633, "nqueens": 856189, "skynet": 1000000, "matmul": 4096, "treesum1k": 1023,
              "treesum4m": 4194303}
# A program in the place of a system's; the serial one takes 2 ns, others 5.
SAMPLE = """#!/bin/sh
value=5; [ "$1" = serial ] && value=2
echo '{"value": '$value', "above": false, "counts_right": %s, "order_right": true, "comparable": %s,
 "remark": "%s", "version": "v", "tasks": 1, "priority": true}' | tr '\\n' ' '
"""


def bench(*args):
    return subprocess.run([WEFT, "bench", *args], capture_output=True, text=True, timeout=600, check=False)


class BenchRecursion(unittest.TestCase):
    def rows(self, *args):
        done = bench(*args, "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)["rows"]

    def fake(self, *args, counts="true", comparable="true", remark=""):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("serial", "weft", "tbb"):
                program = pathlib.Path(folder) / name
                said = (comparable, remark) if name == "tbb" else ("true", "")
                program.write_text(SAMPLE % (counts, *said), encoding="ascii")
                program.chmod(0o755)
            return bench("fib", "--systems", "serial,weft,weft-here,tbb", "--workers", "2", "--rounds", "1",
                         "--programs", folder, *args)

    def test_every_recursion(self):
        rows = self.rows(*RECURSIONS, "--systems", "serial,weft,weft-here,weft-async", "--workers", "1,2", "--quick")
        expected = [(p, s, w) for p in RECURSIONS
                    for s, w in (("serial", 1), ("weft", 1), ("weft", 2), ("weft-here", 1), ("weft-here", 2),
                                 ("weft-async", 1), ("weft-async", 2))]
        self.assertEqual([(r["problem"], r["system"], r["workers"]) for r in rows], expected)
        serial = {r["problem"]: r["value"] for r in rows if r["system"] == "serial"}
        for row in rows:
            self.assertEqual(row["tasks"], RECURSIONS[row["problem"]])
            self.assertEqual(row["meaning"], "time per task of a recursion")
            if row["system"] != "serial":
                self.assertAlmostEqual(row["times_serial"], row["value"] / serial[row["problem"]])
            if row["system"] in ("weft-here", "weft-async"):
                self.assertIn("times_weft", row)

    def test_every_system_has_the_same_problems(self):
        rows = self.rows(*RECURSIONS, "--workers", "1", "--quick")
        for row in rows:
            self.assertEqual(row["tasks"], RECURSIONS[row["problem"]], row)
            at_once = row["system"] == "libomp" or (row["system"], row["problem"]) == ("libgomp", "uts")
            self.assertEqual("comparable" in row, at_once, row)
            self.assertEqual("times_serial" in row, not at_once and row["system"] != "serial", row)

    def test_systems_run_what_they_can(self):
        rows = self.rows("fib", "chain1", "--systems", "serial,weft,weft-here", "--workers", "1", "--quick")
        self.assertEqual([(r["problem"], r["system"]) for r in rows],
                         [("chain1", "serial"), ("chain1", "weft"), ("fib", "serial"), ("fib", "weft"),
                          ("fib", "weft-here")])
        for problem, system in (("chain1", "weft-here"), ("chain1", "rayon"), ("fib", "starpu")):
            done = bench(problem, "--systems", system)
            self.assertEqual(done.returncode, 2)  # it has no such problem, or is not there at all
        left_out = json.loads(bench("chain1", "--workers", "1", "--quick", "--json").stdout)["missing"]
        self.assertFalse([text for text in left_out if text.startswith("rayon")])

    def test_tables(self):
        done = bench("fib", "chain1", "--systems", "serial,weft", "--workers", "1,2", "--quick")
        self.assertEqual(done.returncode, 0)
        for head in ("1 worker: ns, median of 1 round (times Weft's)",
                     "fork and join, 1 worker: ns, median of 1 round (times the serial call's)",
                     "fork and join, 2 workers: ns, median of 1 round (times the serial call's)", "fib: per fork"):
            self.assertIn(head, done.stdout)
        self.assertEqual(self.rows("treesum1k", "--systems", "serial", "--quick")[0]["workers"], 1)

    def test_ratios(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.fake("--markdown", f"{folder}/table.md")
            self.assertEqual(done.returncode, 0, done.stderr)
            table = pathlib.Path(folder, "table.md").read_text(encoding="utf-8")
            self.assertIn("| fib | 2.00 | **5.00 (2.50x)** | 5.00 (2.50x) | 5.00 (2.50x) |", table)

    def test_what_runs_at_once_is_not_compared(self):
        done = self.fake(comparable="false", remark="runs it at once")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"5\.00 \(2\.50x\) +5\.00 \(2\.50x\) +5\.00 \[1\]\n")
        self.assertIn("[1] runs it at once", done.stdout)

    def test_wrong_result(self):
        done = self.fake(counts="false")
        self.assertEqual(done.returncode, 1)
        self.assertIn("WRONG", done.stdout)
        self.assertIn("weft: bench: weft-here computed a wrong result for fib with 2 workers", done.stderr)


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
