#!/usr/bin/env python3
"""Plants one-line faults in the scheduler, and says which of them the tests find. Their page: docs/planted-faults.md.

usage: faults.py make [--faults N] [--seed 1]   copies the tree to build/planted, plants all or N, builds the tests
       faults.py reach                          runs each test once, and notes which faults it comes by
       faults.py run [--sample 60] [--seed 1] [--at FILE:LINE] [--long] [--most N] [--seconds N]
                                                switches faults on one by one, each before the tests that reach it, the
                                                nearest first; at most N of them. away.py: the same on another machine
       faults.py page [--refresh]               writes the page; --refresh only follows lines that have moved
       faults.py check                          the page against the code: a line it names that is gone is a complaint
       faults.py night [--sample 5]             make, reach, run: a survivor that the page does not know is a failure
       faults.py self-test                      what is planted where, in a few lines of text

All of the faults are in one build; PLANTED=number in the environment switches one on. A fault keeps its number for as
long as its line stands. It is found when a test fails, crashes, or is not over after twenty times its time and ten
seconds. What no test comes by has survived, too.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import rewrite  # noqa: E402
from rewrite import KINDS, digest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORK = ROOT / "build" / "planted"
TREE, BUILD = WORK / "tree", WORK / "tree" / "build" / "dev"
FOLDERS = ["src/sched/*", "src/access", "src/memory", "include/weft", "include/weft/detail"]
# Programs for no runtime, or of rooms that are not asked here.
NOT_ASKED = ["include/weft/ordered", "include/weft/detail/ordered.hpp", "include/weft/openmp.hpp",
             "include/weft/onetbb.hpp", "include/weft/openblas.hpp"]
PAGE = ROOT / "docs" / "planted-faults.md"
SAMPLES = pathlib.Path(__file__).resolve().parent / "samples.json"
REASONS = pathlib.Path(__file__).resolve().parent / "survivors.json"
TARGETS = ("weft_unit", "weft_conformance", "examples", "found")
LABELS = ("unit", "conformance", "golden", "found")
MOST = 8192  # planted.hpp.in
PATIENCE_S, PATIENCE_TIMES = 10, 20
HOLDS_STILL = "conformance/decisions"
STALE_MAX = 0.2  # of the rows that were found; what survived is looked at one by one


def load(name: str, otherwise):
    path = WORK / name
    return json.loads(path.read_text()) if path.exists() else otherwise


def save(name: str, what) -> None:
    (WORK / name).write_text(json.dumps(what, indent=1))


def sources() -> list[str]:
    found = [str(p.relative_to(ROOT)) for folder in FOLDERS for p in sorted(ROOT.glob(f"{folder}/*.[ch]pp"))]
    return [f for f in found if not f.endswith(("_test.cpp", "_bench.cpp")) and not f.startswith(tuple(NOT_ASKED))]


def numbered(rows: list[dict], before: dict[str, dict]) -> list[int]:
    """A number for each: the one it had, so that a file is compiled again only if its own lines have changed."""
    had: dict[str, list[int]] = {}
    for number, row in before.items():
        had.setdefault(key(row), []).append(int(number))
    result = [had[key(row)].pop(0) if had.get(key(row)) else 0 for row in rows]
    taken = set(result)
    unused = (n for n in range(1, MOST) if n not in taken)
    return [n or next(unused) for n in result]


def plant_tree(faults: int, seed: int) -> None:
    """The tree as it stands, and in it as many faults, drawn by the seed from all that could be."""
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True, capture_output=True,
                           check=True).stdout.split("\n")
    texts = {name: (ROOT / name).read_text() for name in sources()}
    for name in filter(None, files):
        if (ROOT / name).is_file() and name not in texts:
            (TREE / name).parent.mkdir(parents=True, exist_ok=True)
            if not (TREE / name).exists() or (TREE / name).read_bytes() != (ROOT / name).read_bytes():
                shutil.copy2(ROOT / name, TREE / name)
    every = [(name, site) for name, text in texts.items() for site in rewrite.sites(text)]
    drawn = set(random.Random(seed).sample(range(len(every)), min(faults, len(every))))
    rows, sites = [], [e for k, e in enumerate(every) if k in drawn]
    for name, site in sites:
        line = texts[name].split("\n")[site.line - 1]
        rows.append({"file": name, "line": site.line, "digest": digest(line), "kind": site.kind,
                     "text": " ".join(texts[name][site.start:site.end].split()), "code": line.strip()})
    table, chosen = {}, {name: {} for name in texts}
    for number, row, (name, site) in zip(numbered(rows, load("faults.json", {}).get("faults", {})), rows, sites):
        table[number] = row
        chosen[name][site] = number
    for name, sites in chosen.items():
        planted = '#include "weft/detail/planted.hpp"\n#line 1\n' + rewrite.plant(texts[name], sites)
        if not (TREE / name).exists() or (TREE / name).read_text() != planted:
            (TREE / name).parent.mkdir(parents=True, exist_ok=True)
            (TREE / name).write_text(planted)
    shutil.copy2(ROOT / "tests/planted/planted.hpp.in", TREE / "include/weft/detail/planted.hpp")
    save("faults.json", {"of": len(every), "seed": seed, "faults": table})
    stand = {str(n): key(row) for n, row in table.items()}
    save("results.json", {n: r for n, r in load("results.json", {}).items() if stand.get(n) == key(r)})
    print(f"{len(table)} faults planted, of {len(every)} that could be")


def make(opt) -> int:
    if opt.faults >= MOST:
        sys.exit(f"at most {MOST - 1} faults")
    WORK.mkdir(parents=True, exist_ok=True)
    plant_tree(opt.faults, opt.seed)
    flags = "-O1 -D_GLIBCXX_ASSERTIONS -w -Wno-narrowing"
    for command in (["cmake", "--preset", "dev", "--log-level=WARNING", f"-DCMAKE_CXX_FLAGS_DEBUG={flags}"],
                    ["cmake", "--build", str(BUILD), f"-j{opt.jobs}", "--target", *opt.targets, "--", "-k", "0"]):
        if subprocess.run(command, cwd=TREE, check=False).returncode != 0:
            return 1
    return 0


def tests(long: bool = False) -> dict[str, dict]:
    """What `quick` runs and can fail by what is planted: name -> command, environment."""
    packed = load("tests.json", None)
    if packed is not None:
        return packed
    listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=BUILD, text=True, capture_output=True, check=True)
    result = {}
    for test in json.loads(listed.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        labels = properties.get("LABELS", [])
        made = test.get("command") and pathlib.Path(test["command"][0]).is_file()
        if labels and labels[0] in ("golden", "found"):
            made = (BUILD / {"golden": "examples"}.get(labels[0], labels[0]) / test["name"].split("/")[-1]).is_file()
        if any(label in LABELS for label in labels) and (long or "slow" not in labels) and made:
            environment = dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", []))
            result[test["name"]] = {"command": test["command"], "environment": environment,
                                    "fails": properties.get("FAIL_REGULAR_EXPRESSION", [])}
    return result


def run_test(test: dict, more: dict[str, str], seconds: float) -> str:
    """How it failed, or "". Whatever it started ends with it."""
    env = os.environ | test["environment"] | {"WEFT_TEST_QUICK": "1"} | more
    command = list(test["command"])
    if "PLANTED" in more and pathlib.Path(command[0]).name in TARGETS:  # cases: the first that fails says it
        command.append("--abort-after=1")
    with subprocess.Popen(command, cwd=TREE, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "hangs"
    if process.returncode == 0:
        return ""
    return f"signal {-process.returncode}" if process.returncode < 0 else "fails"


def reach(opt) -> int:
    numbers = load("faults.json", {})["faults"]
    result = {} if opt.again else load("reached.json", {})

    def by(name: str, test: dict) -> dict | str:
        note = WORK / f"note-{digest(name)}"
        note.write_bytes(bytes([4]) * MOST)
        begin = time.monotonic()
        wrong = run_test(test, {"PLANTED_REACHED": str(note)}, 1800)
        table = note.read_bytes()
        note.unlink()
        return wrong or {"seconds": time.monotonic() - begin, "faults": [n for n in numbers if table[int(n)] & 2]}

    with concurrent.futures.ThreadPoolExecutor(opt.jobs) as pool:
        futures = {pool.submit(by, name, test): name for name, test in tests().items() if name not in result}
        for future in concurrent.futures.as_completed(futures):
            if isinstance(future.result(), str):
                print(f"without a fault, {futures[future]} {future.result()}: not asked", flush=True)
            else:
                result[futures[future]] = future.result()
    save("reached.json", result)
    reached = {n for r in result.values() for n in r["faults"]}
    print(f"{len(result)} tests reach {len(reached)} of {len(numbers)} faults")
    return 0


def in_order(fault: dict, reached: dict, number: str) -> list[str]:
    """The tests that come by: first the one beside the code and those of its name, then the one that holds decisions
    still, then those that are soon over."""
    stem = re.sub(r"^src/|\.[ch]pp$", "", fault["file"])
    names = [name for name, r in reached.items() if number in r["faults"]]
    near = fault["file"].split("/")[-1].split(".")[0]
    return sorted(names, key=lambda n: (n != f"unit/{stem}", near not in n, n != HOLDS_STILL, reached[n]["seconds"]))


def ask(number: str, fault: dict, reached: dict, every: dict, most: int, until: float) -> dict | None:
    """None: not begun before the time was over. Begun, and neither found nor asked to the end, it is not found."""
    asked, not_over = 0, fault | {"found": "", "how": "not asked to the end"}
    if time.monotonic() > until:
        return None
    for name in in_order(fault, reached, number):
        if name not in every:
            continue
        left = until - time.monotonic()
        if left < 0:
            return not_over
        if asked == most:
            return fault | {"found": "", "how": f"the nearest {asked} tests that come by"}
        asked += 1
        patience = PATIENCE_S + PATIENCE_TIMES * reached[name]["seconds"]
        wrong = run_test(every[name], {"PLANTED": number}, min(patience, left + 1))
        if wrong == "hangs" and left < patience:
            return not_over
        if wrong:
            return fault | {"found": name, "how": wrong}
    return fault | {"found": "", "how": f"{asked} tests come by" if asked else "no test comes by"}


def run(opt) -> int:
    planted, reached, every = load("faults.json", {}), load("reached.json", {}), tests(opt.long)
    for r in reached.values():
        r["faults"] = set(r["faults"])
    faults, results = planted["faults"], load("results.json", {})
    numbers = sorted(faults, key=int)
    if opt.at:
        numbers = [n for n in numbers if f"{faults[n]['file']}:{faults[n]['line']}".startswith(opt.at)]
    else:
        numbers = random.Random(opt.seed).sample(numbers, min(opt.sample, len(numbers)))
    left = [n for n in numbers if n not in results or opt.at or opt.again or opt.lost and not results[n]["found"]]
    with concurrent.futures.ThreadPoolExecutor(opt.jobs) as pool:
        until = time.monotonic() + (opt.seconds or float("inf"))
        futures = {pool.submit(ask, n, faults[n], reached, every, opt.most, until): n for n in left}
        for future in concurrent.futures.as_completed(futures):
            number, result = futures[future], future.result()
            if result is None:
                continue
            results = load("results.json", {}) | {number: result}
            save("results.json", results)
            what = f"found by {result['found']} ({result['how']})" if result["found"] else f"SURVIVED: {result['how']}"
            where = f"{number} {result['file']}:{result['line']} {KINDS[result['kind']]}"
            print(f"{where}: `{result['text'][:80]}`: {what}", flush=True)
    asked = [results[n] for n in numbers if n in results]
    found = sum(bool(r["found"]) for r in asked)
    print(f"{found} of {len(asked)} found")
    return 0


# --- the page

def key(row: dict) -> str:
    return f"{row['file']} {row['digest']} {row['kind']} {row['text']}"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def samples_text(samples: list[dict]) -> list[str]:
    """What a sample says is what it said before anybody read its survivors."""
    lines = ["## Samples", "",
             "Drawn from all faults, asked by the nearest 12 to 16 tests that come by: what these found then,",
             "and now, when all of its survivors but those below that are \"not read yet\" have a test or a reason.",
             "Only the first says something of faults that were not drawn.",
             "Without: of those that have no reason.", "",
             "| seed | asked | found as drawn | without | found now | without |", "|---|---|---|---|---|---|"]
    part = lambda n, of: f"{100 * n / max(1, of):.1f} %"
    for s in samples:
        cells = [f"{s['found' + x]} ({part(s['found' + x], s['asked' + x])}) | "
                 + (part(s["found" + x], s["asked" + x] - s["argued" + x]) if "argued" + x in s else "")
                 for x in ("", "_later")]
        lines.append(f"| {s['seed']} | {s['asked']} | {cells[0]} | {cells[1]} |")
    return lines + [""]


def page_text(rows: list[dict], of: int, reasons: dict[str, str], tests_asked: int,
              samples: list[dict]) -> str:
    found = [r for r in rows if r["found"]]
    lost = [r for r in rows if not r["found"]]
    reasoned = [r for r in lost if key(r) in reasons]
    lines = [
        "# Faults that are planted", "",
        "<!-- written by tests/planted/faults.py page; survivors' reasons are in tests/planted/survivors.json -->", "",
        "A script negates a condition, leaves out a statement, adds one to a constant, or returns another value, in",
        "`src/sched`, `src/access`, `src/memory` and the public headers. All faults are in one build, which an",
        "environment variable tells which one is on. Each then stands before those tests of `quick` that come by it,",
        "the nearest first, and not all of them where many do: "
        f"{tests_asked} files of cases, examples and programs were asked.", "",
        "A survivor with a reason cannot matter, as the reason says: without those it is the second percentage.", "",
        "| could be planted | asked | found | survived | of these with a reason | found of those without |",
        "|---|---|---|---|---|---|",
        f"| {of} | {len(rows)} | {len(found)} ({100 * len(found) / max(1, len(rows)):.1f} %) | {len(lost)} | "
        f"{len(reasoned)} | {100 * len(found) / max(1, len(rows) - len(reasoned)):.1f} % |", "",
        *samples_text(samples),
        "## Survived", "", "| where | fault | text | line | why |", "|---|---|---|---|---|"]
    for r in sorted(lost, key=lambda r: (r["file"], r["line"])):
        lines.append(f"| {r['file']}:{r['line']} | {KINDS[r['kind']]} | `{cell(r['text'])}` | {r['digest']} | "
                     f"{cell(reasons.get(key(r), 'not read yet; ' + r['how']))} |")
    lines += ["", "## Found", "", "| where | fault | text | line | by |", "|---|---|---|---|---|"]
    for r in sorted(found, key=lambda r: (r["file"], r["line"])):
        lines.append(f"| {r['file']}:{r['line']} | {KINDS[r['kind']]} | `{cell(r['text'])}` | {r['digest']} | "
                     f"{r['found']}: {r['how']} |")
    return "\n".join(lines) + "\n"


ROW = re.compile(r"^\| (\S+):(\d+) \| ([^|]+?) \| `(.*?)` \| ([0-9a-f]{8}) \| (.*) \|$")


def rows_of(text: str) -> list[tuple[bool, re.Match]]:
    """Whether it survived, and its cells."""
    survived, result = False, []
    for line in text.split("\n"):
        survived = line == "## Survived" or survived and line != "## Found"
        match = ROW.match(line)
        if match:
            result.append((survived, match))
    return result


def complaints(text: str, read) -> list[str]:
    """What the page says of lines that are not there any more; `read` gives a file's text."""
    rows, wrong, stale = rows_of(text), [], 0
    digests: dict[str, set[str]] = {}
    for survived, row in rows:
        if row[1] not in digests:
            digests[row[1]] = {digest(line) for line in read(row[1]).split("\n")}
        if row[5] not in digests[row[1]]:
            stale += 1
            if survived:
                wrong.append(f"{row[1]}:{row[2]}: a line that stands among the survivors is gone: `{row[4]}`")
    if not rows:
        wrong.append("the page has no rows")
    if stale > STALE_MAX * len(rows):
        wrong.append(f"{stale} of {len(rows)} lines are gone: make, reach, run, page")
    return wrong


