"""Figures 1 and 3 to 6 of TaskGenX as SVG, from the runs of run.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from chart import Chart, Picture  # noqa: E402

NAMES = {"baseline": "Baseline", "rtopt": "Baseline+RTopt", "taskgenx": "TaskGenX", "runtime": "Runtime",
         "dependences": "Deps"}


def figure_1(sweep, path: pathlib.Path) -> None:
    names = {"create": "creating tasks", "runtime": "runtime", "tasks": "running tasks", "idle": "idle"}
    picture = Picture(640, 400)
    picture.legend(130, 22, list(names.values()))
    values = [[100 * sweep.master(activity, c) for c in sweep.master_cores] for activity in names]
    chart = Chart(picture, (60, 55, 550, 290), "what the master thread does, Cholesky, baseline",
                  [str(c) for c in sweep.master_cores], 100, ("cores", "% of the run"))
    chart.stacked(values, list(names.values()))
    picture.save(path)


def figure_3(sweep, workloads: list[str], path: pathlib.Path) -> None:
    systems = ["baseline", "rtopt", "taskgenx"]
    names = [NAMES[s] for s in systems]
    picture = Picture(1240, 900)
    picture.legend(440, 22, names)
    groups = [str(c) for c in sweep.cores]
    for i, w in enumerate([*workloads, "average"]):
        values = [[sweep.mean_speedup(s, c) if w == "average" else sweep.speedup(w, s, c) for c in sweep.cores]
                  for s in systems]
        frame = (55 + i % 4 * 305, 60 + i // 4 * 285, 240, 200)
        Chart(picture, frame, w, groups, max(max(v) for v in values), ("cores", "speed-up")).bars(values, names)
    picture.save(path)


def figure_4(sweep, ratios: list[int], path: pathlib.Path) -> None:
    picture = Picture(640, 400)
    values = [[sweep.speedup("canneal", "taskgenx", c, r=r) for c in sweep.cores] for r in ratios]
    picture.legend(90, 22, [f"r = {r}" for r in ratios])
    chart = Chart(picture, (60, 55, 550, 290), "canneal on TaskGenX", [str(c) for c in sweep.cores],
                  max(max(v) for v in values), ("cores", "speed-up"))
    chart.lines(values)
    picture.save(path)


def figure_5(sweep, path: pathlib.Path) -> None:
    systems = ["baseline", "taskgenx"]
    names = [NAMES[s] for s in systems]
    picture = Picture(1240, 420)
    picture.legend(440, 22, names)
    means = {m: [[sweep.mean_speedup(s, t, b, m) for t, b in sweep.pairs] for s in systems] for m in ("big", "little")}
    most = max(max(v) for all_of in means.values() for v in all_of)
    for i, (master, values) in enumerate(means.items()):
        frame = (60 + i * 610, 60, 550, 300)
        groups = [f"{b} of {t}" for t, b in sweep.pairs]
        Chart(picture, frame, f"the master on a {master} core", groups, most,
              ("big cores of all", "mean speed-up over one little core")).bars(values, names)
    picture.save(path)


def figure_6(sweep, path: pathlib.Path) -> None:
    systems = ["taskgenx", "runtime", "dependences"]
    names = [NAMES[s] for s in systems]
    picture = Picture(640, 400)
    picture.legend(220, 22, names)
    values = [[sweep.mean_improvement(s, c) for c in sweep.cores] for s in systems]
    chart = Chart(picture, (60, 55, 550, 290), "mean improvement over the baseline", [str(c) for c in sweep.cores],
                  max(max(v) for v in values), ("cores", "times"))
    chart.bars(values, names)
    picture.save(path)


def all_figures(sweep, workloads: list[str], ratios: list[int], folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    figure_1(sweep, folder / "figure-1.svg")
    figure_3(sweep, workloads, folder / "figure-3.svg")
    figure_4(sweep, ratios, folder / "figure-4.svg")
    figure_5(sweep, folder / "figure-5.svg")
    figure_6(sweep, folder / "figure-6.svg")
