#!/usr/bin/env python3
"""The page of weft report in a real browser: what it draws, how it answers to mouse and keys, a million tasks, and
names that would like to be programs. Exit status 77 (skipped) where there is no Chromium.

Run as: python3 tests/tool/report_page_test.py --weft PATH [unittest arguments]
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import browser
import command_line
import trace_maker

WEFT = "weft"
READY = "document.documentElement.dataset.ready === '1'"


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="weft-page-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.browser = browser.Browser(1200, 900)
        cls.addClassCleanup(cls.browser.__exit__)
        cls.page = cls.browser.page

    def open(self, trace: pathlib.Path, address: str = "theme=light") -> None:
        page = trace.with_suffix(".html")
        done = subprocess.run([WEFT, "report", str(trace), "--html", str(page)], capture_output=True, text=True,
                              timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.page.errors.clear()
        self.page.requests.clear()
        self.page.go("about:blank")
        self.page.go(f"{page.as_uri()}#{address}")
        self.page.until(READY)
        self.page.settle()

    def tearDown(self):
        self.assertEqual(self.page.errors, [])
        self.assertEqual([r for r in self.page.requests if not r.startswith(("file:", "about:"))], [])

    def simple(self) -> pathlib.Path:
        """Row 0: the main program to 100, red 200-500, idle, blue 800-1000. Row 1: asleep, then red 600-1000."""
        return trace_maker.write(
            self.folder / "simple.weft", 2, ["red", "blue", "green"], ["a", "b"],
            [(1, None, 1, 0, 0, 0, 200, 500, "done"), (2, None, 1, 0, 50, 1, 600, 1000, "done"),
             (3, None, 2, 0, 90, 0, 800, 1000, "done")],
            [(1, 0, 1, "write", 0, 1), (2, 0, 1, "read", 1, 3), (3, 0, 1, "read", 1, 3)],
            [(None, "all", None, 0, 100, 0, 1000)], [], [(1, 0, 400)])

    def x(self, time_ns: float) -> float:
        return self.page.evaluate(f"xAt({time_ns})")

    def y(self, row: int, part: float = 0.25) -> float:
        """Away from the text in the middle and the critical path at the bottom."""
        return self.page.evaluate(f"yAt({row}) + (layout.row - layout.gap) * {part}")

    def colour(self, name: str) -> tuple:
        return tuple(self.page.evaluate(f"colourOf(nameIndex.get({json.dumps(name)}))"))

    def theme_colour(self, name: str) -> tuple:
        text = self.page.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('{name}').trim()")
        return tuple(int(text[i:i + 2], 16) for i in (1, 3, 5))

    def near(self, found, expected, most=10):
        self.assertLessEqual(max(abs(a - b) for a, b in zip(found, expected)), most, f"{found}, wanted {expected}")

    def canvas_point(self, x: float, y: float) -> tuple[float, float]:
        box = self.page.evaluate("(({x, y}) => [x, y])(canvas.getBoundingClientRect())")
        return box[0] + x, box[1] + y

    def pixel(self, time_ns: float, row: int, part: float = 0.25):
        return self.page.image("#timeline").at(self.x(time_ns), self.y(row, part))


class Drawing(PageTest):
    def test_pieces_are_where_they_belong(self):
        for look in ("light", "dark"):
            with self.subTest(look=look):
                self.open(self.simple(), f"theme={look}&path=0")
                red, blue = self.colour("red"), self.colour("blue")
                self.assertNotEqual(red, blue)
                row, asleep, main = map(self.theme_colour, ("--row", "--asleep", "--main"))
                image = self.page.image("#timeline")
                for time_ns, worker, expected in ((50, 0, main), (150, 0, row), (450, 0, red), (650, 0, row),
                                                  (950, 0, blue), (200, 1, asleep), (500, 1, row), (950, 1, red)):
                    self.near(image.at(self.x(time_ns), self.y(worker)), expected)
                # The curve: half of the workers at 300, both at 900, none at 550.
                top, height = self.page.evaluate("[8, layout.curve - 8]")
                curve = self.theme_colour("--curve")
                at = lambda time_ns, part: image.at(self.x(time_ns), top + height * part)
                self.assertNotEqual(at(300, 0.75), at(300, 0.25))
                self.assertEqual(at(900, 0.75), at(900, 0.25))
                self.near(at(300, 0.75), at(900, 0.25))
                self.near(at(550, 0.75), row)
                self.near(at(900, 0.25), curve, 50)

    def test_critical_path_can_be_switched(self):
        self.open(self.simple())
        critical = self.theme_colour("--critical")
        self.near(self.pixel(900, 1, 0.95), critical)
        self.assertNotEqual(self.pixel(900, 0, 0.95), critical)  # blue is shorter than red
        self.page.evaluate("canvas.focus()")
        self.page.key("c")
        self.near(self.pixel(900, 1, 0.95), self.colour("red"))
        self.assertFalse(self.page.evaluate("byId('path').checked"))

    def test_short_pieces_are_not_lost(self):
        tasks = [(i + 1, None, 1, 0, 0, 0, 1 + i * 1000, 1 + i * 1000 + 10, "done") for i in range(3000)]
        trace = trace_maker.write(self.folder / "thin.weft", 1, ["red"], [], tasks, [])
        self.open(trace, "theme=light&path=0")
        image = self.page.image("#timeline")
        row = self.theme_colour("--row")
        y = self.y(0, 0) + 0.5  # whatever ran is at the top
        different = sum(image.at(x, y) != row for x in range(int(self.x(10_000)), int(self.x(2_900_000))))
        self.assertGreater(different, 0.95 * (self.x(2_900_000) - self.x(10_000)))

    def test_names_of_bounds_lie_on_no_curve(self):
        """And their lines end above the names of times."""
        p = trace_maker.Program()
        x = p.handle()
        for i in range(400):
            p.submit("part", 10_000, *([("write", x)] if i % 4 == 0 else []))
        falling = p.run(self.folder / "falling.weft", 3)
        for trace in (falling, trace_maker.cholesky(10).run(self.folder / "cholesky.weft", 4)):
            self.open(trace)
            seen = self.page.evaluate("({...drawn, heads: drawn.heads.length})")
            names = seen["names"][seen["heads"]:]
            self.assertEqual(len(names), 2)
            for box in names:
                self.assertTrue(box["isFree"], box)
                self.assertTrue(all(box["top"] >= h["bottom"] for h in seen["names"][:seen["heads"]]), box)
                for line in seen["paths"]:
                    for (x1, y1), (x2, y2) in zip(line, line[1:]):
                        if box["left"] < x2 < box["right"]:
                            self.assertFalse(min(y1, y2) < box["bottom"] and max(y1, y2) > box["top"], (box, x2))
            self.assertEqual(self.page.evaluate("""bounds().filter(({time}) => {
                const scale = window.devicePixelRatio || 1, tall = Math.round((layout.axis - 2) * scale);
                const x = Math.round(xAt(time) * scale), y = Math.round((layout.top - layout.axis + 1) * scale);
                const at = pen.getImageData(x, y, 1, tall).data;
                pen.save();
                pen.fillStyle = theme.critical;
                const ink = pen.fillStyle;
                pen.restore();
                const hex = (i) => '#' + [0, 1, 2].map((k) => at[4 * i + k].toString(16).padStart(2, '0')).join('');
                return Array.from({length: tall}, (_, i) => hex(i)).includes(ink);
            }).length"""), 0)

    def test_every_colour_is_one_of_the_legend(self):
        """Nineteen names in turns, many to a pixel: eight colours plain and hatched, and one for the three others."""
        names = [f"name{i}" for i in range(19)]
        tasks = [(i + 1, None, 1 + i % 19, 0, 0, 0, 100 * i, 100 * i + 95 - i % 19, "done") for i in range(19_000)]
        self.open(trace_maker.write(self.folder / "many.weft", 1, names, [], tasks, []), "theme=light&path=0&curves=0")
        legend = self.page.evaluate("[...byId('legend').children].map((e) => e.textContent)")
        self.assertEqual(len(legend), 16 + 1 + 2)
        self.assertIn("3 other names", legend)
        looks = self.page.evaluate("[...byId('legend').querySelectorAll('.swatch')].map((e) => e.style.background)")
        self.assertEqual(len(set(looks)), len(looks))
        self.page.evaluate("drawLabels = () => {}, draw()")
        foreign = self.page.evaluate("""(() => {
            const grounds = [theme.row, theme.asleep];
            const allowed = new Set(lookColours.concat(lookColours.map(hatchColour), grounds).map(String));
            const data = pen.getImageData(layout.gutter, yAt(0), used.length, layout.row - layout.gap).data;
            const found = new Set();
            for (let i = 0; i < data.length; i += 4) found.add(data.slice(i, i + 3).join());
            return [found.size, [...found].filter((c) => !allowed.has(c))];
        })()""")
        self.assertGreater(foreign[0], 16)
        self.assertEqual(foreign[1], [])

    def test_readable_in_light_and_dark(self):
        def luminance(colour):
            parts = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
        for look in ("light", "dark"):
            self.open(self.simple(), f"theme={look}")
            for text, ground in (("--text", "--panel"), ("--faint", "--panel"), ("--bad", "--bad-page"),
                                 ("--hint", "--hint-page"), ("--text", "--page"), ("--faint", "--page")):
                a, b = sorted(luminance(self.theme_colour(c)) for c in (text, ground))
                self.assertGreaterEqual((b + 0.05) / (a + 0.05), 4.5, f"{look}: {text} on {ground}")


class Moving(PageTest):
    def view(self):
        return self.page.evaluate("[view.from, view.to]")

    def test_wheel_zooms_around_the_pointer(self):
        self.open(self.simple(), "theme=light&path=0")
        self.near(self.pixel(450, 0), self.colour("red"))
        row = self.theme_colour("--row")
        self.near(self.pixel(650, 0), row)
        left, right = self.page.evaluate("[layout.gutter + 30, layout.width - layout.right - 30]")
        x = round(self.x(350))
        pointed = self.page.evaluate(f"timeAt({x})")
        box = self.page.evaluate("canvas.getBoundingClientRect().x")
        self.assertEqual(box, int(box))
        for _ in range(4):
            self.page.mouse("mouseWheel", *self.canvas_point(x, self.y(0)), deltaX=0, deltaY=-400)
        self.page.settle()
        start, end = self.view()
        self.assertLess(end - start, 100)
        self.assertAlmostEqual(self.x(pointed), x, delta=1)
        image = self.page.image("#timeline")
        for px in (left, x, right):  # what lay beside the red task is out of sight
            self.near(image.at(px, self.y(0)), self.colour("red"))

    def test_keys(self):
        self.open(self.simple())
        self.page.evaluate("canvas.focus()")
        self.page.key("+")
        start, end = self.view()
        self.assertAlmostEqual(end - start, 1000 / 1.5, delta=1)
        self.page.key("ArrowRight")
        self.assertAlmostEqual(self.view()[0], start + 0.2 * (end - start), delta=1)
        self.page.key("ArrowLeft")
        self.page.key("ArrowLeft")
        self.assertAlmostEqual(self.view()[0], max(0, start - 0.2 * (end - start)), delta=1)
        self.page.key("End")
        self.assertEqual(self.view()[1], 1000)
        self.page.key("-")
        self.page.key("0")
        self.assertEqual(self.view(), [0, 1000])
        self.page.key(".")
        self.assertIn("red", self.page.evaluate("byId('details').textContent"))
        self.page.key(".")
        self.assertIn("blue", self.page.evaluate("byId('details').textContent"))
        self.page.key("]")
        self.assertEqual(self.page.evaluate("tasks.id[state.chosen]"), 2)
        self.page.key("f")
        self.assertEqual(self.view(), [200, 1000])
        self.page.key("?")
        self.assertFalse(self.page.evaluate("byId('help').hidden"))
        self.page.key("Escape")
        self.assertTrue(self.page.evaluate("byId('help').hidden"))
        self.assertEqual(self.page.evaluate("tasks.id[state.chosen]"), 2)
        self.page.key("/")
        self.assertEqual(self.page.evaluate("document.activeElement.id"), "filter")
        self.page.write("blue")
        self.assertEqual(self.page.evaluate("state.filter"), "blue")
        self.page.key("Escape")
        self.assertEqual(self.page.evaluate("[state.filter, state.chosen, byId('filter').value]"), ["", -1, ""])

    def test_drag_moves_and_chooses_nothing(self):
        self.open(self.simple(), "theme=light&from=300&to=600")
        a = self.canvas_point(self.x(500), self.y(0))
        b = self.canvas_point(self.x(450), self.y(0))
        self.page.drag([a, ((a[0] + b[0]) / 2, a[1]), b])
        self.assertAlmostEqual(self.view()[0], 350, delta=2)
        self.assertEqual(self.page.evaluate("state.chosen"), -1)

    def test_address_holds_the_view(self):
        self.open(self.simple(), "theme=dark&from=300&to=600&filter=blue&task=2&path=0")
        self.assertEqual(self.view(), [300, 600])
        self.assertEqual(self.page.evaluate("[state.filter, tasks.id[state.chosen], state.path]"), ["blue", 2, False])
        self.page.evaluate("setView(100, 400)")
        self.page.until("location.hash.includes('from=100') && location.hash.includes('task=2')", 5)


class Choosing(PageTest):
    def test_filter_dims_the_others(self):
        self.open(self.simple(), "theme=light&path=0")
        self.page.evaluate("byId('filter').focus()")
        self.page.write("BLU")
        image = self.page.image("#timeline")
        self.near(image.at(self.x(950), self.y(0)), self.colour("blue"))
        row, red = self.theme_colour("--row"), self.colour("red")
        dimmed = image.at(self.x(450), self.y(0))
        self.near(dimmed, [0.87 * r + 0.13 * c for r, c in zip(row, red)], 12)
        self.assertIn("1 of 2 names", self.page.evaluate("byId('matches').textContent"))

    def test_click_shows_before_and_after(self):
        self.open(self.simple(), "theme=light&path=0")
        self.page.click(*self.canvas_point(self.x(350), self.y(0)))
        text = self.page.evaluate("byId('details').innerText")
        self.assertIn("Waited for it (2)", text)
        self.assertEqual(self.page.evaluate("[...state.after.keys()].map((t) => tasks.id[t]).sort()"), [2, 3])
        image = self.page.image("#timeline")
        after = self.theme_colour("--after")
        top = self.page.evaluate("yAt(1)") - 0.5
        found = [image.at(self.x(700), y) for y in (top - 1, top, top + 1)]
        self.assertLess(min(max(abs(a - b) for a, b in zip(c, after)) for c in found), 90, found)
        self.page.click(*self.canvas_point(self.x(900), self.y(1)))
        self.assertEqual(self.page.evaluate("[...state.before.keys()].map((t) => tasks.id[t])"), [1])
        self.page.evaluate("[...document.querySelectorAll('#details li button')].at(-1).click()")
        self.assertEqual(self.page.evaluate("tasks.id[state.chosen]"), 1)
        self.page.click(*self.canvas_point(self.x(650), self.y(0)))
        self.assertEqual(self.page.evaluate("state.chosen"), -1)

    def test_tooltip(self):
        self.open(self.simple())
        self.page.mouse("mouseMoved", *self.canvas_point(self.x(900), self.y(1)))
        self.page.settle()
        text = self.page.evaluate("byId('tooltip').hidden ? '' : byId('tooltip').innerText")
        for part in ("red", "task", "400 ns", "450 ns for data, 100 ns for a worker", "read", "a"):
            self.assertIn(part, text)
        self.page.mouse("mouseMoved", *self.canvas_point(self.x(650), self.y(0)))
        self.assertTrue(self.page.evaluate("byId('tooltip').hidden"))

    def test_the_tooltip_is_of_what_is_below_the_pointer(self):
        """Also when it is the view that moves, or the page."""
        self.open(self.simple())
        said = lambda: self.page.evaluate("byId('tooltip').hidden ? '' : byId('tooltip').innerText")
        self.page.mouse("mouseMoved", *self.canvas_point(self.x(350), self.y(0)))
        self.page.settle()
        self.assertIn("red", said())
        self.page.evaluate("setView(700, 1000)")
        self.page.settle()
        self.page.settle()
        self.assertNotIn("red", said())
        self.page.evaluate("setView(0, 1000)")
        self.page.settle()
        self.page.mouse("mouseMoved", *self.canvas_point(self.x(350), self.y(0) + 1))
        self.page.settle()
        self.assertIn("red", said())
        self.page.evaluate("window.dispatchEvent(new Event('scroll'))")
        self.assertEqual(said(), "")

    def test_times_of_a_deep_view_can_be_told_apart(self):
        """A second after the beginning, 400 ns apart."""
        tasks = [(i + 1, None, 1, 0, 0, 0, 100 * i + (0 if i < 3 else 1_000_000_000), 100 * i + 60 +
                  (0 if i < 3 else 1_000_000_000), "done") for i in range(9)]
        self.open(trace_maker.write(self.folder / "deep.weft", 1, ["red"], [], tasks, []))
        self.page.evaluate("setView(1000000300, 1000000700)")
        self.page.settle()
        self.assertEqual(self.page.evaluate("byId('range').textContent"), "1.000000300 s to 1.000000700 s: 400 ns")
        self.page.evaluate("select(1000000310, 1000000350)")
        self.assertIn("1.000000310 s to 1.000000350 s: 40.0 ns",
                      self.page.evaluate("byId('selection').textContent").replace("40 ns", "40.0 ns"))
        self.assertEqual(self.page.evaluate("facts(4, false).find(([k]) => k === 'began')[1]"), "1.000000400 s")
        step, wide = self.page.evaluate("[axisStep(view.to - view.from), "
                                        "pen.measureText(axisLabel(1000000600, 10)).width]")
        self.assertGreater(step * self.page.evaluate("plotWidth()") / 400, wide)
        self.page.evaluate("setView(0, 1000000900)")
        self.page.settle()
        self.assertTrue(self.page.evaluate("byId('range').textContent").startswith("0.000 s to 1.000 s: 1.00 s"))

    def test_tables(self):
        self.open(self.simple())
        cells = self.page.evaluate("[...document.querySelectorAll('#names tbody tr')].map((r) => r.innerText)")
        self.assertEqual(len(cells), 2)
        self.assertRegex(cells[0], r"red\s+2\s+700 ns\s+78 %")
        self.page.evaluate("document.querySelector('#names th button').click()")
        self.assertIn("blue", self.page.evaluate("document.querySelector('#names tbody tr').innerText"))


class Hard(PageTest):
    HOSTILE = ["</script><script>window.canary = 1</script>", "<img src=x onerror='window.canary = 2'>",
               "<!--<script>", "\"'><svg onload=window.canary=3>", "${window.canary = 4}", "]]>", "&lt;&#60;",
               "\u2028\u2029\u202edrow", "a\x00b\x01\x1b[31m\x7f\x9b", "\U0001f600 t\u00e2che \u4efb\u52a1",
               "x" * 10_000, "__proto__", "constructor", "%s%n", "\\", "\n\r\t", " "]

    def test_hostile_names(self):
        tasks = [(i + 1, None, i + 1, 0, i, 0, 100 * i + 50, 100 * i + 140, "done") for i in range(len(self.HOSTILE))]
        uses = [(i + 1, 0, i + 1, "write", 0, 1) for i in range(len(self.HOSTILE))]
        trace = trace_maker.write(self.folder / "hostile.weft", 1, self.HOSTILE, self.HOSTILE, tasks, uses,
                                  program=self.HOSTILE[0], machine=self.HOSTILE[1], policy=self.HOSTILE[3])
        self.open(trace)
        self.assertEqual(self.page.evaluate("run.names"), self.HOSTILE)
        for i in range(len(self.HOSTILE)):
            self.page.evaluate(f"choose({i}, true), state.hover = {i}, setFilter(run.names[{i}])")
            self.page.mouse("mouseMoved", *self.canvas_point(self.x(100 * i + 90), self.y(0)))
            self.page.settle()
        self.assertEqual(self.page.evaluate("typeof window.canary"), "undefined")
        self.assertEqual(self.page.evaluate("document.title"), "weft report: " + self.HOSTILE[0])
        self.assertEqual(self.page.evaluate("document.querySelectorAll('img, svg, iframe').length"), 0)
        self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), 1200)

    def test_address_cannot_do_harm(self):
        harm = "filter=%3Cimg%20src%3Dx%20onerror%3D'window.canary%3D1'%3E"
        self.open(self.simple(), harm + "&task=-7&from=x&to=NaN&theme=x")
        self.assertEqual(self.page.evaluate("[typeof window.canary, state.chosen, view.from, view.to]"),
                         ["undefined", -1, 0, 1000])

    def test_fits_a_telephone(self):
        names = ["a_long_name_of_a_task::" * 20, "b"]
        tasks = [(i + 1, None, 1 + i % 2, 0, i, i % 2, 100 * i + 50, 100 * i + 140, "done") for i in range(50)]
        self.open(trace_maker.write(self.folder / "narrow.weft", 2, names, ["h" * 300], tasks,
                                    [(i + 1, 0, 1, "write", i, i + 1) for i in range(50)], program="p" * 200))
        try:
            self.page.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1,
                           mobile=False)
            self.page.settle()
            self.page.evaluate("choose(3, true), showHelp(), setFilter('a')")
            self.page.settle()
            self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), 400)
            right = self.page.evaluate("[...document.querySelectorAll('canvas, h1, .card, .toolbar *, header button, "
                                       "#help, #legend *, #details *')].map((e) => e.getBoundingClientRect().right)")
            self.assertLessEqual(max(right), 400)
            # Beside the longest name its figures are seen.
            self.page.evaluate("setFilter('')")
            cells = self.page.evaluate("[...document.querySelectorAll('#names tbody tr')].map((r) => "
                                       "[...r.cells].slice(0, 4).map((c) => c.getBoundingClientRect().right))")
            self.assertLessEqual(max(max(row) for row in cells), 400)
        finally:
            self.page.call("Emulation.setDeviceMetricsOverride", width=1200, height=900, deviceScaleFactor=1,
                           mobile=False)

    def test_nothing_ran(self):
        self.open(trace_maker.write(self.folder / "empty.weft", 2, [], [], [], []))
        self.page.key("+")
        self.page.key(".")

    def test_million(self):
        trace = trace_maker.million(self.folder / "million.weft")
        page = trace.with_suffix(".html")
        subprocess.run([WEFT, "report", str(trace), "--html", str(page)], check=True, capture_output=True, timeout=600)
        self.page.go("about:blank")
        start = time.monotonic()
        self.page.go(f"{page.as_uri()}#theme=light&path=0")
        self.page.until(READY)
        self.page.settle()
        loaded = time.monotonic() - start
        frames = self.page.evaluate("""(() => { const start = performance.now();
            for (let i = 0; i < 10; ++i) draw(); return (performance.now() - start) / 10; })()""")
        image = self.page.image("#timeline")
        row = self.theme_colour("--row")
        even, odd = self.colour("even"), self.colour("odd")
        for worker in (0, 7, 15):  # a row has only even or only odd tasks, 90 % full
            own = odd if worker % 2 else even
            self.near(image.at(self.x(30_000_000), self.y(worker)), own)
            self.near(image.at(self.x(30_000_000), self.y(worker, 0.98)), row)
        self.page.evaluate("setView(30000000, 30004000)")
        image = self.page.image("#timeline")
        self.near(image.at(self.x(30_000_501), self.y(3)), odd)
        self.near(image.at(self.x(30_000_951), self.y(3)), row)
        chosen = self.page.evaluate("""(() => { const start = performance.now(); choose(500000, true);
            return [performance.now() - start, ...[state.before, state.after].map((m) => [...m.keys()].sort())];
            })()""")
        self.assertEqual(chosen[1:], [[500_000 + 4096 * side + d for d in (-1, 1)] for side in (-1, 1)])
        print(f"a million tasks: page of {page.stat().st_size / 1e6:.0f} MB, ready in {loaded:.1f} s, "
              f"{frames:.0f} ms a frame, first choice {chosen[0]:.0f} ms", file=sys.stderr)
        self.assertLess(loaded, 30)


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__, draws=True)
    unittest.main()