def read_source(name: str) -> str:
    path = ROOT / name
    return path.read_text() if path.exists() else ""


def check(_) -> int:
    wrong = complaints(PAGE.read_text(), read_source)
    for line in wrong:
        print(line)
    if wrong:
        print("tests/planted/faults.py page --refresh takes such rows out; then ask anew (see its head)")
    return 1 if wrong else 0


def refresh(text: str) -> str:
    """Rows whose line has moved follow it, rows whose line is gone go."""
    lines = []
    for line in text.split("\n"):
        row = ROW.match(line)
        if row:
            at = [k for k, t in enumerate(read_source(row[1]).split("\n"), 1) if digest(t) == row[5]]
            if not at:
                continue
            near = min(at, key=lambda k: abs(k - int(row[2])))
            line = line.replace(f"{row[1]}:{row[2]} ", f"{row[1]}:{near} ", 1)
        lines.append(line)
    return "\n".join(lines)


def page(opt) -> int:
    if opt.refresh:
        PAGE.write_text(refresh(PAGE.read_text()))
        return 0
    reasons = json.loads(REASONS.read_text())
    rows = list(load("results.json", {}).values())
    PAGE.write_text(page_text(rows, load("faults.json", {})["of"], reasons, len(load("reached.json", {})),
                              json.loads(SAMPLES.read_text())))
    return 0


