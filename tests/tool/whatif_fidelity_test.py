#!/usr/bin/env python3
"""weft whatif knows how far it is off on the trace that it gets, says so, and tells no smaller gain.

Run as: python3 tests/tool/whatif_fidelity_test.py --weft PATH [unittest arguments]
"""
import json
import subprocess
import unittest

import command_line
import trace_maker
import whatif_case as case


class Fidelity(case.WhatIf):
    def nine(self, later_ns):
        """Nine tasks of 1 ms on two workers take 5 ms; here the last of them was late by so much, for no reason."""
        trace = self.independent(9, 1_000_000)
        return case.change(trace, f"UPDATE tasks SET started_ns = started_ns + {later_ns}, finished_ns = finished_ns + "
                      f"{later_ns} WHERE id = 9", f"UPDATE waits SET to_ns = to_ns + {later_ns}",
                      f"UPDATE meta SET value = value + {later_ns} WHERE key = 'duration_ns'")

    def test_the_error_is_that_of_the_replay(self):
        trace = self.recorded("fft", "--machine", "epyc-7551-32", "--workers", 24, "--policy", "random", "--seed", 7)
        off = self.good(trace, "--workers", 1)["fidelity"]
        self.assertEqual((off["machine"], off["workers"], off["policy"], off["creation"]),
                         ("epyc-7551-32", 24, "random", "inline"))
        self.assertEqual(off["recorded_ns"], case.asked("report", trace)["makespan_ns"])
        sim = case.asked("sim", trace, "--machine", "epyc-7551-32", "--workers", 24, "--policy", "random", "--seed", 7)
        self.assertEqual(off["replayed_ns"], sim["makespan_ns"])
        self.assertAlmostEqual(off["error"], abs(off["replayed_ns"] / off["recorded_ns"] - 1))
        self.assertLess(off["error"], 0.1)

    def test_creation_is_that_of_the_run(self):
        trace = self.folder / "run.weft"
        subprocess.run([case.WEFT, "sim", "--machine", "virtual", "--workers", "4", "--creation", "decoupled",
                        "--trace", trace, case.WEFT, "run", "independent", "--n", "2000", "--grain-ns", "2000"],
                       env=case.CLEAN, check=True, timeout=600, capture_output=True)
        off = self.good(trace, "--workers", 1)["fidelity"]
        self.assertEqual(off["creation"], "decoupled")
        self.assertLess(off["error"], 0.1)
        self.assertIn("creation decoupled", off["text"])

    def test_no_gain_is_told_that_is_smaller(self):
        """Splitting saves a third on eight workers. Who is off by less says so, who is off by more does not."""
        for later_ns, error in ((0, 0), (1_000_000, 1 / 6), (4_000_000, 4 / 9)):
            page = self.folder / "page.html"
            trace = self.nine(later_ns)
            reply = self.good(trace, "--workers", "8", "--html", page)
            self.assertAlmostEqual(reply["fidelity"]["error"], error, delta=0.01)
            tried = {t["what"]: t["gain"] for a in reply["advice"] for t in a["tried"]}
            gain = tried["splitting tasks by 4"]
            self.assertTrue(0.3 < gain < 0.43, gain)
            text = " ".join(a["text"] for a in reply["advice"])
            self.assertEqual("splitting tasks by 4 saves" in text, gain > error, text)
            self.assertEqual("less than predictions are off by" in text, error > 0.05, text)
            shown = case.run(trace, "--workers", "8").stdout
            self.assertIn(reply["fidelity"]["text"], shown)
            self.assertIn(text, shown)
            written = page.read_text(encoding="utf-8")
            self.assertIn(json.dumps(reply["fidelity"]["text"])[1:-1], written)
            self.assertEqual("splitting tasks by 4 saves" in written, gain > error)

    def test_fewer_workers_that_cannot_be_told_from_more(self):
        """3 ms with four workers, 2 with eight: a third less, which is told only where it is more than the error."""
        for later_ns, best in ((0, 8), (4_000_000, 4)):
            text = self.good(self.nine(later_ns), "--workers", "2,4,8")["advice"][0]["text"]
            self.assertTrue(text.startswith(f"best with {best} workers"), text)
            self.assertEqual("more gain less than predictions are off by" in text, best == 4, text)

    def test_policies_that_were_asked_for(self):
        """A gain among the rows themselves is held against the error, too."""
        p = trace_maker.Program()
        for _ in range(60):
            p.submit("filler", 1_000_000)
        x = p.handle()
        for _ in range(14):
            p.submit("link", 1_000_000, ("write", x))
        trace = p.run(self.folder / "late.weft", 2)
        told = []
        for _ in range(2):
            reply = self.good(trace, "--workers", "4", "--policies", "central,local")
            rows = {r["policy"]: r["makespan_ns"] for r in reply["rows"]}
            gain = 1 - rows["local"] / rows["central"]
            told.append((gain > max(0.05, reply["fidelity"]["error"]), "policy" in self.kinds(reply)))
            # Recorded so late that predictions are off by a third.
            case.change(trace, "UPDATE waits SET to_ns = to_ns * 3 / 2",
                   "UPDATE tasks SET finished_ns = finished_ns + (SELECT max(finished_ns) / 2 FROM tasks), "
                   "started_ns = started_ns + (SELECT max(finished_ns) / 2 FROM tasks) WHERE id = 74")
        self.assertEqual(told, [(True, True), (False, False)])

    def test_too_far_off(self):
        reply = self.good(self.nine(8_000_000), "--workers", "4,8")
        self.assertGreater(reply["fidelity"]["error"], 0.5)
        self.assertEqual(reply["advice"], [])
        self.assertIn("too far to advise anything", reply["fidelity"]["text"])
        self.assertEqual(len(reply["rows"]), 2)

    def test_what_the_main_program_computes(self):
        """Two thirds of 6 ms are the program's own, which a replay as fast as possible leaves out: it says how to keep
        it."""
        p = trace_maker.Program(submit_ns=20_000)
        for _ in range(300):
            p.submit("part", 10_000)
        trace = trace_maker.upgrade(p.run(self.folder / "own.weft", 4), 19_900)
        asap = self.good(trace, "--workers", "4")["fidelity"]
        self.assertGreater(asap["error"], 0.5)
        self.assertRegex(asap["text"], r"with --submitter trace they are off by \d\.\d %$")
        kept = self.good(trace, "--workers", "4", "--submitter", "trace")["fidelity"]
        self.assertLess(kept["error"], 0.1)
        self.assertNotIn("--submitter", kept["text"])

    def test_faster_bodies_are_no_error(self):
        self.assertLess(self.good(self.nine(0), "--workers", "8", "--speed", "4")["fidelity"]["error"], 0.01)

    def test_recorded_on_real_cores(self):
        trace = case.change(self.nine(0), "UPDATE meta SET value = 'host' WHERE key = 'machine'")
        off = self.good(trace, "--workers", "4", "--machine", "i7-2600k-4")["fidelity"]
        self.assertEqual(off["machine"], "i7-2600k-4")
        self.assertIn("on real cores, here on i7-2600k-4", off["text"])

    def test_it_may_not_be_known(self):
        """A policy that is not there any more: nothing to compare with, and that is said."""
        trace = case.change(self.nine(0), "UPDATE meta SET value = 'of_old' WHERE key = 'policy'")
        reply = self.good(trace, "--workers", "8")
        self.assertIsNone(reply["fidelity"]["error"])
        self.assertRegex(reply["fidelity"]["text"], r"not known: .*of_old")
        self.assertNotEqual(reply["advice"], [])

    def test_programs_are_not_replayed(self):
        done = case.run("--json", "--workers", "2", case.WEFT, "run", "independent", "--n", 50)
        self.assertIsNone(json.loads(done.stdout)["fidelity"])


if __name__ == "__main__":
    case.WEFT = command_line.weft(__doc__)
    unittest.main()
