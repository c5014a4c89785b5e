#!/usr/bin/env python3
"""The command line of weft, seen from outside: what scripts may rely on (JSON fields, exit codes, errors on stderr).

Run as: python3 tests/tool/tool_test.py --weft PATH [unittest arguments]
"""
import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

import command_line

WEFT = "weft"


def run(*args, env=None, **kwargs):
    """Runs the tool without WEFT_* from outside; kwargs go to subprocess.run."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
    clean.update(env or {})
    if "stdout" not in kwargs:
        kwargs["stdout"] = subprocess.PIPE
    return subprocess.run([WEFT, *args], stderr=subprocess.PIPE, text=True, timeout=600, env=clean, **kwargs)


class Tool(unittest.TestCase):
    def good(self, *args, **kwargs):
        done = run(*args, **kwargs)
        self.assertEqual(done.returncode, 0, f"{args}: {done.stderr}")
        return done.stdout

    def good_json(self, *args, **kwargs):
        return json.loads(self.good(*args, "--json", **kwargs))

    def bad(self, expected, *args, **kwargs):
        """Exit code 2, one line on stderr that contains `expected`; the same error in JSON."""
        done = run(*args, **kwargs)
        self.assertEqual(done.returncode, 2, f"{args}: {done.stdout} {done.stderr}")
        self.assertTrue(done.stderr.startswith("weft: "), done.stderr)
        self.assertIn(expected, done.stderr)
        self.assertEqual(command_line.spoken(done.stderr).count("\n"), 1, done.stderr)
        self.assertEqual(done.stdout, "")
        as_json = run(*args, "--json", **kwargs)
        self.assertEqual(as_json.returncode, 2)
        reply = json.loads(as_json.stdout)
        self.assertIs(reply["ok"], False)
        self.assertIn(expected, reply["error"])


class Run(Tool):
    def test_fields(self):
        for app in (["independent", "--n", "1000"], ["stencil", "--steps", "10"], ["cholesky", "--n", "100"]):
            with self.subTest(app=app):
                reply = self.good_json("run", *app, "--workers", "2")
                self.assertEqual(reply["app"], app[0])
                self.assertIs(reply["ok"], True)
                self.assertGreater(reply["seconds"], 0)
                self.assertEqual(reply["workers"], 2)
                self.assertEqual(reply["machine"], "host")
                self.assertGreater(reply["tasks"], 0)
                self.assertTrue(reply["checks"])
                self.assertTrue(all(c["ok"] for c in reply["checks"]))

    def test_text(self):
        text = self.good("run", "independent", "--n", "1000")
        self.assertIn("check every_slot_once", text)
        self.assertNotIn("\033", text)

    def test_cholesky_compares(self):
        reply = self.good_json("run", "cholesky", "--n", "300", "--tile", "64", "--repeat", "2", "--workers", "1")
        for key in ("gflops", "residual", "openblas_gflops", "openblas_residual", "speed_vs_openblas"):
            self.assertGreaterEqual(reply[key], 0, key)
        self.assertEqual((reply["n"], reply["tile"], reply["repeat"], reply["tasks_per_run"]), (300, 64, 2, 25))
        alone = self.good_json("run", "cholesky", "--n", "300", "--no-compare", "--workers", "1")
        self.assertNotIn("openblas_gflops", alone)

    def test_virtual_machine(self):
        args = ("run", "cholesky", "--matrix", "bar", "--machine", "virtual", "--workers", "8", "--seed", "5")
        first, second = self.good_json(*args), self.good_json(*args)
        self.assertEqual(first["machine"], "virtual")
        self.assertEqual(first["workers"], 8)
        self.assertNotIn("openblas_gflops", first)
        self.assertEqual(first["seconds"], second["seconds"], "same seed, same program, same virtual time")
        self.assertEqual(first["residual"], second["residual"])

    def test_environment(self):
        reply = self.good_json("run", "independent", "--n", "10", env={"WEFT_MACHINE": "virtual", "WEFT_WORKERS": "3"})
        self.assertEqual((reply["machine"], reply["workers"]), ("virtual", 3))
        reply = self.good_json("run", "independent", "--n", "10", "--workers", "1", env={"WEFT_WORKERS": "3"})
        self.assertEqual(reply["workers"], 1, "the command line wins")

    def test_executor_of_the_environment(self):
        small = ("run", "bfs", "--width", "30", "--height", "17")
        self.assertEqual(self.good_json(*small)["executor"], "speculative")
        reply = self.good_json(*small, env={"WEFT_ORDERED": "oracle"})
        self.assertEqual(reply["executor"], "oracle")
        self.assertIn("parallelism", reply)
        self.assertIn("share_committed", self.good_json(*small, env={"WEFT_ORDERED": "swarm"}))
        reply = self.good_json(*small, "--executor", "serial", env={"WEFT_ORDERED": "oracle"})
        self.assertEqual(reply["executor"], "serial")

    def test_list(self):
        text = self.good("run")
        names = [app["name"] for app in self.good_json("run")["apps"]]
        self.assertEqual(names, sorted(names))
        self.assertLessEqual({"cholesky", "independent", "stencil"}, set(names))
        for name in names:
            self.assertIn(name, text)
            self.assertIn("Example:\n  weft run " + name, self.good("run", name, "--help"))

    def test_usage_errors(self):
        self.bad('unknown app "nope"; known are astar, bfs, ', "run", "nope")
        self.bad("--workers: Value 0 not in range", "run", "independent", "--workers", "0")
        self.bad("--workers: '-3' cannot be", "run", "independent", "--workers", "-3")
        self.bad("--workers", "run", "independent", "--workers", "two")
        self.bad("--n", "run", "independent", "--n", "0")
        self.bad("--n", "run", "cholesky", "--n", "-5")
        self.bad("--n", "run", "cholesky", "--n", "99999999999999999999999")
        self.bad("machine", "run", "independent", "--machine", "atlantis")
        self.bad("policy", "run", "independent", "--policy", "luck")
        self.bad("excludes", "run", "cholesky", "--n", "5", "--matrix", "bar")
        self.bad("--bogus", "run", "cholesky", "--bogus")
        self.bad("--bogus", "run", "--bogus")
        self.bad("memory", "run", "cholesky", "--n", "2000000")
        self.bad("WEFT_WORKERS", "run", "independent", "--n", "10", env={"WEFT_WORKERS": "many"})

    def test_no_control_character_reaches_the_terminal(self):
        for args in (("report", "no\033[2Jsuch"), ("run", "no\033[2Jsuch"), ("run", "cholesky", "--n", "\033]0;x\007"),
                     ("whatif", "no\u009b2Jsuch"), ("sim", "\r\bno"), ("info", "--machine", "no\033such")):
            for more in ({}, {"WEFT_WORKERS": "8\033[2J"}, {"WEFT_POLICY": "lo\033cal"}):
                done = run(*args, env=more)
                self.assertNotRegex(done.stderr, "[\x00-\x09\x0b-\x1f\x7f-\x9f]", args)

    def test_input_errors(self):
        self.bad("no-such.mtx: cannot open", "run", "cholesky", "--matrix", "no-such.mtx")
        self.bad("directory", "run", "cholesky", "--matrix", "/")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.mtx"
            path.write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n2 2 x\n3 3 1\n")
            self.bad("a.mtx:4: not a number", "run", "cholesky", "--matrix", str(path))
            path.write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n2 2 -4\n3 3 -1\n")
            for tile in ("1", "2", "3"):
                args = ("run", "cholesky", "--matrix", str(path), "--tile", tile)
                self.bad("not positive definite: pivot 2 is -4", *args)
            path.write_bytes(b"%%MatrixMarket \xff\xfe x y z\n")
            self.bad("a.mtx:1: the banner", "run", "cholesky", "--matrix", str(path))


class Trace(Tool):
    def test_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.weft"
            reply = self.good_json("run", "stencil", "--steps", "10", "--workers", "2", "--trace", str(path))
            self.assertEqual(reply["trace"], str(path))
            with contextlib.closing(sqlite3.connect(path)) as db:
                self.assertEqual(db.execute("SELECT value FROM meta WHERE key = 'program'").fetchone(), ("stencil",))
                self.assertEqual(db.execute("SELECT count(*) FROM tasks").fetchone(), (reply["tasks"],))
                self.assertEqual(db.execute("SELECT count(*) FROM steals").fetchone(), (reply["steals"],))
                self.assertEqual(db.execute("SELECT count(*) FROM waits").fetchone(), (reply["suspends"],))
            self.assertIn(str(path), self.good("run", "independent", "--n", "10", "--trace", str(path)))
            self.assertEqual(os.listdir(folder), ["run.weft"])
            self.assertNotIn("trace", self.good_json("run", "independent", "--n", "10"))

    def test_same_seed_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            for app in (["stencil", "--steps", "20"], ["cholesky", "--matrix", "bar"]):
                for more in (["--workers", "1"], ["--workers", "7"], ["--workers", "7", "--policy", "random"]):
                    written = []
                    for run_number in (1, 2):
                        path = pathlib.Path(folder) / f"{run_number}.weft"
                        self.good("run", *app, "--machine", "virtual", "--seed", "3", *more, "--trace", str(path))
                        written.append(path.read_bytes())
                    self.assertEqual(written[0], written[1], f"{app} {more}")

    def test_counters(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.weft"
            self.good("run", "independent", "--n", "50", "--trace", str(path), "--counters", "page-faults,task-clock")
            with contextlib.closing(sqlite3.connect(path)) as db:
                names = db.execute("SELECT value FROM meta WHERE key = 'counters'").fetchone()[0].split(",")
                found = dict(db.execute("SELECT name, count(*) FROM counters GROUP BY name").fetchall())
                self.assertEqual(found, {name: 50 for name in names if name})  # none where the machine allows none

    def test_errors(self):
        base = ("run", "independent", "--n", "10")
        self.bad("no/such/place.weft': No such file or directory", *base, "--trace", "no/such/place.weft")
        self.bad("there is no counter 'flops'", *base, "--trace", "x.weft", "--counters", "flops")
        self.bad("given together with a trace", *base, "--counters", "cycles")
        self.bad("unset on a modelled machine", *base, "--machine", "virtual", "--trace", "x", "--counters", "cycles")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mine"
            path.write_text("mine")
            self.bad("no Weft trace; remove it", *base, "--trace", str(path))
            self.assertEqual(path.read_text(), "mine")
            limited = subprocess.run(["sh", "-c", 'trap "" XFSZ; ulimit -f 64; exec "$@"', "sh", WEFT, "run",
                                      "independent", "--n", "20000", "--trace", str(path) + ".weft"],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600,
                                     check=False)
            self.assertEqual(limited.returncode, 2, "a trace that is not there is an error")
            self.assertRegex(limited.stderr, r"^weft: cannot write a trace to '.*mine\.weft': .*\n$")
            self.assertEqual(os.listdir(folder), ["mine"])


class Others(Tool):
    def test_version_and_help(self):
        self.assertRegex(self.good("--version"), r"^weft \d+\.\d+\.\d+\n$")
        for args in ([], ["run"], ["info"], ["bench"], ["report"], ["export"]):
            self.assertIn("Example:\n  weft", self.good(*args, "--help"))

    def test_no_command(self):
        done = run()
        self.assertEqual(done.returncode, 2)
        all_of_them = "run, info, bench, report, export, import, recover, check, sim, whatif, calibrate or top"
        self.assertIn(all_of_them, done.stderr)
        self.bad("dance", "dance")

    def test_info(self):
        reply = self.good_json("info", env={"WEFT_SEED": "12"})
        for key in ("version", "compiler", "build", "usable_cpus", "machines", "policies", "libraries", "environment"):
            self.assertIn(key, reply)
        self.assertGreaterEqual(reply["usable_cpus"], 1)
        self.assertEqual(reply["environment"], {"WEFT_SEED": "12"})
        self.assertIn("WEFT_SEED  12", self.good("info", env={"WEFT_SEED": "12"}))
        for machine in reply["machines"]:
            for policy in reply["policies"]:
                args = ("--machine", machine["name"], "--policy", policy["name"], "--workers", "2")
                ran = self.good_json("run", "stencil", "--steps", "5", *args)
                self.assertEqual((ran["machine"], ran["policy"]), (machine["name"], policy["name"]))

    def test_bench(self):
        reply = self.good_json("bench", "chain1", "cholesky20", "--systems", "serial,weft",
                               "--workers", "1,2", "--quick")
        self.assertIs(reply["ok"], True)
        found = [(r["problem"], r["system"], r["workers"]) for r in reply["rows"]]
        self.assertEqual(found, [(p, s, w) for p in ("chain1", "cholesky20")
                                 for s, w in (("serial", 1), ("weft", 1), ("weft", 2))])
        for row in reply["rows"]:
            self.assertGreater(row["value"], 0)
            self.assertEqual(row["unit"], "ns")
            self.assertEqual(row["tasks"], 200000 if row["problem"] == "chain1" else 1540)
        for key in ("processor", "usable_cpus", "kernel", "compiler"):
            self.assertIn(key, reply["machine"])
        self.assertRegex(reply["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_bench_metg(self):
        rows = self.good_json("bench", "metg4", "--systems", "serial,weft", "--workers", "1", "--quick")["rows"]
        self.assertEqual([(r["system"], r["meaning"]) for r in rows], [("weft", "length of a task at 50 % efficiency")])
        self.assertTrue(4 < rows[0]["value"] < 1e6, rows)

    def test_bench_every_system(self):
        reply = self.good_json("bench", "cholesky20", "--workers", "1", "--quick")
        measured = {r["system"] for r in reply["rows"]}
        left_out = {text.split()[0] for text in reply["missing"]}
        self.assertEqual(measured | left_out, {"serial", "weft", "libgomp", "libomp", "tbb", "starpu"})
        self.assertFalse(measured & left_out)
        self.assertEqual(len({r["version"] for r in reply["rows"]}), len(measured))
        self.assertEqual({r["system"] for r in reply["rows"] if "comparable" in r}, measured & {"libomp"})

    def test_bench_text_and_files(self):
        with tempfile.TemporaryDirectory() as folder:
            out, markdown = f"{folder}/out.json", f"{folder}/table.md"
            text = self.good("bench", "chain3", "--systems", "weft,serial", "--workers", "2", "--rounds", "20",
                             "--out", out, "--markdown", markdown)
            self.assertIn("2 workers: ns, median of 20 rounds", text)
            self.assertIn("2 workers: greatest over median", text)
            self.assertNotIn("\033", text)
            with open(out, encoding="utf-8") as file:
                row = [r for r in json.load(file)["rows"] if r["system"] == "weft"][0]
            self.assertEqual(row["rounds"], 20)
            self.assertTrue(row["min"] <= row["value"] <= row["max"])
            self.assertAlmostEqual(row["max_over_median"], row["max"] / row["value"])
            with open(markdown, encoding="utf-8") as file:
                self.assertIn("| problem | serial | weft |\n|---|---:|---:|\n| chain3 |", file.read())

    def fake_system(self, script):
        """bench chain1 with a program in the place of Weft's."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "weft"
            program.write_text("#!/bin/sh\n" + script, encoding="ascii")
            program.chmod(0o755)
            done = run("bench", "chain1", "--systems", "weft", "--workers", "1", "--rounds", "2", "--programs", folder,
                       "--json")
        return done, json.loads(done.stdout)["rows"][0] if done.stdout else None

    def test_bench_notices(self):
        sample = ('echo \'{"value": 5, "above": false, "counts_right": %s, "order_right": %s, "remark": "", '
                  '"version": "v", "tasks": 1, "priority": true}\'')
        done, row = self.fake_system(sample % ("true", "true"))
        self.assertEqual((done.returncode, row["value"], row["ok"]), (0, 5, True))
        for truths in (("false", "true"), ("true", "false")):
            done, row = self.fake_system(sample % truths)
            self.assertEqual((done.returncode, row["value"], row["ok"]), (1, None, False))
            self.assertIn("weft: bench: weft computed a wrong result for chain1 with 1 workers", done.stderr)
        for script, why in (("echo no room >&2; exit 2", "no room"), ("kill -SEGV $$", "its program crashed"),
                            ("echo hello", "its program printed no figure")):
            done, row = self.fake_system(script)
            self.assertEqual((done.returncode, row["value"], row["failed"]), (1, None, why))
            self.assertIn(f"weft: bench: weft failed on chain1 with 1 workers: {why}", done.stderr)
        done, row = self.fake_system("echo too many >&2; exit 3")
        self.assertEqual((done.returncode, row["value"], row["not_possible"]), (0, None, "too many"))

    def test_micro_dependencies_records_once(self):
        """Each row once, unless more are asked for: the trace is a fifth, and there is an end to its writing."""
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/run.weft"
            args = ("run", "micro-dependencies", "--tasks", "200", "--accesses", "2000", "--grain-ns", "0")
            self.assertEqual(self.good_json(*args)["repeat"], 5)
            self.assertEqual(self.good_json(*args, "--trace", path)["repeat"], 1)
            self.assertEqual(self.good_json(*args, "--trace", path, "--repeat", "2")["repeat"], 2)

    def test_bench_errors(self):
        self.bad('unknown problem "nope"', "bench", "nope")
        self.bad('unknown system "nope"', "bench", "chain1", "--systems", "weft,nope")
        self.bad("--workers", "bench", "chain1", "--workers", "0")
        self.bad("--rounds", "bench", "chain1", "--rounds", "0")
        self.bad("--out /nowhere/x: cannot create: No such file or directory", "bench", "chain1", "--out", "/nowhere/x")
        self.bad("its program is missing", "bench", "chain1", "--systems", "weft", "--programs", "/nowhere")
        self.bad("without the package libtbb-dev", "bench", "chain1", "--systems", "tbb", "--programs", "/nowhere")
        self.bad("nothing to measure", "bench", "metg4", "--systems", "serial")

    def test_output_that_cannot_be_written(self):
        for args in (["info"], ["info", "--json"], ["run"], ["--help"], ["run", "independent", "--n", "10"]):
            with self.subTest(args=args):
                with open("/dev/full", "w", encoding="ascii") as full:
                    done = run(*args, stdout=full)
                self.assertEqual(done.returncode, 2)
                self.assertIn("weft: cannot write to standard output: No space left on device", done.stderr)
                closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", WEFT, *args], stderr=subprocess.PIPE,
                                        text=True, timeout=600, check=False)
                self.assertEqual(closed.returncode, 2)
                self.assertIn("weft: cannot write to standard output", closed.stderr)


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
