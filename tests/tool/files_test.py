#!/usr/bin/env python3
"""What the tool's commands do to files: none takes the place of what the command reads, by whatever name, and each is
written whole or not at all.

Run as: python3 tests/tool/files_test.py --weft PATH [unittest arguments]
"""
import contextlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import command_line
import trace_maker

WEFT = "weft"
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}


def limited(limit: int):
    """No file of this process may grow beyond so many bytes, as on a disk that is full; 0: any length."""
    if limit:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it, and the child of a shell does not
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def run(*args, limit: int = 0):
    return subprocess.run([WEFT, *map(str, args)], capture_output=True, text=True, timeout=600, env=CLEAN,
                          preexec_fn=lambda: limited(limit))


class Files(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weft-files-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        tasks = [(i + 1, None, 1, 0, i, i % 2, 100 * i + 300, 100 * i + 390, "done") for i in range(200)]
        self.trace = trace_maker.write(self.folder / "t.weft", 2, ["red"], [], tasks, [],
                                       [(None, "all", None, 0, 250, 0, 30_000)])
        self.machine = self.folder / "m.toml"
        shutil.copy(pathlib.Path(__file__).resolve().parents[2] / "machines" / "epyc-7551-32.toml", self.machine)

    def refused(self, expected, *args):
        done = run(*args)
        self.assertEqual(done.returncode, 2, f"{args}: {done.stdout}{done.stderr}")
        self.assertEqual(command_line.spoken(done.stderr).count("\n"), 1, done.stderr)
        self.assertIn(expected, done.stderr)
        self.assertEqual(done.stdout, "")


class OutputOverInput(Files):
    def names_of(self, file: pathlib.Path) -> list:
        """The file itself, by another path, and through a symbolic and a hard link."""
        symbolic, hard = self.folder / "symbolic", self.folder / "hard"
        symbolic.symlink_to(file)
        os.link(file, hard)
        self.addCleanup(symbolic.unlink)
        return [file, self.folder / ".." / self.folder.name / file.name, symbolic, hard]

    def test_the_trace_that_is_read(self):
        before = self.trace.read_bytes()
        for name in self.names_of(self.trace):
            for args in (["report", self.trace, "--html", name], ["whatif", self.trace, "--html", name],
                         ["sim", self.trace, "-o", name], ["sim", self.trace, "--trace", name],
                         ["export", self.trace, "--format", "dot", "-o", name],
                         ["export", self.trace, "--format", "perfetto", "-o", name]):
                with self.subTest(args=args):
                    self.refused("would replace the trace", *args)
                    self.assertEqual(self.trace.read_bytes(), before)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["hard", "m.toml", "symbolic", "t.weft"])

    def test_the_program_that_is_run(self):
        program = self.folder / "program"
        program.write_text("#!/bin/sh\nexit 0\n")
        program.chmod(0o755)
        order = self.folder / "kept-1.order"
        os.link(program, order)
        before = program.read_bytes()
        for args in (["sim", "-o", program, program], ["sim", "--trace", program, program],
                     ["whatif", "--html", program, program], ["check", "--keep", self.folder / "kept", program]):
            with self.subTest(args=args):
                self.refused("would replace the program", *args)
                self.assertEqual(program.read_bytes(), before)

    def test_the_machine_that_is_modelled(self):
        before = self.machine.read_bytes()
        for args in (["sim", self.trace, "--machine", self.machine, "-o", self.machine],
                     ["whatif", self.trace, "--machine", self.machine, "--html", self.machine]):
            with self.subTest(args=args):
                self.refused("would replace the machine file", *args)
                self.assertEqual(self.machine.read_bytes(), before)

    def test_the_file_that_is_packed(self):
        """A trace is a file like others, and may itself be packed while another one is recorded."""
        before = self.trace.read_bytes()
        for name in self.names_of(self.trace):
            with self.subTest(name=name):
                self.refused("would replace the input", "run", "compress", "--input", self.trace, "--trace", name)
                self.assertEqual(self.trace.read_bytes(), before)
        both = self.folder / "both"
        self.refused("is the file of the trace", "run", "compress", "--output", both, "--trace",
                     self.folder / ".." / self.folder.name / "both")
        self.assertFalse(both.exists())

    def test_two_outputs_in_one_file(self):
        both = self.folder / "both"
        self.refused("is the same file as", "sim", self.trace, "-o", both, "--trace", both)
        self.refused("is the same file as", "bench", "chain1", "--out", both, "--markdown",
                     self.folder / ".." / self.folder.name / "both")
        self.assertFalse(both.exists())

    def test_the_guard_comes_first(self):
        """Before the input is even read."""
        self.trace.write_text("no trace at all")
        self.refused("would replace the trace", "report", self.trace, "--html", self.trace)

    def test_devices_are_no_files_to_keep_apart(self):
        done = run("sim", self.trace, "-o", "/dev/null")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


