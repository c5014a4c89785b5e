#!/usr/bin/env python3
"""weft calibrate: the file it writes is a machine, its figures are those of a computer, and no place to write to loses
what was there before.

Run as: python3 tests/tool/calibrate_test.py --weft PATH [unittest arguments]
"""
import json
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import unittest

import command_line

WEFT = "weft"
CORES = sorted(os.sched_getaffinity(0))
QUICK = ("calibrate", "--quick")
KEYS = ["ok", "file", "date", "quick", "seconds", "tries", "machine", "load", "figures", "sources", "steps", "checks",
        "unusable", "warnings"]
FIGURE_KEYS = ["key", "what", "unit", "median", "min", "q1", "q3", "count", "steady", "plausible", "usual", "source"]
COMPARISON_KEYS = ["name", "median", "min", "q1", "q3", "count", "modelled", "error"]
# Far beyond any computer: what is outside was measured wrongly. A loaded machine makes figures longer, and bandwidths
# less, so only the other side is narrow.
BOUNDS = {"clock_speed": (0.05, 10), "load_hit": (0.02, 50), "store_hit": (0.02, 50), "modify_hit": (0.2, 500),
          "pause": (0.1, 2_000), "clock_read": (1, 20_000), "system_call": (10, 100_000), "sleep": (50, 1e7),
          "bandwidth_memory_0": (0.05, 2_000), "latency_read_0": (10, 20_000), "latency_write_0": (10, 50_000)}
PAIR_BOUNDS = {"transfer": (2, 50_000), "invalidation": (2, 50_000), "ping_pong": (5, 1e6), "lock_hand_off": (1, 1e6)}


