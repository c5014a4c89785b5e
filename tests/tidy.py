#!/usr/bin/env python3
"""The house rules that a machine can hold. Each rule is a function from the tree of files to complaints.

usage: tidy.py              checks this repository; prints file:line: rule: what is wrong; status 1 if anything is
       tidy.py --self-test  feeds each rule a file that breaks it: a rule that cannot fail is no rule
"""
import fnmatch
import pathlib
import posixpath
import re
import subprocess
import sys
import tidy_rows
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The floors of src/, low to high: a room includes itself and what is before it.
FLOORS = "base place task memory model access trace machine sched runtime ordered lab".split()
FUNCTION_LINES_MAX, FILE_LINES_MAX, COLUMNS_MAX = 70, 500, 120
# The scheduler is rooms of nouns: one a file, each compiled and tested alone.
SCHED_LINES_MAX, ROOM_HEADERS_MAX, ROOM_LINES_MAX = 350, 15, 2500
SCHED_WITHOUT_TEST = {"src/sched/admit/any_engine.hpp": "an interface, without a line of its own to test",
                      "src/sched/admit/admission.hpp": "window.hpp and reserve.hpp, both tested, for an engine",
                      **{f"src/sched/engine/engine_{part}.hpp": "the engine's, as engine_test.cpp tests it"
                         for part in ("steps", "life", "calls", "events", "forks", "graphs", "size")},
                      **{f"src/sched/{what}.hpp": "members, without a call of its own" for what in
                         ("place/context", "workers/slices", "place/place_room", "admit/admit_room", "join/join_room",
                          "teams/team_room")}}
ASSERTIONS_MIN = {"sched": 20, "access": 20, "ordered": 20, "lab": 20}  # for each 1000 lines of code in a room
HEAVY = {"atomic", "thread", "mutex", "chrono", "functional", "iostream", "ranges", "memory"}
NOT_IN_SCHED = {"thread", "mutex", "chrono", "random", "iostream"}
ATOMIC_FILE, SEE_MACHINES = "src/base/atomic.hpp", ("src/runtime/", "src/ordered/speculative.", "src/ordered/relaxed.")
COMPILED_ONCE = {"CLI/": "tools/weft/command_line.cpp", "nlohmann/": "tools/weft/json.cpp"}
BUILTIN_ATOMIC_FILES = {ATOMIC_FILE, "include/weft/detail/cell.hpp"}
# A fiber may continue on another thread, so each thread_local needs an argument why that is safe; it is made there.
GUESTS = {f"include/weft/{x}.hpp": r'"weft/|<(\w+|sched\.h|omp\.h|oneapi/.*)$' for x in ("openmp","onetbb","openblas")}
THREAD_LOCAL_FILES = ["include/weft/detail/worker.hpp", "include/weft/detail/cancel*", "src/machine/*",
                      "src/memory/seat.*", "src/runtime/*"]
# One source for all machines (machine/machine.hpp): what it asks of them; and each file that does, how often, and why a
# function that all machines have does not do instead. Move a question down and lower the number: it never grows.
QUESTIONS = ["sees_calls", "admits_strangers", "has_helpers", "has_alarms", "keeps_order",
             "takes_charges", "offers_barrier", "reserves"]
ASKS = {"src/sched/engine/engine_life.hpp": (3, "how the crew, the inline path and the sources are set up, once"),
        "src/sched/engine/engine_calls.hpp": (3, "a call that means nothing on real cores must cost nothing there"),
        "src/sched/engine/engine_events.hpp": (2, "an error on real cores, and one in virtual time"),
        "src/sched/replay/ordering.hpp": (1, "so that no real core tests the pointer to an order"),
        "src/sched/queues/requests.hpp": (1, "a ring where it pays; without it all virtual times were pinned"),
        "src/sched/place/stealing.hpp": (1, "a second look, where the first is enough, would take virtual time"),
        "src/sched/admit/suspension.hpp": (1, "nobody is outside to be forgotten; a look would take virtual time"),
        "src/sched/join/watch.hpp": (3, "no watch without a thread for it; a look would take virtual time"),
        "src/ordered/speculative_runner.hpp": (2, "the inline path of x.load(), as in engine_life.hpp; x.work()")}
BUILT_FILES = ["src/*.cpp", "apps/*.cpp", "tools/weft/*.cpp", "examples/*/main.cpp", "examples/from-*/original.cpp",
               "bench/*.cpp", "tests/main.cpp",
               "python/src/*.cpp", "python/tool/*.cpp", "[om][mp][pi]/*.cpp", "mpi/*s/*.cpp",
               *(f"tests/{x}/*.cpp" for x in (
                   "conformance", "faults", "flawed", "weak", "narrow", "stress", "serial", "found", "found/b*",
                   "compile_fail", "numa", "install", "predicted", "[cg]*", "[om][mp][pi]"))]
