#!/usr/bin/env python3
"""`weft export`, seen from outside: what it writes is read back by decoders of our own and compared with the trace.

Run as: python3 tests/tool/export_test.py --weft PATH [unittest arguments]
"""
import collections
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

import command_line
import tool_test
import trace_file
from export_decoders import Perfetto, dot_strings

SEEDS = random.Random(0).sample(range(1 << 30), 5)
HOSTILE = ['"];x->y[label="', "back\\slash\\", "line\nbreak\r\ttab", "<script>alert(1)</script>", "&lt;&#38;",
           "žluť 任務 🧵", "\x01\x1b[31m\x7f", "{|}<f0>", "", "\\N\\G\\L"]


def expected_slices(db):
    """Pieces of tasks, from tasks and waits; the same from Python's point of view."""
    names = dict(db.execute("SELECT id, name FROM names"))
    out = []
    for t, name, worker, start, end in db.execute(
            "SELECT id, name, worker, started_ns, finished_ns FROM tasks WHERE started_ns IS NOT NULL"):
        waits = db.execute("SELECT from_ns, to_worker, to_ns FROM waits WHERE task = ? ORDER BY from_ns", (t,))
        for pause, to, resume in waits:
            out.append((f"worker {worker}", names.get(name, "task"), start, pause, t))
            worker, start = to, resume
        out.append((f"worker {worker}", names.get(name, "task"), start, end, t))
    return sorted(out)


def arrows_of(slices):
    """Pairs of tasks, by the flow numbers, each of which must leave one slice and reach one."""
    out = {flow: s for s in slices for flow in s.out}
    into = {flow: s for s in slices for flow in s.into}
    assert out.keys() == into.keys() and len(out) == sum(len(s.out) for s in slices)
    assert len(into) == sum(len(s.into) for s in slices)
    return [(out[flow], into[flow]) for flow in out]


