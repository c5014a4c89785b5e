#!/usr/bin/env python3
"""What the timeline of weft report draws, column by column, against sums of the trace's own tables by SQL. From a
thousand tasks to a million; --tasks N takes another number. Exit status 77 (skipped) where there is no Chromium.

Run as: python3 tests/tool/report_timeline_test.py --weft PATH [--tasks N] [unittest arguments]
"""
import argparse
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import browser
import trace_maker

WEFT = "weft"
TASKS = (1_000, 100_000, 1_000_000)
READY = "document.documentElement.dataset.ready === '1'"

# Every interval is cut at the borders of columns: one that covers n columns makes n rows.
COVERED = """
WITH cut AS (
  SELECT x.row, x.what, c.number AS number, max(x.began, c.began) AS began, min(x.ended, c.ended) AS ended
  FROM {intervals} x JOIN columns c
    ON c.number BETWEEN CAST((x.began - :from) / :step AS INTEGER) AND CAST((x.ended - :from) / :step AS INTEGER)
  WHERE x.ended > :from AND x.began < :to)
SELECT row, what, number, sum(ended - began) / :step FROM cut WHERE ended > began GROUP BY row, what, number
"""


class Columns:
    """What the tables say of each column of a view: {(row, name): [share of column 0, 1, ...]}."""

    def __init__(self, trace: pathlib.Path):
        self.db = sqlite3.connect(trace)
        self.db.execute("CREATE TEMP TABLE columns(number INTEGER PRIMARY KEY, began REAL, ended REAL)")
        self.db.execute("""CREATE TEMP VIEW bodies AS SELECT worker AS row, n.name AS what, started_ns AS began,
                           finished_ns AS ended FROM tasks t JOIN names n ON n.id = t.name""")
        self.db.execute("CREATE TEMP VIEW asleep AS SELECT worker AS row, 'asleep' AS what, from_ns AS began, "
                        "to_ns AS ended FROM sleeps")

    def of(self, intervals: str, start: float, end: float, width: int) -> dict:
        step = (end - start) / width
        self.db.execute("DELETE FROM columns")
        self.db.executemany("INSERT INTO columns VALUES (?, ?, ?)",
                            ((c, start + c * step, start + (c + 1) * step) for c in range(width)))
        found: dict = {}
        for row, what, number, share in self.db.execute(COVERED.format(intervals=intervals),
                                                        {"from": start, "to": end, "step": step}):
            found.setdefault((row, what), [0.0] * width)[number] = share
        return found


