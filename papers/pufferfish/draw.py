"""Figures 9 to 16 of PufferFish as SVG, from the runs of run.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from chart import Chart, Picture  # noqa: E402

TITLES = {"lulesh": "LULESH", "lulesh-ir": "LULESH-ir", "sor": "SOR", "sor-ir": "SOR-ir", "srad": "SRAD",
          "srad-ir": "SRAD-ir", "cilksort": "CilkSort"}


def speedups(sweep, versions: dict[str, str], programs: list[str], path: pathlib.Path) -> None:
    picture = Picture(120 + 590 * len(programs), 400)
    names = list(versions.values())
    picture.legend(60, 22, names)
    values = {p: [[sweep.speedup(p, v, n) for n in (2, 4)] for v in versions] for p in programs}
    most = max(max(v) for of_program in values.values() for v in of_program)
    for i, p in enumerate(programs):
        Chart(picture, (60 + i * 590, 60, 540, 290), TITLES[p], ["2", "4"], most,
              ("memory nodes of 8 workers", "speed-up over sequential")).bars(values[p], names)
    picture.save(path)


def figure_13(sweep, programs: list[str], path: pathlib.Path) -> None:
    picture = Picture(640, 400)
    names = ["2 nodes", "4 nodes"]
    picture.legend(240, 22, names)
    values = [[1 - sweep.called(p, n) for p in programs] for n in (2, 4)]
    Chart(picture, (60, 60, 550, 290), "asyncs that PufferFish creates", [TITLES[p] for p in programs],
          max(max(v) for v in values), ("", "share of those of HClib (HPT_DA)")).bars(values, names)
    picture.save(path)


def relative(sweep, all_versions: dict[str, str], field: str, title: str, programs: list[str],
             path: pathlib.Path) -> None:
    picture = Picture(800, 400)
    versions = [v for v in all_versions if v != "local"]
    names = [all_versions[v] for v in versions]
    picture.legend(180, 22, names)
    values = [[sweep.relative(field, v, p) for p in programs] for v in versions]
    Chart(picture, (60, 60, 710, 290), title, [TITLES[p] for p in programs], max(max(v) for v in values),
          ("", "relative to HClib (FT), 4 nodes")).bars(values, names)
    picture.save(path)


def all_figures(sweep, versions: dict[str, str], programs: list[str], folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, of in ((9, ["cilksort"]), (10, ["lulesh", "lulesh-ir"]), (11, ["sor", "sor-ir"]),
                       (12, ["srad", "srad-ir"])):
        speedups(sweep, versions, of, folder / f"figure-{number}.svg")
    figure_13(sweep, programs, folder / "figure-13.svg")
    for number, field, title in ((14, "bytes_behind_core", "bytes from behind a core's caches"),
                                 (15, "bytes", "bytes from memory"), (16, "joules_total", "energy")):
        relative(sweep, versions, field, title, programs, folder / f"figure-{number}.svg")
