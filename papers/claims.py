"""Claims, what came out, and whether they hold: what several run.py judge, show and pin in the same way.

A figure of expected.json has section, what, paper (a text), ours (the pinned value), claim ([low, high], each may be
null; without it there is no claim), holds (whether it does), and perhaps note and tolerance."""
import json
import pathlib
import re

TOLERANCE = 0.04  # of a pinned value, unless its figure says another: a change of the scheduler moves thefts


def judged(figure: dict, found: float) -> dict:
    """The row of a figure: ok if the value is near the pinned one, and the claim holds or not as is said."""
    low, high = figure.get("claim") or [None, None]
    claimed = low is not None or high is not None
    holds = claimed and (low is None or low <= found) and (high is None or found <= high)
    pinned = figure["ours"]
    near = abs(found - pinned) <= figure.get("tolerance", TOLERANCE) * max(abs(pinned), 0.01)
    return {"section": figure["section"], "what": figure["what"], "paper": figure["paper"], "ours": found,
            "pinned": pinned, "claim": [low, high] if claimed else None, "holds": holds if claimed else None,
            "ok": near and (not claimed or holds == figure["holds"]), "note": figure.get("note", "")}


def pinned(figures: list[dict], rows: list[dict]) -> list[dict]:
    """The figures with the values found."""
    return [f | {"ours": float(f"{r['ours']:.4g}") if r["ours"] < 1e4 else r["ours"]} |
            ({} if r["holds"] is None else {"holds": r["holds"]}) for f, r in zip(figures, rows)]


def as_text(expected: dict[str, list[dict]]) -> str:
    """expected.json, a figure a line."""
    lists = [f'  "{name}": [\n' + ",\n".join("    " + json.dumps(f, ensure_ascii=False) for f in figures) + "\n  ]"
             for name, figures in expected.items()]
    return "{\n" + ",\n".join(lists) + "\n}\n"


def shown(x: float) -> str:
    return f"{x:.3f}" if abs(x) < 1 else f"{x:.2f}" if abs(x) < 100 else f"{x:,.0f}"


def bounds_shown(claim: list | None) -> str:
    if claim is None:
        return ""
    low, high = claim
    if low is None or high is None:
        return f"at most {high:g}" if low is None else f"at least {low:g}"
    return f"{low:g} to {high:g}"


def verdict(row: dict) -> str:
    word = "no claim" if row["holds"] is None else "holds" if row["holds"] else "**does not hold**"
    return ("**not as pinned**; " if not row["ok"] else "") + "; ".join(x for x in (word, row["note"]) if x)


def table(rows: list[dict]) -> str:
    lines = ["| section | claim | paper | ours | holds if | |", "|---|---|---|---|---|---|"]
    return "\n".join(lines + [f"| {r['section']} | {r['what']} | {r['paper']} | {shown(r['ours'])} | "
                              f"{bounds_shown(r['claim'])} | {verdict(r)} |" for r in rows])


def print_rows(rows: list[dict]) -> None:
    for r in rows:
        word = "WRONG " if not r["ok"] else "      " if r["holds"] is None else "holds " if r["holds"] else "missed"
        print(f"{word} {shown(r['ours']):>8}  pinned {shown(r['pinned']):>8}  paper {r['paper'] or '-'}  "
              f"[{bounds_shown(r['claim'])}]  {r['section']} {r['what']}")


def update(page: pathlib.Path, tables: dict[str, str]) -> None:
    """Puts each table between its marks. Throws, and changes nothing, if one has none."""
    text = page.read_text()
    for name, lines in tables.items():
        pattern = rf"(?s)(<!-- {name} -->\n).*?(<!-- end of {name} -->)"
        text, count = re.subn(pattern, lambda m: m[1] + lines + "\n" + m[2], text)
        if count != 1:
            raise RuntimeError(f"{page}: the marks of the table {name} are missing")
    page.write_text(text)