class Export(tool_test.Tool):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.trace = str(pathlib.Path(self.folder.name) / "run.weft")

    def make(self, seed, count=60):
        trace_file.write(self.trace, *trace_file.random_program(seed, count))
        return sqlite3.connect(self.trace)

    def small(self, **changes):
        """One task per name in `names`, each of which writes the one handle."""
        names = changes.get("names", ["a", "b"])
        n = len(names)
        tables = {"workers": 1, "names": [(i, name) for i, name in enumerate(names)],
                  "handles": [(1, changes.get("handle", "h"))],
                  "tasks": [(i + 1, None, i, 0, i, 0, 10 * i + 10, 10 * i + 15, "done") for i in range(n)],
                  "accesses": [(i + 1, 0, 1, changes.get("kind", "write"), i, i + 1) for i in range(n)],
                  "waits": [(None, "all", None, 0, 3, 0, 10 * n + 20)]}
        pathlib.Path(self.trace).unlink(missing_ok=True)
        trace_file.write(self.trace, tables, 10 * n + 20)

    def export(self, *args):
        done = subprocess.run([tool_test.WEFT, "export", self.trace, *args], capture_output=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(command_line.spoken(done.stderr), b"")
        return done.stdout

    def check_slices(self, slices, db):
        found = sorted((s.track, s.name, s.start, s.end, s.notes["task"]) for s in slices if s.category == "task")
        self.assertEqual(found, expected_slices(db))
        outcomes = {s.notes["task"]: s.notes.get("outcome", "done") for s in slices if s.category == "task"}
        self.assertEqual(outcomes, dict(db.execute("SELECT id, outcome FROM tasks WHERE worker IS NOT NULL")))
        stolen = {s.notes["task"]: s.notes["stolen_from"] for s in slices if "stolen_from" in s.notes}
        wanted = db.execute("SELECT task, victim FROM steals WHERE task IS NOT NULL ORDER BY time_ns")
        self.assertEqual(stolen, dict(wanted.fetchall()))

    def check_all_arrows(self, slices, db):
        found = collections.Counter((a.notes["task"], b.notes["task"]) for a, b in arrows_of(slices))
        self.assertEqual(found, collections.Counter(db.execute("SELECT before, after FROM dependencies")))
        self.assertGreater(len(found), 10)
        for a, b in arrows_of(slices):
            self.assertLessEqual(a.end, b.start)

    def check_counters(self, counters, db):
        running = collections.Counter()
        for _, _, start, end, _ in expected_slices(db):
            running[start] += 1
            running[end] -= 1
        value, steps = 0, [(0, 0)]
        for time in sorted(running):
            value += running[time]
            if value != steps[-1][1]:
                steps.append((time, value))
        self.assertEqual(counters["running workers"], steps)
        live = counters["live tasks"]
        self.assertEqual(live[-1][1], 1, "one task never ran")
        self.assertEqual(max(v for _, v in live), max(self.live_at(db, t) for t, _ in live))

    @staticmethod
    def live_at(db, time):
        return db.execute("SELECT count(*) FROM tasks WHERE submitted_ns <= ? AND (finished_ns IS NULL OR "
                          "finished_ns > ?)", (time, time)).fetchone()[0]


class Timelines(Export):
    def test_random_programs(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                pathlib.Path(self.trace).unlink(missing_ok=True)
                db = self.make(seed)
                seen = Perfetto(self.export("--format", "perfetto", "--arrows", "all"))
                self.assertEqual([n for n in seen.tracks.values() if n.startswith("worker")],
                                 [f"worker {w}" for w in range(4)])
                self.check_slices(seen.slices, db)
                self.check_all_arrows(seen.slices, db)
                self.check_counters(seen.counters, db)

    def test_last_arrows(self):
        """Per task and handle, the one that finished last of those it depends on."""
        db = self.make(SEEDS[0], 200)
        last = {}
        for before, after, handle, end in db.execute(
                "SELECT before, after, handle, finished_ns FROM dependencies JOIN tasks ON id = before"):
            last.setdefault((after, handle), []).append((end, before))
        slices = Perfetto(self.export("--format", "perfetto")).slices
        found = collections.Counter((b.notes["task"], a.end) for a, b in arrows_of(slices))
        self.assertEqual(found, collections.Counter((after, max(ends)[0]) for (after, _), ends in last.items()))
        for a, b in arrows_of(slices):
            self.assertTrue(any(a.notes["task"] == before for (after, _), ends in last.items()
                                if after == b.notes["task"] for _, before in ends))
        self.assertEqual(arrows_of(Perfetto(self.export("--format", "perfetto", "--arrows", "none")).slices), [])

    def test_children(self):
        db = self.make(SEEDS[1], 200)
        slices = Perfetto(self.export("--format", "perfetto", "--arrows", "none", "--children")).slices
        pairs = arrows_of(slices)
        found = sorted((a.notes["task"], b.notes["task"]) for a, b in pairs)
        wanted = db.execute("SELECT parent, id FROM tasks WHERE parent IS NOT NULL ORDER BY 1, 2").fetchall()
        self.assertEqual(found, wanted)
        self.assertGreater(len(found), 5)
        for a, b in pairs:
            submitted = db.execute("SELECT submitted_ns FROM tasks WHERE id = ?", (b.notes["task"],)).fetchone()[0]
            self.assertTrue(a.start <= submitted <= a.end, "the arrow leaves the piece that submitted")
            self.assertEqual(b.notes["parent"], a.notes["task"])


    def test_names(self):
        self.small(names=HOSTILE, handle=HOSTILE[0])
        self.assertEqual([s.name for s in Perfetto(self.export("--format", "perfetto")).slices if s.category == "task"],
                         HOSTILE)

    def test_no_utf8(self):
        self.small(names=["a", "b"])
        with sqlite3.connect(self.trace) as db:
            db.execute("UPDATE names SET name = CAST(x'61ff62' AS TEXT)")
        slices = Perfetto(self.export("--format", "perfetto")).slices
        self.assertEqual({s.name for s in slices if s.category == "task"}, {"a\ufffdb"})
        self.assertIn("a\ufffdb", self.export("--format", "dot").decode("utf-8"))

    def test_counters_and_sleep(self):
        self.small()
        with sqlite3.connect(self.trace) as db:
            db.execute("INSERT INTO counters VALUES (1, 'cycles', 12345), (1, 'task', -5)")
            db.execute("INSERT INTO sleeps VALUES (0, 16, 20), (0, 25, 40)")
        seen = Perfetto(self.export("--format", "perfetto")).slices
        self.assertEqual([(s.name, s.start, s.end) for s in seen],
                         [("main", 0, 3), ("a", 10, 15), ("sleep", 16, 20), ("b", 20, 25), ("sleep", 25, 40),
                          ("main", 40, 40)])
        self.assertEqual(seen[1].notes["cycles"], 12345)

    def test_times_are_exact(self):
        self.small(names=["a"])
        with sqlite3.connect(self.trace) as db:
            db.execute("UPDATE tasks SET started_ns = 123456789012345, finished_ns = 123456789013350")
            db.execute("UPDATE meta SET value = '123456789013350' WHERE key = 'duration_ns'")
            db.execute("UPDATE waits SET to_ns = 123456789013350")
        seen = [s for s in Perfetto(self.export("--format", "perfetto")).slices if s.name == "a"]
        self.assertEqual((seen[0].start, seen[0].end), (123456789012345, 123456789013350))


class Graphs(Export):
    def svg(self, dot):
        """Drawn by Graphviz, if it is here: it must accept what we write without a word."""
        if shutil.which("dot") is None:
            return None
        done = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, timeout=600)
        self.assertEqual((done.returncode, command_line.spoken(done.stderr)), (0, b""))
        return done.stdout.decode("utf-8")

    def test_tasks(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                pathlib.Path(self.trace).unlink(missing_ok=True)
                db = self.make(seed, 30)
                text = self.export("--format", "dot").decode()
                dot_strings(text)
                handles = {i: name or f"handle {i}" for i, name in db.execute("SELECT id, name FROM handles")}
                found = re.findall(r'^  "t(\d+)" -> "t(\d+)" \[label="([^"]*)"', text, re.MULTILINE)
                wanted = db.execute("SELECT before, after, handle FROM dependencies").fetchall()
                self.assertEqual(sorted((int(a), int(b), h) for a, b, h in found),
                                 sorted((a, b, handles[h]) for a, b, h in wanted))
                dashed = re.findall(r'^  "t(\d+)" -> "t(\d+)" \[style=dashed', text, re.MULTILINE)
                parents = db.execute("SELECT parent, id FROM tasks WHERE parent IS NOT NULL").fetchall()
                self.assertEqual(sorted((int(a), int(b)) for a, b in dashed), sorted(parents))
                nodes = re.findall(r'^  "t(\d+)" \[', text, re.MULTILINE)
                self.assertEqual([int(n) for n in nodes], [t for t, in db.execute("SELECT id FROM tasks ORDER BY id")])
                svg = self.svg(text.encode())
                if svg is not None:
                    self.assertEqual(svg.count('class="node"'), len(nodes))
                    self.assertEqual(svg.count('class="edge"'), len(found) + len(dashed))

    def test_data(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                pathlib.Path(self.trace).unlink(missing_ok=True)
                db = self.make(seed, 30)
                text = self.export("--format", "data-dot").decode()
                dot_strings(text)
                found = re.findall(r'^  ("\w+" -> "\w+")', text, re.MULTILINE)
                wanted = []
                for t, h, v, n in db.execute("SELECT task, handle, version, next_version FROM accesses"):
                    wanted += [f'"h{h}v{v}" -> "t{t}"', f'"t{t}" -> "h{h}v{n}"']
                self.assertEqual(sorted(found), sorted(wanted))
                nodes = set(re.findall(r'^  "(h\w+)" \[shape=ellipse', text, re.MULTILINE))
                self.assertEqual(nodes, {f"h{h}v{v}" for h, v in db.execute(
                    "SELECT handle, version FROM accesses UNION SELECT handle, next_version FROM accesses")})
                svg = self.svg(text.encode())
                if svg is not None:
                    self.assertEqual(svg.count('class="edge"'), len(found))

    def test_names(self):
        self.small(names=HOSTILE, handle="<b>&amp;\n\"h\"\\")
        for form in ("dot", "data-dot"):
            text = self.export("--format", form).decode()
            labels = [s for s in dot_strings(text) if s]
            self.assertTrue(any("&amp;lt;&amp;#38;" in s for s in labels))
            self.assertTrue(all(c >= " " for s in labels for c in s))
            svg = self.svg(text.encode())
            if svg is None:
                continue
            self.assertNotIn("<script", svg)
            for shown in ("&lt;script&gt;alert(1)&lt;/script&gt;", "žluť 任務 🧵", "back\\slash\\", "\\x01\\x1b[31m\\x7f"):
                self.assertIn(shown, svg)
            self.assertEqual(svg.count('class="node"'), len(HOSTILE) + (len(HOSTILE) + 1 if form == "data-dot" else 0))

    def test_resources(self):
        self.small(kind="resource")
        with sqlite3.connect(self.trace) as db:
            db.execute("UPDATE accesses SET next_version = NULL")
        self.assertNotIn("->", self.export("--format", "dot").decode())
        text = self.export("--format", "data-dot").decode()
        dot_strings(text)
        self.assertEqual(text.count("dir=none"), 2)
        self.assertEqual(text.count("shape=diamond"), 1)

    def test_size(self):
        self.small(names=["t"] * 6000)
        self.bad("6000 nodes and 5999 edges", "export", self.trace, "--format", "dot", "-o", self.trace + ".out")
        self.bad("--limit N", "export", self.trace, "--format", "data-dot", "-o", self.trace + ".out")
        self.assertFalse(pathlib.Path(self.trace + ".out").exists())
        text = self.export("--format", "dot", "--limit", "10").decode()
        self.assertIn('label="the first 10 of 6000 tasks"', text)
        self.assertEqual((text.count("shape=box"), text.count("->")), (10, 9))
        self.assertEqual(self.export("--format", "dot", "--force").count(b"shape=box"), 6000)
        # 400 adds before 400 reads are 160,000 pairs: many edges of few tasks.
        with sqlite3.connect(self.trace) as db:
            db.execute("DELETE FROM accesses")
            db.executemany("INSERT INTO accesses VALUES (?, 0, 1, ?, ?, ?)",
                           [(i + 1, "add", 0, 400) for i in range(400)] +
                           [(i + 401, "read", 400, 800) for i in range(400)])
        self.bad("160000 edges", "export", self.trace, "--format", "dot", "--limit", "800", "-o", self.trace + ".out")
        # A timeline takes one arrow per access of them.
        reply = self.good_json("export", self.trace, "--format", "perfetto", "-o", self.trace + ".out")
        self.assertEqual(reply["arrows"], 400)

    def test_too_many_arrows(self):
        """2,000 adds before 1,001 reads are 2,002,000 pairs: refused before anything is made of them."""
        self.small(names=["t"] * 3001)
        with sqlite3.connect(self.trace) as db:
            db.execute("DELETE FROM accesses")
            db.executemany("INSERT INTO accesses VALUES (?, 0, 1, ?, ?, ?)",
                           [(i + 1, "add", 0, 2000) for i in range(2000)] +
                           [(i + 2001, "read", 2000, 3001) for i in range(1001)])
        out = self.trace + ".out"
        self.bad("2002000 arrows", "export", self.trace, "--format", "perfetto", "--arrows", "all", "-o", out)
        self.assertFalse(pathlib.Path(out).exists())
        last = self.good_json("export", self.trace, "--format", "perfetto", "-o", out)
        self.assertEqual(last["arrows"], 1001)
        forced = self.good_json("export", self.trace, "--format", "perfetto", "--arrows", "all", "--force", "-o", out)
        self.assertEqual(forced["arrows"], 2_002_000)


class Recorded(Export):
    """Runs that Weft itself recorded, on real cores and in virtual time."""

    APPS = (["stencil", "--steps", "20"], ["shallow-water", "--steps", "4"], ["cholesky", "--n", "200", "--no-compare"])

    def test_timelines(self):
        for app in self.APPS:
            for machine in ("host", "virtual"):
                with self.subTest(app=app[0], machine=machine):
                    pathlib.Path(self.trace).unlink(missing_ok=True)
                    self.good("run", *app, "--machine", machine, "--workers", "3", "--trace", self.trace)
                    db = sqlite3.connect(self.trace)
                    slices = Perfetto(self.export("--format", "perfetto", "--arrows", "all")).slices
                    self.check_slices(slices, db)
                    self.check_all_arrows(slices, db)

    def test_hints_and_calls(self):
        self.good("run", "sor", "--size", "256", "--iterations", "1", "--layout", "blocked", "--policy", "near",
                  "--machine", "epyc-7551-32", "--trace", self.trace)
        db = sqlite3.connect(self.trace)
        slices = [s for s in Perfetto(self.export("--format", "perfetto")).slices if s.category == "task"]
        for note in ("near", "at_near", "call"):
            found = {s.notes["task"]: s.notes[note] for s in slices if note in s.notes}
            wanted = db.execute(f"SELECT id, {note} FROM tasks WHERE {note} >= {1 if note == 'call' else 0}")
            self.assertEqual(found, dict(wanted.fetchall()))
            self.assertGreater(len(found), 10)

    def test_random_schedules_have_no_time(self):
        args = ("--machine", "virtual", "--workers", "5", "--seed", "1", "--trace", self.trace)
        self.good("run", "shallow-water", "--steps", "10", *args, env={"WEFT_SCHEDULE": "random"})
        self.bad("WEFT_SCHEDULE=random", "export", self.trace, "--format", "dot", "-o", self.trace + ".out")

    def test_the_guide(self):
        """The graph in the guide is what its two commands print."""
        page = pathlib.Path(__file__).parents[2] / "docs" / "guide" / "11-export.md"
        commands, wanted = re.search(r"```sh\n(WEFT_MACHINE=virtual .*?)```\n```\n(.*?)```", page.read_text("utf-8"),
                                     re.DOTALL).groups()
        build = pathlib.Path(tool_test.WEFT).parent
        record, export = commands.strip().replace("build/release/", f"{build}/").splitlines()
        script = f"{record} > /dev/null && {export.replace('weft', tool_test.WEFT, 1)}"
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, cwd=self.folder.name, timeout=600)
        self.assertEqual((done.returncode, command_line.spoken(done.stderr), done.stdout), (0, "", wanted))


class Output(Export):
    def test_file(self):
        db = self.make(SEEDS[0])
        out = pathlib.Path(self.folder.name) / "out"
        for form in ("perfetto", "dot", "data-dot"):
            out.write_text("what was there before")
            text = self.good("export", self.trace, "--format", form, "-o", str(out))
            self.assertTrue(text.startswith(f"{out}: {db.execute('SELECT count(*) FROM tasks').fetchone()[0]} tasks"))
            self.assertEqual(out.read_bytes(), self.export("--format", form))
            reply = self.good_json("export", self.trace, "--format", form, "-o", str(out))
            self.assertEqual((reply["ok"], reply["format"], reply["bytes"]), (True, form, out.stat().st_size))
        link = pathlib.Path(self.folder.name) / "link"
        link.symlink_to(out)
        self.good("export", self.trace, "--format", "dot", "-o", str(link))
        self.assertTrue(link.is_symlink())
        self.assertEqual(out.read_bytes(), self.export("--format", "dot"))
        self.assertEqual(sorted(p.name for p in out.parent.iterdir()), ["link", "out", "run.weft"])

    def test_cannot_be_written(self):
        self.make(SEEDS[0], 3000)
        for form in ("perfetto", "data-dot"):
            args = ("export", self.trace, "--format", form, *(["--force"] if form == "data-dot" else []))
            self.bad("/dev/full: cannot write: No space left on device", *args, "-o", "/dev/full")
            with open("/dev/full", "wb") as full:
                done = tool_test.run(*args, stdout=full)
            self.assertEqual(done.returncode, 2)
            self.assertIn("standard output: cannot write: No space left", done.stderr)
        self.bad("cannot create", *args, "-o", self.folder.name + "/no/such/folder")
        self.bad("cannot open: Is a directory", *args, "-o", self.folder.name)

    def test_a_failed_export_leaves_the_old(self):
        self.make(SEEDS[0], 3000)
        out = pathlib.Path(self.folder.name) / "out"
        out.write_text("old")
        done = subprocess.run(["sh", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "sh", tool_test.WEFT, "export",
                               self.trace, "--format", "perfetto", "-o", str(out)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("out: cannot write: File too large", done.stderr)
        self.assertEqual(out.read_text(), "old")
        self.assertEqual(sorted(p.name for p in out.parent.iterdir()), ["out", "run.weft"])

    def test_usage(self):
        self.make(SEEDS[0], 5)
        self.bad("FILE is required", "export")
        self.bad("--format is required", "export", self.trace)
        for gone in ("jpeg", "chrome"):
            self.bad("--format", "export", self.trace, "--format", gone, "-o", "x")
        self.bad("would replace the trace", "export", self.trace, "--format", "dot", "-o", self.trace)
        self.bad("for graphs", "export", self.trace, "--format", "perfetto", "--limit", "5", "-o", "x")
        self.bad("for timelines", "export", self.trace, "--format", "dot", "--children", "-o", "x")
        self.bad("excludes", "export", self.trace, "--format", "dot", "--limit", "5", "--force", "-o", "x")
        self.bad("--limit", "export", self.trace, "--format", "dot", "--limit", "0", "-o", "x")
        done = tool_test.run("export", self.trace, "--format", "dot", "--json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("name one with -o", done.stderr)

    def test_input(self):
        out = self.folder.name + "/out"
        args = ("export", self.trace, "--format", "dot", "-o", out)
        self.bad("run.weft: cannot open: No such file", *args)
        pathlib.Path(self.trace).write_text("not a database, and longer than the hundred bytes of a header" * 9)
        self.bad("is no SQLite database", *args)
        pathlib.Path(self.trace).unlink()
        self.make(SEEDS[0], 2000)
        whole = pathlib.Path(self.trace).read_bytes()
        pathlib.Path(self.trace).write_bytes(whole[:len(whole) // 2])
        self.bad("is damaged or was cut off", *args)
        self.assertFalse(pathlib.Path(out).exists())

    def test_lost_records_are_said(self):
        self.make(SEEDS[0], 50)
        with sqlite3.connect(self.trace) as db:
            db.execute("UPDATE meta SET value = '7' WHERE key = 'lost'")
            db.execute("DELETE FROM tasks WHERE id = 5")
        done = tool_test.run("export", self.trace, "--format", "dot")
        self.assertEqual(done.returncode, 0)
        self.assertIn("7 records of this run were lost", done.stderr)


if __name__ == "__main__":
    tool_test.WEFT = command_line.weft(__doc__)
    unittest.main()
