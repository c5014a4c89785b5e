"""More rules of tidy.py: of the table of rules, of where a header is implemented, and of who writes what."""
import re

TABLE = "src/sched/balance/rules.hpp"
# Each slice of a worker (src/sched/workers/slices.hpp), and who writes it.
SLICES = {"stacks": ["workers/worker", "admit/stacks"], "throttled": ["admit/admission"], "thief": ["place/stealing"],
          "expects": ["idle/expected"], "teams": ["teams/teams", "teams/hosting", "teams/team_pool"],
          "trace": ["replay/recording", "replay/strands", "replay/passes"], "time": ["idle/worker_time"],
          "hearing": ["replay/listeners"], "counted": []}
# Queues of ready work, and who puts something there: a deque's owner by placement, which also knows the rest.
PUTS = (r"\bdeque(?:<M>)?::push(?:_in_loop)?\("
        r"|(?:box|urgent_?|central_?|nodes_?\w*|piles_?|pushed_)(?:\(\))?(?:\[[^\]]*\])?\.push\w*\(")
PUTTERS = ["place/placement", "place/team_boxes"]


def rules_have_one_reader(tree):
    """Each row is read by one noun, which decides by it. Others may count what it decided."""
    table = re.search(r"enum class by\b[^{]*\{(.*?)\};", tree.get(TABLE, ""), re.DOTALL)
    names = re.findall(r"\w+", re.sub(r"//[^\n]*", "", table[1])) if table else []
    readers = {name: set() for name in names if name != "count"}
    for path, text in tree.items():
        if not path.startswith("src/") or path.startswith(TABLE[:-3]) or re.search(r"_test\.cpp$|\.md$", path):
            continue
        noun = re.sub(r"/engine_\w+", "/engine", path).rsplit(".", 1)[0]
        code = re.sub(r"//[^\n]*", "", text)
        for name in re.findall(r"(?<!decides\()(?<!decides\(sched::)(?<!count\()\bby::(\w+)", code):
            readers.get(name, set()).add(noun)
    for name, found in readers.items():
        if len(found) != 1:
            yield TABLE, 1, f"{name} is read by {len(found)} nouns, not one: {sorted(found)}"


def implemented_in_its_room(tree):
    """What a header of src declares is defined beside it, so a call goes to no higher room than its include."""
    for path, text in tree.items():
        if not path.startswith("src/") or not path.endswith(".cpp") or path.endswith("_test.cpp"):
            continue
        first = re.search(r'^#include "([^"]+)"', text, flags=re.MULTILINE)
        folder, _, stem = path[4:-4].rpartition("/")
        if first and f"src/{first[1]}" in tree and first[1] != f"{folder}/{stem}.hpp" and first[1].endswith(
                f"/{stem}.hpp"):
            yield path, 1, f"implements src/{first[1]} in another room"


def slices_have_one_writer(tree):
    """What a worker keeps for a noun that noun writes; counters are counted up, by whoever sees what they count."""
    names = "|".join(SLICES)
    field = rf"(?:\.|->)({names})\.\w+"
    writes = re.compile(rf"{field}(?:\.\w+)*(?:->waiting\.next)?\s*(?:=(?!=)|\+\+|--|[-+|]=)"
                        rf"|(?:\+\+|--)[\w.]*?{field}|(?:poke\w*|exchange|store)(?:<[^>]*>)?\([^,;]*?{field},"
                        rf"|{field}\.(?:push_back|pop_back|reserve|clear|assign|reset)\(")
    for path, text in scheduler(tree):
        for number, line in enumerate(text.splitlines(), 1):
            for found in writes.finditer(re.sub(r"//.*", "", line)):
                slice_ = next(g for g in found.groups() if g)
                if noun_of(path) not in SLICES[slice_]:
                    owner = SLICES[slice_] or "count_one()"
                    yield path, number, f"writes {slice_} of a worker, which belongs to {owner}"


def queues_have_one_writer(tree):
    """Ready work is put into queues by placement: so there is one place that knows of thieves and sleepers."""
    for path, text in scheduler(tree):
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(PUTS, re.sub(r"//.*", "", line)) and noun_of(path) not in PUTTERS:
                yield path, number, "puts work into a queue, which placement.hpp does"


def noun_of(path):
    return path[len("src/sched/"):].rsplit(".", 1)[0]


def scheduler(tree):
    return [(path, text) for path, text in tree.items() if path.startswith("src/sched/")
            and path.endswith((".hpp", ".cpp")) and not path.endswith(("_test.cpp", "_bench.cpp", "queues/deque.hpp"))]


RULES = [rules_have_one_reader, implemented_in_its_room, slices_have_one_writer, queues_have_one_writer]