def night(opt) -> int:
    """A sample from scratch. What survives and has no reason in survivors.json is a test that is missing."""
    opt.again = True
    if make(opt) != 0 or reach(opt) != 0 or run(opt) != 0:
        return 1
    numbers = random.Random(opt.seed).sample(sorted(load("faults.json", {})["faults"], key=int), opt.sample)
    results, reasons = load("results.json", {}), json.loads(REASONS.read_text())
    lost = [results[n] for n in numbers if not results[n]["found"] and key(results[n]) not in reasons]
    for row in lost:
        print(f"nobody says why {row['file']}:{row['line']} may survive: {KINDS[row['kind']]} `{row['text']}`")
    return 1 if lost else 0


SAMPLE = """
// A file.
#ifdef WEFT_SERIAL
inline void alone() { run(7); }
#else
static constexpr int limit = 3;
enum class way : int { near = 1 };
struct point {
  int x = 1;
  point();
  [[nodiscard]] bool is_near(const point& other) const noexcept {
    WEFT_ASSERT(other.x > 1);
    if constexpr (limit == 3) other.see();
    if constexpr (versions_are_narrow)
      if (x == 8) { other.tell(8); }
#ifdef WEFT_COMPARES_IN_MEMORY
    here();
#else
    there(9);
#endif
    if (x < other.x && x > 2) return false;
    const int far = other.distance(1), further(2);
    foo bar(7);
    std::array<int, 4> all{};
    for (int i = 0; i < 2; ++i) all[i] = i;
    each([&](int y) { tell(y); });
    return x == far;
  }
};
#endif
#ifndef WEFT_SERIAL
inline void beside() { go(5); }
#else
#if __linux__
inline void serial() { go(6); }
#endif
#endif
"""
PLANTED_IN_SAMPLE = {
    ("out", "other.see()"), ("not", "x < other.x && x > 2"), ("one", "2"), ("other", "false"), ("one", "1"),
    ("one", "7"), ("one", "0"),
    ("not", "i < 2"), ("out", "all[i] = i"), ("out", "each([&](int y) { tell(y); })"), ("out", "tell(y)"),
    ("other", "x == far"), ("out", "here()"), ("out", "go(5)"), ("one", "5")}


