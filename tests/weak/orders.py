#!/usr/bin/env python3
"""The table of memory orders (orders.md): which test fails if an access has a weaker one.

An access is a call in src or include that names an order other than relaxed. Each is weakened by one step when
weft_weak starts (sites.hpp), and the models that come by it run. So the table says of each access and step: a test that
fails, or that none does, or that no test comes by. Of the latter two reasons.json says why the order stays all the
same.

  orders.py                                            holds the table against the code: each access and row the other
  orders.py --weak build/release/weft_weak --sample 5  and runs so many rows with a test again
  orders.py --weak ... --renew                         runs all, and writes the table anew; with --missing what has
                                                       no row, with --undefended those where no test fails, with
                                                       --unreached those that no test came by; with --among TESTS only
                                                       by those, and what they do not come by keeps its verdict
  orders.py --page                                     writes it anew with the verdicts that it has

Models are cases of weft_weak, by file. Two sides are cases of it, one by one, and so are whole programs, of
weft_weak_whole beside it.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests/weak/orders.md"
REASONS = ROOT / "tests/weak/reasons.json"  # why an order stays that no test defends: {sentence: [beginnings of rows]}
STEPS = {"seq_cst": {"load": ["acquire"], "store": ["release"], "modify": ["acq_rel"]},
         "acq_rel": {"modify": ["acquire", "release"]},
         "acquire": {"load": ["relaxed"], "modify": ["relaxed"]},
         "release": {"store": ["relaxed"], "modify": ["relaxed"]}}
SIDES = "two sides: "
NOBODY, UNREACHED = "none", "no test comes by"
# Definitions of the operations, machines, and the models' own words: what is behind the seam and not on it.
APART = ("src/base/atomic.hpp", "include/weft/detail/cell.hpp", "src/machine/")


NO_FUNCTION = re.compile(r"(if|for|while|switch|else|do|return|catch|try|namespace|enum)\b")


def bare(text):
    """The text with comments and strings blanked; every position stays."""
    def blank(m):
        return re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def closing(text, at):
    """Where the parenthesis that opens at `at` is closed."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    return len(text) - 1


def functions(text):
    """[(begin, end, name)] of what has a body, the outer ones first."""
    found, opened, since = [], [], 0
    text = text.replace("{}", "  ")
    for m in re.finditer(r"[{};]", text):
        c, i = m.group(0), m.start()
        if c == "{":
            header = text[since:i].strip()
            name = None
            if header.count("(") == header.count(")") and not NO_FUNCTION.match(header):
                if "]" not in re.sub(r"\[\[.*?\]\]", "", header.split("(")[0]) and "=" not in header.split("(")[0]:
                    call = re.search(r"(~?\w+|operator\W+)\s*\(", re.sub(r"\[\[.*?\]\]|\balignas\([^)]*\)", "", header))
                    name = call.group(1) if call and call.group(1) not in ("requires", "noexcept") else None
            opened.append((i, name))
        elif c == "}" and opened:
            begin, name = opened.pop()
            if name:
                found.append((begin, i, name))
        since = i + 1
    return sorted(found)


class Access:
    def __init__(self, file, function, text, order, kind, begin, end):
        self.file, self.function, self.text, self.order, self.kind = file, function, text, order, kind
        self.begin, self.end = begin, end  # (line, column)

    def key(self):
        return (self.file, self.function, self.text)

    def holds(self, line, column):
        return self.begin <= (line, column) <= self.end


def kind_of(operation):
    return operation if operation in ("load", "store") else "modify"


CALL = re.compile(r"(?<![\w])(?:base::shared\([^()]*\)\.|(?:[A-Za-z_]\w*::)+(?:template )?|[\w\]\)>.-]+(?:\.|->))"
                  r"(load|store|exchange|exchange_near|compare_exchange(?:_strong|_weak)?|fetch_\w+)\s*"
                  r"(?:<[^;()]*>)?\(")
INLINE = re.compile(r"(?<![\w.])(?:detail::)?(peek_acquire|poke_release)\s*(?:<[^;()]*>)?\(")


