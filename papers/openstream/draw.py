"""Figures 5 to 12 of OpenStream as SVG and the figures behind them as tables, from the runs of run.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from chart import Chart, Picture  # noqa: E402

PROGRAMS = ["jacobi-1d", "jacobi-2d", "jacobi-3d", "seidel-1d", "seidel-2d", "seidel-3d", "kmeans", "blur-roberts",
            "bitonic"]
MACHINES = {"opteron": "Opteron-64", "sgi": "SGI-192"}
VERSIONS = {"base": "DSA-BASE", "input": "input only", "output": "output only", "weighted": "weighted", "dfa": "dfa",
            "opt": "DSA-OPT", "shm": "SHM-BASE"}
PAGES = {"small": "4 KiB", "huge": "2 MiB"}
PASSES = [1, 4, 11, 12, 69, 70]


def bars(machine: str, without: tuple[str, ...], value) -> tuple[list[list[float]], list[str]]:
    of = [v for v in VERSIONS if v not in without]
    return [[value(p, v) for p in PROGRAMS] for v in of], [VERSIONS[v] for v in of]


def shares(sweep, machine: str) -> tuple[list[list[float]], list[str]]:
    return bars(machine, (), lambda p, v: sweep.share(p, machine, v))


def managed(sweep, machine: str) -> tuple[list[list[float]], list[str]]:
    return bars(machine, ("shm",), lambda p, v: sweep.managed(p, machine, v))


def over_base(sweep, machine: str) -> tuple[list[list[float]], list[str]]:
    return bars(machine, ("base", "shm"), lambda p, v: sweep.speedup(p, machine, v, "base"))


def over_shared(sweep, machine: str) -> tuple[list[list[float]], list[str]]:
    return bars(machine, ("shm",), lambda p, v: sweep.speedup(p, machine, v, "shm"))


def cholesky(sweep) -> list[list[float]]:
    return [[sweep.seconds("block-cholesky", "opteron", v) * 1e3 for v in CHOLESKY]]


def misses(sweep) -> list[list[float]]:
    return [[sweep.misses(p) for p in PROGRAMS]]


def by_passes(sweep) -> list[list[float]]:
    return [[sweep.moved(n, pages) for n in PASSES] for pages in PAGES]


def by_program(sweep) -> list[list[float]]:
    return [[sweep.moved_shared(p, pages) for p in PROGRAMS] for pages in PAGES]


CHOLESKY = {"base": "DSA-BASE", "opt": "DSA-OPT", "shm": "SHM-BASE"}
# One chart each: number, what it shows, title, names at the axis, unit, series, and whether they are lines.
SINGLE = [(5, misses, "Lines from memory for a thousand instructions, DSA-BASE, SGI-192", PROGRAMS, "lines",
           ["DSA-BASE"], False),
          (6, cholesky, "Cholesky factorization of 8192 x 8192, Opteron-64", list(CHOLESKY.values()), "ms", ["time"],
           False),
          (11, by_passes, "By a system that moves pages, 64 threads on Opteron-64", [str(n) for n in PASSES],
           "speed-up", list(PAGES.values()), True),
          (12, by_program, "Tasks on shared arrays, by a system that moves pages, Opteron-64", PROGRAMS, "speed-up",
           list(PAGES.values()), False)]
# And one for each machine.
BOTH = list(MACHINES)
FIGURES = {7: (BOTH, shares, "Bytes from the own memory node", "per cent"),
           8: (["sgi"], managed, "Bytes from the own memory node, of data that streams manage", "per cent"),
           9: (BOTH, over_base, "Over DSA-BASE", "speed-up"),
           10: (BOTH, over_shared, "Over tasks on interleaved shared arrays", "speed-up")}


def ask(sweep) -> None:
    for machines, figure, *_ in FIGURES.values():
        for machine in machines:
            figure(sweep, machine)
    for _, figure, *_ in SINGLE:
        figure(sweep)


def all_figures(sweep, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, (machines, figure, title, axis) in FIGURES.items():
        picture = Picture(1080, 330 * len(machines))
        for i, machine in enumerate(machines):
            values, names = figure(sweep, machine)
            chart = Chart(picture, (60, 60 + 330 * i, 1000, 220), f"{title}, {MACHINES[machine]}", PROGRAMS,
                          max(max(v) for v in values), ("", axis))
            chart.bars(values, names)
            picture.legend(60, 22 + 330 * i, names)
        picture.save(folder / f"figure-{number}.svg")
    for number, figure, title, groups, unit, names, as_lines in SINGLE:
        picture, values = Picture(1080, 330), figure(sweep)
        chart = Chart(picture, (60, 60, 1000, 220), title, groups, max(max(v) for v in values),
                      ("passes" if as_lines else "", unit), at=PASSES if as_lines else None)
        chart.lines(values) if as_lines else chart.bars(values, names)
        picture.legend(60, 22, names)
        picture.save(folder / f"figure-{number}.svg")


def tables(sweep) -> dict[str, str]:
    lines = ["| | | " + " | ".join(VERSIONS.values()) + " |", "|---" * (2 + len(VERSIONS)) + "|"]
    for machine, name in MACHINES.items():
        for p in PROGRAMS:
            cells = [f"{sweep.seconds(p, machine, v) * 1e3:,.0f} ms, {sweep.share(p, machine, v):.0f} %"
                     for v in VERSIONS]
            lines.append(f"| {name} | {p} | " + " | ".join(cells) + " |")
    counts = ["| | each | once | lines |", "|---|---|---|---|"]
    for p in PROGRAMS:
        of = sweep.counts[p]
        counts.append(f"| {p} | {of['each'] or ''} | {of['once']} | {sweep.misses(p):.2f} |")
    return {"runs": "\n".join(lines), "instructions": "\n".join(counts)}