def self_test(_) -> int:
    found = {(s.kind, SAMPLE[s.start:s.end]) for s in rewrite.sites(SAMPLE)}
    wrong = [f"not planted: {x}" for x in PLANTED_IN_SAMPLE - found] + [f"planted: {x}" for x in
                                                                        found - PLANTED_IN_SAMPLE]
    chosen = {s: k for k, s in enumerate(rewrite.sites(SAMPLE))}
    text = rewrite.plant(SAMPLE, chosen)
    for inner in ("tell(y)", "each("):
        if text.count(inner) != 1:
            wrong.append(f"a fault in a fault is not written once: {inner}")
    row = {"file": "a.hpp", "line": 1, "digest": digest("int x;"), "kind": "out", "text": "x | y", "how": "fails"}
    made = page_text([row | {"found": ""}, row | {"found": "unit/a"}], 2, {}, 1, [])
    if complaints(made, lambda _: "  int  x;\n") or len(rows_of(made)) != 2:
        wrong.append("a page whose lines are there is refused")
    if len(complaints(made, lambda _: "int y;\n")) != 2:
        wrong.append("a page whose lines are gone passes")
    print("\n".join(wrong) or "self-test: ok")
    return 1 if wrong else 0


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = ["make", "reach", "run", "page", "check", "night", "self-test"]
    args.add_argument("what", choices=verbs)
    args.add_argument("--faults", type=int, default=MOST - 1)
    args.add_argument("--sample", type=int, default=60)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--jobs", type=int, default=2)
    args.add_argument("--at", help="FILE:LINE, or the beginning of it")
    args.add_argument("--most", type=int, default=1000)
    args.add_argument("--seconds", type=float, help="then what has not been asked is left")
    args.add_argument("--again", action="store_true", help="also what was asked before")
    args.add_argument("--lost", action="store_true", help="also what survived before")
    args.add_argument("--long", action="store_true", help="also tests that quick leaves out")
    args.add_argument("--refresh", action="store_true")
    args.add_argument("--targets", nargs="*", default=TARGETS, help="of make: whose tests are asked")
    opt = args.parse_args()
    return {"make": make, "reach": reach, "run": run, "page": page, "check": check, "night": night,
            "self-test": self_test}[opt.what](opt)


if __name__ == "__main__":
    sys.exit(main())