def accesses_of(path):
    file = path.relative_to(ROOT).as_posix()
    text = bare(path.read_text())
    starts = [0] + [m.end() for m in re.finditer("\n", text)]
    around = functions(text)

    def place(i):
        line = next(n for n in range(len(starts) - 1, -1, -1) if starts[n] <= i)
        return (line + 1, i - starts[line] + 1)

    found, seen = [], {}
    for m in sorted([*CALL.finditer(text), *INLINE.finditer(text)], key=lambda m: m.start()):
        opening = m.end() - 1
        end = closing(text, opening)
        arguments = text[opening:end + 1]
        # Of calls in its arguments the orders are theirs.
        own = arguments[0] + re.sub(r"\([^()]*\)", "", arguments[1:-1])
        if m.group(1) in ("peek_acquire", "poke_release"):
            order, kind = ("acquire", "load") if m.group(1) == "peek_acquire" else ("release", "store")
        else:
            order = re.search(r"\b(?:base::)?(acquire|release|acq_rel|seq_cst)\b", own)
            if order is None:
                continue
            order, kind = order.group(1), kind_of(m.group(1))
        inside = [name for begin, stop, name in around if begin <= m.start() <= stop]
        function = inside[-1] if inside else "-"
        what = re.sub(r"\s+", " ", text[m.start():end + 1])
        what = re.sub(r"\s*<[^<>()]*>(?=\()", "", what).replace("detail::", "").replace("|", "\\|")
        if len(what) > 90:
            what = what[:87] + "..."
        count = seen[(function, what)] = seen.get((function, what), 0) + 1
        found.append(Access(file, function, what if count == 1 else f"{what} #{count}", order, kind,
                            place(m.start()), place(end)))
    return found


def accesses():
    found = []
    for folder in ("src", "include"):
        for path in sorted((ROOT / folder).rglob("*.[hc]pp")):
            file = path.relative_to(ROOT).as_posix()
            if not file.startswith(APART) and not re.search(r"_(test|bench)\.cpp$", file):
                found += accesses_of(path)
    return found


def steps(a):
    return STEPS[a.order].get(a.kind, [])


# --- the table

def table():
    rows, file = {}, None
    if not TABLE.exists():
        return rows
    for line in TABLE.read_text().splitlines():
        if line.startswith("## "):
            file = line[3:].strip("` ")
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if file and len(cells) == 5 and cells[0] not in ("function", "---"):
            rows[(file, cells[0].strip("`"), cells[1].strip("`"), cells[2], cells[3])] = cells[4].split("; ")[0]
    return rows


def reasons():
    """[(beginning of a row, why)]"""
    return [(row, why) for why, begins in json.loads(REASONS.read_text()).items() for row in begins]


def reason_of(key, told):
    text = " ".join(key)
    return next((why for begin, why in told if text.startswith(begin)), None)


def rows_of_code(found):
    return {(*a.key(), a.order, weaker): a for a in found for weaker in steps(a)}


def counts(verdicts):
    unreached = sum(v == UNREACHED for v in verdicts)
    none = sum(v == NOBODY for v in verdicts)
    return len(verdicts) - unreached - none, none, unreached


def unexplained(verdicts):
    told = reasons()
    return [k for k, v in verdicts.items() if v in (NOBODY, UNREACHED) and reason_of(k, told) is None]


HEAD = """# The table of orders

Each access to a shared word that names an order other than relaxed, in `src` and `include`, and each weaker order next
to its own: a test that fails with that, by the seed in brackets. `tests/weak/orders.py` writes this page and holds it
against the code; `make test` runs some of the rows again, `make test-long` all. What "none" means: the tests that
come by the access pass with the weaker order, with {seeds} seeds each or more. "no test comes by" means that only
tests on other machines do, which do not see orders. Behind either stands why the order stays all the same.

| accesses | steps | a test fails | none does | no test comes by | without a test or a reason |
|---|---|---|---|---|---|
| {accesses} | {steps} | {defended} | {none} | {unreached} | {open} |
"""