UNFINISHED = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
LICENCES = ("LICENSE", "-LICENSE.txt")

Tree = dict[str, str]  # path from the root -> text
Complaints = Iterator[tuple[str, int, str]]  # path, line, message
RULES = {rule.__name__: rule for rule in tidy_rows.RULES}


def rule(check):
    RULES[check.__name__] = check
    return check


def is_cpp(path: str) -> bool:
    return path.endswith((".hpp", ".cpp"))


def is_code(path: str) -> bool:
    return is_cpp(path) or path.endswith((".py", ".sh", ".cmake", "CMakeLists.txt", ".c", ".h"))


def is_test(path: str) -> bool:
    return path.startswith("tests/") or path.endswith(("_test.cpp", "_bench.cpp"))


def is_library(path: str) -> bool:
    return is_cpp(path) and path.startswith(("src/", "include/")) and not is_test(path)


def matches(path: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(path, p) for p in patterns)


def includes(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, '<' or '"', and name of each include."""
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if found:
            yield number, found[1], found[2]


def room_of(path: str) -> str:
    return path.split("/")[1] if path.startswith("src/") and path.count("/") > 1 else ""


def blank(text: str) -> str:
    """The text with comments, literals and preprocessor lines replaced by spaces; line numbers stay."""
    spaces = lambda m: re.sub(r"[^\n]", " ", m[0])
    text = re.sub(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                  r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", spaces, text, flags=re.DOTALL)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", spaces, text, flags=re.MULTILINE)


def lines_with(tree: Tree, which, pattern: str, code_only: bool = False) -> Iterator[tuple[str, int, str]]:
    """Path, line and match of a pattern in the files that `which` accepts."""
    for path, text in tree.items():
        if not which(path):
            continue
        for number, line in enumerate((blank(text) if code_only else text).splitlines(), 1):
            found = re.search(pattern, line)
            if found:
                yield path, number, found[0]

# --- who may include whom


@rule
def floors(tree: Tree) -> Complaints:
    for path, text in tree.items():
        room = room_of(path)
        if not room or not is_cpp(path):
            continue
        if room not in FLOORS:
            yield path, 1, f"src/{room} is no room; the floors are {' '.join(FLOORS)}"
            continue
        if is_test(path):
            continue
        for number, _, name in includes(text):
            other = name.split("/")[0] if "/" in name else ""
            if other in FLOORS and FLOORS.index(other) > FLOORS.index(room):
                yield path, number, f"{room} may not include {other}, which is built on it"


@rule
def sched_floors(tree: Tree) -> Complaints:
    """ARCHITECTURE.md draws src/sched: an include goes to a lower room, or to the right of a '>' in its own."""
    height = {}  # room/noun -> how high it is
    for line, (room, nouns) in enumerate(drawn_rooms(tree)):
        parts = nouns.split(">")
        for i, part in enumerate(parts):
            height.update({f"{room}/{noun}": -line - i / len(parts) for noun in part.split()})
    files = {sched_noun(path.removeprefix("src/sched/")) for path in tree if path.startswith("src/sched/")}
    for noun in height.keys() - files:
        yield "ARCHITECTURE.md", 1, f"it draws src/sched/{noun}, where no such file is"
    for path, text in tree.items():
        if not path.startswith("src/sched/") or not is_cpp(path) or is_test(path):
            continue
        mine = sched_noun(path.removeprefix("src/sched/"))
        if mine not in height:
            yield path, 1, f"{mine} is in no room of src/sched that ARCHITECTURE.md draws"
            continue
        for number, _, name in includes(text):
            other = sched_noun(name.removeprefix("sched/"))
            if name.startswith("sched/") and other != mine and height.get(other, 99) >= height[mine]:
                yield path, number, f"{mine} may not include {other}: ARCHITECTURE.md has it above or beside"


def drawn_rooms(tree: Tree) -> list[tuple[str, str]]:
    """Name and nouns of each room, as ARCHITECTURE.md draws them."""
    drawn = re.search(r"^room .*\n((?:  [a-z]+ .*\n)*)", tree.get("ARCHITECTURE.md", ""), flags=re.MULTILINE)
    return [tuple(line.split(maxsplit=1)) for line in drawn[1].splitlines()] if drawn else []


def sched_noun(name: str) -> str:
    """The noun that a file below src/sched is of, with its room. The engine is in several files."""
    room, _, file = name.partition("/")
    stem = file.rsplit(".", 1)[0]
    return f"{room}/{'engine' if stem.startswith('engine_') else stem}"


@rule
def rooms(tree: Tree) -> Complaints:
    """A room of src/sched is small, and says what it is for."""
    files = [p for p in tree if p.startswith("src/sched/") and is_cpp(p) and not is_test(p)]
    for room in {posixpath.dirname(p) for p in files}:
        mine = [p for p in files if posixpath.dirname(p) == room]
        lines, headers = sum(tree[p].count("\n") for p in mine), sum(p.endswith(".hpp") for p in mine)
        if f"{room}/README.md" not in tree:
            yield room, 1, "a room without a README.md that says what it is for"
        if lines > ROOM_LINES_MAX or headers > ROOM_HEADERS_MAX:
            yield room, 1, f"{headers} headers, {lines} lines without tests: what is its second room?"


@rule
def machines_behind_contract(tree: Tree) -> Complaints:
    for path, text in tree.items():
        for number, _, name in includes(text):
            found = re.match(r"machine/(host|virtual)\b", name)
            if found and not is_test(path) and not path.startswith((*SEE_MACHINES, f"src/machine/{found[1]}")):
                yield path, number, f"machine/{found[1]} is seen by src/runtime and tests only; use machine/machine.hpp"


@rule
def public_headers_stand_alone(tree: Tree) -> Complaints:
    for path, text in tree.items():
        if not path.startswith("include/"):
            continue
        for number, bracket, name in includes(text):
            if name in HEAVY:
                yield path, number, f"<{name}> is too heavy for a public header"
            elif not re.match(GUESTS.get(path, r'"weft/|<(\w+|std(def|int)\.h)$'), bracket + name):
                yield path, number, f"a public header includes weft/... and the standard library, not {name}"


@rule
def programs_use_public_api(tree: Tree) -> Complaints:
    for path, text in tree.items():
        if not path.startswith(("apps/", "examples/")) or not is_cpp(path):
            continue
        for number, _, name in includes(text):
            if "/" in name and name.split("/")[0] in FLOORS:
                yield path, number, f"apps and examples use the public API, not src/{name}"


@rule
def one_atomic_header(tree: Tree) -> Complaints:
    for path, text in tree.items():
        if not is_library(path):
            continue
        for number, _, name in includes(text):
            if name in ("atomic", "stdatomic.h") and path != ATOMIC_FILE:
                yield path, number, f"only {ATOMIC_FILE} includes <atomic>"


@rule
def heavy_libraries_once(tree: Tree) -> Complaints:
    for path, text in tree.items():
        if not is_cpp(path):
            continue
        for number, _, name in includes(text):
            for start, only in COMPILED_ONCE.items():
                if name.startswith(start) and path != only:
                    yield path, number, f"only {only} includes <{start}...>: it costs ten times what most files cost"


@rule
def one_atomic_seam(tree: Tree) -> Complaints:
    allowed = lambda path: is_library(path) and path not in BUILTIN_ATOMIC_FILES
    for path, number, _ in lines_with(tree, allowed, r"\bstd::atomic|__ATOMIC_|\b__atomic_|\b__sync_", code_only=True):
        yield path, number, "atomic operations go through the machine and base/atomic.hpp"


@rule
def one_source(tree: Tree) -> Complaints:
    above = lambda path: room_of(path) in ("task", "access", "trace", "sched", "ordered", "lab") and is_library(path)
    kinds = r"if constexpr \(.*\bM::|\bM::(modelled|foreign_threads)\b|\bis_same_v<M,|requires *{[^}]*\bM::"
    for path, number, found in lines_with(tree, above, kinds, code_only=True):
        yield path, number, f"{found}: nobody above the seam asks which machine it is on; give both a function"
    asked: dict[str, list[int]] = {path: [] for path in ASKS if path in tree}
    for path, number, _ in lines_with(tree, above, rf"\bM::({'|'.join(QUESTIONS)})\(\)", code_only=True):
        asked.setdefault(path, []).append(number)
    for path, lines in asked.items():
        most = ASKS.get(path, (0, ""))[0]
        if len(lines) > most:
            yield path, lines[most], f"asks the machine {len(lines)} times what it offers, {most} are allowed (ASKS)"
        elif len(lines) < most:
            yield path, 1, f"asks the machine {len(lines)} times what it offers: lower its {most} in ASKS"
    contract = "src/machine/machine.hpp"
    for question in QUESTIONS if contract in tree else []:
        if f"//   {question}()" not in tree[contract]:
            yield contract, 1, f"it does not say what {question}() means"


@rule
def sched_knows_no_clock(tree: Tree) -> Complaints:
    for path, text in tree.items():
        if not path.startswith("src/sched/") or is_test(path):
            continue
        for number, _, name in includes(text):
            if name in NOT_IN_SCHED:
                yield path, number, f"src/sched may not include <{name}>: threads, time, chance are the machine's"


@rule
def thread_local_is_listed(tree: Tree) -> Complaints:
    other = lambda path: is_library(path) and not matches(path, THREAD_LOCAL_FILES)
    for path, number, _ in lines_with(tree, other, r"\bthread_local\b", code_only=True):
        yield path, number, "thread_local outside of the places listed in tests/tidy.py (tasks move between threads)"

# --- size and form


@rule
def short_functions(tree: Tree) -> Complaints:
    for path, text in tree.items():
        if is_cpp(path):
            for first, last in functions(text):
                if last - first + 1 > FUNCTION_LINES_MAX:
                    yield path, first, f"function of {last - first + 1} lines, limit {FUNCTION_LINES_MAX}"


def functions(text: str) -> Iterator[tuple[int, int]]:
    """First and last line of each outermost function, by braces: what opens with parentheses and is no type."""
    open_blocks: list[int] = []  # first line of a function, 0 for other blocks
    start = 0  # where the current statement begins
    text = blank(text)
    for mark in re.finditer(r"[;{}]", text):
        if mark[0] == "{":
            head = text[start:mark.start()]
            first = text.count("\n", 0, start + len(head) - len(head.lstrip())) + 1
            open_blocks.append(first if not any(open_blocks) and is_function(head.strip()) else 0)
        elif mark[0] == "}" and open_blocks:
            first = open_blocks.pop()
            if first:
                yield first, text.count("\n", 0, mark.start()) + 1
        start = mark.end()


def is_function(head: str) -> bool:
    head = re.sub(r"^template\s*<.*?>\s*(?=struct|class|union)", "", head, flags=re.DOTALL)
    if re.match(r"(typedef\s+)?(inline\s+)?(namespace|class|struct|union|enum|extern)\b", head):
        return False
    return "(" in head and not head.endswith("=")


@rule
def short_files(tree: Tree) -> Complaints:
    for path, text in tree.items():
        lines = text.count("\n")
        if is_code(path) and lines > FILE_LINES_MAX:
            yield path, FILE_LINES_MAX + 1, f"file of {lines} lines, limit {FILE_LINES_MAX}"


@rule
def short_sched_files(tree: Tree) -> Complaints:
    for path, text in tree.items():
        lines = text.count("\n")
        if path.startswith("src/sched/") and is_cpp(path) and not is_test(path) and lines > SCHED_LINES_MAX:
            yield path, SCHED_LINES_MAX + 1, f"file of {lines} lines in src/sched: what is its second noun?"


@rule
def nouns_have_tests(tree: Tree) -> Complaints:
    for path in tree:
        found = re.fullmatch(r"src/(sched/\w+/\w+)\.hpp", path)
        if not found or path in SCHED_WITHOUT_TEST:
            continue
        test = f"src/{found[1]}_test.cpp"
        if test not in tree and f"src/{found[1]}_model_test.cpp" not in tree:
            yield path, 1, f"no {test} beside it"
        elif test in tree and next((name for _, _, name in includes(tree[test])), "") != f"{found[1]}.hpp":
            yield path, 1, f"{test} does not include it first, so nothing says that it compiles alone"


@rule
def whole_nouns(tree: Tree) -> Complaints:
    for path, number, _ in lines_with(tree, lambda p: p.startswith("src/sched/"), r"\bPart of\b"):
        yield path, number, "a part of something is no noun: a file of src/sched stands for itself"


@rule
def nouns_without_cycles(tree: Tree) -> Complaints:
    graph = {path: [f"src/{name}" for _, _, name in includes(text) if name.startswith("sched/")]
             for path, text in tree.items() if path.startswith("src/sched/") and is_cpp(path)}
    done: set[str] = set()

    def walk(path: str, above: list[str]) -> Complaints:
        if path in above:
            yield path, 1, "includes itself: " + " -> ".join([*above[above.index(path):], path])
        elif path in graph and path not in done:
            for other in graph[path]:
                yield from walk(other, [*above, path])
            done.add(path)

    for path in sorted(graph):
        yield from walk(path, [])


@rule
def enough_assertions(tree: Tree) -> Complaints:
    for room, wanted in ASSERTIONS_MIN.items():
        lines = [line for path, text in tree.items() if room_of(path) == room and is_cpp(path) and not is_test(path)
                 for line in text.splitlines() if line.strip() and not line.lstrip().startswith("//")]
        found = sum(1 for line in lines if re.search(r"WEFT_ASSERT|transition\(|held\(", line))
        if lines and 1000 * found < wanted * len(lines):
            yield f"src/{room}", 1, (f"{1000 * found / len(lines):.1f} assertions for 1000 lines of code ({found} in "
                                     f"{len(lines)}), at least {wanted}")


@rule
def narrow_lines(tree: Tree) -> Complaints:
    for path, text in tree.items():
        if is_code(path):
            for number, line in enumerate(text.splitlines(), 1):
                if len(line) > COLUMNS_MAX:
                    yield path, number, f"line of {len(line)} columns, limit {COLUMNS_MAX}"


@rule
def files_open_with_essay(tree: Tree) -> Complaints:
    for path, text in tree.items():
        if path.endswith(".hpp") and path.startswith(("src/", "include/")) and not text.startswith("//"):
            yield path, 1, "a header opens with a comment that says what it is about"


@rule
def finished(tree: Tree) -> Complaints:
    text = lambda path: not path.endswith(LICENCES)
    for path, number, word in lines_with(tree, text, r"\b(" + "|".join(UNFINISHED) + r")\b"):
        yield path, number, f"{word}: finish it, or write it down in an issue"

# --- what leads nowhere


@rule
def no_dead_files(tree: Tree) -> Complaints:
    included = set()
    for path, text in tree.items():
        for _, _, name in includes(text):
            for folder in ("", "include", "mpi/include", "src", "tests", posixpath.dirname(path)):
                included.add(posixpath.normpath(posixpath.join(folder, name)))
    for path in tree:
        if path.endswith(".hpp") and path not in included:
            yield path, 1, "no file includes this header"
        if path.endswith(".cpp") and not matches(path, BUILT_FILES):
            yield path, 1, "no build rule matches this file"


@rule
def links_lead_somewhere(tree: Tree) -> Complaints:
    folders = {str(parent) for path in tree for parent in pathlib.PurePosixPath(path).parents}
    for path, text in tree.items():
        if not path.endswith(".md"):
            continue
        prose = re.sub(r"^```.*?^```$", lambda code: "\n" * code[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
        for number, line in enumerate(prose.splitlines(), 1):
            for target in re.findall(r"\]\(([^)\s]+)", re.sub(r"`[^`]*`", "", line)):
                target = target.split("#")[0]
                if not target or re.match(r"\w+:", target):
                    continue
                full = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
                if full not in tree and full not in folders:
                    yield path, number, f"stale link: {target}"


@rule
def no_private_paths(tree: Tree) -> Complaints:
    for path, number, found in lines_with(tree, lambda p: True, r"(?<![\w.:/$}~<>-])/(?:home|work|root|Users)/\w+"):
        yield path, number, f"path of somebody's machine: {found}"

# --- run


def self_test() -> int:
    sys.dont_write_bytecode = True
    from tidy_examples import BAD, GOOD
    failed = 0
    for name, check in RULES.items():
        problems = list(check(GOOD))
        if problems:
            failed += 1
            print(f"{name}: complains about a good tree: {problems}")
        for bad in BAD.get(name) or [{}]:
            if not [c for c in check({**GOOD, **bad}) if any(path.startswith(c[0]) for path in bad)]:
                failed += 1
                print(f"{name}: does not notice {bad or 'anything: it has no bad example'}")
    print(f"self-test: {len(RULES)} rules, {sum(map(len, BAD.values()))} bad trees, {failed} unnoticed")
    return 1 if failed else 0


def repository() -> Tree:
    """Every file that is or could be committed; what is not text is empty."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True)
    if listed.returncode == 0:
        names = [n for n in listed.stdout.split("\0") if n]
    else:  # a release archive
        names = [p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*")]
        names = [n for n in names if not n.startswith(("build", ".git/"))]
    tree = {}
    for name in names:
        path = ROOT / name
        if path.is_file() and path.stat().st_size < 1 << 20:
            try:
                tree[name] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                tree[name] = ""  # not text, but links lead here
    return tree

def main() -> int:
    if "--self-test" in sys.argv[1:]:
        return self_test()
    tree = repository()
    complaints = [(path, line, name, text) for name, check in RULES.items() for path, line, text in check(tree)]
    for path, line, name, text in sorted(complaints):
        print(f"{path}:{line}: {name}: {text}")
    print(f"tidy: {len(tree)} files, {len(RULES)} rules, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