class Damage(Files):
    """A page of a trace that holds a copy of another one fits where it is, as far as SQLite can tell."""

    def setUp(self):
        super().setUp()
        self.whole = self.folder / "run.weft"
        done = run("run", "stencil", "--machine", "virtual", "--workers", "3", "--steps", "8", "--cells", "800",
                   "--trace", self.whole)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.bytes = self.whole.read_bytes()
        self.pages = len(self.bytes) // 4096

    def report(self, content: bytes, name: str = "damaged.weft"):
        path = self.folder / name
        path.write_bytes(content)
        return run("report", path, "--json")

    def test_a_page_that_is_a_copy_of_another(self):
        before = json.loads(self.report(self.bytes).stdout)
        self.assertTrue(before["ok"])
        draw = random.Random(7)
        for to in range(1, self.pages):
            of = draw.choice([p for p in range(self.pages)
                              if self.bytes[4096 * p:4096 * p + 4096] != self.bytes[4096 * to:4096 * to + 4096]])
            with self.subTest(to=to, of=of):
                damaged = bytearray(self.bytes)
                damaged[4096 * to:4096 * to + 4096] = self.bytes[4096 * of:4096 * of + 4096]
                done = self.report(bytes(damaged))
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertEqual(command_line.spoken(done.stderr).count("\n"), 1, done.stderr)

    def test_a_bit(self):
        draw = random.Random(8)
        for _ in range(40):
            damaged = bytearray(self.bytes)
            damaged[draw.randrange(100, len(damaged))] ^= 1 << draw.randrange(8)
            self.assertEqual(self.report(bytes(damaged)).returncode, 2)

    def test_a_trace_that_somebody_changed_with_sqlite_is_read(self):
        path = self.folder / "changed.weft"
        path.write_bytes(self.bytes)
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("UPDATE names SET name = 'red'")
            db.commit()
        done = run("report", path, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["names"][0]["name"], "red")


class WholeOrNotAtAll(Files):
    def commands(self, out):
        return (["report", self.trace, "--html", out], ["whatif", self.trace, "--workers", "1,2", "--html", out],
                ["sim", self.trace, "-o", out], ["export", self.trace, "--format", "perfetto", "-o", out],
                ["bench", "chain1", "--systems", "serial,weft", "--quick", "--out", out],
                ["bench", "chain1", "--systems", "serial,weft", "--quick", "--markdown", out])

    def test_a_full_disk_leaves_the_old_file(self):
        out = self.folder / "out"
        out.write_text("what was there before")
        for args in self.commands(out):
            with self.subTest(args=args):
                done = run(*args, limit=200)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(f"{out}: cannot write: File too large; nothing was written\n", done.stderr)
                self.assertEqual(out.read_text(), "what was there before")
                self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["m.toml", "out", "t.weft"])

    def test_what_a_killed_command_left_is_removed_by_the_next(self):
        """Its name is drawn, and a lock tells that its writer is gone; another user's, and a link, are left alone."""
        out = self.folder / "out.html"
        left, link, other = (self.folder / f"out.html.part-{n}" for n in ("0" * 16, "1" * 16, "17"))
        left.write_text("half")
        other.write_text("mine")
        link.symlink_to(self.machine)
        before = self.machine.read_bytes()
        self.assertEqual(run("report", self.trace, "--html", out).returncode, 0)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                         sorted(["m.toml", "t.weft", "out.html", link.name, other.name]))
        self.assertEqual(self.machine.read_bytes(), before)

    def test_a_place_that_cannot_be_written_is_refused_first(self):
        self.trace.write_text("no trace at all")
        for args in self.commands(self.folder / "no" / "such"):
            with self.subTest(args=args):
                if args[0] == "export":
                    continue  # writes while it reads
                self.refused("such: cannot create: No such file or directory", *args)

    def test_a_file_that_is_replaced_keeps_its_rights_and_its_links(self):
        out, link = self.folder / "out", self.folder / "link"
        out.write_text("old")
        out.chmod(0o640)
        link.symlink_to(out)
        for args in self.commands(link)[:4]:
            with self.subTest(args=args):
                self.assertEqual(run(*args).returncode, 0)
                self.assertTrue(link.is_symlink())
                self.assertEqual(out.stat().st_mode & 0o777, 0o640)
                self.assertGreater(out.stat().st_size, 100)
                out.write_text("old")

    def test_what_the_scripts_of_the_papers_write(self):
        out, link = self.folder / "out", self.folder / "link"
        out.write_text("what was there before")
        out.chmod(0o640)
        link.symlink_to(out)
        program = "import pathlib, sys, whole; whole.write_whole(pathlib.Path(sys.argv[1]), 'x' * int(sys.argv[2]))"
        papers = pathlib.Path(__file__).resolve().parents[2] / "papers"

        def write(length: int):
            return subprocess.run([sys.executable, "-B", "-c", program, str(link), str(length)], capture_output=True,
                                  text=True, env=CLEAN | {"PYTHONPATH": str(papers)}, timeout=600,
                                  preexec_fn=lambda: limited(200))
        self.assertNotEqual(write(201).returncode, 0)
        self.assertEqual(out.read_text(), "what was there before")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["link", "m.toml", "out", "t.weft"])
        self.assertEqual(write(9).returncode, 0)
        self.assertEqual((link.is_symlink(), out.read_text(), out.stat().st_mode & 0o777), (True, "x" * 9, 0o640))
        written = [p for p in papers.rglob("*.py") if ".write_text(" in p.read_text()]
        self.assertEqual(written, [], "these write files in another way")

    def test_the_result_of_a_simulation(self):
        out = self.folder / "out.json"
        self.assertEqual(run("sim", self.trace, "--json", "-o", out).returncode, 0)
        self.assertEqual(json.loads(out.read_text())["tasks"], 200)


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
