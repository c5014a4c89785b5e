#!/usr/bin/env python3
"""The colours of the pages, for all eyes: those of the report's timeline and of what-if's curves are as far apart for
people without red, green or blue cones as they must be to be told apart. In CIELAB, a difference of 2.3 is just seen.

The three matrices are those of Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color
Vision Deficiency" (2009), for whom the cones are missing.

Run as: python3 tests/tool/palette_test.py --weft PATH [unittest arguments]
"""
import itertools
import math
import pathlib
import re
import unittest

import command_line

ROOT = pathlib.Path(__file__).resolve().parents[2] / "tools/weft"
EYES = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(c):
    c /= 255
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


def lab(colour, eye):
    light = [linear(c) for c in colour]
    light = [min(1, max(0, sum(a * b for a, b in zip(row, light)))) for row in EYES[eye]]
    x = (0.4124564 * light[0] + 0.3575761 * light[1] + 0.1804375 * light[2]) / 0.95047
    y = 0.2126729 * light[0] + 0.7151522 * light[1] + 0.0721750 * light[2]
    z = (0.0193339 * light[0] + 0.1191920 * light[1] + 0.9503041 * light[2]) / 1.08883
    f = lambda t: t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116
    return 116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))


def apart(a, b):
    """For the eyes for which they are nearest, and whose these are."""
    return min((math.dist(lab(a, eye), lab(b, eye)), eye) for eye in EYES)


def hexadecimal(text):
    return tuple(int(text[i:i + 2], 16) for i in (1, 3, 5))


def variables(path, theme):
    css = path.read_text(encoding="utf-8")
    found = {}
    for selector in (r":root \{", *([r':root\[data-theme="dark"\] \{'] if theme == "dark" else [])):
        block = re.search(selector + r"(.*?)\}", css, re.DOTALL)[1]
        found.update({k: hexadecimal(v) for k, v in re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", block)})
    return found


class Palette(unittest.TestCase):
    def demand(self, pairs, least, what):
        for a, b in pairs:
            distance, eye = apart(a, b)
            self.assertGreaterEqual(distance, least, f"{what}: {a} and {b}, with {eye}")

    def test_the_measure(self):
        """What is known: black and white are 100 apart, and red and green of one lightness vanish for deuteranopia."""
        self.assertAlmostEqual(apart((0, 0, 0), (255, 255, 255))[0], 100, delta=0.1)
        self.assertEqual(apart((10, 20, 30), (10, 20, 30))[0], 0)
        distance, eye = apart((184, 110, 40), (110, 138, 40))
        self.assertIn(eye, ("deuteranopia", "protanopia"))
        self.assertLess(distance, 12)
        self.assertGreater(math.dist(lab((184, 110, 40), "usual"), lab((110, 138, 40), "usual")), 30)

    def test_timeline(self):
        script = (ROOT / "report/timeline.js").read_text(encoding="utf-8")
        names = [hexadecimal(c) for c in re.findall(r'"(#\w{6})"', re.search(r"const distinct = \[(.*?)\];", script,
                                                                              re.DOTALL)[1])]
        self.assertEqual(len(names), 8)
        self.demand(itertools.combinations(names, 2), 20, "names")
        for theme in ("light", "dark"):
            css = variables(ROOT / "report/page.css", theme)
            grounds = [css[k] for k in ("--row", "--asleep", "--main")]
            self.demand(itertools.product(names, grounds), 15, f"{theme}: a name and what no task is")
            self.demand(itertools.product(names, [css["--critical"]]), 12, f"{theme}: a name and the critical path")
            self.demand(itertools.product(names + grounds, [css["--other"]]), 10, f"{theme}: names that share one")

    def test_curves(self):
        script = (ROOT / "sim/whatif.js").read_text(encoding="utf-8")
        curves = [tuple(map(int, c.split(","))) for c in
                  re.findall(r"\[(\d+, \d+, \d+)\]", re.search(r"const palette = \[(.*?)\];", script, re.DOTALL)[1])]
        self.assertEqual(len(curves), 8)
        self.demand(itertools.combinations(curves, 2), 15, "curves")
        for theme in ("light", "dark"):
            panel = variables(ROOT / "sim/whatif.css", theme)["--panel"]
            self.demand(itertools.product(curves, [panel]), 20, f"{theme}: a curve and its ground")


if __name__ == "__main__":
    command_line.weft(__doc__)
    unittest.main()
