#!/usr/bin/env python3
"""`weft top`, beside a program that does what it is told (tests/check/watched.cpp): what it shows is what that has
done, and what it says where there is nothing to show.

Run as: python3 tests/tool/top_test.py --weft PATH [unittest arguments]
"""
import fcntl
import json
import mmap
import os
import pathlib
import pty
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

import command_line

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's packages, where another Python runs this
try:
    from prometheus_client.openmetrics import parser as open_metrics
except ImportError:
    open_metrics = None

WEFT = "weft"
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
QUICK = ("--interval", "0.02")
NOBODY = 65534
VERSION_AT = 8  # of the page: behind the magic word (src/trace/live_page.hpp)


class Program:
    """The program that is watched."""

    def __init__(self, path, stderr=None, **variables):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True,
                                        env=CLEAN | {"WEFT_TOP": "1"} | variables)
        assert self.answer() == "ready"
        self.pid = self.process.pid

    def answer(self):
        return self.process.stdout.readline().strip()

    def tell(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=600)
        self.process.stdout.close()
        return self.process.returncode

    def kill(self):
        self.process.kill()
        self.end()

    def pages(self):
        folder = pathlib.Path("/proc", str(self.pid), "fd")
        return [f for f in folder.iterdir() if os.readlink(f).startswith("/memfd:weft-top")]


def top(*args, **how):
    return subprocess.run([WEFT, "top", *map(str, args)], capture_output=True, text=True, timeout=600, env=CLEAN, **how)


