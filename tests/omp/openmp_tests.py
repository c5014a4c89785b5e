#!/usr/bin/env python3
"""Programs built by g++ -fopenmp, by libgomp and on Weft: the same output, with 1, 2, 4 and 7 threads; and what is
refused, in one line that says why.

Run as: python3 tests/omp/openmp_tests.py --library libweft-omp.so --programs FOLDER [--weft PATH] [--compiler CXX]
        [--times N] [unittest arguments]
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = sorted(p.stem for p in HERE.glob("*.cpp"))
THREADS = (1, 2, 4, 7)
OPTIONS = argparse.Namespace()


def environment(**more):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("WEFT_", "OMP_", "GOMP_", "LD_PRELOAD"))}
    return clean | {k: str(v) for k, v in more.items()}


def run(*command, **env):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=600,
                          env=environment(**env))


def on_weft(*command, **env):
    return run(*command, LD_PRELOAD=OPTIONS.library, **env)


class Same(unittest.TestCase):
    """The programs of this folder check themselves."""

    def both(self, name, **env):
        program = pathlib.Path(OPTIONS.programs) / name
        for threads in THREADS:
            env["OMP_NUM_THREADS"] = threads
            theirs = run(program, **env)
            self.assertEqual(theirs.returncode, 0, f"libgomp, {name}, {threads} threads: {theirs.stderr}")
            for _ in range(OPTIONS.times):
                ours = on_weft(program, **env)
                self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (0, theirs.stdout, ""),
                                 f"Weft, {name}, {threads} threads")

    def test_regions(self):
        self.both("regions")
        self.both("regions", OMP_WAIT_POLICY="passive")

    def test_loops(self):
        self.both("loops")
        self.both("loops", OMP_SCHEDULE="guided,3")

    def test_tasks(self):
        self.both("tasks", OMP_MAX_TASK_PRIORITY=5)
        self.both("tasks", OMP_STACKSIZE="512k")

    def test_cancel(self):
        self.both("cancel", OMP_CANCELLATION="true")

    def test_every_program_is_run(self):
        self.assertEqual(PROGRAMS, ["cancel", "loops", "regions", "tasks"])


class Built(unittest.TestCase):
    """Small programs, built here."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="weft-omp-")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def build(self, text, *flags):
        folder = pathlib.Path(self.folder.name)
        (folder / "x.cpp").write_text(text)
        out = folder / f"x{len(list(folder.iterdir()))}"
        done = subprocess.run([OPTIONS.compiler, "-std=c++20", "-O1", "-fopenmp", *flags, folder / "x.cpp", "-o", out],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def refused(self, done, words, status=1):
        self.assertEqual(done.returncode, status, done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn(words, lines[0])


class Variables(Built):
    ASK = """#include <omp.h>
#include <cstdio>
int main() {
  omp_sched_t kind; int chunk; omp_get_schedule(&kind, &chunk);
  std::printf("%d %d %d %d %d %d %d %d\\n", omp_get_max_threads(), int(kind), chunk, omp_get_dynamic(),
              omp_get_max_active_levels(), omp_get_thread_limit() == 5, omp_get_cancellation(),
              omp_get_max_task_priority());
  int n = 0;
  #pragma omp parallel reduction(+ : n)
  n += 1;
  std::printf("%d\\n", n);
}
"""

    def test_are_read_as_libgomp_reads_them(self):
        program = self.build(self.ASK)
        for env in ({"OMP_NUM_THREADS": 3}, {"OMP_NUM_THREADS": "4,2"},
                    {"OMP_NUM_THREADS": 2, "OMP_SCHEDULE": "guided,7"},
                    {"OMP_SCHEDULE": "static", "OMP_NUM_THREADS": 2},
                    {"OMP_SCHEDULE": "dynamic", "OMP_MAX_ACTIVE_LEVELS": 4, "OMP_NUM_THREADS": 1},
                    {"OMP_THREAD_LIMIT": 5, "OMP_NUM_THREADS": 8, "OMP_CANCELLATION": "true"},
                    {"OMP_MAX_TASK_PRIORITY": 9}):
            theirs, ours = run(program, **env), on_weft(program, **env)
            self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (0, theirs.stdout, ""), env)

    def test_what_means_nothing_is_said(self):
        program = self.build(self.ASK)
        for name, value in (("OMP_NUM_THREADS", "-3"), ("OMP_NUM_THREADS", "many"), ("OMP_SCHEDULE", "quick"),
                            ("OMP_DYNAMIC", "perhaps"), ("OMP_STACKSIZE", "12X"), ("OMP_THREAD_LIMIT", "0")):
            done = on_weft(program, **{name: value})
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stderr, f"weft-omp: {name}={value} means nothing here and is ignored\n")

    def test_display(self):
        done = on_weft(self.build("int main() {}", "-Wl,--no-as-needed"), OMP_DISPLAY_ENV="true", OMP_NUM_THREADS=6)
        self.assertIn("[host] OMP_NUM_THREADS = '6'", done.stderr)

    def test_a_child_without_openmp_hears_nothing(self):
        done = on_weft("/bin/true", OMP_DISPLAY_ENV="true", OMP_NUM_THREADS="0", WEFT_MACHINE="virtual")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_modelled_machines_are_refused(self):
        done = on_weft(self.build(self.ASK), WEFT_MACHINE="epyc-7551-32")
        self.refused(done, "real cores only")


