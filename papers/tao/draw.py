"""Figures 4, 6 and 7 of TAO as SVG, from the runs of run.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from chart import Chart, Picture  # noqa: E402

CORES = [1, 2, 4, 8, 12, 16]
WIDTHS = [1, 2, 4, 8]
GRAINS = {300: "300 ns", 3000: "3 us", 30000: "30 us"}
RUNTIMES = {"tao": "go:TAO, width 4", "tbb": "TBB", "massivethreads": "MassiveThreads", "qthreads": "Qthreads"}


def figure_4(sweep) -> tuple[list[list[float]], list[str], list[str]]:
    return [[sweep.speedup(v, n) for n in CORES] for v in RUNTIMES], list(RUNTIMES.values()), [str(n) for n in CORES]


def figure_6(sweep) -> tuple[list[list[float]], list[str], list[str]]:
    return [[sweep.width(w) for w in WIDTHS]], ["go:TAO"], [str(w) for w in WIDTHS]


def figure_7(sweep) -> tuple[list[list[float]], list[str], list[str]]:
    return ([[sweep.asynchronous(w, c) for w in WIDTHS] for c in GRAINS], list(GRAINS.values()),
            [str(w) for w in WIDTHS])


def ask(sweep) -> None:
    for figure in (figure_4, figure_6, figure_7):
        figure(sweep)


def all_figures(sweep, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, figure, lines, title, axes in (
            (4, figure_4, True, "Tree search", ("workers", "speed-up over serial")),
            (6, figure_6, False, "Tree search on 16 workers", ("width of assemblies", "speed-up over serial")),
            (7, figure_7, False, "Members that come and go over members that begin and end as one",
             ("width of assemblies", "asynchronous over synchronous"))):
        values, names, groups = figure(sweep)
        picture = Picture(640, 400)
        picture.legend(60, 22, names)
        chart = Chart(picture, (60, 60, 550, 290), title, groups, max(max(v) for v in values), axes)
        chart.lines(values) if lines else chart.bars(values, names)
        picture.save(folder / f"figure-{number}.svg")
