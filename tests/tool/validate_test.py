#!/usr/bin/env python3
"""The script behind `make validate`, in small, with bounds that hold on a loaded machine; and that virtual runs are the
same to the bit whatever surrounds the process.

Run as: python3 tests/tool/validate_test.py --weft PATH [unittest arguments]
"""
import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import command_line

WEFT = "weft"
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CORES = len(os.sched_getaffinity(0))


def run(*command, **env):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600, env=clean | env)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


class Validate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft-validate-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_small(self):
        """What else the machine does makes real runs longer, never shorter, so virtual ones may not be far above."""
        machine = self.folder / "here.toml"
        done = subprocess.run([WEFT, "calibrate", "--quick", "--out", machine], capture_output=True, timeout=600)
        self.assertIn(done.returncode, (0, 1), done.stderr)  # 1: its own checks fail, as they may on a busy computer
        text = machine.read_text()
        machine.write_text(text.split("\n", 1)[1] if text.startswith("unusable") else text)
        page = self.folder / "page.md"
        page.write_text("before\n<!-- table of a run: make validate -->\nold\n<!-- end of the table -->\nafter\n")
        run(sys.executable, ROOT / "tests" / "validate.py", "--weft", WEFT, "--machine", machine, "--out", self.folder,
            "--rounds", 2, "--tries", 2, "--seconds", 0.02, "--grains-us", "100", "--page", page)
        found = json.loads((self.folder / "validation.json").read_text())
        table = (self.folder / "validation.md").read_text()
        self.assertEqual(page.read_text(), "before\n<!-- table of a run: make validate -->\n" + table +
                         "<!-- end of the table -->\nafter\n")
        self.assertEqual({r["program"] for r in found["rows"]},
                         {"independent", "stencil", "cholesky", "nbody", "shallow-water", "sparse_lu", "random-graph"})
        self.assertEqual(len(found["rows"]), 7 * min(CORES, 2))
        for row in found["rows"]:
            self.assertGreater(row["real_s"], 0, row)
            self.assertGreater(row["virtual_s"], 0, row)
            if row["program"] in ("independent", "stencil"):
                self.assertLess(row["error"], 0.5, row)
                self.assertGreaterEqual(row["virtual_s"], 0.99 * row["tasks"] * 100e-6 / row["workers"], row)
        kinds = [(s["grain_us"], s["workers"], s["replayed"]) for s in found["summary"] if not s["unseen"]]
        each = [(None, w, kind) for w in range(1, min(CORES, 2) + 1) for kind in (None, False, True)]
        self.assertEqual(kinds, [(100, None, None), *each])
        self.assertEqual([s["runs"] for s in found["summary"] if s["unseen"]], [2 * min(CORES, 2)])
        for row in found["rows"]:
            self.assertLessEqual(row["disturbed"], row["rounds"])
        self.assertIn("of the real runs were disturbed and made again", table)

    def test_no_runs_at_all(self):
        for option in ("--rounds", "--tries"):
            done = subprocess.run([sys.executable, ROOT / "tests" / "validate.py", "--weft", WEFT, "--machine",
                                   "none.toml", "--out", self.folder, option, "0"], capture_output=True, text=True,
                                  timeout=600)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{option} 0: at least 1", done.stderr)

    def test_a_run_that_fails(self):
        done = subprocess.run([sys.executable, ROOT / "tests" / "validate.py", "--weft", WEFT, "--machine",
                               self.folder / "none.toml", "--out", self.folder, "--programs", "independent"],
                              capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 2)
        self.assertIn("none.toml", done.stderr)
        self.assertFalse((self.folder / "validation.json").exists())


class Same(unittest.TestCase):
    """Addresses, environment and the order of memory must have no say in virtual time."""

    APPS = (("independent", "--n", "3000"), ("stencil", "--steps", "40"), ("nbody", "--n", "200", "--block", "20"),
            ("shallow-water", "--side", "30", "--block", "100", "--steps", "10"),
            ("cholesky", "--n", "200", "--tile", "20", "--repeat", "1"))

    def digest(self, folder, app, machine, policy, prefix=(), **env):
        """Of every task: where and when."""
        trace = pathlib.Path(folder) / "run.weft"
        trace.unlink(missing_ok=True)
        run(*prefix, WEFT, "run", *app, "--machine", machine, "--workers", 6, "--policy", policy, "--trace", trace,
            "--json", **env)
        with sqlite3.connect(trace) as db:
            tasks = db.execute("SELECT id, worker, started_ns, finished_ns FROM tasks ORDER BY id").fetchall()
        self.assertGreater(len(tasks), 100)
        return hashlib.sha256(repr(tasks).encode()).hexdigest()

    def test_processes(self):
        no_aslr = ("setarch", "-R") if shutil.which("setarch") else ()
        surroundings = (((), {}), ((), {"PAD": "x" * 1001}), ((), {"PAD": "y" * 30_017}), (no_aslr, {}))
        for machine in ("virtual", "epyc-7551-32"):
            for policy in ("local", "random"):
                for app in self.APPS:
                    with self.subTest(app=app[0], machine=machine, policy=policy):
                        with tempfile.TemporaryDirectory(prefix="weft-same-") as folder:
                            found = {self.digest(folder, app, machine, policy, prefix, **env)
                                     for prefix, env in surroundings}
                        self.assertEqual(len(found), 1)


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