class Timeline(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weft-timeline-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.browser = browser.Browser(1200, 900)
        self.addCleanup(self.browser.__exit__)
        self.page = self.browser.page

    def open(self, trace: pathlib.Path) -> None:
        page = trace.with_suffix(".html")
        subprocess.run([WEFT, "report", str(trace), "--html", str(page)], check=True, capture_output=True, timeout=600)
        self.page.go(f"{page.as_uri()}#theme=light&path=0&curves=0")
        self.page.until(READY)
        self.page.settle()
        # A row's own sums of columns, and its pixels without the names of tasks on them.
        self.page.evaluate("drawLabels = () => {}")
        self.page.evaluate("""globalThis.rowSums = (row) => {
            sumRow(row, used.length);
            const { all, matching } = whatPiecesShow;
            const lines = layout.row - layout.gap, counts = Array.from({ length: used.length }, () => ({}));
            const pixels = pen.getImageData(layout.gutter, yAt(row), used.length, lines).data;
            for (let i = 0; i < pixels.length; i += 4) {
                const of = counts[i / 4 % used.length], colour = pixels.slice(i, i + 3).join();
                of[colour] = (of[colour] || 0) + 1;
            }
            return { all: [...sums.pieces[all]], matching: [...sums.pieces[matching]], asleep: [...sums.sleeps[0]],
                     counts, lines };
        }""")

    def compare(self, columns: Columns, filtered: str = "") -> None:
        start, end, width, workers = self.page.evaluate("[view.from, view.to, used.length, workerCount]")
        bodies = columns.of("bodies", start, end, width)
        asleep = columns.of("asleep", start, end, width)
        colours = {name: self.page.evaluate(f"colourOf(nameIndex.get({json.dumps(name)}))")
                   for name in ("short", "other", "long")}
        row_colour, asleep_colour = self.page.evaluate("[theme.row, theme.asleep]")
        nothing = [0.0] * width
        busy, worst, worst_pixel = nothing[:], 0.0, 0.0
        self.page.evaluate("draw()")
        pictures = [self.page.evaluate(f"rowSums({row})") for row in range(workers)]
        for row, drawn in enumerate(pictures):
            mine = {name: bodies.get((row, name), nothing) for name in colours}
            sleep = asleep.get((row, "asleep"), nothing)
            sums: dict = {}
            for c in range(width):
                share = sum(mine[name][c] for name in mine)
                busy[c] += share
                strong = share if not filtered else mine[filtered][c]
                worst = max(worst, abs(drawn["all"][c] - share), abs(drawn["asleep"][c] - sleep[c]),
                            abs(drawn["matching"][c] - strong))
                expected = {tuple(row_colour): 1 - share - sleep[c], tuple(asleep_colour): sleep[c]}
                for name, colour in colours.items():
                    seen = 1 if not filtered or name == filtered else 0.13
                    stripe = tuple(round(g + seen * (v - g)) for v, g in zip(colour, row_colour))
                    expected[stripe] = mine[name][c]
                found = {tuple(map(int, k.split(","))): n for k, n in drawn["counts"][c].items()}
                self.assertLessEqual(set(found), set(expected), "a colour that is in no legend")
                lines = drawn["lines"]
                for colour, part in expected.items():
                    wrong = found.get(colour, 0) - lines * part
                    sums[colour] = sums.get(colour, 0) + wrong
                    if share > 1 / lines:  # what is ever so short is drawn as if it were more
                        worst_pixel = max(worst_pixel, abs(wrong))
            if all(sum(mine[name][c] for name in mine) > 1 / lines for c in range(width)):
                together = max(abs(x) for x in sums.values()) / (width * lines)
                self.assertLess(together, 0.005, "columns together have not the shares of the row")
        self.assertLess(worst, 1e-6, "the page's sums of a column differ from the trace's")
        self.assertLess(worst_pixel, 1.01, "a stripe is not as high as its share")
        self.page.evaluate("draw()")
        curve = self.page.evaluate("[...used]")
        self.assertLess(max(abs(a - b) for a, b in zip(curve, busy)), 1e-5)

    def test_columns(self):
        for tasks in TASKS:
            with self.subTest(tasks=tasks):
                trace = trace_maker.dense(self.folder / f"{tasks}.weft", tasks)
                self.open(trace)
                columns = Columns(trace)
                self.compare(columns)
                end = self.page.evaluate("run.end")
                for start, length in ((0.31, 0.37), (0.5, 0.011)):
                    self.page.evaluate(f"setView({start * end}, {(start + length) * end})")
                    self.page.settle()
                    self.compare(columns)
                self.page.evaluate("setView(whole.from, whole.to), setFilter('long')")
                self.page.settle()
                self.compare(columns, "long")
                frame = self.page.evaluate("""(() => { const start = performance.now();
                    for (let i = 0; i < 10; ++i) draw(); return (performance.now() - start) / 10; })()""")
                print(f"{tasks} tasks: {frame:.1f} ms a frame", file=sys.stderr)
                self.assertEqual(self.page.errors, [])

    def test_long_tasks_among_many_short_ones(self):
        """Three tasks of 30 ms in a row with 240,000 short ones: as busy as they are."""
        tasks, time = [], 0
        for i in range(240_003):
            length = 30_000_000 if i in (60_000, 120_000, 180_000) else 300
            tasks.append((i + 1, None, 1 if length == 300 else 3, None, 0, 0, time, time + length, "done"))
            time += length + 100
        trace = trace_maker.write(self.folder / "long.weft", 1, ["short", "other", "long"], [], tasks, [])
        self.open(trace)
        self.compare(Columns(trace))
        middle = self.page.evaluate("Math.round(xAt(60000 * 400 + 15e6)) - layout.gutter")
        self.assertAlmostEqual(self.page.evaluate(f"rowSums(0).all[{middle}]"), 1)


def main():
    global WEFT, TASKS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weft", required=True, help="the tool under test")
    parser.add_argument("--tasks", type=int, help="only this many")
    known, rest = parser.parse_known_args()
    if browser.find() is None:
        print("Chromium is not installed: skipped")
        sys.exit(77)
    WEFT = str(pathlib.Path(known.weft).resolve())
    if known.tasks:
        TASKS = (known.tasks,)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
