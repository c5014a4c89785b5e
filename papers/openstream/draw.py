"""Figures 7, 9 and 10 of OpenStream as SVG and the figures behind them as tables, from the runs of run.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from chart import Chart, Picture  # noqa: E402

PROGRAMS = ["jacobi-1d", "jacobi-2d", "jacobi-3d", "seidel-1d", "seidel-2d", "seidel-3d", "kmeans", "blur-roberts",
            "bitonic"]
MACHINES = {"opteron": "Opteron-64", "sgi": "SGI-192"}
VERSIONS = {"base": "DSA-BASE", "input": "input only", "output": "output only", "weighted": "weighted", "dfa": "dfa",
            "opt": "DSA-OPT", "shm": "SHM-BASE"}
SHOWN = {"opteron": list(VERSIONS), "sgi": ["base", "opt", "shm"]}  # what runs there


def bars(machine: str, without: tuple[str, ...], value) -> tuple[list[list[float]], list[str]]:
    of = [v for v in SHOWN[machine] if v not in without]
    return [[value(p, v) for p in PROGRAMS] for v in of], [VERSIONS[v] for v in of]


def shares(sweep, machine: str) -> tuple[list[list[float]], list[str]]:
    return bars(machine, (), lambda p, v: sweep.share(p, machine, v))


def over_base(sweep, machine: str) -> tuple[list[list[float]], list[str]]:
    return bars(machine, ("base", "shm"), lambda p, v: sweep.speedup(p, machine, v, "base"))


def over_shared(sweep, machine: str) -> tuple[list[list[float]], list[str]]:
    return bars(machine, ("shm",), lambda p, v: sweep.speedup(p, machine, v, "shm"))


FIGURES = {7: (shares, "Bytes from the own memory node", "per cent"),
           9: (over_base, "Over DSA-BASE", "speed-up"),
           10: (over_shared, "Over tasks on interleaved shared arrays", "speed-up")}


def ask(sweep) -> None:
    for figure, *_ in FIGURES.values():
        for machine in MACHINES:
            figure(sweep, machine)


def all_figures(sweep, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, (figure, title, axis) in FIGURES.items():
        picture = Picture(1080, 660)
        for i, (machine, name) in enumerate(MACHINES.items()):
            values, names = figure(sweep, machine)
            chart = Chart(picture, (60, 60 + 330 * i, 1000, 220), f"{title}, {name}", PROGRAMS,
                          max(max(v) for v in values), ("", axis))
            chart.bars(values, names)
            picture.legend(60, 22 + 330 * i, names)
        picture.save(folder / f"figure-{number}.svg")


def tables(sweep) -> dict[str, str]:
    lines = ["| | | " + " | ".join(VERSIONS.values()) + " |", "|---" * (2 + len(VERSIONS)) + "|"]
    for machine, name in MACHINES.items():
        for p in PROGRAMS:
            cells = [f"{sweep.seconds(p, machine, v) * 1e3:,.0f} ms, {sweep.share(p, machine, v):.0f} %"
                     if v in SHOWN[machine] else "" for v in VERSIONS]
            lines.append(f"| {name} | {p} | " + " | ".join(cells) + " |")
    return {"runs": "\n".join(lines)}
