"""More rules of tidy.py: of the table of rules, and of where a header is implemented."""
import re

TABLE = "src/sched/balance/rules.hpp"


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
