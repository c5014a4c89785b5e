"""Figures 6, 7, 11, 12 and 13 of SuperGlue as SVG, ours only, from the runs of run.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from chart import Chart, Picture  # noqa: E402

MACHINES = {"bulldozer": "Bulldozer, 64 cores", "sandy": "Sandy Bridge, 64 hardware threads"}


def thousands(cycles: int) -> str:
    return f"{cycles // 1000}k"


def figure_6(results, path: pathlib.Path) -> None:
    picture = Picture(1240, 420)
    cycles = results.sweeps["bulldozer"]["cycles"]
    picture.legend(260, 22, [f"{thousands(c)} cycles" for c in cycles])
    for i, (sweep, name) in enumerate(MACHINES.items()):
        workers = results.sweeps[sweep]["workers"]
        values = [[results.speedup(sweep, w, c) for w in workers] for c in cycles]
        frame = (60 + i * 610, 60, 550, 300)
        chart = Chart(picture, frame, name, [str(w) for w in workers], 64, ("threads", "speed-up"), at=workers)
        picture.line([(chart.across(i), chart.at(workers[i])) for i in (0, -1)], "#bbb")  # ideal
        chart.lines(values)
    picture.save(path)


def figure_7(results, path: pathlib.Path) -> None:
    picture = Picture(1240, 400)
    counts = [1, 2, 4, 8, 16, 32, 100]
    for i, (run, ghz, name) in enumerate((("dependencies_bulldozer", 2.3, MACHINES["bulldozer"]),
                                          ("dependencies_sandy", 2.7, MACHINES["sandy"]))):
        reply = vars(results.replies[run])
        base = reply["overhead_0_dependencies"]
        values = [(reply[f"overhead_{n}_dependencies"] - base) / reply["workers"] * ghz / n for n in counts]
        chart = Chart(picture, (60 + i * 610, 40, 550, 300), name, [str(n) for n in counts], max(values),
                      ("dependencies of a task", "cycles elapsed for each"))
        chart.lines([values])
    picture.save(path)


def efficiencies(results, sweeps: dict[str, str], path: pathlib.Path) -> None:
    picture = Picture(1240, 400)
    for i, (sweep, name) in enumerate(sweeps.items()):
        s = results.sweeps[sweep]
        workers = max(s["workers"])
        values = [results.speedup(sweep, workers, c) / workers for c in s["cycles"]]
        chart = Chart(picture, (60 + i * 610, 40, 550, 300), name, [thousands(c) for c in s["cycles"]], 1,
                      ("cycles of a task", "efficiency"))
        chart.lines([values])
    picture.save(path)


def figure_13(results, path: pathlib.Path) -> None:
    picture = Picture(640, 400)
    reply = vars(results.replies["count"])
    counts = [1000, 10_000, 100_000, 1_000_000]
    values = [reply[f"overhead_{n}_tasks"] * 3.4 for n in counts]
    chart = Chart(picture, (70, 40, 540, 300), "Desktop, 4 cores", [f"{n:,}" for n in counts], max(values),
                  ("tasks of 100,000 cycles", "cycles of overhead a task"))
    chart.lines([values])
    picture.save(path)


def all_figures(results, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    figure_6(results, folder / "figure-6.svg")
    figure_7(results, folder / "figure-7.svg")
    efficiencies(results, {"independent_4": "Desktop, 4 cores: 2,400 tasks",
                           "independent_64": "Bulldozer, 64 cores: 12,800 tasks"}, folder / "figure-11.svg")
    efficiencies(results, {"graph_4": "Desktop, 4 cores: 20 x 20 tiles",
                           "graph_64": "Bulldozer, 64 cores: 50 x 50 tiles"}, folder / "figure-12.svg")
    figure_13(results, folder / "figure-13.svg")
