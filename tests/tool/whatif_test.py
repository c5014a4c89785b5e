#!/usr/bin/env python3
"""weft whatif from outside: rows, what binds on made traces where that is known, advice, grains, programs, and the page
in a real browser (that part is skipped where there is no Chromium).

Run as: python3 tests/tool/whatif_test.py --weft PATH [unittest arguments]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import browser
import trace_maker

WEFT = "weft"
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}


def run(*args, **kwargs):
    return subprocess.run([WEFT, "whatif", *map(str, args)], capture_output=True, text=True, timeout=600, env=CLEAN,
                          **kwargs)


class WhatIf(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weft-whatif-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def good(self, *args):
        done = run(*args, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def bad(self, expected, *args):
        done = run(*args)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(expected, done.stderr)
        self.assertEqual(done.stdout, "")

    def independent(self, count, body, name="part"):
        p = trace_maker.Program()
        for _ in range(count):
            p.submit(name, body)
        return p.run(self.folder / "independent.weft", 2)

    def chain(self, count, body):
        p = trace_maker.Program()
        x = p.handle("x")
        for _ in range(count):
            p.submit("link", body, ("write", x))
        return p.run(self.folder / "chain.weft", 2)

    def binds(self, reply):
        return {r["workers"]: r["binds"] for r in reply["rows"]}

    def kinds(self, reply):
        return [a["kind"] for a in reply["advice"]]


class Limits(WhatIf):
    def test_cores(self):
        reply = self.good(self.independent(640, 1_000_000), "--workers", "1,4,16")
        self.assertEqual(self.binds(reply), {1: "cores", 4: "cores", 16: "cores"})
        for r in reply["rows"]:
            self.assertAlmostEqual(r["speedup"], r["workers"], delta=0.02 * r["workers"])
            self.assertAlmostEqual(r["efficiency"], 1, delta=0.02)
        self.assertEqual(self.kinds(reply), ["cores"])
        self.assertIn("at 16 workers", reply["advice"][0]["text"])

    def test_critical_path(self):
        reply = self.good(self.chain(40, 1_000_000), "--workers", "2,8")
        self.assertEqual(self.binds(reply), {2: "critical path", 8: "critical path"})
        self.assertEqual(self.kinds(reply), ["critical path"])
        self.assertRegex(reply["advice"][0]["text"], r"40\.0 ms.*more than 1\.00 workers.*100 % of it are "
                         r"tasks named link")
        self.assertIn("split them by", reply["advice"][0]["text"])

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
                         r"a task and tasks named part run for 10\.0 us; merge them by \d+, or decouple creation")

    def test_imbalance(self):
        """Nine equal tasks on eight workers: two rounds, the second with one. No bound is above 5/8 of that."""
        reply = self.good(self.independent(9, 1_000_000), "--workers", "8")
        self.assertEqual(self.binds(reply), {8: "imbalance"})
        self.assertRegex(reply["advice"][0]["text"], r"there are 9 tasks for 8 workers; split them by 4")

    def test_contention(self):
        """Many short tasks that all threads submit: what the scheduler itself does is what takes the time."""
        p = trace_maker.Program()
        handles = [p.handle() for _ in range(64)]
        for i in range(6400):
            p.submit("tiny", 20, ("write", handles[i % 64]))
        reply = self.good(p.run(self.folder / "tiny.weft", 2), "--workers", "2", "--policy", "central")
        self.assertIn(self.binds(reply)[2], ("contention", "creation"))
        self.assertIn("merge them by", reply["advice"][0]["text"])

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
                late = r["shares"]["late"] > r["shares"]["idle"]
                self.assertEqual(r["binds"], "contention" if late else "imbalance")
            self.assertGreaterEqual(r["makespan_ns"], max(r["span_ns"], r["work_ns"] / r["workers"]))


class Sweeps(WhatIf):
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
        alone = subprocess.run([WEFT, "sim", str(trace), "--workers", "6", "--json"], capture_output=True, env=CLEAN)
        self.assertEqual(json.loads(alone.stdout)["digest"], row["digest"])

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
        done = run(self.independent(8, 1000), "--machines", "virtual,i7-2600k-4", "--workers", "2,500", "--json")
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
        done = run(self.independent(64, 1_000_000), "--workers", "1,2", "--policies", "local,central")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"policy +workers +makespan +speed-up +efficiency +utilisation +binds")
        self.assertRegex(done.stdout, r"central +2 +32\.0 ms +2\.00 +100 % +100 % +cores")
        self.assertNotIn("\033", done.stdout)

    def test_wrong(self):
        trace = self.independent(8, 1000)
        self.bad("--workers 0", trace, "--workers", "1,0")
        self.bad("nowhere", trace, "--machines", "nowhere", "--workers", 2)
        self.bad("grain", trace, "--grain", "0")
        self.bad("grain", trace, "--grain", "/")
        self.bad("name a trace or a program")
        self.bad("No such file", self.folder / "absent.weft")
        self.bad("are for traces", "--grain", 2, WEFT, "info")

    def test_program(self):
        done = run("--json", "--workers", "1,2,4", WEFT, "run", "independent", "--n", 200)
        self.assertEqual(done.returncode, 0, done.stderr)
        reply = json.loads(done.stdout)
        self.assertEqual([r["workers"] for r in reply["rows"]], [1, 2, 4])
        self.assertGreater(reply["rows"][0]["makespan_ns"], reply["rows"][2]["makespan_ns"])
        self.bad("made no runtime", "--workers", 1, "true")
        self.bad("ended with status 1", "--workers", 1, "false")


class Grain(WhatIf):
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


@unittest.skipUnless(browser.find(), "no Chromium")
class Page(WhatIf):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser(1200, 900)
        cls.addClassCleanup(cls.browser.__exit__)
        cls.page = cls.browser.page

    def open(self, trace, *args, theme="light"):
        path = self.folder / "page.html"
        done = run(trace, "--html", path, *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.page.errors.clear()
        self.page.requests.clear()
        self.page.go("about:blank")
        self.page.go(f"{path.as_uri()}#theme={theme}")
        self.page.until("document.documentElement.dataset.ready === '1'")
        self.page.settle()

    def tearDown(self):
        self.assertEqual(self.page.errors, [])
        self.assertEqual([r for r in self.page.requests if not r.startswith(("file:", "about:"))], [])

    def place(self, chart, row):
        return self.page.evaluate(
            f"(() => {{ const c = charts[{chart}], r = rows[{row}], b = c.canvas.getBoundingClientRect();"
            " return [b.x + c.x(r.workers), b.y + c.y(c.value(r))]; })()")

    def near(self, colour, expected):
        return all(abs(a - b) < 12 for a, b in zip(colour, expected))

    def test_draws_hovers_and_changes_theme(self):
        self.open(self.independent(64, 1_000_000), "--workers", "1,2,4,8", "--policies", "local,central")
        image = self.page.image()
        for chart in (0, 1):
            for row in (1, 2, 3):  # central, drawn last, lies on top of local
                self.assertTrue(any(self.near(image.at(*self.place(chart, row)), c)
                                    for c in ((47, 111, 208), (217, 102, 32))), (chart, row))
        self.assertTrue(self.page.evaluate("document.getElementById('tip').hidden"))
        x, y = self.place(0, 2)
        self.page.mouse("mouseMoved", x + 2, y + 1)
        self.page.settle()
        self.assertRegex(self.page.evaluate("document.getElementById('tip').textContent"), r"4 workers, 16\.0 ms")
        self.assertEqual(self.page.evaluate("document.querySelectorAll('tr.chosen').length"), 1)
        self.assertEqual(self.page.evaluate("document.querySelectorAll('#table tbody tr').length"), 8)
        background = image.at(3, 3)
        self.page.click(*self.page.evaluate("(({x, y}) => [x + 5, y + 5])"
                                            "(document.getElementById('theme').getBoundingClientRect())"))
        self.assertGreater(sum(background), 3 * 200)
        self.assertLess(sum(self.page.image().at(3, 3)), 3 * 60)

    def test_hides_a_curve(self):
        self.open(self.independent(64, 1_000_000), "--workers", "1,8", "--policies", "local,central")
        before = self.page.evaluate("shown().length")
        self.page.evaluate("document.querySelectorAll('#legend button')[1].click()")
        self.assertEqual((before, self.page.evaluate("shown().length")), (2, 1))

    def test_keys(self):
        self.open(self.independent(8, 1_000_000), "--workers", "1,2,4", theme="dark")
        self.page.evaluate("charts[0].canvas.focus()")
        self.page.key("ArrowRight")
        self.page.key("ArrowRight")
        self.assertEqual(self.page.evaluate("state.chosen.workers"), 2)

    def test_names_are_text(self):
        name = "</script><img src=x onerror=alert(1)><!--"
        self.open(self.independent(2000, 500, name), "--workers", "1,64")
        self.assertIn("<img src=x", self.page.evaluate("document.getElementById('advice').textContent"))
        self.assertEqual(self.page.evaluate("document.images.length"), 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--weft", required=True)
    options, rest = parser.parse_known_args()
    WEFT = str(pathlib.Path(options.weft).resolve())
    unittest.main(argv=[sys.argv[0], *rest])