class Case(unittest.TestCase):
    def setUp(self):
        self.path = pathlib.Path(WEFT).resolve().parent / "tests" / "check_watched"

    def start(self, path=None, **how):
        program = Program(path or self.path, **how)
        self.addCleanup(lambda: program.process.poll() is None and program.kill())
        return program

    def shown(self, program, *args):
        done = top(program.pid, "--once", "--json", *QUICK, *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["runtimes"]

    def refused(self, *args, **how):
        done = top(*args, **how)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Aweft: top: [^\n]+\n\Z")
        return done.stderr


class Counters(Case):
    def test_what_it_has_done(self):
        program = self.start()
        self.assertEqual(program.tell("run 1000"), "done")
        runtime, = self.shown(program)
        self.assertEqual(runtime["tasks"], 1000)
        self.assertEqual(sum(w["tasks"] for w in runtime["workers"]), 1000)
        self.assertEqual(runtime["live"], 0)
        self.assertIsNone(runtime["longest_body"])
        self.assertEqual([w["role"] for w in runtime["workers"]], ["ordinary", "ordinary", "reserve"])
        self.assertEqual(runtime["workers"][0]["does"], "outside")
        self.assertGreater(runtime["age_s"], runtime["interval_s"])
        program.tell("run 500")
        self.assertEqual(self.shown(program)[0]["tasks"], 1500)
        self.assertEqual(program.end(), 0)

    def test_time_is_all_accounted_for(self):
        program = self.start()
        before, = self.shown(program)
        program.tell("run 5000")
        runtime, = self.shown(program)
        for earlier, w in zip(before["workers"], runtime["workers"], strict=True):
            spent = sum(w["spent_s"].values()) - sum(earlier["spent_s"].values())
            self.assertAlmostEqual(spent, runtime["age_s"] - before["age_s"], delta=1e-6)
            self.assertAlmostEqual(sum(w["share"].values()), 1, places=9)
        # In this interval nothing ran: who reads its input is in the program.
        self.assertEqual(runtime["workers"][0]["share"]["outside"], 1)

    def test_the_longest_body(self):
        program = self.start()
        program.tell("hold")
        runtime, = self.shown(program)
        self.assertEqual((runtime["tasks"], runtime["live"]), (1, 1))
        body = runtime["longest_body"]
        self.assertEqual(body["name"], "holds")
        self.assertGreaterEqual(body["at_least_s"], 0.9 * runtime["interval_s"])
        at = runtime["workers"][body["worker"]]
        self.assertEqual((at["does"], at["body"], at["share"]["busy"]), ("busy", "holds", 1))
        self.assertGreaterEqual(self.shown(program)[0]["longest_body"]["at_least_s"], body["at_least_s"])
        program.tell("release")
        self.assertIsNone(self.shown(program)[0]["longest_body"])

    def test_several_runtimes_and_none(self):
        program = self.start()
        program.tell("second")
        program.tell("run 10")
        self.assertEqual([(r["runtime"], r["tasks"]) for r in self.shown(program)], [(1, 10), (2, 0)])
        program.tell("over")
        self.assertEqual([r["runtime"] for r in self.shown(program)], [1])
        program.tell("over")
        self.assertEqual(program.pages(), [], "a runtime that has ended leaves nothing")
        self.assertIn("has no runtime yet or none any more", self.refused(program.pid))
        program.tell("second")
        self.assertEqual([r["runtime"] for r in self.shown(program)], [3])

    def test_by_name(self):
        with tempfile.TemporaryDirectory(prefix="weft-top-") as folder:
            copy = pathlib.Path(folder, "a_name_of_more_than_15_bytes")
            shutil.copy(self.path, copy)
            program = self.start(copy)
            for name in (copy.name, copy.name[:15]):
                self.assertEqual(json.loads(top(name, "--once", "--json", *QUICK).stdout)["process"], program.pid)
            other = self.start(copy)
            self.assertRegex(self.refused(copy.name),
                             rf"several .*: {min(program.pid, other.pid)}, \d+; give the number")

    def test_the_table(self):
        program = self.start()
        program.tell("run 300")
        program.tell("hold")
        text = top(program.pid, "--once", *QUICK).stdout
        self.assertRegex(text, rf"\Aprocess {program.pid} \(check_watched\), runtime 1, policy local, for .* s\n"
                               r"301 tasks, .* a second; 1 submitted and not done\n"
                               r"the longest body is holds, on worker 1 for at least .* s\n")
        self.assertEqual(len(text.splitlines()), 6)
        self.assertNotIn("\033", text)


class OpenMetrics(Case):
    def test_text(self):
        program = self.start()
        program.tell("run 700")
        text = top(program.pid, "--openmetrics").stdout
        self.assertTrue(text.endswith("# EOF\n"))
        if open_metrics is None:
            self.skipTest("python3-prometheus-client is not installed")
        families = {f.name: f for f in open_metrics.text_string_to_metric_families(text)}
        self.assertEqual(sum(s.value for s in families["weft_tasks"].samples), 700)
        self.assertEqual(families["weft_tasks"].type, "counter")
        self.assertEqual(families["weft_worker_time_seconds"].unit, "seconds")
        self.assertEqual({s.labels["state"] for s in families["weft_worker_time_seconds"].samples},
                         {"busy", "searching", "asleep", "outside"})
        for family in families.values():
            for sample in family.samples:
                self.assertEqual(sample.labels["pid"], str(program.pid))
                self.assertEqual(sample.labels["runtime"], "1")
        self.assertEqual([s.value for s in families["weft_live_tasks"].samples], [0])

    @unittest.skipIf(open_metrics is None, "python3-prometheus-client is not installed")
    def test_a_name_that_is_no_plain_text(self):
        with tempfile.TemporaryDirectory(prefix="weft-top-") as folder:
            copy = pathlib.Path(folder, 'a"b\\c')
            shutil.copy(self.path, copy)
            program = self.start(copy)
            text = top(program.pid, "--openmetrics").stdout
            names = {s.labels["program"] for f in open_metrics.text_string_to_metric_families(text) for s in f.samples}
            self.assertEqual(names, {copy.name})


class Live(Case):
    """Without --once it goes on until the program has ended."""

    def watch(self, program, *args, **how):
        return subprocess.Popen([WEFT, "top", str(program.pid), *QUICK, *args], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=CLEAN, **how)

    def test_it_follows(self):
        program = self.start()
        watcher = self.watch(program, "--json")
        seen = []
        for told in (100, 200):
            program.tell(f"run {told}")
            wanted = told + sum(seen)
            while json.loads(watcher.stdout.readline())["runtimes"][0]["tasks"] != wanted:
                pass
            seen.append(told)
        program.end()
        out, err = watcher.communicate(timeout=600)
        self.assertEqual((watcher.returncode, err), (0, ""))

    def test_the_program_is_killed_meanwhile(self):
        program = self.start()
        watcher = self.watch(program)
        self.assertIn(str(program.pid), watcher.stdout.readline())
        program.kill()
        out, err = watcher.communicate(timeout=600)
        self.assertEqual((watcher.returncode, err), (0, ""))
        self.assertTrue(out.endswith(f"process {program.pid} (check_watched) has ended\n"), out[-200:])
        self.assertIn("there is no process", self.refused(program.pid))

    def test_several_watchers(self):
        program = self.start()
        program.tell("run 42")
        watchers = [self.watch(program, "--once", "--json") for _ in range(4)]
        for w in watchers:
            out, err = w.communicate(timeout=600)
            self.assertEqual((w.returncode, err), (0, ""))
            self.assertEqual(json.loads(out)["runtimes"][0]["tasks"], 42)

    def test_a_watcher_that_is_killed_holds_up_nobody(self):
        program = self.start()
        for _ in range(5):
            watcher = self.watch(program, "--json")
            watcher.stdout.readline()
            watcher.kill()
            watcher.communicate()
            self.shown(program)

    def test_on_a_terminal_it_draws_over_itself(self):
        program = self.start()
        ours, theirs = pty.openpty()
        watcher = subprocess.Popen([WEFT, "top", str(program.pid), *QUICK], stdout=theirs,
                                   env=CLEAN | {"TERM": "xterm"})
        os.close(theirs)
        text = b""
        while text.count(b"\033[H\033[J") < 2:
            text += os.read(ours, 4096)
        program.kill()
        try:
            while piece := os.read(ours, 4096):
                text += piece
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(watcher.wait(timeout=600), 0)
        self.assertIn(b"has ended", text)


class Refusals(Case):
    def test_no_such_program(self):
        self.assertIn("there is no process 4194304", self.refused(4194304))
        self.assertIn("there is no program called 'no-such-program'", self.refused("no-such-program"))

    def test_a_program_without(self):
        program = self.start(WEFT_TOP="0")
        self.assertEqual(program.pages(), [])
        for who in (program.pid, "check_watched"):
            self.assertIn("lets nobody look", self.refused(who))
        other = subprocess.Popen(["sleep", "600"])
        self.addCleanup(lambda: (other.kill(), other.wait()))
        self.assertIn("WEFT_TOP=1", self.refused(other.pid))

    def test_a_modelled_machine_has_none(self):
        done = subprocess.run([self.path], env=CLEAN | {"WEFT_TOP": "1", "WEFT_MACHINE": "virtual"}, input="",
                              capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 2)
        self.assertIn("WEFT_TOP = '1' cannot be; it must be unset on a modelled machine", done.stderr)

    def test_another_user(self):
        if os.geteuid() != 0:
            self.assertIn("look as its user, or as root", self.refused(1))
            return
        program = self.start()
        with tempfile.TemporaryDirectory(prefix="weft-top-") as folder:
            os.chmod(folder, 0o755)
            copy = shutil.copy(WEFT, folder)
            done = subprocess.run([copy, "top", str(program.pid)], user=NOBODY, group=NOBODY, extra_groups=[], cwd="/",
                                  capture_output=True, text=True, timeout=600, env=CLEAN)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Aweft: top: the system does not let you look at process \d+ \(check_watched\) "
                                      r"\(Permission denied\): it belongs to user 0; look as its user, or as root\n\Z")

    def test_a_child_by_fork(self):
        with tempfile.TemporaryDirectory(prefix="weft-top-") as folder:
            name = "forks-" + pathlib.Path(folder).name[-8:]  # nobody else's
            program = self.start(shutil.copy(self.path, pathlib.Path(folder, name)))
        program.tell("run 7")
        child = int(program.tell("fork"))
        self.addCleanup(os.kill, child, signal.SIGKILL)
        self.assertIn(f"is a child that process {program.pid} made by fork()", self.refused(child))
        self.assertEqual(self.shown(program)[0]["tasks"], 7)
        by_name = top(name, "--once", "--json", *QUICK)
        self.assertEqual(by_name.returncode, 0, by_name.stderr)
        self.assertEqual(json.loads(by_name.stdout)["runtimes"][0]["tasks"], 7)

    def test_a_program_that_is_stopped(self):
        program = self.start()
        program.process.send_signal(signal.SIGSTOP)
        os.waitpid(program.pid, os.WUNTRACED)
        self.assertIn("is stopped and does not answer", self.refused(program.pid))
        program.process.send_signal(signal.SIGCONT)
        self.shown(program)

    def test_another_layout(self):
        program = self.start()
        page, = program.pages()
        with open(page, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
            memory[VERSION_AT:VERSION_AT + 4] = struct.pack("=I", 7)
        self.assertIn("in layout 7, and this weft reads layout 1", self.refused(program.pid))

    def test_a_page_that_is_none(self):
        for content in (b"", b"x" * 4096):
            file = os.memfd_create("weft-top", os.MFD_ALLOW_SEALING)
            os.write(file, content)
            other = subprocess.Popen(["sleep", "600"], pass_fds=(file,))
            os.close(file)
            self.addCleanup(lambda p=other: (p.kill(), p.wait()))
            self.assertIn("none of Weft's", self.refused(other.pid))

    def test_wrong_usage(self):
        program = self.start()
        for args in (("--interval", "0"), ("--interval", "nan"), ("--openmetrics", "--json"),
                     ("--openmetrics", "--once")):
            done = top(program.pid, *args)
            self.assertEqual(done.returncode, 2, args)


class Limits(Case):
    """What the system refuses is said, and the program runs."""

    def test_no_shared_memory_of_the_usual_kind_is_needed(self):
        """A folder for it may be read-only, or missing: a memfd is in none."""
        program = self.start()
        page, = program.pages()
        self.assertTrue(stat.S_ISREG(os.stat(page).st_mode))
        found = os.stat(page)
        shm = pathlib.Path("/dev/shm")
        self.assertFalse(shm.exists() and any(f.stat().st_ino == found.st_ino and f.stat().st_dev == found.st_dev
                                              for f in shm.iterdir()))
        with open(page, "rb") as file:
            seals = fcntl.fcntl(file.fileno(), fcntl.F_GET_SEALS)
        self.assertTrue(seals & fcntl.F_SEAL_SHRINK)

    def test_no_descriptor_is_left(self):
        program = self.start(stderr=subprocess.PIPE)
        resource.prlimit(program.pid, resource.RLIMIT_NOFILE, (3, 3))
        program.tell("second")
        self.assertEqual([r["runtime"] for r in self.shown(program)], [1])
        program.process.stdin.close()
        self.assertEqual(program.process.stderr.read(),
                         "weft: nobody can look at this runtime by `weft top`: the system refuses shared memory for it "
                         "(Too many open files); going on.\n")
        program.process.stderr.close()


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main(verbosity=1)
