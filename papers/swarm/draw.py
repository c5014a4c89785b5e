"""Figures 11 to 18 of the Swarm paper as SVG, from the runs of run.py. Of Figure 17 it is the first half."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from chart import COLOURS, Chart, Picture  # noqa: E402

PROGRAMS = ("bfs", "sssp", "astar", "msf", "des", "silo")
CORES = (1, 4, 16, 64)
# Of astar the paper has no program with locks either.
THREADED = ("bfs", "sssp", "msf", "des", "silo", "silo-1", "silo-16", "silo-64")
WAREHOUSES = {64: "silo-64", 16: "silo-16", 4: "silo", 1: "silo-1"}
SPENT = {"committed": "committed", "aborted": "aborted", "spill": "spills", "stall": "stalled", "empty": "no task"}
TRAFFIC = {"memory": "memory", "enqueue": "enqueues", "abort": "aborts", "gvt": "GVT updates"}
QUEUES = {"128": "commit_queue=2", "256": "commit_queue=4", "512": "commit_queue=8", "1024": "",
          "unbounded": "commit_queue=0"}
GHZ = 2
TILES_SHOWN = 4  # those of 16 cores


def lines_over_cores(values: list[list[float]], names: list[str], title: str, by: str, path: pathlib.Path) -> None:
    picture = Picture(640, 420)
    picture.legend(90, 22, names)
    frame = (60, 60, 550, 300)
    Chart(picture, frame, title, [str(c) for c in CORES], max(max(v) for v in values), ("cores", by),
          list(CORES)).lines(values)
    picture.save(path)


def beside_threads(sweep, programs: dict[str, str], across: int, path: pathlib.Path) -> None:
    """Swarm and the parallel program with locks, over the serial program on a chip of the same size: a chart each."""
    down = (len(programs) + across - 1) // across
    picture = Picture(40 + across * 320, 40 + down * 315)
    picture.legend(40 + (across - 1) * 150, 22, ["Swarm", "threads with locks"])
    for i, (p, title) in enumerate(programs.items()):
        lines = [[sweep.over_serial(p, c) for c in CORES]]
        if p in THREADED:
            lines.append([sweep.threads_over_serial(p, c) for c in CORES])
        Chart(picture, (60 + i % across * 320, 60 + i // across * 315, 250, 220), title, [str(c) for c in CORES],
              max(max(line) for line in lines), ("cores", "speed-up over the serial program"), list(CORES)).lines(lines)
    picture.save(path)


def figure_14(sweep, path: pathlib.Path) -> None:
    picture = Picture(1000, 680)
    picture.legend(250, 22, list(SPENT.values()))
    for i, p in enumerate(PROGRAMS):
        # Cycles of all cores, for those of the chip of one core.
        values = [[sweep.chip(p, "share_" + s, c) * c / sweep.self_relative(p, c) for c in CORES] for s in SPENT]
        Chart(picture, (60 + i % 3 * 320, 60 + i // 3 * 315, 250, 220), p, [str(c) for c in CORES],
              max(sum(of) for of in zip(*values)), ("cores", "cycles of all cores, beside 1 core")
              ).stacked(values, list(SPENT.values()))
    picture.save(path)


def figure_15(sweep, path: pathlib.Path) -> None:
    picture = Picture(1000, 400)
    for i, queue in enumerate(("task", "commit")):
        values = [[sweep.chip(p, f"{queue}_queue_average") for p in PROGRAMS]]
        Chart(picture, (60 + i * 480, 50, 420, 290), f"entries of the {queue} queues in use, 64 cores", list(PROGRAMS),
              max(values[0]), ("", "entries, mean")).bars(values, ["in use"])
    picture.save(path)


def figure_16(sweep, path: pathlib.Path) -> None:
    picture = Picture(640, 400)
    picture.legend(150, 22, list(TRAFFIC.values()))
    values = [[sweep.chip(p, "traffic_" + t) * GHZ / sweep.chip(p, "cycles") / sweep.chip(p, "tiles") for p in PROGRAMS]
              for t in TRAFFIC]
    Chart(picture, (60, 55, 550, 290), "bytes that a tile sends, 64 cores", list(PROGRAMS),
          max(sum(of) for of in zip(*values)), ("", "GB/s")).stacked(values, list(TRAFFIC.values()))
    picture.save(path)


def figure_17(sweep, path: pathlib.Path) -> None:
    picture = Picture(640, 400)
    picture.legend(90, 22, list(PROGRAMS))
    values = [[sweep.faster(p, options) if options else 1 for options in QUEUES.values()] for p in PROGRAMS]
    Chart(picture, (60, 55, 550, 290), "speed by entries of the commit queues, 64 cores", list(QUEUES),
          max(max(v) for v in values), ("entries of all tiles", "speed, beside 1024")).lines(values)
    picture.save(path)


def samples_of(text: str) -> list[list[dict[str, int]]]:
    """By tile, in the order of time."""
    head, *lines = text.split("\n")
    rows = [dict(zip(head.split(), map(int, line.split()))) for line in lines]
    return [[r for r in rows if r["tile"] == tile] for tile in range(TILES_SHOWN)]


def axes(picture: Picture, frame: tuple[float, float, float, float], title: str, by: str, most: float,
         cycles: list[int]) -> Chart:
    """A group for each sample, with a name where it is a quarter of the way from the first to the last."""
    begin = 2 * cycles[0] - cycles[1]
    quarter = (cycles[-1] - begin) // 4
    names = [f"{(c - begin) // 1000}" if (c - begin) % quarter == 0 else "" for c in cycles]
    return Chart(picture, frame, title, names, most, ("thousands of cycles", by))


def layers(chart: Chart, values: list[list[float]]) -> None:
    """One on the other: the last is drawn first, and the others over it."""
    ground = chart.at(0)
    ends = [(chart.across(len(chart.groups) - 1), ground), (chart.across(0), ground)]
    for s in reversed(range(len(values))):
        tops = [sum(of) for of in zip(*values[:s + 1])]
        chart.p.area([(chart.across(g), chart.at(v)) for g, v in enumerate(tops)] + ends, COLOURS[s])


def figure_18(sweep, path: pathlib.Path) -> None:
    """astar on 16 cores, a column a tile: what its cores did, what its queues held, commits and aborts."""
    spent = ["task", "spill", "stall", "empty"]
    rows = ((spent, ["tasks", "spills", "stalled", "nothing to do"], "% of cycles"),
            (["task_queue", "commit_queue"], ["task queue", "commit queue"], "entries"),
            (["commits", "aborts"], ["commits", "aborts"], "tasks in 500 cycles"))
    tiles = samples_of(sweep.over_time())
    picture = Picture(1400, 880)
    for row, (fields, names, by) in enumerate(rows):
        picture.legend(520, 22 + row * 290, names)
        values = [[[100 * s[f] / max(1, sum(s[x] for x in spent)) if fields is spent else s[f] for s in of]
                   for f in fields] for of in tiles]
        most = 100 if fields is spent else max(max(max(v) for v in of) for of in values)
        for tile, of in enumerate(values):
            chart = axes(picture, (60 + tile * 340, 55 + row * 290, 280, 190), f"tile {tile}", by, most,
                         [s["cycle"] for s in tiles[tile]])
            if fields is spent:
                layers(chart, of)
            else:
                for s, series in enumerate(of):
                    picture.line([(chart.across(g), chart.at(v)) for g, v in enumerate(series)], COLOURS[s])
    picture.save(path)


def ask(sweep) -> None:
    """Looks at all that is drawn."""
    for p in PROGRAMS:
        for c in CORES:
            sweep.self_relative(p, c)
            sweep.over_serial(p, c)
            if p in THREADED:
                sweep.threads_over_serial(p, c)
        for options in QUEUES.values():
            sweep.faster(p, options)
    for program in WAREHOUSES.values():
        for c in CORES:
            sweep.over_serial(program, c)
            sweep.threads_over_serial(program, c)
    sweep.over_time()


def all_figures(sweep, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines_over_cores([[sweep.self_relative(p, c) for c in CORES] for p in PROGRAMS], list(PROGRAMS),
                     "Swarm over one core of it", "speed-up", folder / "figure-11.svg")
    beside_threads(sweep, {p: p for p in PROGRAMS}, 3, folder / "figure-12.svg")
    beside_threads(sweep, {p: f"silo, {n} warehouse{'s' if n > 1 else ''}" for n, p in WAREHOUSES.items()}, 4,
                   folder / "figure-13.svg")
    figure_14(sweep, folder / "figure-14.svg")
    figure_15(sweep, folder / "figure-15.svg")
    figure_16(sweep, folder / "figure-16.svg")
    figure_17(sweep, folder / "figure-17.svg")
    figure_18(sweep, folder / "figure-18.svg")
