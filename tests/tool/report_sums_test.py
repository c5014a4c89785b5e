#!/usr/bin/env python3
"""The page of weft report: sums of a stretch of time, curves, counters and bounds, against the trace's own tables.
Exit status 77 (skipped) where there is no Chromium.

Run as: python3 tests/tool/report_sums_test.py --weft PATH [unittest arguments]
"""
import pathlib
import sqlite3
import unittest

import command_line
import report_page_test
import trace_maker


class Sums(report_page_test.PageTest):
    def made(self) -> pathlib.Path:
        trace = trace_maker.cholesky(12).run(self.folder / "sums.weft", 4)
        with sqlite3.connect(trace) as db:
            db.execute("UPDATE meta SET value = 'cycles,page-faults' WHERE key = 'counters'")
            db.execute("INSERT INTO counters SELECT id, 'cycles', 1000 + id FROM tasks")
            db.execute("INSERT INTO counters SELECT id, 'page-faults', id % 3 FROM tasks WHERE id % 2")
        db.close()
        return trace

    def by_sql(self, trace, start, end):
        with sqlite3.connect(trace) as db:
            times = dict(db.execute("""SELECT n.name, sum(min(finished_ns, :e) - max(started_ns, :s)) FROM tasks t
                JOIN names n ON n.id = t.name WHERE finished_ns > :s AND started_ns < :e GROUP BY 1""",
                                    {"s": start, "e": end}))
            begun = dict(db.execute("""SELECT n.name, count(*) FROM tasks t JOIN names n ON n.id = t.name
                WHERE started_ns >= :s AND started_ns < :e GROUP BY 1""", {"s": start, "e": end}))
            counters = dict(db.execute("""SELECT c.name, sum(value) FROM counters c JOIN tasks t ON t.id = c.task
                WHERE started_ns >= :s AND started_ns < :e GROUP BY 1""", {"s": start, "e": end}))
            asleep = db.execute("""SELECT coalesce(sum(min(to_ns, :e) - max(from_ns, :s)), 0) FROM sleeps
                WHERE to_ns > :s AND from_ns < :e""", {"s": start, "e": end}).fetchone()[0]
        db.close()
        return times, begun, counters, asleep

    def test_sums_are_those_of_the_tables(self):
        trace = self.made()
        self.open(trace)
        first, end = self.page.evaluate("[run.begin, run.end]")
        for a, b in ((0, 1), (0.2, 0.45), (0.5, 0.500001), (0.93, 1)):
            start, stop = round(first + a * (end - first)), round(first + b * (end - first))
            found = self.page.evaluate(f"""(() => {{ const s = sumsBetween({start}, {stop});
                return {{ names: s.names.map((n) => [slotName(n.slot), n.time, n.begun]), asleep: s.asleep,
                          room: s.room, rest: s.rest, counters: [...s.counters] }}; }})()""")
            times, begun, counters, asleep = self.by_sql(trace, start, stop)
            self.assertEqual({n: t for n, t, _ in found["names"] if n != "main program"}, times)
            self.assertEqual({n: c for n, _, c in found["names"] if n != "main program" and c}, begun)
            self.assertEqual(found["asleep"], asleep)
            self.assertEqual(dict(zip(self.page.evaluate("run.counters"), found["counters"])),
                             {"cycles": counters.get("cycles", 0), "page-faults": counters.get("page-faults", 0)})
            busy = sum(t for _, t, _ in found["names"])
            self.assertEqual(found["room"], 4 * (stop - start))
            self.assertEqual(found["rest"], found["room"] - busy - asleep)

    def test_a_stretch_is_chosen_with_the_mouse_the_keys_and_the_address(self):
        self.open(self.made())
        begin, end = self.page.evaluate("[run.begin, run.end]")
        a = self.canvas_point(self.x(begin + 0.25 * (end - begin)), self.y(0))
        b = self.canvas_point(self.x(begin + 0.5 * (end - begin)), self.y(1))
        self.page.mouse("mouseMoved", *a)
        self.page.mouse("mousePressed", *a, button="left", buttons=1, clickCount=1, modifiers=8)
        self.page.mouse("mouseMoved", (a[0] + b[0]) / 2, a[1], button="left", buttons=1, modifiers=8)
        self.page.mouse("mouseMoved", *b, button="left", buttons=1, modifiers=8)
        self.page.mouse("mouseReleased", *b, button="left", clickCount=1, modifiers=8)
        self.page.settle()
        chosen = self.page.evaluate("[selection.from, selection.to]")
        for value, part in zip(chosen, (0.25, 0.5)):
            self.assertAlmostEqual(value, begin + part * (end - begin), delta=0.005 * (end - begin))
        self.assertEqual(self.page.evaluate("[view.from, view.to]"), [begin, end])
        self.assertIn("gemm", self.page.evaluate("byId('selection').innerText"))
        self.assertIn("Counters of tasks that began: cycles", self.page.evaluate("byId('selection').innerText"))
        self.page.until("location.hash.includes('sums=')", 5)
        address = self.page.evaluate("location.hash.slice(1)")
        self.page.evaluate("canvas.focus()")
        self.page.key("Escape")
        self.assertTrue(self.page.evaluate("byId('selection').hidden"))
        self.page.evaluate("setView(run.begin, run.begin + 1000), byId('sums').click()")
        self.assertEqual(self.page.evaluate("[selection.from, selection.to]"), [begin, begin + 1000])
        self.open(self.folder / "sums.weft", address)
        again = self.page.evaluate("[selection.from, selection.to]")
        self.assertLess(max(abs(x - y) for x, y in zip(again, chosen)), 1)

    def test_curves_count_what_the_tables_say(self):
        trace = self.made()
        self.open(trace)
        begin, end = self.page.evaluate("[run.begin, run.end]")
        with sqlite3.connect(trace) as db:
            rows = db.execute("SELECT id, submitted_ns, started_ns, finished_ns FROM tasks").fetchall()
            before: dict = {}
            for first, then in db.execute("SELECT before, after FROM dependencies"):
                before.setdefault(then, []).append(first)
        db.close()
        finished = {i: f for i, _, _, f in rows}
        for part in (0.001, 0.1, 0.33, 0.5, 0.77, 0.99):
            time = begin + part * (end - begin)
            flight = sum(s <= time < f for _, s, _, f in rows)
            ready = sum(max([s] + [finished[b] for b in before.get(i, [])]) <= time < start
                        for i, s, start, _ in rows)
            self.assertEqual(self.page.evaluate(f"allCurves().map((c) => c.at({time}))"), [flight, ready])

    def test_bounds_are_drawn_where_the_figures_are(self):
        self.open(self.made())
        found = {b["name"]: b["time"] for b in self.page.evaluate("bounds()")}
        begin = self.page.evaluate("run.begin")
        span, work, workers = self.page.evaluate(
            "[figures.span_ns, figures.work_ns + figures.main_program_ns, workerCount]")
        self.assertEqual(found, {"critical path": begin + span, "all work": begin + work / workers})
        image = self.page.image("#timeline")
        critical = self.theme_colour("--critical")
        x, top = self.page.evaluate(f"[xAt({begin + span}), layout.curve + 17]")
        column = [image.at(x + dx, y) for y in range(int(top), int(top) + 24) for dx in (-1, 0, 1)]
        self.assertLess(min(max(abs(p - q) for p, q in zip(c, critical)) for c in column), 90)
        self.page.evaluate("canvas.focus()")
        self.page.key("q")
        self.assertEqual(self.page.evaluate("[state.curves, layout.strip, byId('curves').checked]"), [False, 0, False])

    def test_counters_of_a_task(self):
        self.open(self.made())
        self.page.evaluate("choose(4, true)")
        self.assertRegex(self.page.evaluate("byId('details').innerText"), r"cycles\s+1,005\s+page-faults\s+2")


if __name__ == "__main__":
    report_page_test.WEFT = command_line.weft(__doc__, draws=True)
    unittest.main()
