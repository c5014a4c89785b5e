"""Tests of the papers' two verdicts: what a planted bound and a planted pin do to exit statuses, what is refused, and
that pages say what is pinned."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

import claims
import pages
from runs import Sweep
from whole import write_whole

ROWS = {"reasons": {"order": "2 % beyond a tie, and at most double"},
        "causes": {"dear": {"short": "dear", "because": "it is dear", "tried": "nothing"}}, "mechanisms": [],
        "figures": [{"kind": "result", "id": "gain", "section": "1", "what": "gain", "paper": "1.5", "ours": 1.4,
                     "value": ["number", 1.4], "bound": ["ratio", 1.5], "quick": True},
                    {"kind": "result", "section": "2", "what": "lead", "paper": "above 1", "ours": 1.1,
                     "value": ["number", 1.1], "bound": ["order", 1.02, 2], "scaled": ["60", "12"]},
                    {"kind": "input", "section": "3", "what": "size", "paper": "8", "ours": 8, "value": ["number", 8]},
                    {"kind": "ours", "section": "4", "what": "error", "paper": "", "ours": 0.001,
                     "value": ["number", 0.001], "within": [0, 0.02]}]}


class Numbers(Sweep):
    """Nothing runs: a row's value is what it says."""

    def number(self, n: float) -> float:
        return n


class Verdicts(unittest.TestCase):
    def setUp(self):
        self.rows = json.loads(json.dumps(ROWS))
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_py(self, *options: str) -> tuple[int, dict]:
        """Exit status and JSON of a run.py with these rows."""
        write_whole(self.folder / "expected.json", claims.as_text(self.rows))
        out = io.StringIO()
        with unittest.mock.patch.object(sys, "argv", ["run.py", "--json", *options]), contextlib.redirect_stdout(out):
            status = claims.Paper("", self.folder, Numbers).main()
        return status, json.loads(out.getvalue())

    def refused(self, why: str) -> None:
        with self.assertRaisesRegex(ValueError, why):
            claims.check(self.rows)

    def test_all_holds(self):
        status, said = self.run_py("--verdict")
        self.assertEqual(status, 0)
        self.assertEqual(said["regression"], {"as_pinned": 4, "moved": 0})
        self.assertEqual(said["reproduced"], {"results": 1, "reproduced": 1, "missed": 0, "scaled": 1,
                                              "scaled_reproduced": 1, "inputs": 1, "ours": 1})

    def test_a_planted_bound_fails_the_verdict_and_nothing_else(self):
        for row, wrong in ((0, ["ratio", 3.0]), (0, ["ratio", 1.0]), (1, ["order", 1.2, 2]), (1, ["order", 0.5, 1.0])):
            self.setUp()
            self.rows["figures"][row] |= {"bound": wrong, "paper": "about as much"}
            self.assertEqual(self.run_py("--verdict")[0], 1, wrong)
            status, said = self.run_py()
            self.assertEqual((status, said["regression"]["moved"]), (0, 0), wrong)

    def test_faster_than_the_paper_is_a_miss(self):
        self.rows["figures"][0] |= {"ours": 15, "value": ["number", 15]}
        status, said = self.run_py("--verdict")
        self.assertEqual((status, said["reproduced"]["missed"]), (1, 1))

    def test_a_planted_regression_fails_the_run(self):
        for row, pin in ((0, 1.3), (1, 1.2), (2, 9)):
            self.setUp()
            self.rows["figures"][row]["ours"] = pin
            status, said = self.run_py()
            self.assertEqual((status, said["regression"]["moved"]), (1, 1), row)
        self.setUp()
        self.rows["figures"][3]["value"] = ["number", 0.03]
        self.assertEqual(self.run_py()[0], 1)

    def test_commands_of_a_row(self):
        write_whole(self.folder / "expected.json", claims.as_text(self.rows))
        out = io.StringIO()
        with unittest.mock.patch.object(sys, "argv", ["run.py", "--commands", "ea"]), contextlib.redirect_stdout(out):
            self.assertEqual(claims.Paper("", self.folder, Numbers).main(), 0)
        self.assertEqual(out.getvalue(), "2 lead\n  ours 1.10 = number(1.1)\n")

    def test_what_four_per_cent_is(self):
        self.rows["figures"][0]["ours"] = 1.4 / 1.039
        self.assertEqual(self.run_py()[0], 0)

    def test_quick_has_pins_of_its_own(self):
        self.rows["figures"][0] |= {"ours": 1.2, "quick": 1.41}
        status, said = self.run_py("--quick")
        self.assertEqual((status, len(said["figures"])), (0, 1))
        self.assertEqual(self.run_py()[0], 1)

    def test_one_sided_bounds_are_refused(self):
        for sides in ([None, 2], [1.02, None], [1.02, float("inf")], [1.02], [], [2, 1.02]):
            self.rows["figures"][1]["bound"] = ["order", *sides]
            self.refused("side")
        self.rows["figures"][1].pop("bound")
        self.refused("a result without a bound")

    def test_wide_bounds_are_refused(self):
        self.rows["figures"][0]["bound"] = ["ratio", 1.5, 0.2]
        self.refused("not within 0.2")
        self.rows["figures"][0]["bound"] = ["order", 1.02, 2]
        self.refused("wider than 15 %")

    def test_kinds_reasons_and_causes(self):
        for change, why in (({"kind": "guess"}, "of kind guess"), ({"kind": "input"}, "no result but of kind input"),
                            ({"bound": ["because", 1.3, 1.6]}, "no reason is called because"),
                            ({"scaled": ["60", "60"]}, "which differ"), ({"cause": "cheap"}, "no cause is called")):
            self.rows = json.loads(json.dumps(ROWS))
            self.rows["figures"][0] |= change
            self.refused(why)

    def test_a_miss_needs_a_cause_and_a_success_has_none(self):
        self.assertEqual(claims.uncaused(self.rows), [])
        self.rows["figures"][0]["bound"] = ["ratio", 3.0]
        self.assertIn("no cause is given", claims.uncaused(self.rows)[0])
        self.rows["figures"][0]["cause"] = "dear"
        self.assertEqual(claims.uncaused(self.rows), [])
        self.rows["figures"][0]["bound"] = ["ratio", 1.5]
        self.assertIn("holds, and a cause", claims.uncaused(self.rows)[0])


