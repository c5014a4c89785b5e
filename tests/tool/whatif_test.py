#!/usr/bin/env python3
"""weft whatif from outside: rows, what binds on made traces where that is known, advice, grains, programs. Its page:
whatif_page_test.py.

Run as: python3 tests/tool/whatif_test.py --weft PATH [unittest arguments]
"""
import json
import pathlib
import re
import shlex
import signal
import subprocess
import time
import unittest

import browser
import command_line
import trace_maker
import whatif_case as case


class Limits(case.WhatIf):
    def test_cores(self):
        reply = self.good(self.independent(640, 1_000_000), "--workers", "1,4,16")
        self.assertEqual(self.binds(reply), {1: "cores", 4: "cores", 16: "cores"})
        for r in reply["rows"]:
            self.assertAlmostEqual(r["speedup"], r["workers"], delta=0.02 * r["workers"])
            self.assertAlmostEqual(r["efficiency"], 1, delta=0.02)
        self.assertEqual(self.kinds(reply), ["best", "cores"])
        self.assertRegex(reply["advice"][0]["text"], r"^best with 16 workers: 40\.\d ms, a speed-up of 1\d\.\d$")
        self.assertIn("at 16 workers", reply["advice"][1]["text"])

    def test_critical_path(self):
        reply = self.good(self.chain(40, 1_000_000), "--workers", "2,8")
        self.assertEqual(self.binds(reply), {2: "critical path", 8: "critical path"})
        self.assertEqual(self.kinds(reply), ["best", "critical path"])
        self.assertRegex(reply["advice"][0]["text"], r"best with 2 workers: 40\.\d ms.*; more gain nothing$")
        self.assertRegex(reply["advice"][1]["text"], r"40\.0 ms.*more than 1\.00 workers.*100 % of it are "
                         r"tasks named link; tried: splitting tasks by 2 saves 50 % \(20\.\d ms\)")

    def test_creation(self):
        """A main program that computes for 2 us between submissions of 10 us keeps five workers busy."""
        p = trace_maker.Program(submit_ns=2000)
        for _ in range(1000):
            p.submit("part", 10_000)
        trace = p.run(self.folder / "slow.weft", 2)
        reply = self.good(trace, "--workers", "1,2,64", "--submitter", "trace")
        self.assertEqual(self.binds(reply), {1: "cores", 2: "cores", 64: "creation"})
        last = reply["rows"][-1]
        self.assertGreaterEqual(last["bounds_ns"]["creation"], 0.8 * last["makespan_ns"])
        self.assertRegex(reply["advice"][-1]["text"], r"at 64 workers creation binds: the main program takes 2\.\d+ us "
                         r"a task.* and tasks named part run for 10\.0 us")

    def test_creation_or_work_of_its_own(self):
        """The same times: of 2 us a task, 100 ns are the program's own work, or 1900. Only the first is submitting."""
        for own, said, tried in ((100, "creation binds: the main program takes", True),
                                 (1900, "of it work of its own between submissions", False)):
            p = trace_maker.Program(submit_ns=2000)
            for _ in range(1000):
                p.submit("part", 10_000)
            trace = trace_maker.upgrade(p.run(self.folder / f"own{own}.weft", 2), own)
            reply = self.good(trace, "--workers", "64", "--submitter", "trace")
            row = reply["rows"][0]
            self.assertEqual(row["program_own_ns"], 999 * own)
            self.assertEqual(row["binds"], "creation")
            self.assertIn(said, reply["advice"][-1]["text"])
            self.assertEqual(any("merging" in t["what"] for t in reply["advice"][-1]["tried"]), tried)

    def test_imbalance(self):
        """Nine equal tasks on eight workers: two rounds, the second with one. No bound is above 5/8 of that."""
        reply = self.good(self.independent(9, 1_000_000), "--workers", "8")
        self.assertEqual(self.binds(reply), {8: "imbalance"})
        self.assertRegex(reply["advice"][0]["text"], r"there are 9 tasks for 8 workers; tried: splitting tasks by 4 "
                         r"saves 3\d %")

    def test_contention(self):
        """Many short tasks that all threads submit: what the scheduler itself does is what takes the time."""
        p = trace_maker.Program()
        handles = [p.handle() for _ in range(16)]
        for i in range(6400):
            p.submit("tiny", 20, ("write", handles[i % 16]))
        reply = self.good(p.run(self.folder / "tiny.weft", 2), "--workers", "2", "--policy", "central")
        self.assertIn(self.binds(reply)[2], ("contention", "creation"))
        self.assertRegex(" ".join(a["text"] for a in reply["advice"]), "tried: .*merging tasks by .* saves")

    def test_shared_units(self):
        """Data beside bodies: their ends do not show how siblings slow each other down, and the verdict must."""
        p = trace_maker.Program()
        handles = [p.handle() for _ in range(64)]
        for i in range(640):
            p.submit("part", 100_000, ("write", handles[i % 64]))
        trace = trace_maker.upgrade(p.run(self.folder / "units.weft", 2), 0)
        case.change(trace, "UPDATE handles SET bytes = 1024")
        reply = self.good(trace, "--workers", "8,16", "--machine", "opteron-6220-interlagos-16")
        row = next(r for r in reply["rows"] if r["workers"] == 16)
        self.assertEqual(row["binds"], "shared units")
        self.assertGreater(row["shares"]["units"], 0.4)
        self.assertLess(row["shares"]["late"], 0.05)
        self.assertIn("cores share units", " ".join(a["text"] for a in reply["advice"]))

    def test_teams_with_data(self):
        """What members compute is work, also where they were not recorded or data moves beside it."""
        machine = ("--machine", "epyc-7551-32", "--workers", "8")
        heat = ("heat", "--size", "256", "--bands", "1", *machine)

        def busy(*how):
            reply = self.good(trace, *machine, *how)["rows"][0]
            self.assertLessEqual(reply["work_ns"], 8 * reply["makespan_ns"])
            return reply["work_ns"]

        trace = self.recorded(*heat, "--steps", "20", "--width", "4")
        self.assertAlmostEqual(busy() / case.asked("report", trace)["work_ns"], 1, delta=0.05)
        self.recorded(*heat, "--steps", "60", "--learned")
        one = busy("--team", "1")
        for width in (2, 4, 8):
            self.assertGreater(busy("--team", width), one / 4, width)

    def test_rules_follow_the_numbers(self):
        """The verdict of each row is what the documented rule says of its own numbers."""
        trace = trace_maker.cholesky(12).run(self.folder / "c.weft", 2)
        for r in self.good(trace, "--workers", "1,2,4,8,16,32", "--policies", "local,random,central")["rows"]:
            bounds = dict(r["bounds_ns"])
            if r["shares"]["program"] * r["workers"] < 0.5:
                bounds["creation"] = 0
            largest = max(bounds, key=bounds.get)
            if bounds[largest] >= 0.8 * int(r["makespan_ns"]):
                self.assertEqual(r["binds"], largest)
            else:
                self.assertEqual(r["shares"]["bandwidth"], 0)
                self.assertEqual(r["shares"]["units"], 0)
                late = r["shares"]["late"] > r["shares"]["idle"]
                self.assertEqual(r["binds"], "contention" if late else "imbalance")
            self.assertGreaterEqual(r["makespan_ns"], max(r["span_ns"], r["work_ns"] / r["workers"]))


