#!/usr/bin/env python3
"""What is left of a trace when the program that records it ends otherwise than it should: all that it had recorded.

Run as: python3 tests/tool/killed_test.py --weft PATH [--times N] [unittest arguments]
"""
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import command_line

WEFT = "weft"
TIMES = 5
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}


def weft(*args):
    return subprocess.run([WEFT, *map(str, args)], capture_output=True, text=True, timeout=600, env=CLEAN)


class Killed(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weft-killed-")
        self.addCleanup(scratch.cleanup)
        self.said = pathlib.Path(scratch.name, "said")
        self.folder = pathlib.Path(scratch.name, "traces")
        self.folder.mkdir()
        self.trace = self.folder / "run.weft"
        self.program = pathlib.Path(WEFT).resolve().parent / "tests" / "check_killed"

    def files(self):
        return sorted(p.name for p in self.folder.iterdir())

    def start(self, *args, **variables):
        with self.said.open("w") as out:
            return subprocess.Popen([self.program, *args], stdout=out, stderr=subprocess.PIPE, text=True,
                                    env=CLEAN | {"WEFT_TRACE": str(self.trace)} | variables)

    def ran(self):
        """What the program said last in a whole line."""
        return int(([0] + self.said.read_text().split("\n")[:-1])[-1])

    def until_it_runs(self, program):
        while self.ran() == 0:
            self.assertIsNone(program.poll(), "it has ended")
            time.sleep(0.001)

    def left(self):
        """The one file that there is, which has no trace's name."""
        found = self.files()
        self.assertEqual(len(found), 1, found)
        self.assertRegex(found[0], r"^run\.weft\.part-[0-9a-f]{16}$")
        return self.folder / found[0]

    def check(self, ran: int):
        """That the trace is whole, and that all tasks are in it of which the program has said that they have run."""
        done = weft("recover", self.trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), ["run.weft"])
        with sqlite3.connect(f"file:{self.trace}?mode=ro", uri=True) as db:
            self.assertEqual(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            tasks = "SELECT count(*) FROM tasks t JOIN names n ON n.id = t.name WHERE "

            def count(where):
                return db.execute(tasks + where).fetchone()[0]
            self.assertGreaterEqual(count("outcome = 'done'"), ran)
            for name in ("add", "parent", "child"):
                self.assertGreaterEqual(count(f"n.name = '{name}' AND outcome = 'done'"), ran / 3)
            self.assertLessEqual(count("1"), ran + 150)  # a round more has begun
            self.assertEqual(db.execute("SELECT value FROM meta WHERE key = 'recovered'").fetchall(), [("1",)])
            if ran != 0:
                self.assertEqual(db.execute("SELECT name FROM handles").fetchall(), [("sum",)])
        done = weft("report", self.trace, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(json.loads(done.stdout))

    def test_at_random_moments(self):
        seed = int(os.environ.get("WEFT_TEST_SEED", str(time.time_ns() % 1_000_000)))
        for i in range(TIMES):
            random.seed(seed + i)
            machine = random.choice([{"WEFT_MACHINE": "host", "WEFT_WORKERS": "3"}, {"WEFT_MACHINE": "virtual"}])
            how = random.choice([signal.SIGKILL, signal.SIGINT, signal.SIGSEGV])
            with self.subTest(replay=f"WEFT_TEST_SEED={seed + i} --times 1", machine=machine, signal=how):
                running = self.start(**machine)
                if random.randrange(4) != 0:
                    self.until_it_runs(running)
                else:  # or before its runtime is whole
                    while not self.files():
                        time.sleep(0.0005)
                time.sleep(random.choice([0, random.uniform(0, 0.2)]))
                running.send_signal(how)
                _, errors = running.communicate(timeout=600)
                self.assertEqual(running.returncode, -how, errors)
                part = self.left()
                if part.stat().st_size == 0 or (self.ran() == 0 and weft("report", part).returncode == 2):
                    part.unlink()  # it had not begun to record
                    continue
                self.check(self.ran())
                self.trace.unlink()

    def test_a_crash(self):
        running = self.start("4")
        _, errors = running.communicate(timeout=600)
        self.assertEqual(running.returncode, -signal.SIGABRT, errors)
        part = self.left()
        self.assertEqual(part.stat().st_mode & 0o777, 0o600)
        done = weft("report", self.trace)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"weft recover {self.trace} makes the trace of it", done.stderr)
        done = weft("report", part, "--json")  # as it is
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), [part.name])
        self.assertEqual(self.ran(), 600)
        self.check(600)

    def counts(self, *questions):
        with sqlite3.connect(f"file:{self.trace}?mode=ro", uri=True) as db:
            return [db.execute(f"SELECT count(*) FROM {q}").fetchone()[0] for q in questions]

    def test_sections_pipelines_and_forks(self):
        for machine in ({"WEFT_MACHINE": "host", "WEFT_WORKERS": "3"}, {"WEFT_MACHINE": "virtual"}):
            with self.subTest(machine=machine):
                running = self.start("4", "all", **machine)
                _, errors = running.communicate(timeout=600)
                self.assertEqual(running.returncode, -signal.SIGABRT, errors)
                done = weft("recover", self.trace)
                self.assertEqual(done.returncode, 0, done.stderr)
                named = "tasks t JOIN names n ON n.id = t.name AND n.name = "
                self.assertEqual(self.counts("sections", "bodies", "crews WHERE first", "pipelines"), [4, 160, 4, 4])
                self.assertEqual(self.counts(named + "'below' WHERE t.parent IS NOT NULL",
                                             named + "'forked' JOIN strands s ON s.task = t.id AND s.of = 'body'"),
                                 [4, 4])
                with sqlite3.connect(f"file:{self.trace}?mode=ro", uri=True) as db:  # 30 each, one by one or together
                    items = "SELECT sum(items) FROM passes WHERE stage IS NULL OR stage = 1"
                    self.assertEqual(db.execute(items).fetchone(), (120,))
                for args in (["report"], ["whatif", "--workers", "2"], ["sim", "--workers", "2"]):
                    done = weft(args[0], self.trace, *args[1:], "--json")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertTrue(json.loads(done.stdout))
                self.trace.unlink()

    def test_in_the_middle_of_a_section(self):
        random.seed(int(os.environ.get("WEFT_TEST_SEED", "1")))
        for i in range(TIMES):
            running = self.start("-1", "all", WEFT_MACHINE=random.choice(["host", "virtual"]))
            self.until_it_runs(running)
            time.sleep(random.uniform(0, 0.1))
            running.kill()
            running.communicate(timeout=600)
            rounds = self.ran() // 150
            done = weft("recover", self.trace)
            self.assertEqual(done.returncode, 0, done.stderr)
            sections, bodies = self.counts("sections", "bodies")
            with self.subTest(run=i, rounds=rounds):
                self.assertIn(sections, (rounds, rounds + 1))
                self.assertGreaterEqual(bodies, 40 * rounds)
                self.assertLessEqual(bodies, 40 * (rounds + 1))
                done = weft("report", self.trace, "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
            self.trace.unlink()

    def test_the_oldest_are_overwritten_there_too(self):
        running = self.start("400", WEFT_TRACE_MIB="1", WEFT_MACHINE="virtual", WEFT_WORKERS="2")
        running.communicate(timeout=600)
        self.assertLessEqual(self.left().stat().st_size, 3 << 20)
        done = weft("recover", self.trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        with sqlite3.connect(f"file:{self.trace}?mode=ro", uri=True) as db:
            self.assertGreater(int(db.execute("SELECT value FROM meta WHERE key = 'lost'").fetchone()[0]), 0)
            self.assertGreater(db.execute("SELECT count(*) FROM tasks WHERE outcome = 'done'").fetchone()[0], 1000)
        self.assertEqual(weft("report", self.trace).returncode, 0)

    def test_while_it_runs_and_afterwards(self):
        running = self.start()
        self.until_it_runs(running)
        part = self.left()
        for args in (["recover", self.trace], ["recover", part], ["report", part]):
            done = weft(*args)
            self.assertEqual(done.returncode, 2, args)
        self.assertIn("is being written by a program that runs", done.stderr)
        self.assertEqual(self.files(), [part.name])
        running.kill()
        running.communicate(timeout=600)
        # The next run leaves it, for who wants to know what happened; the one behind that removes the older one.
        for _ in range(2):
            self.start("1").communicate(timeout=600)
        self.assertEqual(len(self.files()), 2)
        self.assertNotIn(part.name, self.files())
        # A trace that is whole takes the place of all.
        done = subprocess.run([WEFT, "run", "micro-count", "--trace", self.trace], capture_output=True,
                              text=True, timeout=600, env=CLEAN)
        self.assertEqual(self.files(), ["run.weft"], done.stderr)

    def test_what_is_no_journal(self):
        self.start("2").communicate(timeout=600)
        part = self.left()
        whole = part.read_bytes()
        random.seed(1)
        for _ in range(10 * TIMES):
            spoiled = bytearray(whole[:random.choice([len(whole), random.randrange(len(whole))])])
            for _ in range(random.randrange(200)):
                if spoiled:
                    end = random.choice([len(spoiled), min(len(spoiled), 300_000)])
                    spoiled[random.randrange(end)] = random.randrange(256)
            bad = self.folder / "bad"
            bad.write_bytes(spoiled)
            done = weft("recover", bad, "-o", self.folder / "out")
            self.assertIn(done.returncode, (0, 2), done.stderr)
            if done.returncode == 0:
                self.assertIn(weft("report", self.folder / "out").returncode, (0, 2))
                (self.folder / "out").unlink()
            self.assertEqual(self.files(), sorted(["bad", part.name]) if bad.exists() else [part.name])


if __name__ == "__main__":
    if "--times" in sys.argv:
        at = sys.argv.index("--times")
        TIMES = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    WEFT = command_line.weft(__doc__)
    unittest.main()
