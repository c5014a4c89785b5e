"""Charts as SVG, for the papers' figures. Every chart says its axes and begins at 0."""
import math
import pathlib

from whole import write_whole

COLOURS = ["#4878a8", "#d9a441", "#3f8f5f", "#a84848", "#7a5c99", "#555555", "#2aa0a0", "#9a6b3f"]


class Picture:
    """An SVG of a fixed size; y grows downwards."""

    def __init__(self, width: int, height: int):
        self.size, self.parts = (width, height), []

    def text(self, x: float, y: float, words: str, size: int = 11, anchor: str = "middle", turn: bool = False) -> None:
        if anchor == "start" and x + 0.58 * size * len(words) > self.size[0]:
            raise ValueError(f"'{words}' at {x:.0f} would be cut off at {self.size[0]}")
        turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{turned}>{words}'
                          "</text>")

    def line(self, points: list[tuple[float, float]], colour: str = "#999", width: float = 1) -> None:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>')

    def area(self, points: list[tuple[float, float]], colour: str) -> None:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polygon points="{path}" fill="{colour}"/>')

    def box(self, x: float, y: float, width: float, height: float, colour: str, says: str = "") -> None:
        inside = f"<title>{says}</title>" if says else ""
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}">'
                          f"{inside}</rect>")

    def legend(self, left: float, y: float, names: list[str]) -> None:
        """What does not fit beside the others goes to a line below."""
        x = left
        for i, name in enumerate(names):
            if x != left and x + 14 + 7 * len(name) > self.size[0]:
                x, y = left, y + 14
            self.box(x, y - 9, 10, 10, COLOURS[i])
            self.text(x + 14, y, name, anchor="start")
            x += 30 + 7 * len(name)

    def save(self, path: pathlib.Path) -> None:
        width, height = self.size
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                f'height="{height}" font-family="sans-serif">\n<rect width="100%" height="100%" fill="#fff"/>\n')
        write_whole(path, head + "\n".join(self.parts) + "\n</svg>\n")


def ticks(most: float) -> list[float]:
    step = 10 ** math.floor(math.log10(most / 2))
    while most / step > 6:
        step *= 2.5 if str(step)[0] == "2" else 2
    return [i * step for i in range(int(most / step * 1.001) + 1)]


class Chart:
    """Axes with a group of bars, or a point of each line, for each of `groups`. They stand side by side, each with as
    much room, or, with `at`, where these numbers are on an axis from 0."""

    def __init__(self, picture: Picture, frame: tuple[float, float, float, float], title: str, groups: list[str],
                 most: float, axes: tuple[str, str], at: list[float] | None = None):
        self.p, self.groups, self.most = picture, groups, most * 1.05
        self.x, self.y, self.width, self.height = frame
        self.places = [(i + 0.5) / len(groups) for i in range(len(groups))]
        if at is not None:
            self.places = [number / (max(at) * 1.05) for number in at]
        for t in ticks(self.most):
            at = self.at(t)
            picture.line([(self.x, at), (self.x + self.width, at)], "#ddd")
            picture.text(self.x - 4, at + 4, f"{t:g}", 9, "end")
        for i, g in enumerate(groups):
            if g:
                picture.text(self.across(i), self.y + self.height + 12, g, 9)
        picture.line([(self.x, self.y), (self.x, self.y + self.height), (self.x + self.width, self.y + self.height)],
                     "#333")
        picture.text(self.x + self.width / 2, self.y - 5, title, 12)
        picture.text(self.x + self.width / 2, self.y + self.height + 26, axes[0], 10)
        picture.text(self.x - 34, self.y + self.height / 2, axes[1], 10, turn=True)

    def across(self, group: int) -> float:
        return self.x + self.places[group] * self.width

    def at(self, value: float) -> float:
        return self.y + self.height * (1 - value / self.most)

    def bars(self, values: list[list[float]], names: list[str]) -> None:
        """values[series][group]."""
        room = self.width / len(self.groups)
        wide = room * 0.8 / len(values)
        for s, series in enumerate(values):
            for g, v in enumerate(series):
                self.p.box(self.x + g * room + room * 0.1 + s * wide, self.at(v), wide,
                           self.y + self.height - self.at(v), COLOURS[s], f"{names[s]}, {self.groups[g]}: {v:.3g}")

    def stacked(self, values: list[list[float]], names: list[str]) -> None:
        """values[series][group], one on the other."""
        room = self.width / len(self.groups)
        for g, group in enumerate(self.groups):
            below = 0.0
            for s, series in enumerate(values):
                self.p.box(self.x + (g + 0.2) * room, self.at(below + series[g]), room * 0.6,
                           self.at(below) - self.at(below + series[g]), COLOURS[s],
                           f"{names[s]}, {group}: {series[g]:.3g}")
                below += series[g]

    def lines(self, values: list[list[float]]) -> None:
        for s, series in enumerate(values):
            points = [(self.across(g), self.at(v)) for g, v in enumerate(series)]
            self.p.line(points, COLOURS[s], 2)
            for x, y in points:
                self.p.box(x - 2, y - 2, 4, 4, COLOURS[s])
