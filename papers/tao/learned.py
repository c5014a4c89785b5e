#!/usr/bin/env python3
"""Learned widths against fixed ones, program by program, in virtual time on the paper's machine.

usage: papers/tao/learned.py [--weft build/release/weft] [--update] [-j N]

Each program runs with each width for all its teams, and with widths that are learned. Where a program's steps are all
alike it runs twice, once with twice as many of them, and what counts is the second half: what is found in the first,
without what it took to find it. Of the others the whole run counts, trials and all.
Which worker steals what hangs by nanoseconds, and a time by that in the hundredths. So each run is made three times,
with the step that runs a task as it is, 8.1 ns, and a nanosecond less and more, and the median counts.
Exit status 0 only if all runs passed their own checks and each program is as near to its best fixed width as its line
below says. --update writes the table of README.md.

example: papers/tao/learned.py --weft build/release/weft
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import runs  # noqa: E402
import whole  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MACHINE = "opteron-6220-interlagos-16"
SECONDS_MAX = 600
WIDTHS = [1, 2, 4, 8, 16]
DISTURBED = [{}, {"WEFT_CHANGE": "runtime.run.ns = 7.1"}, {"WEFT_CHANGE": "runtime.run.ns = 9.1"}]
MARKS = re.compile(r"(<!-- learned -->\n).*?(<!-- end of learned -->)", re.S)


@dataclasses.dataclass(frozen=True)
class Program:
    """within: of the best fixed width, as it is today; the goal is 1.05. longer: what makes it twice as long."""
    arguments: str
    within: float
    shorter: str = ""
    longer: str = ""
    fixed: str = "--width {}"
    learned: str = "--learned"


PROGRAMS = [
    Program("uts --tree tao --policy tao", 1.05),
    Program("heat --size 1024 --bands 1", 1.05, "--steps 100", "--steps 200"),
    Program("heat --size 1024 --bands 8", 1.05, "--steps 100", "--steps 200"),
    Program("tao_dag --size 256 --lanes 1", 1.05, "--multiplies 150 --copies 75 --stencils 75",
            "--multiplies 300 --copies 150 --stencils 150"),
    Program("tao_dag --size 128 --lanes 4", 1.08, "--multiplies 400 --copies 200 --stencils 200",
            "--multiplies 800 --copies 400 --stencils 400"),
    Program("sparse_lu --blocks 24 --size 64", 1.05),
    Program("cholesky --n 1024 --tile 64", 1.12, fixed="--repeat 7 --panel-team {}",
            learned="--repeat 7 --panel-team 16 --learned"),
    Program("tao_sort --n 1048576 --modelled", 1.05, fixed="--levels dep-{} --repeat 12",
            learned="--levels dep-learned --repeat 12"),
]


@dataclasses.dataclass(frozen=True)
class Run:
    text: str

    def arguments(self) -> list[str]:
        return [*self.text.split(), "--workers", "16", "--machine", MACHINE]

    def command(self) -> str:
        return "weft run " + " ".join(self.arguments())


def seconds(weft: str, program: Program, width: str) -> float:
    lengths = [program.longer, program.shorter] if program.longer else [""]
    took = [statistics.median(runs.reply(weft, Run(f"{program.arguments} {length} {width}"), SECONDS_MAX, by)["seconds"]
                              for by in DISTURBED) for length in lengths]
    return took[0] - (took[1] if program.longer else 0)


def table(found: dict[Program, list[float]]) -> str:
    lines = ["| program | " + " | ".join(str(w) for w in WIDTHS) + " | learned | over the best |",
             "|---" * (3 + len(WIDTHS)) + "|"]
    for p, times in found.items():
        cells = [f"{t * 1e3:.3g}" for t in times]
        half = ", second half" if p.longer else ""
        lines.append(f"| `{p.arguments}`{half} | " + " | ".join(cells) + f" | {times[-1] / min(times[:-1]):.2f} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="build/release/weft")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count() or 1)
    opt = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(opt.jobs) as pool:
        asked = {p: [pool.submit(seconds, opt.weft, p, how)
                     for how in (*(p.fixed.format(w) for w in WIDTHS), p.learned)] for p in PROGRAMS}
        found = {p: [f.result() for f in futures] for p, futures in asked.items()}
    text = table(found)
    print(text, end="")
    far = [p for p, times in found.items() if times[-1] > p.within * min(times[:-1])]
    for p in far:
        print(f"{p.arguments}: {found[p][-1] / min(found[p][:-1]):.3f} of the best fixed width, at most {p.within}")
    if opt.update:
        page = HERE / "README.md"
        whole.write_whole(page, MARKS.sub(lambda m: m[1] + text + m[2], page.read_text()))
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
