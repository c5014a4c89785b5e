#!/usr/bin/env python3
"""weft report from outside: tables, JSON, errors, and a million tasks. The page has a test of its own.

Run as: python3 tests/tool/report_test.py --weft PATH [unittest arguments]
"""
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import command_line
import trace_maker

WEFT = "weft"


def run(*args, **kwargs):
    return subprocess.run([WEFT, "report", *map(str, args)], capture_output=True, text=True, timeout=600, **kwargs)


class Report(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weft-report-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def good(self, *args):
        done = run(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def bad(self, expected, *args):
        done = run(*args)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(command_line.spoken(done.stderr).count("\n"), 1, done.stderr)
        self.assertIn(expected, done.stderr)
        self.assertEqual(done.stdout, "")
        reply = json.loads(run(*args, "--json").stdout)
        self.assertIs(reply["ok"], False)
        self.assertIn(expected, reply["error"])

    def diamond(self, **meta):
        """Two workers; the path is 30 + 40 + 5 ns."""
        return trace_maker.write(
            self.folder / "diamond.weft", 2, ["top", "side", "end"], ["a", "b"],
            [(1, None, 1, 0, 10, 0, 20, 50, "done"), (2, None, 2, 0, 11, 1, 50, 90, "done"),
             (3, None, 2, 0, 12, 0, 55, 65, "done"), (4, None, 3, 0, 13, 0, 100, 105, "done")],
            [(1, 0, 1, "write", 0, 1), (1, 1, 2, "write", 0, 1), (2, 0, 1, "write", 1, 2), (3, 0, 2, "write", 1, 2),
             (4, 0, 1, "read", 2, 3), (4, 1, 2, "read", 2, 3)],
            [(None, "all", None, 0, 14, 0, 110)], [(49, 1, 0, 2)], [(1, 0, 40)], program="diamond", **meta)

    def test_figures(self):
        reply = json.loads(self.good(self.diamond(), "--json"))
        expected = {"ok": True, "program": "diamond", "workers": 2, "tasks": 4, "lost": 0, "makespan_ns": 100,
                    "work_ns": 85, "main_program_ns": 4, "span_ns": 75, "overhead_ns": 21, "steals": 1, "sleeps": 1,
                    "html": None}
        self.assertEqual({k: reply[k] for k in expected}, expected)
        self.assertAlmostEqual(reply["parallelism"], 89 / 75)
        self.assertEqual(reply["critical_path"], {"ns": 75, "main_program_ns": 0, "steps": 3, "tasks": [1, 2, 4]})
        self.assertEqual([(n["name"], n["count"], n["total_ns"]) for n in reply["names"]],
                         [("side", 2, 50), ("top", 1, 30), ("end", 1, 5)])
        self.assertEqual(reply["names"][0]["waited_for_data_ns"], 39 + 38)
        self.assertEqual(reply["names"][0]["waited_for_worker_ns"], 0 + 5)
        self.assertEqual(reply["waits"]["all"], {"count": 1, "total_ns": 96})
        total = reply["work_ns"] + reply["main_program_ns"] + reply["overhead_ns"] + reply["searching_ns"] + \
            reply["asleep_ns"]
        self.assertEqual(total, 2 * reply["makespan_ns"])

    def test_text(self):
        text = self.good(self.diamond())
        self.assertNotIn("\033", text)
        self.assertRegex(text, r"critical path +75 ns ")
        self.assertRegex(text, r"side +2 +50 ns +59 %")
        self.assertNotIn("LOST", text)

    def test_what_rules_decided(self):
        """Traces of old formats do not tell, and that is said."""
        old = self.diamond()
        self.assertIsNone(json.loads(self.good(old, "--json"))["rules"])
        self.assertRegex(self.good(old), r"decisions +- +not told by traces before format 11")
        new = self.folder / "new.weft"
        run = [WEFT, "run", "tao_dag", "--machine", "virtual", "--workers", "6", "--trace", new, "--json"]
        done = subprocess.run(run, capture_output=True, text=True, timeout=600, check=True)
        counts = json.loads(done.stdout)["rules"]
        self.assertTrue(counts and all(counts.values()))
        told = json.loads(self.good(new, "--json"))["rules"]  # a trace is written at the end, and tells of that, too
        self.assertEqual([name for name in counts if told[name] < counts[name]], [])
        self.assertRegex(self.good(new), rf"decisions +{sum(told.values())} +by rules: \w+ {max(told.values())}\b")

    def test_waits_of_every_kind(self):
        for why in ("children", "all", "handle", "window", "event", "join"):
            path = trace_maker.write(self.folder / f"{why}.weft", 1, ["a"], ["h"],
                                     [(1, None, 1, 0, 1, 0, 2, 50, "done")], [],
                                     [(1, why, 1 if why == "handle" else None, 0, 10, 0, 30)])
            self.assertRegex(self.good(path), rf"{why} +1 +20 ns")
            done = subprocess.run([WEFT, "sim", path, "--workers", "1"], capture_output=True, text=True, timeout=600)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_lost_and_failed_are_said(self):
        self.assertIn("7 RECORDS WERE LOST", self.good(self.diamond(lost=7)))
        path = trace_maker.write(self.folder / "f.weft", 1, ["a"], [],
                                 [(1, None, 1, 0, 1, 0, 2, 9, "failed"), (2, None, 1, 0, 1, 0, 10, 10, "skipped"),
                                  (3, None, 1, 0, 1, None, None, None, "not run")], [])
        self.assertIn("1 failed, 1 skipped, 1 not run", self.good(path))

    def test_what_the_main_program_does(self):
        """Three tasks that it submits slowly: its time is the same, what it did in it is not, and so is the advice."""
        def trace(own):
            p = trace_maker.Program(submit_ns=10_000)
            for _ in range(200):
                p.submit("part", 5_000)
            return trace_maker.upgrade(p.run(self.folder / f"own{own}.weft", 4), own)
        for own, says in ((9_000, "make tasks of that work"),
                          (500, "submit from inside tasks, or submit fewer")):
            path = trace(own)
            reply = json.loads(self.good(path, "--json"))
            self.assertEqual(reply["main_program_own_ns"], 199 * own)
            self.assertEqual(reply["main_program_ns"] - reply["main_program_own_ns"], 2_000_000 - 199 * own)
            texts = [a["text"] for a in reply["advice"] if a["kind"] == "narrow_graph"]
            self.assertEqual(len(texts), 1)
            self.assertIn(says, texts[0])
            self.assertRegex(self.good(path), r"in the main program: .* submitting, .* work of its own")
        old = json.loads(self.good(self.diamond(), "--json"))
        self.assertIsNone(old["main_program_own_ns"])

    def test_the_first_example_is_told_the_truth(self):
        """Its trace has the factorization and nothing else: no check of it, no run of OpenBLAS, no copies."""
        path = self.folder / "run.weft"
        for _ in range(20):  # a main thread kept from its core looks busy: one undisturbed run is enough
            done = subprocess.run([WEFT, "run", "cholesky", "--n", "1024", "--trace", path, "--workers", "2", "--json"],
                                  capture_output=True, text=True, timeout=600)
            self.assertEqual(done.returncode, 0, done.stderr)
            ran, reply = json.loads(done.stdout), json.loads(self.good(path, "--json"))
            self.assertEqual((ran["repeat"], reply["tasks"]), (1, ran["tasks_per_run"]))
            self.assertNotIn("openblas_seconds", ran)
            self.assertTrue(all(c["ok"] for c in ran["checks"]))
            self.assertLess(reply["main_program_ns"], reply["makespan_ns"])
            own = reply["main_program_own_ns"] / reply["makespan_ns"]
            if own < 0.2 and not [a for a in reply["advice"] if "submit" in a["text"]]:
                break
            path.unlink()
        self.assertLess(own, 0.2)
        self.assertFalse([a for a in reply["advice"] if "submit" in a["text"]])

    def test_where_tasks_with_hints_ran(self):
        path = self.folder / "run.weft"
        done = subprocess.run([WEFT, "run", "sor", "--size", "256", "--iterations", "2", "--layout", "blocked",
                               "--policy", "near", "--machine", "epyc-7551-32", "--trace", path, "--json"],
                              capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        ran, reply = json.loads(done.stdout), json.loads(self.good(path, "--json"))
        self.assertEqual(reply["tasks"], ran["tasks"])
        with sqlite3.connect(path) as db:
            hinted, there, spanning, stolen = (db.execute(f"SELECT count(*) FROM {what}").fetchone()[0] for what in (
                "tasks WHERE near >= 0", "tasks WHERE at_near", "tasks WHERE near = -1", "steals"))
        placing = reply["placing"]
        self.assertEqual((placing["hinted"], placing["at_near"], placing["spanning"]), (hinted, there, spanning))
        self.assertEqual(placing["calls"], ran["calls"])
        self.assertEqual(sum(placing["stolen"].values()), stolen)
        self.assertEqual(sum(n["hinted"] for n in reply["names"]), hinted)
        said = rf"of {hinted} tasks with hints began at the memory node they want"
        if spanning != 0:
            said += rf"; {spanning} more have data on several nodes"
        self.assertRegex(self.good(path), rf"near +\d+ % +{said}\n +calls +{ran['calls']} ")
        page = self.folder / "page.html"
        self.good(path, "--html", page)
        self.assertIn('"task_near"', page.read_text())
        self.assertIsNone(json.loads(self.good(self.diamond(), "--json"))["placing"])

    def test_two_runs(self):
        """The second has one side less, another name, and everything twice as slow but the end."""
        other = trace_maker.write(
            self.folder / "other.weft", 2, ["end", "side", "new"], ["a"],
            [(1, None, 3, 0, 10, 0, 20, 80, "done"), (2, None, 2, 0, 11, 1, 80, 160, "done"),
             (3, None, 1, 0, 13, 0, 170, 175, "done")],
            [(1, 0, 1, "write", 0, 1), (2, 0, 1, "write", 1, 2), (3, 0, 1, "read", 2, 3)],
            [(None, "all", None, 0, 14, 0, 190)], program="other")
        first = self.diamond()
        text = self.good(first, other)
        self.assertRegex(text, r"A +.*diamond\.weft: diamond on machine virtual")
        self.assertRegex(text, r"B +.*other\.weft: other on machine virtual")
        for row in (r"tasks +4 +3 +-25 %", r"makespan +100 ns +180 ns +\+80 %", r"work +85 ns +145 ns +\+71 %",
                    r"critical path +75 ns +145 ns +\+93 %", r"steals +1 +0 +-100 %",
                    r"new +- +1 +- +60 ns +- +- +60 ns +-", r"side +2 +1 +50 ns +80 ns +\+60 % +10 ns +80 ns +\+700 %",
                    r"top +1 +- +30 ns +- +- +30 ns +- +-", r"end +1 +1 +5 ns +5 ns +0 %"):
            self.assertRegex(text, row)
        reply = json.loads(self.good(first, other, "--json"))
        self.assertEqual([(n["name"], n["change_ns"]) for n in reply["names"]],
                         [("new", 60), ("side", 30), ("top", -30), ("end", 0)])
        for side, path in (("a", first), ("b", other)):
            alone = json.loads(self.good(path, "--json"))
            self.assertEqual(reply[side], {k: v for k, v in alone.items() if k != "html"})
        same = self.good(first, first)
        self.assertNotRegex(same, r"[1-9]\d* %$")
        self.bad("--html is for one run", first, other, "--html", self.folder / "x.html")
        self.bad("no-such.weft", first, self.folder / "no-such.weft")

    def test_page_is_written_and_named(self):
        page = self.folder / "x.html"
        self.assertIn(f"page: {page}\n", self.good(self.diamond(), "--html", page))
        self.assertTrue(page.read_text().startswith("<!doctype html>"))
        self.assertEqual(json.loads(self.good(self.diamond(), "--html", page, "--json"))["html"], str(page))

    def test_errors(self):
        trace = self.diamond()
        self.bad("no-such.weft", self.folder / "no-such.weft")
        self.bad("would replace the trace", trace, "--html", trace)
        self.assertEqual(json.loads(self.good(trace, "--json"))["tasks"], 4)
        self.bad("such.html: cannot create", trace, "--html", self.folder / "no" / "such.html")
        self.bad("No space left on device", trace, "--html", "/dev/full")
        self.assertTrue(os.path.exists("/dev/full"))
        self.bad("FILE", "--bogus")
        notes = self.folder / "notes.txt"
        notes.write_text("not a trace\n" * 100)
        self.bad("notes.txt", notes)

    def test_names_cannot_drive_the_terminal(self):
        path = trace_maker.write(self.folder / "n.weft", 1, ["\033]0;gone\007\033[2J", "x" * 10_000], [],
                                 [(1, None, 1, 0, 1, 0, 2, 9, "done"), (2, None, 2, 0, 1, 0, 10, 12, "done")], [],
                                 program="\033[31mred")
        text = self.good(path)
        self.assertNotIn("\033", text)
        self.assertNotIn("\007", text)
        self.assertLess(max(map(len, text.splitlines())), 200)
        names = [n["name"] for n in json.loads(self.good(path, "--json"))["names"]]
        self.assertEqual(names, ["\033]0;gone\007\033[2J", "x" * 10_000])

    def test_equal_names_are_one(self):
        path = trace_maker.write(self.folder / "n.weft", 1, ["a", "b", "a"], [],
                                 [(i, None, i, 0, 0, 0, 10 * i, 10 * i + i, "done") for i in (1, 2, 3)], [])
        reply = json.loads(self.good(path, "--json"))
        self.assertEqual([(n["name"], n["count"], n["total_ns"]) for n in reply["names"]], [("a", 2, 4), ("b", 1, 2)])

    def test_guide(self):
        """The page of the guide shows what its first commands print."""
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs/guide/12-report.md").read_text(encoding="utf-8")
        commands, shown = re.search(r"```sh\n(.*?)```.*?```\n(.*?)```", page, re.DOTALL).groups()
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("WEFT_", "TERM"))}
        lines = commands.strip().splitlines()
        self.assertEqual(len(lines), 3)
        printed = [subprocess.run([WEFT, *line.split()[1:]], cwd=self.folder, env=clean, capture_output=True, text=True,
                                  timeout=600, check=True).stdout for line in lines]
        self.assertEqual(printed[1], shown)
        self.assertTrue((self.folder / "run.html").exists())

    def test_million(self):
        path = trace_maker.million(self.folder / "million.weft")
        start = time.monotonic()
        reply = json.loads(self.good(path, "--json"))
        print(f"a million tasks, three million accesses: {time.monotonic() - start:.1f} s", file=sys.stderr)
        self.assertEqual(reply["tasks"], 1_000_000)
        self.assertEqual(reply["work_ns"], 900_000_000)
        self.assertEqual(reply["contradictions"], 0)
        # Rounds of the ring: each task after its own and its neighbours' of the round before.
        self.assertEqual(reply["span_ns"], 900 * -(-1_000_000 // 4096))


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
