"""What ablate.py has found, as data, as text and as docs/ablation.md."""
import datetime
import statistics

HEAD = """# What each rule of the scheduler is worth

Written by `bench/ablation/ablate.py` on {date}; the figures are in [ablation.json](ablation.json). Do not edit.

Each [rule](../src/sched/balance/rules.md) is off in turn, over the {count} programs below, in virtual time on {workers}
workers of the machine `virtual`{host}.

*Costs* is how much longer a program takes without the rule, where that is worst and is more than noise. A rule whose
absence costs less than 5 % everywhere is to be deleted, or decision 0070 says why it stays. *Gains* is where a
program is quicker without it. What seemed to cost or gain most was asked again with other seeds, which alone count.
*Noise* is how far runs of that program lie apart that differ only in seed, the middle three of five; its median over
all programs is {noise}. `-`: no cost of 0.1 %, or no gain of 1 %; of real cores also: not run.
How it is done: `bench/ablation/ablate.py --help`; `make ablate` runs all of it.
"""


def percent(x: float) -> str:
    return f"{100 * x:.0f} %" if abs(x) >= 0.0995 else f"{100 * x:.1f} %"


def where(x, noise=True) -> str:
    if x is None:
        return "-"
    said = f"{percent(abs(x['cost']))}, {x['program']}, {x['workers']}"
    return said + (f" (noise {percent(x['noise'])})" if noise and x["noise"] is not None else "")


def gain(x) -> str:
    return where(x) if x is not None and x["cost"] < -0.01 else "-"


def loss(x, noise=True) -> str:
    return where(x, noise) if x is not None and x["cost"] >= 0.001 else "-"


def result(table, virtual, host, noises, programs, asked) -> dict:
    named = {k.rsplit(" ", 1)[0] for k in noises}
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "workers": list(asked.workers),
        "host": asked.host,
        "off": list(asked.off),
        "programs": [p for p in programs if p["name"] in named],
        "rows": table,
        "noise": {k: round(v, 4) for k, v in noises.items()},
        "modelled": [{"rule": r, "program": p, "workers": w, "cost": round(v["cost"], 4), "seeds": v["seeds"]}
                     for (r, p, w), v in sorted(virtual.items()) if abs(v["cost"]) >= 0.01],
        "real": [{"rule": r, "program": p, "workers": w, "cost": round(c, 4)} for (r, p, w), c in sorted(host.items())],
    }


def worth(row: dict) -> float:
    return row["worst"]["cost"] if row["worst"] else 0


def matrix(found: dict) -> list[str]:
    head = ["rule", "costs without it: program, workers", "gains without it"]
    head += [f"costs on {found['host']} real cores"] if found["host"] else []
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in sorted(found["rows"], key=worth, reverse=True):
        mark = "" if row["pays"] else " **" if row["elsewhere"] else " *"
        cells = [f"`{row['rule']}`" + mark, loss(row["worst"]), gain(row["best"])]
        cells += [loss(row["host"], False)] if found["host"] else []
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def unpaid(found: dict) -> list[str]:
    return [row["rule"] for row in found["rows"] if not row["pays"] and not row["elsewhere"]]


def text(found: dict) -> str:
    return "\n".join(matrix(found) + ["* costs less than 5 % everywhere"])


def page(found: dict) -> str:
    noises = sorted(found["noise"].items(), key=lambda x: -x[1])
    real = len({x["program"] for x in found["real"]})
    host = f". If it does not pay there, {real} of them run on {found['host']} real cores, in\n"
    host += "turns with and without; less than 5 % is noise there"
    lines = [HEAD.format(date=found["date"], count=len(found["programs"]), host=host if found["host"] else "",
                         workers=", ".join(map(str, found["workers"])),
                         noise=percent(statistics.median(found["noise"].values())))]
    lines += matrix(found)
    count = len(unpaid(found))
    lines += ["", "`*`: costs less than 5 % everywhere" + (f" ({count} of them)." if count else "; there is none.")]
    for row in found["rows"]:
        if row["elsewhere"] and not row["pays"]:
            lines += ["", f"`**` `{row['rule']}` acts only on {row['elsewhere']}."]
    if found["off"]:
        lines += ["", "Off in all runs: " + ", ".join(f"`{r}`" for r in found["off"]) + "."]
    if found.get("deleted"):
        lines += ["", "In all runs these rules, deleted since, were on: " +
                  ", ".join(f"`{r}`" for r in found["deleted"]) + "."]
    lines += ["", "## Noise", "", "The noisiest: " + "; ".join(
        f"{k.replace(' ', ' on ')} workers {percent(v)}" for k, v in noises[:8]) + "."]
    lines += ["", "## The programs", "", "| name | what |", "|---|---|"]
    lines += [f"| `{p['name']}` | {p['summary']} |" for p in found["programs"]]
    return "\n".join(lines) + "\n"
