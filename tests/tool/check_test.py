#!/usr/bin/env python3
"""weft check, seen from outside: planted bugs are found and their two tasks named, correct programs are left alone.

Run as: python3 tests/tool/check_test.py --weft PATH [unittest arguments]
"""
import json
import os
import pathlib
import shlex
import subprocess
import tempfile
import unittest

import command_line

WEFT = "weft"
SCHEDULES = "300"


def clean_environment():
    return {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}


def program(name):
    return str(pathlib.Path(WEFT).resolve().parent / name)


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def check(self, *args, status=None, schedules=SCHEDULES):
        done = subprocess.run([WEFT, "check", "--schedules", schedules, *args], cwd=self.folder.name, text=True,
                              capture_output=True, timeout=600, env=clean_environment())
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def bug(self, name, *options, status=1):
        done = self.check("--json", *options, "--", program("tests/check_bugs"), name, status=status)
        reply = json.loads(done.stdout)
        self.assertIs(reply["ok"], status == 0)
        return reply

    def names(self, reply):
        self.assertIs(reply["found"]["exact"], True, reply)
        return sorted(s.get("name", s["text"]) for s in reply["found"]["steps"])


class Found(Check):
    def test_missing_write(self):
        reply = self.bug("missing-write")
        self.assertEqual(self.names(reply), ["scale", "set factor"])
        self.assertIn("does not declare this handle", reply["found"]["suspicions"][0])
        self.assertEqual({reply["found"]["difference"][k] for k in ("plain", "other")}, {"5", "15"})

    def test_read_declared_instead_of_write(self):
        reply = self.bug("read-but-written")
        self.assertEqual(self.names(reply), ["change", "copy"])
        self.assertTrue(any("both declare read(x)" in s for s in reply["found"]["suspicions"]), reply)

    def test_adds_that_do_not_commute(self):
        reply = self.bug("adds-in-order")
        self.assertEqual(self.names(reply), ["add", "add"])
        self.assertIn("both declare add(sum)", reply["found"]["suspicions"][0])

    def test_main_thread_does_not_wait(self):
        reply = self.bug("main-does-not-wait")
        self.assertEqual(self.names(reply), ["double", "the main thread, after its submission of task 2 'beside'"])

    def test_parent_does_not_wait(self):
        self.assertEqual(self.names(self.bug("parent-does-not-wait")), ["child", "parent"])

    def test_submissions_race(self):
        reply = self.bug("submissions-race")
        self.assertEqual(self.names(reply), ["one", "two"])
        self.assertIn("nothing orders their submissions", "".join(reply["found"]["suspicions"]))

    def test_crash_and_hang_are_results(self):
        reply = self.bug("crash")
        self.assertEqual(self.names(reply), ["make", "use"])
        self.assertEqual({reply["found"]["difference"][k] for k in ("plain", "other")},
                         {"status 0", "killed by signal 6 (Aborted)"})
        reply = self.bug("hang", "--timeout", "1", "--first")
        self.assertEqual(self.names(reply), ["make", "use"])
        self.assertIn("did not end within 1 s", json.dumps(reply["found"]["difference"]))

    def test_what_depends_on_workers_is_not_blamed_on_tasks(self):
        for name in ("number-of-workers", "worker-id"):
            with self.subTest(name=name):
                reply = self.bug(name)
                self.assertIs(reply["found"]["exact"], False)
                self.assertIn("number of workers", reply["found"]["why_not"])

    def test_replay_lines_give_the_two_results(self):
        reply = self.bug("missing-write")
        seen = []
        for line in reply["found"]["replay"] + [reply["found"]["by"]]:
            words = shlex.split(line)
            settings = dict(w.split("=", 1) for w in words if w.startswith("WEFT_"))
            command = [w for w in words if not w.startswith("WEFT_")]
            done = subprocess.run(command, cwd=self.folder.name, text=True, capture_output=True, timeout=600,
                                  check=True, env={**clean_environment(), **settings})
            seen.append(done.stdout.strip())
        difference = reply["found"]["difference"]
        self.assertEqual(seen[:2], [difference["plain"], difference["other"]])
        self.assertEqual(seen[2], "5")  # the plain schedule gives 15
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["weft-check-1.order", "weft-check-2.order"])

    def test_a_folder_that_cannot_be_written(self):
        """The orders go to the folder for temporary files; nobody can make a file in /proc, root neither."""
        done = subprocess.run([WEFT, "check", "--schedules", SCHEDULES, "--json", "--", program("tests/check_bugs"),
                               "missing-write"], cwd="/proc", text=True, capture_output=True, timeout=600,
                              env=clean_environment() | {"TMPDIR": self.folder.name})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        reply = json.loads(done.stdout)
        self.assertEqual(len(reply["found"]["replay"]), 2)
        for line in reply["found"]["replay"]:
            self.assertIn(self.folder.name, line)
        kept = list(pathlib.Path(self.folder.name).glob("weft-check-kept-*"))
        self.assertEqual(len(kept), 1)  # a folder of its own, or who foresees a name lays a link there
        self.assertEqual(kept[0].stat().st_mode & 0o777, 0o700)
        self.assertEqual(sorted(os.listdir(kept[0])), ["weft-check-1.order", "weft-check-2.order"])

    def test_a_folder_that_cannot_be_written_and_nothing_to_keep(self):
        done = subprocess.run([WEFT, "check", "--schedules", "3", "--", "/bin/true"], cwd="/proc", text=True,
                              capture_output=True, timeout=600, env=clean_environment() | {"TMPDIR": self.folder.name})
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_orders_that_cannot_be_kept_lose_no_finding(self):
        gone = pathlib.Path(self.folder.name, "gone")
        gone.mkdir()
        command = ["sh", "-c", f"rm -rf {shlex.quote(str(gone))}; exec " + shlex.quote(program("tests/check_bugs")) +
                   " missing-write"]
        done = self.check("--json", "--keep", str(gone / "x"), "--", *command, status=1)
        found = json.loads(done.stdout)["found"]
        self.assertEqual(sorted(s["name"] for s in found["steps"]), ["scale", "set factor"])
        self.assertEqual(found["replay"], [])
        self.assertIn("No such file", found["not_kept"])

    def test_the_two_orders_differ_by_two_steps(self):
        self.bug("adds-in-order", "--keep", "kept")
        first, second = (pathlib.Path(self.folder.name, f"kept-{i}.order").read_text().splitlines() for i in (1, 2))
        differ = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
        self.assertEqual(len(differ), 2)
        self.assertEqual(differ[1], differ[0] + 1)
        self.assertEqual(first[differ[0]], second[differ[1]])

    def test_the_guide_says_what_it_prints(self):
        os.symlink(program("examples/missing-dependency"), pathlib.Path(self.folder.name, "missing-dependency"))
        done = self.check("./missing-dependency", status=1, schedules="1000")
        guide = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/guide/26-check.md"
        told = guide.read_text().split("```text\n")[1].split("```")[0]
        self.assertIn(told, done.stdout)

    def test_text_and_example(self):
        done = self.check(program("examples/missing-dependency"), status=1, schedules="200")
        self.assertIn("The order of these two alone matters:", done.stdout)
        self.assertIn("'sale ends'", done.stdout)
        self.assertIn("WEFT_SCHEDULE=order:weft-check-1.order", done.stdout)
        self.assertNotIn("\033", done.stdout)


