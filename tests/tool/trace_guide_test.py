#!/usr/bin/env python3
"""docs/guide/10-traces.md against real traces: every table, view and column is there and nothing else, and every query
on the page gives rows.

Run as: python3 tests/tool/trace_guide_test.py --weft PATH [unittest arguments]
"""
import json
import contextlib
import os
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import time
import unittest

import command_line

WEFT = "weft"
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/10-traces.md"


def described() -> dict[str, list[str]]:
    """The columns of each table and view by the page's headings."""
    headings = re.findall(r"^#### `(\w+)\(([^)]*)\)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: columns.split(", ") for name, columns in headings}


def queries() -> list[str]:
    return re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


class Guide(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def trace(self, *args: str) -> contextlib.closing:
        path = pathlib.Path(self.folder.name) / "t.weft"
        clean = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
        done = subprocess.run([WEFT, "run", *args, "--trace", str(path)], env=clean, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return contextlib.closing(sqlite3.connect(path))

    def test_schema(self):
        with self.trace("independent", "--n", "10") as db:
            names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
            found = {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in names}
            self.assertEqual(described(), found)
            keys = {row[0] for row in db.execute("SELECT key FROM meta")}
        page = PAGE.read_text(encoding="utf-8")
        for key in keys:
            self.assertIn(f"`{key}`", page)

    def test_queries(self):
        self.assertGreaterEqual(len(queries()), 4)
        for machine in ("host", "virtual"):
            with self.trace("cholesky", "--n", "256", "--tile", "64", "--machine", machine, "--workers", "2") as db:
                for query in queries():
                    with self.subTest(machine=machine, query=query):
                        rows = db.execute(query).fetchall()
                        self.assertTrue(rows)
                        self.assertNotIn(None, rows[0][1:])

    def test_longest_chain(self):
        """What weft report says of it, against a walk over the tasks in order of submission."""
        with self.trace("cholesky", "--n", "256", "--tile", "64", "--machine", "virtual", "--workers", "3") as db:
            longest = dict(db.execute("SELECT id, finished_ns - started_ns FROM tasks"))
            own = dict(longest)
            for before, after in db.execute("SELECT before, after FROM dependencies ORDER BY after, before"):
                longest[after] = max(longest[after], longest[before] + own[after])
            path = db.execute("PRAGMA database_list").fetchone()[2]
            done = subprocess.run([WEFT, "report", path, "--json"], capture_output=True, text=True, timeout=600)
        found = json.loads(done.stdout)["critical_path"]
        self.assertLessEqual(found["ns"] - found["main_program_ns"], max(longest.values()))
        self.assertGreaterEqual(found["ns"], max(longest.values()))

    def test_queries_take_seconds(self):
        """On a hundred thousand tasks with three accesses each. The limit is a guard against hours."""
        with self.trace("stencil", "--steps", "3125", "--cells", "100", "--machine", "virtual", "--workers", "4") as db:
            self.assertEqual(db.execute("SELECT count(*) FROM tasks").fetchone()[0], 100_000)
            start = time.monotonic()
            for query in queries():
                db.execute(query).fetchall()
            self.assertLess(time.monotonic() - start, 120)


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
