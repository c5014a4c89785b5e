#!/usr/bin/env python3
"""`weft import`, seen from outside: of each format a small file and the whole trace that it becomes; what cannot be,
and where it says that it stands; a trace of ours exported and imported again; real files, where there are any.

WEFT_FOREIGN_FILES names a folder of files from elsewhere: each of them is imported, or refused in one line.

Run as: python3 tests/tool/import_test.py --weft PATH [unittest arguments]
"""
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

import command_line
import tool_test
from foreign_seeds import CHROME, CSV, DOT, OLD_WORKFLOW, STARPU, STG, TASKFLOW, TFPROF, WORKFLOW

MS, S = 10 ** 6, 10 ** 9


class Import(tool_test.Tool):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="weft-import-")
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.trace = str(self.folder / "out.weft")

    def file(self, content, name="in"):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
        return str(path)

    def imported(self, content, *args):
        return self.good_json("import", self.file(content), "-o", self.trace, *args)

    def tasks(self):
        """name, worker, start, end of each."""
        with sqlite3.connect(self.trace) as db:
            return db.execute("SELECT n.name, t.worker, t.started_ns, t.finished_ns FROM tasks t LEFT JOIN names n "
                              "ON n.id = t.name ORDER BY t.id").fetchall()

    def edges(self):
        with sqlite3.connect(self.trace) as db:
            return sorted(set(db.execute("SELECT before, after FROM dependencies")))

    def whole(self):
        """What the other commands say to it."""
        for words in (["report"], ["sim"], ["whatif", "--workers", "1,2"]):
            self.good_json(*words[:1], self.trace, *words[1:])