def write(found, verdicts, seeds):
    rows = rows_of_code(found)
    defended, none, unreached = counts(list(verdicts.values()))
    told = reasons()
    text = HEAD.format(seeds=seeds, accesses=len({a.key() for a in rows.values()}), steps=len(rows), defended=defended,
                       none=none, unreached=unreached, open=len(unexplained(verdicts)))
    file = None
    for key, a in rows.items():
        if a.file != file:
            file = a.file
            text += f"\n## `{file}`\n| function | access | order | weaker | a test that fails |\n"
            text += "|---|---|---|---|---|\n"
        why = reason_of(key, told) if verdicts[key] in (NOBODY, UNREACHED) else None
        text += f"| `{key[1]}` | `{key[2]}` | {key[3]} | {key[4]} | {verdicts[key]}{'; ' + why if why else ''} |\n"
    TABLE.write_text(text)


# --- runs

class Weak:
    def __init__(self, program, seeds, patience_s, until=float("inf")):
        self.program, self.seeds, self.patience_s, self.until = program, seeds, patience_s, until

    def run(self, call, **environment):
        env = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
        env.update({k: str(v) for k, v in environment.items() if v is not None})
        left = self.until - time.monotonic() + 1
        try:
            done = subprocess.run(call, env=env, capture_output=True, text=True,
                                  errors="replace", timeout=max(0, min(self.patience_s, left)))
            return done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            return None, ""

    def tests(self):
        """Models as "deque_model", whole programs as "weak memory: waits"."""
        sides = (ROOT / "tests/weak/sides").glob("*.cpp")
        models = {p.name.removesuffix("_test.cpp") for p in (ROOT / "src").rglob("*_model_test.cpp")}
        cases = (ROOT / "tests/weak/whole").glob("*.cpp")
        files = [*sorted(sides), *sorted(cases)]
        return sorted(models) + [c for p in files for c in re.findall(r'TEST_CASE\("(.*?)"\)', p.read_text())]

    def of(self, test):
        """The call of what must pass."""
        one = f"--test-case={test.replace(',', '?')}"
        if test.startswith("weak memory: "):
            return [self.program + "_whole", one]
        if test.startswith(SIDES):
            return [self.program, one]
        return [self.program, f"--source-file=*/{test}_test.cpp",
                "--test-case-exclude=*must fail*,*is caught,*are caught,*planted flaw"]

    def seeds_of(self, test):
        return None if test.startswith(SIDES) else self.seeds  # those are short, and have enough of their own

    def places(self, model, seed=None):
        """The places that a model comes by: {(file, line, column)}, and the time it took."""
        with tempfile.NamedTemporaryFile(mode="r", suffix=".sites") as out:
            before = time.monotonic()
            code, text = self.run(self.of(model), WEFT_SITES=out.name, WEFT_TEST_SEEDS=self.seeds_of(model),
                                  WEFT_TEST_SEED=seed)
            if code != 0:
                sys.exit(f"{model} fails as it is, or takes longer than {self.patience_s} s:\n{text[-2000:]}")
            took = time.monotonic() - before
            found = set()
            for line in out.read().splitlines():
                name, kind, _ = line.split()
                if kind != "plain":
                    path, row, column = name.rsplit(":", 2)
                    found.add((path, int(row), int(column)))
            return found, took

    def fails(self, place, weaker, model):
        """What the table says if the model fails, else None."""
        name = "%s:%d:%d" % place
        code, text = self.run(self.of(model), WEFT_WEAKEN=f"{name}={weaker}",
                              WEFT_TEST_SEEDS=self.seeds_of(model))
        if code in (None, 0):
            return None
        seed = re.search(r"WEFT_TEST_SEED=(\d+)", text)
        return f"{model} ({seed.group(1) if seed else 'it aborts'})"

    def fails_again(self, a, weaker, verdict, of):
        """Whether the test that the row names fails; of(places): those of the access."""
        model, seed = re.fullmatch(r"(.+) \((.*)\)", verdict).groups()
        seed = seed if seed.isdigit() else None
        for place in of(self.places(model, seed)[0]):
            weakened = "%s:%d:%d=%s" % (*place, weaker)
            if seed and self.run(self.of(model), WEFT_TEST_SEED=seed, WEFT_WEAKEN=weakened)[0] not in (None, 0):
                return True
        return any(self.fails(p, weaker, model) for p in of(self.places(model)[0]))


def places_of(found, places):
    """{id(access): [place]}: of calls in each other the inner one."""
    by_file = {}
    for a in found:
        by_file.setdefault(a.file, []).append(a)
    of = {}
    for place in places:
        holders = [a for a in by_file.get(place[0], []) if a.holds(*place[1:])]
        if holders:
            inner = max(holders, key=lambda a: a.begin)
            of.setdefault(id(inner), []).append(place)
    return of