def run(*args, cores=CORES, limit_bytes=None, **env):
    """Runs the tool on these cores, with only these WEFT_* and XDG_* variables; files may get that long at most."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("WEFT_", "XDG_"))}

    def prepare():
        os.sched_setaffinity(0, cores)
        if limit_bytes is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))

    return subprocess.run([WEFT, *args], capture_output=True, text=True, timeout=600, env=clean | env,
                          preexec_fn=prepare)


class Calibrate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft-calibrate-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "here.toml"

    def good(self, *args, **kwargs):
        done = run(*args, **kwargs)
        self.assertEqual(done.returncode, 0, f"{args}: {done.stderr}")
        return done.stdout

    def measured(self, *args, **kwargs):
        """On a busy computer the file's own checks may fail: then it says so, is not taken, and the line goes here."""
        file = kwargs.pop("file", self.file)
        done = run(*QUICK, *args, **kwargs)
        text = file.read_text()
        marked = text.startswith("unusable = ")
        self.assertEqual(done.returncode, 1 if marked else 0, done.stderr)
        self.assertEqual("marked unusable" in done.stderr, marked)
        if marked:
            refused = run("info", "--machine", str(file))
            self.assertEqual(refused.returncode, 2)
            self.assertIn("unusable: this file says of itself", refused.stderr)
            file.write_text(text.split("\n", 1)[1])
        return done.stdout

    def is_a_machine(self, name, workers, **env):
        """A program runs on it, twice the same."""
        args = ("run", "independent", "--n", "200", "--machine", str(name), "--workers", str(workers), "--json")
        first, second = (json.loads(self.good(*args, **env)) for _ in range(2))
        self.assertIs(first["ok"], True)
        self.assertGreater(first["seconds"], 0)
        self.assertEqual(first["seconds"], second["seconds"])

    def test_quick(self):
        """Its object has the keys that scripts rely on, its figures are those of a computer, its file is a machine."""
        self.file.write_text("what was there before")
        found = json.loads(self.measured("--json", "--out", str(self.file)))
        self.assertEqual(list(found), KEYS)
        self.assertIs(found["ok"], True)
        self.assertEqual(found["file"], str(self.file))
        for figure in found["figures"]:
            self.assertEqual(list(figure), FIGURE_KEYS)
            self.assertLessEqual(figure["min"], figure["q1"], figure)
            self.assertLessEqual(figure["q1"], figure["median"], figure)
            self.assertLessEqual(figure["median"], figure["q3"], figure)
        figures = {f["key"]: f for f in found["figures"]}
        self.assertEqual(len(figures), len(found["figures"]), "two figures of one name")
        bounds = dict(BOUNDS)
        if len(CORES) > 1:
            bounds |= {"waker": (50, 1e8), "wake": (200, 1e9)}
            pairs = [key for key in figures if key.rsplit("_", 1)[0] in PAIR_BOUNDS]
            self.assertTrue(pairs)
            bounds |= {key: PAIR_BOUNDS[key.rsplit("_", 1)[0]] for key in pairs}
        for key, (low, high) in bounds.items():
            self.assertEqual(figures[key]["source"], "measured", key)
            self.assertTrue(low <= figures[key]["median"] <= high, figures[key])
        for one in found["steps"] + found["checks"]:
            self.assertEqual(list(one), COMPARISON_KEYS)
            self.assertGreater(one["median"], 0, one)
            self.assertGreater(one["modelled"], 0, one)
        self.assertGreater(len(found["steps"]), 10)
        self.assertIn("a quick calibration is for trying things out", found["warnings"])
        self.is_a_machine(self.file, len(CORES))
        self.assertEqual(os.listdir(self.folder), [self.file.name], "nothing else is left behind")

    def test_tries(self):
        """It is measured again only while the checks fail, and no oftener than asked for; quick, twice unasked."""
        for asked, most in ((("--tries", "1"), 1), ((), 2)):
            found = json.loads(self.measured("--json", *asked, "--out", str(self.file), cores=CORES[:1]))
            self.assertLessEqual(found["tries"], most)
            if found["unusable"]:
                self.assertEqual(found["tries"], most)
            differ = [w for w in found["warnings"] if w.startswith("tries differ")]
            if found["tries"] == 1:
                self.assertEqual(differ, [])
        self.assertEqual(run(*QUICK, "--tries", "0").returncode, 2)

    def test_own_place(self):
        """Without --out it goes where machines are looked for by name; one core is enough, and the file says so."""
        file = self.folder / "weft" / "machines" / "this-host.toml"
        text = self.measured("--tries", "1", cores=CORES[:1], XDG_CONFIG_HOME=str(self.folder), file=file)
        self.assertIn(f"written: {file}", text)
        self.assertIn("assumed: one usable core", text)
        self.assertNotIn("\033", text)
        self.assertIn("one usable core", file.read_text())
        self.is_a_machine("this-host", 1, XDG_CONFIG_HOME=str(self.folder))

    def test_places_that_cannot_be_written(self):
        """They are told before the measurement begins."""
        (self.folder / "file").write_text("x")
        for place in (self.folder / "none" / "x.toml", self.folder / "file" / "x.toml", self.folder):
            done = run("calibrate", "--json", "--out", str(place))
            self.assertEqual(done.returncode, 2, f"{place}: {done.stdout}")
            self.assertIn(str(place), done.stderr)
            self.assertEqual(command_line.spoken(done.stderr).count("\n"), 1, done.stderr)
            self.assertIs(json.loads(done.stdout)["ok"], False)
        done = run("calibrate", XDG_CONFIG_HOME=str(self.folder / "file"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot make the folder", done.stderr)

    def test_full_disk(self):
        """The old file is intact, and nothing lies beside it."""
        self.file.write_text("what was there before")
        done = run(*QUICK, "--tries", "1", "--out", str(self.file), cores=CORES[:1], limit_bytes=100)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("cannot write", done.stderr)
        self.assertEqual(self.file.read_text(), "what was there before")
        self.assertEqual(os.listdir(self.folder), [self.file.name])

    def test_usage(self):
        self.assertIn("Example:\n  weft calibrate", self.good("calibrate", "--help"))
        done = run("calibrate", "--fast")
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