class NotFound(Check):
    def test_correct_programs(self):
        reply = self.bug("right", status=0)
        self.assertEqual((reply["schedules"], reply["results"]), (300, 1))
        self.assertGreater(reply["orders"], 100)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_examples_in_a_thousand_schedules(self):
        for name in ("02-versions", "05-nested", "06-exceptions"):
            with self.subTest(example=name):
                done = self.check("--json", program("examples/" + name), status=0, schedules="1000")
                self.assertEqual(json.loads(done.stdout)["results"], 1)


class CannotBeTested(Check):
    def bad(self, expected, *args):
        done = self.check(*args, status=2)
        self.assertIn(expected, done.stderr)
        self.assertEqual(command_line.spoken(done.stderr).count("\n"), 1, done.stderr)
        self.assertEqual(done.stdout, "")
        reply = json.loads(self.check("--json", *args, status=2).stdout)
        self.assertIn(expected, reply["error"])

    def test_output_that_differs_by_itself(self):
        bugs = program("tests/check_bugs")
        self.bad("differs from run to run under the same schedule", bugs, "prints-time")
        self.bad("submits its tasks differently", bugs, "order-by-time")
        self.check("--ignore", "after [0-9]+ ns", bugs, "prints-time", status=0)
        self.check("--compare", "exit", bugs, "prints-time", status=0)

    def test_long_lines_and_expressions_that_try_all_ways(self):
        """Neither ends the stack, nor takes for ever."""
        script = pathlib.Path(self.folder.name, "run")
        script.write_text(f"#!/bin/sh\n{shlex.quote(os.path.abspath(WEFT))} run independent --n 9 > /dev/null\n"
                          "printf '%0200000d\\n' 7\nprintf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\\n'\n")
        script.chmod(0o755)
        for expression in ("^(0|1)*x", "(a+)+c"):
            with self.subTest(expression=expression):
                self.check("--ignore", expression, str(script), status=0, schedules="2")

    def test_programs_that_are_none(self):
        self.bad("cannot start", "./no-such-program")
        self.bad("ran no task on a modelled machine", "/bin/true")
        self.bad("asks for options::machine itself", program("tests/check_bugs"), "on-the-host")

    def test_options(self):
        self.bad("is no regular expression", "--ignore", "(", "/bin/true")
        self.bad("--schedules", "--schedules", "0", "/bin/true")
        self.bad("PROGRAM", "--depth", "1")

    def test_files_are_compared(self):
        script = pathlib.Path(self.folder.name, "run")
        script.write_text(f"#!/bin/sh\n{shlex.quote(program('tests/check_bugs'))} missing-write > out.txt\n")
        script.chmod(0o755)
        self.check("--compare", "exit", "run", status=0)
        done = self.check("--compare", "exit,out.txt", "--json", "run", status=1)
        self.assertEqual(json.loads(done.stdout)["found"]["difference"]["where"], "out.txt")


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
