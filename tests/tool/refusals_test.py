#!/usr/bin/env python3
"""What cannot be is refused in one line that says where it stands, which option it was, and why: numbers that are none,
traces of what cannot have happened, places that are not there, and mistakes in the environment of a program.

Run as: python3 tests/tool/refusals_test.py --weft PATH [unittest arguments]
"""
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

import command_line

WEFT = "weft"
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}


def run(*args, env=None):
    return subprocess.run([str(a) for a in args], capture_output=True, text=True, errors="replace", timeout=600,
                          env={**CLEAN, **(env or {})})


class Refusals(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weft-refusals-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def refused(self, expected, *args, env=None):
        done = run(WEFT, *args, env=env)
        self.assertEqual((done.returncode, done.stdout), (2, ""), f"{args}: {done.stderr}")
        self.assertEqual(command_line.spoken(done.stderr).count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("weft: "), done.stderr)
        for part in [expected] if isinstance(expected, str) else expected:
            self.assertIn(part, done.stderr)


class Numbers(Refusals):
    def test_not_a_number(self):
        trace = self.folder / "x.weft"
        trace.write_text("")
        for value in ("nan", "NaN", "-nan", "inf", "-inf", "infinity", "1e999", "0", "-1", "1x", "0x"):
            with self.subTest(value=value):
                why = f"'{value}' cannot be; it must be a number from"
                self.refused(["--speed", why], "sim", trace, f"--speed={value}")
                self.refused(["--timeout", why], "check", f"--timeout={value}", "--", "/bin/true")

    def test_below_zero_is_no_large_number(self):
        """As it was where an option has no other bound, and where the wrapped number lies within it."""
        trace = self.folder / "x.weft"
        trace.write_text("")
        for value in ("-1", "-18446744073709551615"):
            self.refused(["--limit", f"'{value}' cannot be"], "export", trace, "--format", "dot", f"--limit={value}")
            self.refused(["--draw", f"'{value}' cannot be"], "run", "random-graph", f"--draw={value}")
            self.refused(["--workers", f"'{value}' cannot be"], "whatif", trace, f"--workers={value}")
            self.refused(["--workers", f"'{value}' cannot be"], "run", "independent", f"--workers={value}")

    def test_seeds_name_where_they_are_from(self):
        for value in ("many", "-1", "nan", "1.5", "0", "99999999999999999999"):
            self.refused(f"--seed = '{value}' cannot be", "run", "independent", "--n", "9", f"--seed={value}")
            self.refused(f"WEFT_SEED = '{value}' cannot be", "run", "independent", "--n", "9", env={"WEFT_SEED": value})


class Environment(Refusals):
    def test_no_place_for_temporary_files(self):
        env = {"TMPDIR": str(self.folder / "none")}
        for command in ("sim", "check"):
            self.refused([f"{command}: cannot make a folder", "none: No such file", "TMPDIR"], command, "/bin/true",
                         env=env)

    def test_programs_end_in_one_line(self):
        """Not in std::terminate, whose words nobody can use, and a core dump."""
        hello = pathlib.Path(WEFT).parent / "examples" / "01-hello"
        for name, value in (("WORKERS", "many"), ("WINDOW", "-1"), ("MACHINE", "nowhere"), ("POLICY", "x"),
                            ("SCHEDULE", "x"), ("BODY_SCALE", "nan"), ("TRACE", "/no/such/trace"), ("PIN", "2"),
                            ("TRACE_MIB", "0"), ("CREATION", "x"), ("STACK_KIB", "1")):
            with self.subTest(name=name):
                env = {"WEFT_MACHINE": "virtual", f"WEFT_{name}": value}
                done = run(hello, env=env)
                self.assertEqual((done.returncode, command_line.spoken(done.stderr).count("\n")), (2, 1), done.stderr)
                self.assertTrue(done.stderr.startswith("weft: "), done.stderr)
                self.assertIn(f"WEFT_{name}", done.stderr)
                self.assertIn(value, done.stderr)


class Traces(Refusals):
    """A trace in which one thing is other than it can be."""
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="weft-refusals-")
        cls.addClassCleanup(scratch.cleanup)
        cls.good = pathlib.Path(scratch.name) / "good.weft"
        done = run(WEFT, "run", "stencil", "--machine", "virtual", "--workers", "3", "--steps", "6", "--cells", "200",
                   "--trace", cls.good)
        assert done.returncode == 0, done.stderr

    COMMANDS = (["report"], ["sim", "--workers", "4"], ["export", "--format", "perfetto"], ["whatif", "--workers", "2"])

    def with_change(self, sql: str) -> pathlib.Path:
        trace = self.folder / "changed.weft"
        shutil.copy(self.good, trace)
        with sqlite3.connect(trace) as db:
            self.assertEqual(db.execute(sql).rowcount, 1, sql)
        db.close()
        return trace

    def test_what_cannot_have_happened(self):
        for sql, why in (
            ("UPDATE tasks SET finished_ns = 9223372036854775807 WHERE id = 9", "more than 52 days"),
            ("UPDATE tasks SET submitted_ns = 4611686018427387904 WHERE id = 9", "more than 52 days"),
            ("UPDATE tasks SET started_ns = -1 WHERE id = 9", "before the start of the run"),
            ("UPDATE tasks SET finished_ns = finished_ns + 1000000 WHERE id = 9", "at the same time"),
            ("UPDATE waits SET to_ns = 9223372036854775807 WHERE rowid = 1", "more than 52 days"),
            ("UPDATE meta SET value = '9223372036854775807' WHERE key = 'duration_ns'", "more than 52 days"),
            ("UPDATE accesses SET kind = 'wrote' WHERE task = 9 AND position = 0", "kind 'wrote' is unknown"),
            ("UPDATE accesses SET kind = 'user 99' WHERE task = 9 AND position = 0", "kind 'user 99' is unknown"),
            ("UPDATE accesses SET kind = 'resource' WHERE task = 9 AND position = 0", "it has a next_version"),
            ("UPDATE accesses SET next_version = NULL WHERE task = 9 AND position = 0", "it has no next_version"),
            ("UPDATE kinds SET readonly = 7 WHERE kind = 'read'", "readonly is 7"),
            ("UPDATE handles SET bytes = -5 WHERE id = (SELECT min(id) FROM handles)", "bytes is -5"),
            ("UPDATE handles SET bytes = 4611686018427387904 WHERE id = (SELECT min(id) FROM handles)", "bytes is 46"),
            ("UPDATE tasks SET priority = 8 WHERE id = 9", "priority is 8"),
            ("UPDATE tasks SET finished_ns = 1e300 WHERE id = 9", "finished_ns is no whole number"),
            ("UPDATE meta SET value = 'Inf' WHERE key = 'window'", 'meta has "Inf" as window'),
            ("UPDATE tasks SET finished_ns = 'nan' WHERE id = 9", "finished_ns is no whole number"),
        ):
            trace = self.with_change(sql)
            for command, *more in self.COMMANDS:
                if "window" in sql and command in ("report", "export"):
                    continue  # does not use it
                with self.subTest(sql=sql, command=command):
                    self.refused([str(trace), why], command, trace, *more)

    def test_modelled_time_that_ends(self):
        trace = self.with_change("UPDATE tasks SET finished_ns = 4000000000000000 "
                                 "WHERE id = (SELECT id FROM tasks ORDER BY finished_ns DESC LIMIT 1)")
        self.refused([str(trace), "days of modelled time", "--speed"], "sim", trace, "--speed", "0.001")

    def test_the_main_thread_waits_for_two_things_at_once(self):
        trace = self.with_change("INSERT INTO waits SELECT task, why, handle, from_worker, from_ns + 1, to_worker, "
                                 "to_ns, own_ns FROM waits WHERE task IS NULL LIMIT 1")
        self.refused([str(trace), "the main thread waits"], "report", trace)

    def test_mutations(self):
        """Whatever stands in a field, and whatever byte is wrong: a result, or one line that names the file."""
        rng = random.Random(11)
        odd = [-1, 0, 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, -2**63, "x", None, 1.5, float("inf"), b"\0", "done",
               "read", "user 99", "resource"]
        with sqlite3.connect(self.good) as db:
            tables = {t: [c[1] for c in db.execute(f"PRAGMA table_info({t})")] for (t,) in
                      db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()}
            rows = {t: db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables}
        db.close()
        tables = {t: columns for t, columns in tables.items() if rows[t] > 0}
        for _ in range(60):
            trace = self.folder / "mutated.weft"
            shutil.copy(self.good, trace)
            if rng.random() < 0.7:
                table = rng.choice(sorted(tables))
                column, value = rng.choice(tables[table]), rng.choice(odd)
                key = tables[table][0]
                with sqlite3.connect(trace) as db:
                    of = db.execute(f"SELECT {key} FROM {table} LIMIT 1 OFFSET ?", (rng.randrange(rows[table]),))
                    try:
                        db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} IS ?", (value, of.fetchone()[0]))
                    except sqlite3.IntegrityError:
                        pass
                db.close()
                what = (table, column, value)
            else:
                data = bytearray(trace.read_bytes())
                places = [rng.randrange(len(data)) for _ in range(4)]
                for at in places:
                    data[at] = rng.randrange(256)
                trace.write_bytes(data)
                what = places
            for command, *more in self.COMMANDS[:3]:
                with self.subTest(what=what, command=command):
                    done = run(WEFT, command, trace, *more)
                    self.assertIn(done.returncode, (0, 2), done.stderr)
                    if done.returncode == 2:
                        self.assertEqual(command_line.spoken(done.stderr).count("\n"), 1, done.stderr)
                        self.assertIn(str(trace), done.stderr)

    def test_options_are_refused_before_the_trace_is_read(self):
        trace = self.folder / "none.weft"
        trace.write_text("no trace at all")
        for args in (["sim", trace, "--machine", "nowhere"], ["whatif", trace, "--machine", "nowhere"],
                     ["sim", trace, "--policy", "nowhere"]):
            self.refused("nowhere", *args)
        self.refused('grain "x" cannot be', "whatif", trace, "--grain", "x")

    def test_no_figure_is_negative(self):
        reply = json.loads(run(WEFT, "report", self.good, "--json").stdout)
        for key in ("makespan_ns", "work_ns", "span_ns", "overhead_ns", "searching_ns", "asleep_ns", "utilisation"):
            self.assertGreaterEqual(reply[key], 0, key)


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