class Advice(case.WhatIf):
    def test_more_workers_are_slower(self):
        """Short tasks on one chain of data: more workers only pass the data around."""
        p = trace_maker.Program()
        handles = [p.handle() for _ in range(3)]
        for i in range(3000):
            p.submit("tiny", 200, ("write", handles[i % 3]))
        reply = self.good(p.run(self.folder / "t.weft", 2), "--workers", "1,2,4,16,64", "--policy", "central")
        times = {r["workers"]: r["makespan_ns"] for r in reply["rows"]}
        least = min(times.values())
        error = reply["fidelity"]["error"]
        same = 1 / (1 - error) if error > 0.05 else 1.01
        best = min(w for w, t in times.items() if t <= same * least)
        self.assertLess(best, 64)
        self.assertGreater(times[64], 1.05 * times[best], "the case is no case")
        text = reply["advice"][0]["text"]
        self.assertTrue(text.startswith(f"best with {best} worker"), text)
        self.assertRegex(text, "more (alone )?are slower: with 64 it takes")
        self.assertIn(f"{round(100 * (times[64] / times[best] - 1))} % longer", text)

    def by_hand(self, trace, workers, what, *rest):
        """What was tried, asked for on the command line."""
        last = what.split()[-1]
        options = {"merging": ["--grain", last], "splitting": ["--grain", "/" + last], "policy": ["--policies", last],
                   "decoupled": ["--creation", "decoupled"]}[what.split()[0]]
        return self.good(trace, "--workers", workers, *options, *rest)["rows"][0]["makespan_ns"]

    def test_what_is_advised_was_tried(self):
        """The gain that is told is what one gets who follows the advice; what gains nothing is not advised."""
        tiny = trace_maker.Program()
        handles = [tiny.handle() for _ in range(64)]
        for i in range(1600):
            tiny.submit("tiny", 60, ("write", handles[i % 64]))
        traces = [(self.independent(9, 1_000_000), "8"), (self.chain(20, 1_000_000), "4"),
                  (tiny.run(self.folder / "tiny.weft", 2), "8"),
                  (trace_maker.cholesky(10).run(self.folder / "c.weft", 2), "16")]
        seen = set()
        for trace, workers in traces:
            reply = self.good(trace, "--workers", workers)
            now = reply["rows"][0]["makespan_ns"]
            least = max(0.05, reply["fidelity"]["error"])
            for advice in reply["advice"]:
                if advice["kind"] == "combination":  # whatif_search_test.py
                    continue
                for t in advice["tried"]:
                    self.assertAlmostEqual(t["gain"], 1 - t["makespan_ns"] / now)
                    saves = f"{t['what']} saves {int(100 * t['gain'] + 0.5)} %"
                    self.assertEqual(saves in advice["text"], t["gain"] >= least, advice)
                    seen.add(t["what"].split()[0])
                    if t["what"].startswith("priority"):
                        continue
                    self.assertEqual(self.by_hand(trace, workers, t["what"]), t["makespan_ns"], t["what"])
        self.assertGreaterEqual(seen, {"merging", "splitting", "policy", "priority"})

    def test_priority_of_the_critical_path(self):
        """A long chain that is submitted last, behind many tasks that fill the workers: begun first, it saves time."""
        p = trace_maker.Program()
        for _ in range(60):
            p.submit("filler", 1_000_000)
        x = p.handle()
        for _ in range(14):
            p.submit("link", 1_000_000, ("write", x))
        reply = self.good(p.run(self.folder / "late.weft", 2), "--workers", "4", "--policy", "central")
        tried = {t["what"]: t["gain"] for a in reply["advice"] for t in a["tried"]}
        self.assertGreater(tried["priority for the tasks on the critical path"], 0.2, reply["advice"])

    def test_long_names_are_shortened(self):
        name = "a_name_as_templates_make_them<" * 20
        p = trace_maker.Program()
        x = p.handle()
        for _ in range(10):
            p.submit(name, 1_000_000, ("write", x))
        done = case.run(p.run(self.folder / "long.weft", 2), "--workers", "1,4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(name[:50], done.stdout)
        self.assertIn(name[:40] + "...", done.stdout)

    def test_policies_for_hints_are_tried_where_there_are_any(self):
        trace = self.recorded("sor", "--size", "256", "--iterations", "1", "--layout", "blocked", "--machine",
                              "epyc-7551-32")
        reply = json.loads(case.run("--json", "--machine", "epyc-7551-32", "--workers", "32", trace).stdout)
        tried = [t["what"] for a in reply["advice"] for t in a["tried"]]
        self.assertIn("policy pufferfish", tried)

    def test_programs_are_tried_too(self):
        done = case.run("--json", "--workers", "16", case.WEFT, "run", "independent", "--n", 2000)
        self.assertEqual(done.returncode, 0, done.stderr)
        tried = [t["what"] for a in json.loads(done.stdout)["advice"] for t in a["tried"]]
        self.assertNotEqual(tried, [])
        self.assertFalse([t for t in tried if "tasks" in t], "grain and priorities of a program cannot be changed")


class Guide(case.WhatIf):
    def test_the_example(self):
        guide = pathlib.Path(__file__).resolve().parents[2] / "docs/guide"
        record = re.search(r"^weft (run stencil .*)$", (guide / "12-report.md").read_text(encoding="utf-8"), re.M)[1]
        subprocess.run([case.WEFT, *record.split()], cwd=self.folder, env=case.CLEAN, capture_output=True, check=True,
                       timeout=600)
        command, shown = re.search(r"`weft whatif (.*?)` prints,\neverywhere:\n\n```\n(.*?)```",
                                   (guide / "25-whatif.md").read_text(encoding="utf-8"), re.DOTALL).groups()
        self.assertEqual(case.run(*command.split(), cwd=self.folder).stdout, shown)


class Sweeps(case.WhatIf):
    def test_stable_rows(self):
        trace = trace_maker.cholesky(8).run(self.folder / "c.weft", 2)
        args = (trace, "--workers", "4,2", "--policies", "random,local", "--creation", "inline,decoupled",
                "--grain", "1,2")
        first, again = self.good(*args, "-j", 1), self.good(*args, "-j", 3)
        self.assertEqual([(r["policy"], r["creation"], r["grain"], r["workers"]) for r in first["rows"]],
                         [(p, c, g, w) for p in ("random", "local") for c in ("inline", "decoupled")
                          for g in ("1", "2") for w in (4, 2)])
        self.assertEqual([r["digest"] for r in first["rows"]], [r["digest"] for r in again["rows"]])

    def test_as_sim(self):
        trace = trace_maker.cholesky(8).run(self.folder / "c.weft", 2)
        row = self.good(trace, "--workers", 6)["rows"][0]
        self.assertEqual(case.asked("sim", trace, "--workers", 6)["digest"], row["digest"])

    def test_default_workers(self):
        trace = self.independent(8, 1000)
        self.assertEqual([r["workers"] for r in self.good(trace)["rows"]], [1, 2, 4, 8, 16, 32, 64])
        rows = self.good(trace, "--machines", "i7-2600k-4")["rows"]
        self.assertEqual(rows[0]["workers"], 1)
        self.assertEqual(len({r["workers"] for r in rows}), len(rows))

    def test_machines(self):
        trace = self.independent(64, 1_000_000)
        reply = self.good(trace, "--machines", "virtual,i7-2600k-4", "--workers", "1,2")
        self.assertEqual([r["machine"] for r in reply["rows"]], ["virtual"] * 2 + ["i7-2600k-4"] * 2)

    def test_a_machine_too_small(self):
        done = case.run(self.independent(8, 1000), "--machines", "virtual,i7-2600k-4", "--workers", "2,500", "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        rows = json.loads(done.stdout)["rows"]
        self.assertEqual(["error" in r for r in rows], [False, False, False, True])
        self.assertIn("500", rows[3]["error"])

    def test_fast_enough(self):
        """The goal is 5 s; this allows for a machine that others use."""
        trace = trace_maker.cholesky(20).run(self.folder / "c.weft", 2)
        begin = time.monotonic()
        self.assertEqual(len(self.good(trace, "--workers", "1,2,4,8,16,32,48,64")["rows"]), 8)
        self.assertLess(time.monotonic() - begin, 20)

    def test_text(self):
        done = case.run(self.independent(64, 1_000_000), "--workers", "1,2", "--policies", "local,central")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"policy +workers +makespan +speed-up +efficiency +utilisation +binds")
        self.assertRegex(done.stdout, r"central +2 +32\.0 ms +2\.00 +100 % +100 % +cores")
        self.assertNotIn("\033", done.stdout)

    def test_interrupted(self):
        """Ctrl-C shows what is done so far: the first point ends at once, the last never does."""
        sleeps = pathlib.Path(self.folder, "sleeps.sh")
        sleeps.write_text('#!/bin/sh\nif [ "$WEFT_WORKERS" = 2 ]; then touch "$1"; exec sleep 600; fi\n'
                          f'exec {shlex.quote(str(pathlib.Path(case.WEFT).resolve()))} run independent --n 20\n')
        sleeps.chmod(0o755)
        begun = pathlib.Path(self.folder, "begun")
        with subprocess.Popen([case.WEFT, "whatif", "--workers", "1,2", "-j", "1", str(sleeps), str(begun)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=case.CLEAN) as sweep:
            until = time.monotonic() + 300
            while not begun.exists() and sweep.poll() is None and time.monotonic() < until:
                time.sleep(0.02)
            sweep.send_signal(signal.SIGINT)
            out, err = sweep.communicate(timeout=300)
        self.assertEqual(sweep.returncode, -signal.SIGINT, err)
        self.assertIn("interrupted: 1 of 2 points are done", err)
        self.assertEqual([line.split()[0] for line in out.splitlines()[1:]], ["workers", "1"], out)

    def test_wrong(self):
        trace = self.independent(8, 1000)
        self.bad("--workers 0", trace, "--workers", "1,0")
        self.bad("nowhere", trace, "--machines", "nowhere", "--workers", 2)
        self.bad("grain", trace, "--grain", "0")
        self.bad("grain", trace, "--grain", "/")
        self.bad("name a trace or a program")
        self.bad("No such file", self.folder / "absent.weft")
        self.bad("are for traces", "--grain", 2, case.WEFT, "info")

    def test_program(self):
        done = case.run("--json", "--workers", "1,2,4", case.WEFT, "run", "independent", "--n", 200)
        self.assertEqual(done.returncode, 0, done.stderr)
        reply = json.loads(done.stdout)
        self.assertEqual([r["workers"] for r in reply["rows"]], [1, 2, 4])
        self.assertGreater(reply["rows"][0]["makespan_ns"], reply["rows"][2]["makespan_ns"])
        self.bad("made no runtime", "--workers", 1, "true")
        self.bad("ended with status 1", "--workers", 1, "false")


class Grain(case.WhatIf):
    def by_grain(self, trace, workers, *grains):
        reply = self.good(trace, "--workers", workers, "--grain", ",".join(grains))
        return {r["grain"]: r for r in reply["rows"]}

    def test_merge_independent(self):
        r = self.by_grain(self.independent(32, 1_000_000), 4, "1", "4", "16", "32")
        self.assertEqual([r[g]["tasks"] for g in ("1", "4", "16", "32")], [32, 8, 2, 1])
        for g, ms in (("1", 8), ("4", 8), ("16", 16), ("32", 32)):
            self.assertGreaterEqual(r[g]["makespan_ns"], ms * 1e6)
            self.assertLess(r[g]["makespan_ns"], ms * 1e6 + 2e5)
        self.assertEqual({x["work_ns"] for x in r.values()}, {32_000_000})

    def test_merge_a_chain(self):
        r = self.by_grain(self.chain(12, 500_000), 4, "1", "3")
        self.assertEqual((r["1"]["tasks"], r["3"]["tasks"]), (12, 4))
        self.assertEqual(r["3"]["span_ns"], 6_000_000)

    def test_merge_only_what_may_move(self):
        """a b a b ... on one datum: each a needs the b before, so none may join another. Of two names on two data all
        may."""
        p = trace_maker.Program()
        x = p.handle()
        for _ in range(6):
            p.submit("a", 1000, ("write", x))
            p.submit("b", 1000, ("read", x))
        self.assertEqual(self.by_grain(p.run(self.folder / "t.weft", 1), 2, "4")["4"]["tasks"], 12)
        p = trace_maker.Program()
        x, y = p.handle(), p.handle()
        for _ in range(6):
            p.submit("a", 1000, ("write", x))
            p.submit("b", 1000, ("write", y))
        self.assertEqual(self.by_grain(p.run(self.folder / "t.weft", 1), 2, "3")["3"]["tasks"], 4)

    def test_reads_may_join_across_reads(self):
        p = trace_maker.Program()
        x = p.handle()
        p.submit("first", 1000, ("write", x))
        for _ in range(4):
            p.submit("a", 1000, ("read", x))
            p.submit("b", 1000, ("read", x))
        p.submit("last", 1000, ("write", x))
        self.assertEqual(self.by_grain(p.run(self.folder / "t.weft", 1), 2, "4")["4"]["tasks"], 4)

    def test_split(self):
        r = self.by_grain(self.chain(6, 1_000_000), 4, "1", "/4")
        self.assertEqual((r["1"]["tasks"], r["/4"]["tasks"]), (6, 24))
        self.assertEqual(r["/4"]["span_ns"], 1_500_000)
        self.assertEqual(r["/4"]["work_ns"], 6_000_000)
        self.assertGreaterEqual(r["/4"]["makespan_ns"], 1_500_000)
        self.assertLess(r["/4"]["makespan_ns"], 1_800_000)

    def test_merged_cholesky_keeps_its_bounds(self):
        trace = trace_maker.cholesky(10).run(self.folder / "c.weft", 2)
        r = self.by_grain(trace, 8, "1", "2", "8", "/2")
        self.assertEqual(len({x["work_ns"] for x in r.values()}), 1)
        self.assertGreater(r["1"]["tasks"], r["2"]["tasks"])
        self.assertGreater(r["2"]["tasks"], r["8"]["tasks"])
        for x in r.values():
            self.assertGreaterEqual(x["makespan_ns"], x["span_ns"])
        self.assertLessEqual(r["1"]["span_ns"], r["8"]["span_ns"])


if __name__ == "__main__":
    case.WEFT = command_line.weft(__doc__)
    unittest.main()