class Refused(Built):
    def test_target(self):
        program = self.build("#include <cstdio>\nint main() { int x = 0;\n#pragma omp target map(tofrom : x)\nx = 1;\n"
                             "std::puts(\"went on\"); }")
        done = on_weft(program)
        self.refused(done, "GOMP_target_ext: target constructs are not supported")
        self.assertEqual(done.stdout, "")

    def test_fork_in_a_region(self):
        program = self.build("""#include <sys/wait.h>
#include <unistd.h>
static void all_meet() {
  #pragma omp barrier
}
int main() {
  int status = -1;
  #pragma omp parallel num_threads(2)
  {
    #pragma omp master
    {
      const pid_t child = fork();
      if (child == 0) {
        all_meet();
        _exit(0);
      }
      waitpid(child, &status, 0);
    }
  }
  return WEXITSTATUS(status);
}
""")
        done = on_weft(program)
        self.refused(done, "a child that fork() made inside a parallel region")

    def test_fork_outside_of_regions(self):
        program = self.build("""#include <sys/wait.h>
#include <unistd.h>
static int count() {
  int n = 0;
  #pragma omp parallel num_threads(3) reduction(+ : n)
  n += 1;
  return n;
}
int main() {
  if (count() != 3) return 9;
  const pid_t child = fork();
  if (child == 0) return count() == 3 ? 0 : 1;
  int status = -1;
  waitpid(child, &status, 0);
  return count() == 3 ? WEXITSTATUS(status) : 2;
}
""")
        done = on_weft(program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_exit_in_a_region(self):
        program = self.build("#include <cstdlib>\n#include <omp.h>\nint main() {\n#pragma omp parallel num_threads(3)\n"
                             "{ if (omp_get_thread_num() == 1) std::exit(5);\n#pragma omp barrier\n} }")
        for _ in range(5):
            done = on_weft(program)
            self.assertEqual((done.returncode, done.stderr), (5, ""))

    def test_unknown_name(self):
        """A name of a later libgomp: the loader says it, and nothing runs in two runtimes."""
        library = pathlib.Path(self.folder.name) / "libgomp.so.1"
        source = pathlib.Path(self.folder.name) / "later.cpp"
        source.write_text('extern "C" void GOMP_of_later() {}')
        (source.parent / "map").write_text("GOMP_9.0 { GOMP_of_later; };\n")
        subprocess.run([OPTIONS.compiler, "-shared", "-fPIC", "-Wl,-soname,libgomp.so.1",
                        f"-Wl,--version-script={source.parent / 'map'}", source, "-o", library], check=True)
        user = pathlib.Path(self.folder.name) / "user.cpp"
        user.write_text('extern "C" void GOMP_of_later(); int main() { GOMP_of_later(); }')
        subprocess.run([OPTIONS.compiler, user, library, "-o", source.parent / "user"], check=True)
        done = on_weft(source.parent / "user")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("GOMP_9.0", done.stderr)

    def test_a_task_that_waits_for_nothing_is_named(self):
        program = self.build("int main() {\n#pragma omp parallel num_threads(2)\n#pragma omp single\n{ int x = 0;\n"
                             "#pragma omp task in_reduction(+ : x)\nx += 1;\n} }")
        self.refused(on_weft(program), "in_reduction")


class Tool(Built):
    def setUp(self):
        if OPTIONS.weft is None:
            self.skipTest("without the tool")

    def test_run(self):
        program = self.build("#include <cstdio>\n#include <omp.h>\nint main(int n, char** a) { int s = 0;\n"
                             "#pragma omp parallel reduction(+ : s)\ns += 1;\n"
                             "std::printf(\"%d %s\\n\", s, a[1]); return n; }")
        done = run(OPTIONS.weft, "run", "--workers", "3", "--", program, "--flag", "x")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "3 --flag\n", ""))

    def test_trace(self):
        program = self.build("int main() {\n#pragma omp parallel num_threads(2)\n#pragma omp single\n"
                             "for (int i = 0; i < 20; ++i) {\n#pragma omp task\n{}\n} }")
        trace = pathlib.Path(self.folder.name) / "run.weft"
        done = run(OPTIONS.weft, "run", "--trace", trace, "--", program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = run(OPTIONS.weft, "report", trace, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("task", done.stdout)

    def test_what_it_cannot_run(self):
        static = self.build("int main() {\n#pragma omp parallel\n{}\n}", "-static")
        without = self.build("int main() {}", "-Wl,--as-needed")
        script = pathlib.Path(self.folder.name) / "script"
        script.write_text("#!/bin/sh\n")
        broken = pathlib.Path(self.folder.name) / "broken"
        broken.write_bytes(without.read_bytes()[:70])
        fine = self.build("int main() {\n#pragma omp parallel\n{}\n}")
        for command, words in (([static], "linked statically"), ([without], "does not use libgomp"),
                               ([script], "is no program of machine code"), (["./not/there"], "no such file"),
                               ([broken], "linked statically"),
                               (["--machine", "virtual", "--", fine], "real cores only"),
                               (["--json", "--", fine], "--json is for the apps"),
                               (["--bogus", "--", fine], "unknown option"), (["--bogus", fine], "unknown option")):
            done = run(OPTIONS.weft, "run", *command)
            self.assertEqual(done.returncode, 2, (command, done.stderr))
            self.assertIn(words, done.stderr + done.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--weft")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--times", type=int, default=1)
    OPTIONS, rest = parser.parse_known_args(namespace=OPTIONS)
    unittest.main(argv=[sys.argv[0], *rest])