def renew(weak, found, keep, at_once, until, among):
    """What is not asked before `until` keeps its verdict."""
    rows = rows_of_code(found)
    verdicts = {k: keep.get(k, table().get(k, NOBODY)) for k in rows}
    tests = [t for t in weak.tests() if re.search(among, t)]
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        by_model = dict(zip(tests, pool.map(weak.places, tests)))
        of = {m: places_of(found, by_model[m][0]) for m in by_model}

        def judge(key):
            a = rows[key]
            reach = sorted((m for m in of if id(a) in of[m]), key=lambda m: by_model[m][1])
            for model in reach:
                for place in of[model][id(a)]:
                    if time.monotonic() > until:
                        return key, verdicts[key]
                    if failed := weak.fails(place, key[4], model):
                        return key, failed
            return key, NOBODY if reach else verdicts[key] if among else UNREACHED

        asked = [k for k in rows if k not in keep]
        random.Random(weak.seeds).shuffle(asked)  # if there is no time for all
        for key, verdict in pool.map(judge, asked):
            verdicts[key] = verdict
            print(f"{key[0]}: {key[1]}: {key[2]}: {key[3]} -> {key[4]}: {verdict}", flush=True)
            write(found, verdicts, weak.seeds)
    write(found, verdicts, weak.seeds)


def sample(weak, found, n, seed):
    rows = rows_of_code(found)
    told = [(k, v) for k, v in table().items() if k in rows and v not in (NOBODY, UNREACHED)]
    wrong = []
    for key, verdict in random.Random(seed).sample(told, min(n, len(told))):
        a = rows[key]
        if not weak.fails_again(a, key[4], verdict, lambda places: places_of(found, places).get(id(a), [])):
            wrong.append(f"{' '.join(key)}: {verdict} passes")
    return wrong


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--weak")
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--seed", type=int, default=None, help="of the sample; else the table's text decides")
    p.add_argument("--seeds", type=int, default=300)
    p.add_argument("--patience", type=int, default=600)
    p.add_argument("--at-once", type=int, default=1, help="so many runs")
    p.add_argument("--renew", action="store_true")
    p.add_argument("--missing", action="store_true")
    p.add_argument("--undefended", action="store_true")
    p.add_argument("--unreached", action="store_true")
    p.add_argument("--only", default="")
    p.add_argument("--among", default="")
    p.add_argument("--page", action="store_true")
    p.add_argument("--seconds", type=float, help="then what has not been asked is left as it is")
    a = p.parse_args()
    found = accesses()
    rows, told = rows_of_code(found), table()
    if a.renew:
        anew = {NOBODY} if a.undefended else set()
        anew |= {UNREACHED} if a.unreached else set()
        keep = told if a.missing else {k: v for k, v in told.items() if v not in anew} if anew else {}
        keep = {k: v for k, v in keep.items() if k in rows}
        if a.only:
            keep = {k: told.get(k, NOBODY) for k in rows if not re.search(a.only, k[0])}
        until = time.monotonic() + (a.seconds or float("inf"))
        renew(Weak(a.weak, a.seeds, a.patience, until), found, keep, a.at_once, until, a.among)
        return 0
    if a.page:
        write(found, {k: told.get(k, NOBODY) for k in rows}, a.seeds)
        return 0
    wrong = [f"no row: {' '.join(k)}" for k in rows if k not in told]
    wrong += [f"no such access: {' '.join(k)}" for k in told if k not in rows]
    wrong += [f"neither a test nor a reason: {' '.join(k)}" for k in unexplained(told)]
    wrong += [f"a reason for no row: {b}" for b, _ in reasons()
              if not any(" ".join(k).startswith(b) for k, v in told.items() if v in (NOBODY, UNREACHED))]
    if a.sample:
        wrong += sample(Weak(a.weak, a.seeds, a.patience), found, a.sample, a.seed or TABLE.read_text())
    for line in wrong:
        print(line)
    print("%d steps; a test fails of %d, none of %d, no test comes by %d" % (len(told), *counts(list(told.values()))))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