class Formats(Import):
    def test_csv(self):
        reply = self.imported(CSV)
        self.assertEqual((reply["format"], reply["tasks"], reply["workers"], reply["recorded_times"]),
                         ("csv", 4, 1, False))
        self.assertEqual(self.tasks(), [("make", 0, 0, 1000), ("use", 0, 1000, 3000), ("use", 0, 3000, 6000),
                                        ("end, of all", 0, 6000, 6500)])
        self.assertEqual(self.edges(), [(1, 2), (1, 3), (2, 4), (3, 4)])
        with sqlite3.connect(self.trace) as db:
            self.assertEqual(db.execute("SELECT h.name, a.task, a.kind, a.version, a.next_version FROM accesses a "
                                        "JOIN handles h ON h.id = a.handle WHERE h.name IN ('x', 's') "
                                        "ORDER BY h.name, a.task").fetchall(),
                             [("s", 2, "add", 0, 2), ("s", 3, "add", 0, 2), ("s", 4, "read", 2, 3),
                              ("x", 1, "write", 0, 1), ("x", 2, "read", 1, 3), ("x", 3, "read", 1, 3),
                              ("x", 4, "write", 3, 4)])
        self.whole()

    def test_csv_with_times(self):
        reply = self.imported("task,duration,start,worker,after\na,10,5,1,\nb,20,16,0,a\n", "--unit", "us")
        self.assertEqual(self.tasks(), [(None, 1, 0, 10_000), (None, 0, 11_000, 31_000)])
        self.assertEqual((reply["recorded_ns"], reply["workers"]), (31_000, 2))
        self.assertLess(abs(reply["error"]), 0.1)

    def test_csv_edges_may_lead_back(self):
        """The order of submission follows them."""
        self.imported("task,duration,after\na,1,b\nb,2,c\nc,3,\nd,4,\n")
        self.assertEqual([end - begin for _, _, begin, end in self.tasks()], [3, 2, 1, 4])
        self.assertEqual(self.edges(), [(1, 2), (2, 3)])

    def test_many_before_one(self):
        """They share a handle, so that a task after a hundred thousand others has one access and not as many."""
        rows = "".join(f"t{i},1,\n" for i in range(100_000))
        reply = self.imported(f"task,duration,after\n{rows}end,1,{' '.join(f't{i}' for i in range(100_000))}\n")
        self.assertEqual(reply["edges"], 100_000)
        with sqlite3.connect(self.trace) as db:
            self.assertEqual(db.execute("SELECT kind, count(*) FROM accesses GROUP BY kind ORDER BY kind").fetchall(),
                             [("concurrent", 100_000), ("write", 1)])
            self.assertEqual(db.execute("SELECT count(*), min(after), max(after) FROM dependencies").fetchone(),
                             (100_000, 100_001, 100_001))
        self.assertGreater(self.good_json("sim", self.trace)["makespan_ns"], 0)
        self.bad("more than the 32768 that a task can have", "import", self.file(
            "task,duration,reads\na,1," + " ".join(f"d{i}" for i in range(40_000)) + "\n"), "-o", self.trace)

    def test_csv_on_workers(self):
        """Without times they are laid out, on as many workers as one says there were."""
        reply = self.imported(CSV, "--workers", "2")
        self.assertEqual((reply["workers"], reply["recorded_ns"]), (2, None))
        self.assertEqual(self.tasks()[1:3], [("use", 0, 1000, 3000), ("use", 1, 1000, 4000)])

    def test_stg(self):
        self.imported(STG)
        self.assertEqual([(b, e) for _, _, b, e in self.tasks()],
                         [(0, 0), (0, 4 * MS), (4 * MS, 10 * MS), (10 * MS, 15 * MS), (15 * MS, 15 * MS)])
        self.assertEqual(self.edges(), [(1, 2), (1, 3), (2, 4), (3, 4), (4, 5)])
        self.whole()
        reply = self.imported("2\n0 3 0\n1 4 1 0 9\n", "--unit", "us")
        self.assertIn("1 communication costs are left out", reply["notes"][0])
        self.assertEqual(self.tasks()[1][2:], (3000, 7000))

    def test_dot(self):
        reply = self.imported(DOT)
        self.assertEqual([(n, e - b) for n, _, b, e in self.tasks()],
                         [(None, 3 * MS), ("B", 5 * MS), (None, 2.5 * MS), (None, 1 * MS)])
        self.assertEqual(self.edges(), [(1, 2), (1, 3), (2, 4), (3, 4)])
        self.assertIn("2 edges have a weight", reply["notes"][0])
        self.whole()
        self.imported("digraph { a [len=2]; b [len=3]; a -> b }", "--weight", "len", "--unit", "s")
        self.assertEqual([(b, e) for _, _, b, e in self.tasks()], [(0, 2 * S), (2 * S, 5 * S)])

    def test_wfcommons(self):
        reply = self.imported(WORKFLOW)
        self.assertEqual(self.tasks(), [("split", 0, 0, 2 * S), ("split", 1, 0, 3 * S), ("join", 0, 3 * S, 4.5 * S)])
        self.assertEqual(self.edges(), [(1, 3), (2, 3)])
        self.assertEqual((reply["recorded_ns"], reply["workers"]), (5.5 * S, 2))
        self.assertAlmostEqual(reply["error"], 4.5 / 5.5 - 1, places=3)
        self.assertIn("1.00 s of the recorded time are in neither", reply["why"])
        self.assertIn("1 tasks had several cores", reply["notes"][0])
        self.whole()
        self.imported(OLD_WORKFLOW)
        self.assertEqual((self.tasks(), self.edges()), ([("a", 0, 0, S), ("b", 0, S, 3.5 * S)], [(1, 2)]))

    def test_starpu(self):
        reply = self.imported(STARPU)
        self.assertEqual(self.tasks(), [("potrf", 0, 0, 2 * MS), ("trsm", 1, 2.5 * MS, 4.5 * MS),
                                        ("last", 0, 5 * MS, 6.25 * MS)])
        self.assertEqual(self.edges(), [(1, 2), (2, 3)])
        with sqlite3.connect(self.trace) as db:
            self.assertEqual(db.execute("SELECT bytes FROM handles WHERE bytes IS NOT NULL").fetchall(),
                             [(800,), (400,)])
        notes = "\n".join(reply["notes"])
        for part in ("1 tasks of StarPU's own", "1 records are hints", "1 tasks ran at memory nodes other than 0"):
            self.assertIn(part, notes)
        self.whole()

    def test_starpu_ranks(self):
        """Handles of one tag are one datum; without the second file they are two."""
        table = ("Control,JobId,SubmitOrder,Handles,MPIRank,Name,WorkerId,StartTime,EndTime,Modes,Sizes,DependsOn\n"
                 ",0_1,1,aa,0,make,0,0,1,W,8,\n,1_1,1,bb,1,use,0,2,3,R,8,\n")
        handles = self.file("Handle,MPIRank,Size,MPIOwner,MPITag\naa,0,8,0,5\nbb,1,8,0,5\n", "handles")
        reply = self.imported(table)
        self.assertEqual((self.edges(), reply["workers"]), ([], 2))
        self.assertIn("--with", reply["notes"][-1])
        self.imported(table, "--with", handles)
        self.assertEqual(self.edges(), [(1, 2)])

    def test_chrome(self):
        for content in (CHROME, CHROME["traceEvents"], json.dumps(CHROME["traceEvents"])[:-1] + ","):
            reply = self.imported(content)
            self.assertEqual(self.tasks(), [("outer", 0, 0, 50_000), ("next", 1, 60_500, 100_000)])
            self.assertEqual(self.edges(), [(1, 2)])
            self.assertIn("1 spans lie in others", reply["notes"][0])
        self.whole()
        reply = self.imported([e for e in CHROME["traceEvents"] if e["ph"] not in "sf"])
        self.assertIn("no flow events", reply["notes"][-1])

    def test_tfprof(self):
        reply = self.imported(TFPROF)
        self.assertIn("--with FILE.dot", reply["notes"][-1])
        self.assertEqual(self.edges(), [])
        self.imported(TFPROF, "--with", self.file(TASKFLOW, "graph.dot"))
        self.assertEqual(self.tasks(), [("A", 0, 0, 20_000), ("B", 1, 22_000, 35_000), ("C", 0, 40_000, 50_000)])
        self.assertEqual(self.edges(), [(1, 2), (2, 3)])
        self.whole()

    def test_standard_input(self):
        done = subprocess.run([tool_test.WEFT, "import", "-", "-o", self.trace], input=STG, capture_output=True,
                              text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("from - (stg)", done.stdout)

    def test_text(self):
        out = self.good("import", self.file(WORKFLOW), "-o", self.trace)
        for part in ("tasks", "recorded", "replayed", "-18.2 % of the recorded time"):
            self.assertIn(part, out)
        self.assertNotIn("replayed", self.good("import", self.file(WORKFLOW), "-o", self.trace, "--no-replay"))


class Refused(Import):
    def refused(self, expected, content, *args):
        self.bad(expected, "import", self.file(content), "-o", self.trace, *args)
        self.assertFalse(pathlib.Path(self.trace).exists())

    def test_csv(self):
        head = "task,duration,after\n"
        for row, expected in (("a,-1,\n", "line 2: duration -1 is negative"), ("a,x,\n", "line 2: duration 'x' is no"),
                              ("a,nan,\n", "line 2: duration"), ("a,inf,\n", "line 2: duration"),
                              ("a,1e300,\n", "line 2: duration"), (",1,\n", "line 2: the task has no id"),
                              ("a,1,b\n", "line 2: task 'a' is to come after 'b'"),
                              ("a,1,\na,2,\n", "line 3: there is a task 'a' (line 2) already"),
                              ("a,1,a\n", "line 2: task 'a' (line 2) is to come after itself"),
                              ("a,1,c\nb,1,a\nc,1,b\n", "in a circle: task 'b' (line 3) after task 'a' (line 2) after"),
                              ("a,1\n", "line 2: has 2 fields"), ('a,1,"b\n', "line 2: a quote"), ("", "has no tasks")):
            self.refused(expected, head + row)
        self.refused("the column 'read' is unknown; there are task, name", "task,duration,read\na,1,x\n")
        self.refused("there is no column 'duration'", "task,after\na,\n")
        self.refused("is there twice", "task,duration,task\na,1,b\n")
        self.refused("in a circle", "task,duration,reads,writes,after\na,1,,x,b\nb,1,x,,\n")
        times = "task,duration,start,worker\n"
        self.refused("task 'b' (line 3) has no time of its start", times + "a,1,0,0\nb,1,,0\n")
        self.refused("begins on worker 0 before task 'a'", times + "a,90000,0,0\nb,1,50000,0\n")
        self.refused("line 2: worker '1024'", times + "a,1,0,1024\n")

    def test_stg(self):
        self.refused("its first line says 5 tasks, and there are 2", "5\n0 1 0\n1 1 1 0\n")
        self.refused("line 3: says that 2 tasks come before it, and 1", "2\n0 1 0\n1 1 2 0\n")
        self.refused("line 2: task 0 is to come after task 7", "1\n0 1 1 7\n")
        self.refused("line 2: processing time -4 is negative", "1\n0 -4 0\n", "--format", "stg")

    def test_dot(self):
        self.refused("line 1: node 'a' has no weight", "digraph { a -> b }")
        self.refused("have no direction", "graph { a -- b }")
        self.refused("line 2: the graph is not ended", "digraph {\na [weight=1]")
        self.refused("line 1: a quote that begins there never ends", 'digraph { "a')
        self.refused("in a circle: task 'a' (line 1) after task 'b' (line 1)",
                     "digraph { node [weight=1] a -> b -> a }")
        self.refused("deeper in each other", "digraph " + "{" * 1000)

    def test_json(self):
        broken = json.dumps(WORKFLOW, indent=1).replace('"parents": [', '"parents": {', 1)
        self.refused("parse error at line 11", broken)
        for place, change, expected in (
                (("specification", "tasks", 0, "parents", 0), "nobody", "tasks[0]: task 'join_ID02'"),
                (("specification", "tasks", 2, "id"), "split_ID00", "tasks[2]: there is a task 'split_ID00'"),
                (("execution", "tasks", 1, "runtimeInSeconds"), -3, "execution.tasks[1]: runtimeInSeconds -3"),
                (("execution", "tasks", 1, "runtimeInSeconds"), "long", "execution.tasks[1]: runtimeInSeconds is no"),
                (("execution", "tasks", 1, "id"), "other", "execution.tasks[1]: says what 'other' took"),
                (("specification", "tasks", 1, "parents"), ["join_ID02"], "in a circle")):
            spoiled = json.loads(json.dumps(WORKFLOW))
            at = spoiled["workflow"]
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = change
            self.refused(expected, spoiled)
        spoiled = json.loads(json.dumps(WORKFLOW))
        spoiled["workflow"]["execution"]["tasks"].pop()
        self.refused("has no runtimeInSeconds", spoiled)

    def test_others(self):
        self.refused("line 5: the mode 'Q' is unknown",
                     STARPU.replace("Modes: RW", "Modes: Q"))
        self.refused("has more handles than modes", STARPU.replace("Modes: R RW", "Modes: R"))
        self.refused("ends before it starts", STARPU.replace("EndTime: 3.000000", "EndTime: 0.5"))
        self.refused("traceEvents[1]: dur -1 is negative", {"traceEvents": [
            {"ph": "M"}, {"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 5, "dur": -1}]})
        self.refused("on one thread", [{"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 0, "dur": 50},
                                       {"ph": "X", "name": "y", "pid": 1, "tid": 1, "ts": 40, "dur": 50}])
        self.refused("span 1: ends before it begins", [{"executor": "0", "data": [
            {"worker": 0, "level": 0, "data": [{"span": [0, 1], "name": "a"}, {"span": [3, 2], "name": "b"}]}]}])

    def test_no_format(self):
        self.refused("is of no format that import knows", "hello\n")
        self.refused("--format 'xyz' is unknown; there are csv, stg", "hello\n", "--format", "xyz")
        self.refused("is empty", "")
        (self.folder / "in.gz").write_bytes(b"\x1f\x8b\x08rest")
        self.bad("unpack it first", "import", str(self.folder / "in.gz"), "-o", self.trace)
        self.bad("No such file", "import", str(self.folder / "nothing"), "-o", self.trace)

    def test_places(self):
        source = self.file(STG)
        self.bad("would replace", "import", source, "-o", source)
        other = self.file("mine", "other")
        self.bad("is there, and no trace", "import", source, "-o", other)
        self.assertEqual(pathlib.Path(other).read_text(), "mine")
        self.bad("is no plain file", "import", source, "-o", "/dev/null")
        self.bad("cannot create", "import", source, "-o", str(self.folder / "no/where.weft"))
        self.bad("a trace is a database", "import", source, "-o", "-")
        self.good("import", source, "-o", self.trace)
        before = pathlib.Path(self.trace).read_bytes()
        self.bad("first line says", "import", self.file("9\n0 1 0\n1 1 1 0\n", "bad"), "-o", self.trace)
        self.assertEqual(pathlib.Path(self.trace).read_bytes(), before)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["bad", "in", "other", "out.weft"])


class RoundTrip(Import):
    def test_dot(self):
        """What export draws is imported: the same tasks, the same order, and within a few percent the same forecast."""
        first = str(self.folder / "first.weft")
        self.good("run", "stencil", "--steps", "20", "--machine", "virtual", "--workers", "3", "--trace", first)
        drawn = str(self.folder / "first.dot")
        self.good("export", first, "--format", "dot", "-o", drawn)
        reply = self.good_json("import", drawn, "-o", self.trace)
        with sqlite3.connect(first) as db:
            count, work = db.execute("SELECT count(*), sum(finished_ns - started_ns) FROM tasks").fetchone()
            edges = sorted(set(db.execute("SELECT before, after FROM dependencies")))
        self.assertEqual((reply["tasks"], reply["work_ns"]), (count, work))
        self.assertEqual(self.edges(), edges)
        forecasts = [self.good_json("sim", trace, "--machine", "virtual", "--workers", "4")["makespan_ns"]
                     for trace in (first, self.trace)]
        self.assertLess(abs(forecasts[1] / forecasts[0] - 1), 0.05)


    def test_csv(self):
        """A table has all that a graph of tasks has: the same graph and, with bodies that are not all overhead, the
        same forecast."""
        for app in (["cholesky", "--n", "1024", "--tile", "128"], ["random-graph"]):
            with self.subTest(app=app[0]):
                first, table = str(self.folder / "first.weft"), str(self.folder / "first.csv")
                self.good("run", *app, "--machine", "virtual", "--workers", "3", "--trace", first)
                self.good("export", first, "--format", "csv", "-o", table)
                reply = self.good_json("import", table, "-o", self.trace)
                self.assertTrue(reply["recorded_times"])
                graphs = []
                for trace in (first, self.trace):
                    with sqlite3.connect(trace) as db:
                        graphs.append((sorted(set(db.execute("SELECT before, after FROM dependencies"))),
                                       db.execute("SELECT n.name, t.priority, t.worker, t.finished_ns - t.started_ns "
                                                  "FROM tasks t LEFT JOIN names n ON n.id = t.name ORDER BY t.id"
                                                  ).fetchall()))
                self.assertEqual(*graphs)
                forecasts = [[row["makespan_ns"] for row in self.good_json(
                    "whatif", trace, "--workers", "1,4,16", "--machines", "virtual")["rows"]]
                    for trace in (first, self.trace)]
                for one, other in zip(*forecasts):
                    self.assertLess(abs(other / one - 1), 0.01, forecasts)


class Real(Import):
    @unittest.skipUnless(os.environ.get("WEFT_FOREIGN_FILES"), "WEFT_FOREIGN_FILES names no folder")
    def test_each(self):
        for path in sorted(pathlib.Path(os.environ["WEFT_FOREIGN_FILES"]).rglob("*")):
            if not path.is_file():
                continue
            with self.subTest(path=path.name):
                done = tool_test.run("import", str(path), "-o", self.trace)
                self.assertIn(done.returncode, (0, 2), done.stderr)
                if done.returncode == 0:
                    self.whole()
                else:
                    self.assertEqual(command_line.spoken(done.stderr).count("\n"), 1, done.stderr)


if __name__ == "__main__":
    tool_test.WEFT = command_line.weft(__doc__)
    unittest.main()
