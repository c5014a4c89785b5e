#!/usr/bin/env python3
"""What a trace says of forks, loops, sorts, pipelines and ordered sections, beside the truth: the same program run on
that machine.

Each shape is recorded with 1, 2 and 8 modelled workers, and from each trace weft sim predicts how long it takes with 1,
8 and 64. The truth is the program itself with so many.

Run as: python3 tests/tool/forked_test.py --weft PATH [unittest arguments]
"""
import functools
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

import command_line

WEFT = "weft"
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
RECORDED = (1, 2, 8)
PREDICTED = (1, 8, 64)
WITHIN = 0.10


def program():
    return str(pathlib.Path(WEFT).resolve().parent / "tests/check_forked")


def weft(*args):
    done = subprocess.run([WEFT, *map(str, args)], capture_output=True, text=True, timeout=600, env=CLEAN)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


@functools.cache
def truth(shape, workers, trace=None):
    """Nanoseconds."""
    settings = {"WEFT_MACHINE": "virtual", "WEFT_WORKERS": str(workers)}
    if trace is not None:
        settings["WEFT_TRACE"] = str(trace)
    done = subprocess.run([program(), shape], capture_output=True, text=True, timeout=600, env={**CLEAN, **settings})
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return float(done.stdout)


class Forked(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weft-forked-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def record(self, shape, workers):
        trace = self.folder / f"{shape}-{workers}.weft"
        self.assertEqual(truth(shape, workers, trace), truth(shape, workers), "a trace changes modelled times")
        return trace

    def predicts(self, shape):
        for recorded in RECORDED:
            trace = self.record(shape, recorded)
            for workers in PREDICTED:
                told = json.loads(weft("sim", trace, "--workers", workers, "--json"))
                self.assertNotIn("unseen", told)
                off = told["makespan_ns"] / truth(shape, workers) - 1
                with self.subTest(shape=shape, recorded=recorded, workers=workers):
                    self.assertLess(abs(off), WITHIN)

    def test_fib(self):
        self.predicts("fib")

    def test_uts(self):
        self.predicts("uts")

    def test_sort(self):
        self.predicts("sort")

    def test_loop(self):
        self.predicts("loop")

    def test_pipeline(self):
        self.predicts("pipeline")

    def test_pipeline_that_a_serial_stage_binds(self):
        self.predicts("serial-pipeline")

    def test_pipeline_whose_stages_fork_submit_and_wait(self):
        self.predicts("busy-pipeline")

    def test_ordered_section(self):
        self.predicts("ordered")

    def test_ordered_section_whose_bodies_meet(self):
        self.predicts("meetings")

    def test_ordered_section_that_runs_twice_and_submits(self):
        self.predicts("ordered-twice")

    def test_ordered_levels(self):
        self.predicts("levels")

    def test_report_of_pipelines_and_sections(self):
        """What one worker did has the parallelism there is; who helps is at work, and in no chain of its own."""
        for shape, least, most in (("pipeline", 20, 40), ("serial-pipeline", 2, 2.7), ("levels", 20, 40),
                                   ("meetings", 7, 16)):
            for workers in (1, 8):
                told = json.loads(weft("report", self.record(shape, workers), "--json"))
                self.assertIsNone(told["unseen"])
                self.assertGreater(told["parallelism"], least, (shape, workers))
                self.assertLess(told["parallelism"], most, (shape, workers))

    def test_report(self):
        """Branches that ran elsewhere are time in bodies, and one worker's record shows the parallelism there is."""
        for shape in ("fib", "uts", "sort", "loop"):
            one = json.loads(weft("report", self.record(shape, 1), "--json"))
            self.assertIsNone(one["unseen"])
            self.assertGreater(one["utilisation"], 0.95, shape)
            self.assertGreater(one["parallelism"], 4, shape)
            eight = json.loads(weft("report", self.record(shape, 8), "--json"))
            real = truth(shape, 1) / truth(shape, 8) / 8
            self.assertGreater(eight["utilisation"], 0.9 * real, shape)

    def test_whatif(self):
        for shape in ("fib", "loop", "pipeline", "ordered"):
            told = weft("whatif", self.record(shape, 1), "--workers", "1,8")
            self.assertNotIn("nan", told)
            self.assertIn("best with 8 workers", told)

    def test_grain(self):
        """Pipelines and sections are no tasks to be merged or split: a table with another grain is the same."""
        for shape in ("pipeline", "ordered", "meetings"):
            trace = self.record(shape, 8)
            table = [weft("whatif", trace, "--workers", "8", "--grain", grain).split("\n- ")[0]
                     for grain in ("1", "4", "/4")]
            self.assertEqual(len(set(table)), 1, table)

    def test_export(self):
        """Each body that happened is a slice."""
        trace, out = self.record("ordered", 8), self.folder / "ordered.perfetto"
        with sqlite3.connect(trace) as db:
            bodies = db.execute("SELECT count(*) FROM bodies").fetchone()[0]
        weft("export", trace, "--format", "perfetto", "-o", out)
        written = out.read_bytes()
        self.assertEqual(bodies, 1152)
        self.assertIn(b"ordered bodies of worker 7", written)
        self.assertEqual(written.count(b"ordered body"), 1, "a name is written once")
        self.assertGreater(len(written), 2 * 30 * bodies)

    def test_what_is_not_shown_is_said(self):
        """A section of the relaxed executor is no part of a replay: then nothing is advised."""
        for shape, words in (("relaxed", "1 ordered section of "),):
            trace = self.record(shape, 1)
            self.assertIn(words, weft("report", trace))
            told = weft("whatif", trace, "--workers", "1,8")
            self.assertIn(words, told)
            self.assertNotIn("gain nothing", told)
            self.assertNotIn("best with", told)
            self.assertIn(words, json.loads(weft("sim", trace, "--json"))["unseen"])


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
