#!/usr/bin/env python3
"""The page of weft whatif in a real browser; skipped where there is no Chromium.

Run as: python3 tests/tool/whatif_page_test.py --weft PATH [unittest arguments]
"""
import unittest

import browser
import command_line
import trace_maker
import whatif_case as case


def along(line):
    """Points of a line of straight pieces, less than a pixel apart."""
    for (x1, y1), (x2, y2) in zip(line, line[1:]):
        steps = int(2 * max(abs(x2 - x1), abs(y2 - y1))) + 1
        yield from ((x1 + (x2 - x1) * i / steps, y1 + (y2 - y1) * i / steps) for i in range(steps + 1))


@unittest.skipUnless(browser.find(), "no Chromium")
class Page(case.WhatIf):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser(1200, 900)
        cls.addClassCleanup(cls.browser.__exit__)
        cls.page = cls.browser.page

    def open(self, trace, *args, theme="light"):
        path = self.folder / "page.html"
        done = case.run(trace, "--html", path, *args)
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
                                    for c in self.page.evaluate("palette.slice(0, 2)")), (chart, row))
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

    def test_values_wherever_one_points(self):
        self.open(self.independent(64, 1_000_000), "--workers", "1,2,4,8", "--policies", "local,random,central")
        box = self.page.evaluate("(({x, y, width, height}) => [x, y, width, height])"
                                 "(charts[0].canvas.getBoundingClientRect())")
        at_4 = self.page.evaluate("charts[0].x(4)")
        for part in (0.1, 0.5, 0.9):  # far above and below the curves, too
            self.page.mouse("mouseMoved", box[0] + at_4 + 3, box[1] + box[3] * part)
            self.page.settle()
            tip = self.page.evaluate("document.getElementById('tip').innerText")
            for policy in ("local", "random", "central"):
                self.assertRegex(tip, rf"{policy}: (4 workers, )?16\.\d ms")

    def test_curves_can_be_told_apart(self):
        self.open(self.independent(16, 1_000_000), "--workers", "2,4", "--policies", "local,random,central",
                  "--creation", "inline,decoupled", "--grain", "1,2,4")
        looks = self.page.evaluate("series.map((s) => s.colour.join() + s.dash.border)")
        self.assertEqual(len(looks), 18)
        self.assertEqual(len(set(looks)), len(looks))

    def test_ideal_line_and_bounds_go_to_the_end(self):
        self.open(self.chain(40, 1_000_000), "--workers", "1,2,4,8", theme="light")
        ideal = self.page.evaluate("charts[0].sampled((w) => w)")
        self.assertEqual((ideal[0], ideal[-1]), ([1, 1], [8, 8]))
        bounds = {b["name"]: b["points"] for b in self.page.evaluate("charts[0].bounds()")}
        self.assertEqual([w for w, _ in bounds["critical path"]], [1, 2, 4, 8])
        for _, value in bounds["critical path"]:
            self.assertAlmostEqual(value, 1, delta=0.01)  # a chain: no schedule is faster than one worker
        # The ideal line leaves the chart at its upper edge, drawn up to there.
        image = self.page.image("#speedup")
        ink = tuple(self.page.evaluate("css('--ideal').match(/\\w\\w/g).map((x) => parseInt(x, 16))"))
        top = self.page.evaluate("charts[0].y(charts[0].top)")
        x, last = self.page.evaluate("[charts[0].x(charts[0].top), charts[0].width]")
        found = [y for y in range(int(top), int(top) + 30) for dx in range(-30, 3)
                 if 48 < x + dx < last and self.near(image.at(x + dx, y), ink)]
        self.assertTrue(found and min(found) <= top + 8, (top, found[:5]))

    def test_bounds_have_the_colour_of_their_curve(self):
        """Of two curves the bound is of the chosen one, and is drawn so: dotted, in its colour, in the page's own."""
        self.open(self.chain(40, 1_000_000), "--workers", "1,2,4,8", "--grain", "1,/2")
        for row in (1, 5):
            self.page.evaluate(f"choose(rows[{row}])")
            colour = self.page.evaluate("series.find((s) => s.rows.includes(state.chosen)).colour")
            bounds = self.page.evaluate("charts[0].bounds()")
            self.assertEqual([b["name"] for b in bounds][0], "critical path")
            self.assertEqual({b["colour"] for b in bounds}, {f"rgb({','.join(map(str, colour))})"})

    def test_labels_do_not_lie_on_each_other(self):
        """Three lines that end at one point, as far as the canvas goes, and one that ends beside them."""
        self.open(self.chain(40, 1_000_000), "--workers", "1,2,4")
        self.page.evaluate("""charts[0].bounds = () => ['critical path', 'creation', 'work', 'memory'].map((name, i) =>
            ({name, colour: '#000', points: [[4, i < 3 ? 0.5 : 0.45]]})), drawAll()""")
        boxes = self.page.evaluate("charts[0].written")
        self.assertEqual(len(boxes), 5)
        for i, a in enumerate(boxes):
            for b in boxes[:i]:
                apart = a["left"] >= b["right"] or b["left"] >= a["right"] or abs(a["y"] - b["y"]) >= 13
                self.assertTrue(apart, (a, b))

    def test_names_lie_on_no_line(self):
        """Also the name of a bound that leaves the chart at its top, far above all curves."""
        p = trace_maker.Program(submit_ns=2000)
        for _ in range(1000):
            p.submit("part", 10_000)
        slow = p.run(self.folder / "slow.weft", 2)
        many = ("--policies", "local,random,central", "--grain", "1,/2")
        for trace, *words in ((slow, "--submitter", "trace"), (self.chain(40, 1_000_000),),
                              (self.independent(64, 500_000),), (self.independent(64, 500_000), *many)):
            self.open(trace, "--workers", "1,2,4,8,16", *words)
            seen = self.page.evaluate("(({written, lines, plot}) => ({written, lines: charts[0].lines(), "
                                      "plot: charts[0].plot()}))(charts[0])")
            self.assertGreaterEqual(len(seen["written"]), 2 if trace == slow else 1)
            for box in seen["written"]:
                self.assertTrue(seen["plot"]["left"] <= box["left"] and box["right"] <= seen["plot"]["right"], box)
                self.assertTrue(seen["plot"]["top"] <= box["top"] and box["bottom"] <= seen["plot"]["bottom"], box)
                for x, y in (point for line in seen["lines"] for point in along(line)):
                    self.assertFalse(box["left"] < x < box["right"] and box["top"] < y < box["bottom"], (box, x, y))

    def test_marks_are_whole(self):
        """The first and the last of a curve lie at the edges of the plot; a chosen one is drawn largest."""
        self.open(self.independent(64, 1_000_000), "--workers", "1,2,4,8")
        for chart in (0, 1):
            plot = self.page.evaluate(f"charts[{chart}].plot()")
            for x, y in self.page.evaluate(f"rows.map((r) => [charts[{chart}].x(r.workers), "
                                           f"charts[{chart}].y(charts[{chart}].value(r))])"):
                self.assertTrue(plot["left"] + 8 <= x <= plot["right"] - 8, (plot, x))
                self.assertTrue(plot["top"] + 8 <= y <= plot["bottom"], (plot, y))

    def test_no_tip_is_left(self):
        self.open(self.independent(64, 1_000_000), "--workers", "1,2,4,8", "--policies", "local,central")
        tip = "document.getElementById('tip').hidden"
        for away in ("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))",
                     "window.dispatchEvent(new Event('scroll'))", "window.dispatchEvent(new Event('resize'))",
                     "document.querySelectorAll('#legend button')[0].click()"):
            self.page.evaluate("choose(rows[1])")
            self.assertFalse(self.page.evaluate(tip))
            self.page.evaluate(away)
            self.assertTrue(self.page.evaluate(tip), away)

    def test_fits_a_telephone(self):
        self.open(self.independent(64, 1_000_000, "a_long_name_of_a_task::" * 20), "--workers", "2,4,8,16,32,64",
                  "--policies", "local,random,central", "--creation", "inline,decoupled")
        self.page.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
        self.page.settle()
        self.page.evaluate("choose(rows[3])")
        self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), 400)
        right = self.page.evaluate("[...document.querySelectorAll('canvas, h1, button, li, #tip')]"
                                   ".map((e) => e.getBoundingClientRect().right)")
        self.assertLessEqual(max(right), 400)

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
    case.WEFT = command_line.weft(__doc__)
    unittest.main()
