#!/usr/bin/env python3
"""weft whatif combines workers, policies, creations and grains, and says the best of all.

Run as: python3 tests/tool/whatif_search_test.py --weft PATH [unittest arguments]
"""
import json
import unittest

import command_line
import whatif_case as case


class Search(case.WhatIf):
    def combination(self, reply):
        return next((a for a in reply["advice"] if a["kind"] == "combination"), None)

    def test_short_tasks_want_more_workers_once_they_are_merged(self):
        """20,000 tasks of 40 ns: alone they are best with one worker. Merged by 4, 16 workers are many times faster."""
        trace = self.recorded("independent", "--n", 20000, "--grain-ns", 40, "--machine", "virtual", "--workers", 2)
        page = self.folder / "page.html"
        reply = self.good(trace, "--html", page)
        best = reply["advice"][0]["text"]
        self.assertRegex(best, r"^best with 1 worker: .*; more alone gain nothing")
        told = self.combination(reply)
        self.assertIs(reply["advice"][1], told)
        self.assertIn(json.dumps(told["text"])[1:-1], page.read_text(encoding="utf-8"))

        grid = self.good(trace, "--workers", "1,4,16,64", "--grain", "1,4,16,64")["rows"]
        time = {(r["workers"], r["grain"]): r["makespan_ns"] for r in grid}
        self.assertGreater(time[16, "1"] / time[16, "4"], 3, "the case is no case")
        self.assertLess(told["tried"][0]["makespan_ns"], 1.05 * min(time.values()))

        at = told["at"]
        by_hand = self.good(trace, "--workers", at["workers"], "--grain", at["grain"], "--policies", at["policy"],
                            "--creation", at["creation"])["rows"][0]
        self.assertEqual(by_hand["makespan_ns"], told["tried"][0]["makespan_ns"])
        self.assertIn(f"{at['workers']} workers", told["text"])
        self.assertIn(f"merging tasks by {at['grain']}", told["text"])
        self.assertAlmostEqual(told["tried"][0]["gain"], 1 - by_hand["makespan_ns"] / time[1, "1"])

    def test_only_workers_that_were_asked_for(self):
        trace = self.recorded("independent", "--n", 5000, "--grain-ns", 300, "--machine", "virtual", "--workers", 2)
        told = self.combination(self.good(trace, "--workers", "2,8"))
        self.assertEqual(told["at"]["workers"], 8)

    def test_long_tasks_are_left_alone(self):
        self.assertIsNone(self.combination(self.good(self.independent(640, 1_000_000), "--workers", "1,4,16")))

    def test_what_one_change_does_is_told_once(self):
        reply = self.good(self.chain(20, 1_000_000), "--workers", "2,8")
        self.assertIn("splitting tasks by 2 saves", reply["advice"][-1]["text"])
        self.assertIsNone(self.combination(reply))

    def test_each_machine_has_its_own(self):
        trace = self.recorded("independent", "--n", 3000, "--grain-ns", 300, "--machine", "virtual", "--workers", 2)
        reply = self.good(trace, "--machines", "virtual,epyc-7551-32", "--workers", "4,16")
        told = [a for a in reply["advice"] if a["kind"] == "combination"]
        self.assertEqual([a["at"]["machine"] for a in told], ["virtual", "epyc-7551-32"])
        self.assertTrue(told[1]["text"].startswith("epyc-7551-32: together: "), told[1])

    def test_programs(self):
        """Grain cannot be changed from outside, and no more runs are made than were asked for."""
        log = self.folder / "log"
        wrapper = self.folder / "program.sh"
        wrapper.write_text(f'#!/bin/sh\necho "$WEFT_POLICY" >> {log}\n'
                           f'exec {case.WEFT} run independent --n 3000 --grain-ns 300\n')
        wrapper.chmod(0o755)
        reply = json.loads(case.run("--json", "--workers", "2,8", wrapper).stdout)
        runs = log.read_text().splitlines()
        tried = sum(len(a["tried"]) for a in reply["advice"] if a["kind"] != "combination")
        self.assertLessEqual(len(runs), 2 + tried + 2)
        if (told := self.combination(reply)) is not None:
            self.assertEqual(told["at"]["grain"], "1")


if __name__ == "__main__":
    case.WEFT = command_line.weft(__doc__)
    unittest.main()
