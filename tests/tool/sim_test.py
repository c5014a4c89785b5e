#!/usr/bin/env python3
"""weft sim from outside: traces replayed, programs run, what cannot be, and the same result twice.

Run as: python3 tests/tool/sim_test.py --weft PATH [unittest arguments]
"""
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import tempfile
import unittest

import command_line
import trace_maker

WEFT = "weft"
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}


def run(*args, env=None, **kwargs):
    return subprocess.run([WEFT, *map(str, args)], capture_output=True, text=True, timeout=600,
                          env={**CLEAN, **(env or {})}, **kwargs)


class Sim(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weft-sim-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def sim(self, *args):
        done = run("sim", *args, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def bad(self, expected, *args, env=None):
        done = run("sim", *args, env=env)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(expected, done.stderr)
        self.assertEqual(command_line.spoken(done.stderr).count("\n"), 1, done.stderr)
        self.assertEqual(done.stdout, "")

    def script(self, name, text):
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path


class Trace(Sim):
    def independent(self, count=48, body=1_000_000):
        p = trace_maker.Program()
        for _ in range(count):
            p.submit("part", body)
        return p.run(self.folder / "independent.weft", 2)

    def test_exact(self):
        trace = self.independent()
        for workers in (1, 2, 6, 48):
            r = self.sim(trace, "--workers", workers)
            self.assertEqual((r["workers"], r["tasks"], r["work_ns"]), (workers, 48, 48_000_000))
            bound = 48_000_000 // workers
            self.assertGreaterEqual(r["makespan_ns"], bound)
            self.assertLess(r["makespan_ns"], bound + 100_000)
            self.assertEqual(r["span_ns"], 1_000_000)
            self.assertIn(r["binds"], ("cores",) if workers < 48 else ("cores", "critical path"))  # one task each

    def test_what_the_environment_says_and_the_options(self):
        trace = self.independent()
        plain = self.sim(trace, "--workers", 4)
        def under(*args, **env):
            done = run("sim", trace, "--json", *args, env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)
        self.assertEqual(under(WEFT_WORKERS="4")["digest"], plain["digest"])
        self.assertEqual(under("--workers", 4, WEFT_WORKERS="9")["digest"], plain["digest"])
        self.assertEqual(under("--workers", 4, WEFT_POLICY="central")["policy"], "central")
        # Of a runtime, not of a replay: none of it may leak into this one.
        kept = self.folder / "leaked.weft"
        leaks = {"WEFT_TRACE": str(kept), "WEFT_COUNTERS": "cycles", "WEFT_PAUSED": "1", "WEFT_SCHEDULE": "random"}
        self.assertEqual(under("--workers", 4, **leaks)["digest"], plain["digest"])
        self.assertFalse(kept.exists())
        self.bad("WEFT_MODE = 'rough' cannot be", trace, env={"WEFT_MODE": "rough"})
        self.bad("--mode = 'rough' cannot be", trace, "--mode", "rough")
        self.bad("--seed = 'x' cannot be", trace, "--seed", "x")

    def test_coarse_says_how_far_off_it_may_be(self):
        long = self.independent()
        self.assertNotIn("caution", self.sim(long, "--workers", 4))
        self.assertIn("chains of tasks by 15 %", self.sim(long, "--workers", 4, "--mode", "coarse")["caution"])
        self.assertIn("may be a quarter", self.sim(long, "--workers", 65, "--mode", "coarse")["caution"])
        self.assertIn("may be a quarter", self.sim(long, "--workers", 4, "--speed", 100, "--mode", "coarse")["caution"])
        self.assertIn("mode coarse: may be off", run("sim", long, "--mode", "coarse").stdout)
        self.assertIn("caution: mode coarse", run("whatif", long, "--workers", "2,4", "--mode", "coarse").stdout)

    def test_chain(self):
        p = trace_maker.Program()
        x = p.handle("x")
        for _ in range(10):
            p.submit("link", 500_000, ("write", x))
        r = self.sim(p.run(self.folder / "chain.weft", 1), "--workers", 8)
        self.assertEqual(r["span_ns"], 5_000_000)
        self.assertGreaterEqual(r["makespan_ns"], 5_000_000)
        self.assertLess(r["makespan_ns"], 5_100_000)
        self.assertEqual(r["binds"], "critical path")
        self.assertAlmostEqual(r["speedup"], 1, delta=0.02)

    def test_between_the_bounds(self):
        """Graham: no schedule without idleness is above work / workers + span."""
        trace = trace_maker.cholesky(12).run(self.folder / "c.weft", 2)
        for workers in (1, 3, 8, 64):
            for policy in ("local", "random", "central"):
                r = self.sim(trace, "--workers", workers, "--policy", policy)
                self.assertEqual(r["policy"], policy)
                self.assertGreaterEqual(r["makespan_ns"], max(r["work_ns"] / workers, r["span_ns"]))
                self.assertLess(r["makespan_ns"], 1.1 * (r["work_ns"] / workers + r["span_ns"]))

    def test_same_twice(self):
        trace = trace_maker.cholesky(12, 3000).run(self.folder / "c.weft", 2)
        first = self.sim(trace, "--workers", 16, "--seed", 5)
        again = self.sim(trace, "--workers", 16, "--seed", 5)
        self.assertEqual(first["digest"], again["digest"])
        self.assertEqual(first["makespan_ns"], again["makespan_ns"])
        self.assertNotEqual(first["digest"], self.sim(trace, "--workers", 15, "--seed", 5)["digest"])
        drawn = [self.sim(trace, "--workers", 16, "--policy", "random", "--seed", s)["digest"] for s in (5, 5, 6)]
        self.assertEqual((drawn[0] == drawn[1], drawn[0] == drawn[2]), (True, False))

    def test_options_before_and_after(self):
        trace = self.independent(8)
        self.assertEqual(self.sim("--workers", 4, trace)["digest"], self.sim(trace, "--workers", 4)["digest"])

    def test_speed_and_submitter(self):
        trace = self.independent(4)  # submitted 100 ns apart
        self.assertLess(self.sim(trace, "--workers", 4, "--speed", 10)["makespan_ns"], 110_000)
        p = trace_maker.Program(submit_ns=1_000_000)
        for _ in range(5):
            p.submit("part", 1000)
        slow = p.run(self.folder / "slow.weft", 2)
        self.assertLess(self.sim(slow, "--workers", 2)["makespan_ns"], 100_000)
        kept = self.sim(slow, "--workers", 2, "--submitter", "trace")
        self.assertGreater(kept["makespan_ns"], 4_000_000)
        self.assertEqual(kept["binds"], "creation")

    def test_keeps_a_trace(self):
        trace = self.independent(8)
        out = self.folder / "out.weft"
        simulated = self.sim(trace, "--workers", 4, "--trace", out)
        report = json.loads(run("report", out, "--json").stdout)
        self.assertEqual((report["tasks"], report["workers"]), (8, 4))
        self.assertLess(abs(report["makespan_ns"] - simulated["makespan_ns"]), 0.02 * report["makespan_ns"])

    def test_hints(self):
        """The memory node that a task wanted is wanted again, also by what the replay records, and calls are tasks."""
        trace, out = self.folder / "run.weft", self.folder / "out.weft"
        done = run("run", "sor", "--size", 256, "--iterations", 2, "--layout", "blocked", "--policy", "near",
                   "--machine", "epyc-7551-32", "--trace", trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        wishes = "SELECT near, count(*) FROM tasks GROUP BY near ORDER BY near"
        with sqlite3.connect(trace) as db:
            before = db.execute(wishes).fetchall()
            self.assertEqual([n for n, _ in before], [-1, 0, 1, 2, 3])
            self.assertGreater(db.execute("SELECT count(*) FROM tasks WHERE call").fetchone()[0], 50)
        self.sim(trace, "--machine", "epyc-7551-32", "--policy", "pufferfish", "--trace", out)
        with sqlite3.connect(out) as db:
            self.assertEqual(db.execute(wishes).fetchall(), before)
            self.assertEqual(db.execute("SELECT count(*) FROM tasks WHERE NOT at_near").fetchone()[0], 0)

    def test_text_and_output(self):
        trace = self.independent(8)
        done = run("sim", trace, "--workers", 4)
        self.assertRegex(done.stdout, r"makespan +2\.0\d ms")
        self.assertNotIn("\033", done.stdout)
        done = run("sim", trace, "--workers", 4, "-o", self.folder / "out.json", "--json")
        self.assertEqual(done.stdout, "")
        self.assertEqual(json.loads((self.folder / "out.json").read_text())["tasks"], 8)

    def test_wrong(self):
        trace = self.independent(8)
        self.bad("0", trace, "--workers", 0)
        self.bad("nowhere", trace, "--machine", "nowhere")
        self.bad("host", trace, "--machine", "host")
        self.bad("best", trace, "--policy", "best")
        self.bad("--nonsense", trace, "--nonsense")
        self.bad("--nonsense", "--nonsense", trace)
        self.bad("name a trace or a program")
        self.bad("No such file", self.folder / "absent.weft")
        empty = self.folder / "empty.weft"
        empty.touch()
        self.bad(str(empty), empty)
        short = self.folder / "short.weft"
        short.write_bytes(trace.read_bytes()[:6000])
        self.bad(str(short), short)
        text = self.folder / "text"
        text.write_text("nothing\n")
        self.bad("neither a trace of Weft nor a program", text)
        self.bad("is a folder", self.folder)
        foreign = self.folder / "foreign"
        with sqlite3.connect(foreign) as db:
            db.execute("CREATE TABLE t(x)")
        self.bad("no trace of Weft", foreign)
        p = trace_maker.Program()
        p.submit("part", 1000)
        data = [p.handle() for _ in range(70_000)]
        for _ in range(50):
            p.submit("part", 500_000)
        p.submit("wide", 5, *(("read", h) for h in data))  # no program of Weft can; others are under way by then
        self.bad("names 70000 handles", p.run(self.folder / "wide.weft", 2))
        p = trace_maker.Program()
        p.submit("part", 1000)
        self.bad("12 records of this run were overwritten", p.run(self.folder / "lost.weft", 1, lost=12))
        self.bad("random schedule", p.run(self.folder / "random.weft", 1, schedule="random"))

    def test_real_program(self):
        """Recorded on real threads, then replayed."""
        trace = self.folder / "run.weft"
        done = run("run", "cholesky", "--n", 512, "--tile", 64, "--repeat", 1, "--no-compare", "--workers", 2,
                   "--trace", trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        r = self.sim(trace, "--workers", 8)
        with sqlite3.connect(trace) as db:
            self.assertEqual(r["tasks"], db.execute("SELECT count(*) FROM tasks").fetchone()[0])
            bodies = db.execute("SELECT sum(to_ns - from_ns) FROM segments").fetchone()[0]
        self.assertLess(abs(r["work_ns"] - bodies), 0.001 * bodies + 1000)
        self.assertGreaterEqual(r["makespan_ns"], r["span_ns"])


class Programs(Sim):
    def test_runs_it(self):
        done = run("sim", "--workers", 5, "--seed", 9, WEFT, "run", "independent", "--n", 100, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        inner = json.loads(done.stdout)
        self.assertEqual((inner["workers"], inner["machine"]), (5, "virtual"))
        self.assertRegex(done.stderr, r"workers +5\n")
        self.assertRegex(done.stderr, r"makespan ")

    def test_json(self):
        out = self.folder / "sim.json"
        done = run("sim", "--workers", 3, "--json", "-o", out, WEFT, "run", "independent", "--n", 100)
        self.assertEqual(done.returncode, 0, done.stderr)
        r = json.loads(out.read_text())
        self.assertEqual((r["ok"], r["workers"], r["machine"], r["program"]), (True, 3, "virtual", "independent"))
        self.assertGreater(r["tasks"], 99)

    def test_its_words_are_its_own(self):
        done = run("sim", "--workers", 2, WEFT, "run", "independent", "--workers", 4, "--json")
        self.assertEqual(json.loads(done.stdout)["workers"], 4)

    def test_streams_and_status(self):
        program = self.script("p", 'read line; echo "got $line"; echo aside >&2; '
                              f'"{WEFT}" run independent --n 10 >/dev/null; exit 7\n')
        done = run("sim", program, "a", "--json", input="hello\n")
        self.assertEqual((done.returncode, done.stdout), (7, "got hello\n"), done.stderr)
        self.assertIn("aside\n", done.stderr)
        self.assertIn("makespan", done.stderr)

    def test_no_runtime(self):
        self.bad("made no runtime of Weft", self.script("p", "exit 0\n"))
        done = run("sim", self.script("q", "exit 3\n"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("status 3", done.stderr)

    def test_signals(self):
        done = run("sim", self.script("p", "kill -SEGV $$\n"))
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        self.assertIn(f"signal {int(signal.SIGSEGV)}", done.stderr)

    def test_the_program_chooses_for_itself(self):
        done = run("sim", WEFT, "run", "independent", "--n", 10, "--machine", "host", "--workers", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("chooses the machine host itself", done.stderr)

    def test_wrong_before_it_starts(self):
        marker = self.folder / "started"
        program = self.script("p", f"touch {marker}\n")
        self.bad("nowhere", "--machine", "nowhere", program)
        self.bad("are for traces", "--speed", 2, program)
        self.bad("cannot start", "weft-no-such-program")
        self.assertFalse(marker.exists())

    def test_leaves_nothing_behind(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        run("sim", WEFT, "run", "independent", "--n", 10, env={"TMPDIR": str(temporary)})
        self.assertEqual(list(temporary.iterdir()), [])
        kept = self.folder / "kept.weft"
        run("sim", "--trace", kept, WEFT, "run", "independent", "--n", 10)
        self.assertTrue(kept.exists())


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