class Pages(unittest.TestCase):
    def test_all_are_as_pinned(self):
        self.assertEqual(pages.wrong(), [])

    def test_a_page_that_was_changed_is_found(self):
        page = pages.HERE / "tao" / "README.md"
        text = page.read_text()
        for changed in (text.replace("reproduced; ", "x; ", 1).replace("| reproduced |", "| well |", 1),
                        text.replace("# TAO, claim by claim\nReproduced: **", "# TAO, claim by claim\nReproduced: **9"),
                        pages.re.sub(r"<!--=(\S+?)-->[\d.]+", r"<!--=\1-->1e9", text, count=1)):
            self.assertNotEqual(changed, text)
            self.assertEqual(pages.page_text("tao", changed), text)

    def test_prose_takes_its_numbers_from_rows(self):
        rows, counts = claims.pinned_rows(ROWS), claims.tally(claims.pinned_rows(ROWS))
        text = "<!--=gain-->7<!--.--> <!--=gain:.0%-->7<!--.--> <!--=results-->7<!--.-->"
        self.assertEqual(pages.with_values(text, rows, counts, "page"),
                         "<!--=gain-->1.40<!--.--> <!--=gain:.0%-->140 %<!--.--> <!--=results-->1<!--.-->")
        with self.assertRaisesRegex(RuntimeError, "no row and no count is called loss"):
            pages.with_values("<!--=loss-->7<!--.-->", rows, counts, "page")

    def test_mechanisms_name_test_cases_whole(self):
        whole = {"section": "1", "what": "versions", "state": "whole", "files": ["src/access/version.hpp"],
                 "test": ["src/access/version_test.cpp",
                          "version: SuperGlue figure 3 - two reads 0, a write 2, three adds 3, a write 6"]}
        self.assertEqual(pages.untested({"mechanisms": [whole]}), [])
        for change, why in (({"test": ["src/access/version_test.cpp", "version: SuperGlue figure 3"]}, "no test case"),
                            ({"test": ["src/access/no_test.cpp", "version"]}, "no test case"),
                            ({"files": ["src/access/no.hpp"]}, "there is no"), ({"state": "good"}, "is not one of")):
            self.assertIn(why, pages.untested({"mechanisms": [whole | change]})[0])
        del whole["test"]
        self.assertIn("no test shows it", pages.untested({"mechanisms": [whole]})[0])


if __name__ == "__main__":
    unittest.main()
