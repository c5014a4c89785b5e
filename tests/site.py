#!/usr/bin/env python3
"""Holds the pages together, without a network: mkdocs.yml names every page once, in six groups, and none that is not
there; the guide's README has the pages of the guide in the same groups; and each link leads to a file, with that
heading.

usage: site.py [--self-test]
"""
import contextlib
import io
import pathlib
import posixpath
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "docs"))
import site_pages as site  # noqa: E402

GROUPS = ["Start", "Data and order", "Machines", "Seeing", "Special", "Inside"]
GUIDE = "docs/guide/"

Tree = dict[str, str]  # path from the root -> text


def nav_groups(config: str) -> dict[str, list[str]]:
    """The pages of each group of mkdocs.yml's nav."""
    groups: dict[str, list[str]] = {}
    for line in config.split("\nnav:\n", 1)[-1].splitlines():
        if group := re.match(r"  - ([^:]+):$", line):
            groups[group[1]] = []
        elif groups and (page := re.search(r"(?:- |: )(\S+\.md)$", line)):
            list(groups.values())[-1].append(page[1])
    return groups


def guide_groups(readme: str) -> dict[str, list[str]]:
    """The pages of the guide that each part of its README lists."""
    parts = re.split(r"^## (.*)$", readme, flags=re.MULTILINE)
    listed = {}
    for title, text in zip(parts[1::2], parts[2::2]):
        listed[title] = [GUIDE + page for page in re.findall(r"^- \[[^\]]*\]\(([\w.-]+\.md)\)", text, re.MULTILINE)]
    return listed


def nav_complaints(tree: Tree):
    groups = nav_groups(tree["mkdocs.yml"])
    if list(groups) != GROUPS:
        yield f"mkdocs.yml: the groups are {list(groups)}, not {GROUPS}"
    named = [page for pages in groups.values() for page in pages]
    pages = {name for name in tree if name.endswith(".md")}
    for page in sorted(pages - set(named)):
        yield f"mkdocs.yml: the nav does not name {page}"
    for page in sorted(set(named)):
        if page not in pages:
            yield f"mkdocs.yml: there is no {page}"
        if named.count(page) > 1:
            yield f"mkdocs.yml: the nav names {page} {named.count(page)} times"
    listed = guide_groups(tree[GUIDE + "README.md"])
    for group, pages_of in groups.items():
        ours = [p for p in pages_of if p.startswith(GUIDE) and not p.endswith("README.md")]
        if ours != listed.get(group, []):
            differ = set(ours) ^ set(listed.get(group, [])) or "the order"
            yield f"{GUIDE}README.md: '{group}' is not what the nav has: {differ}"


def anchors(text: str) -> set[str]:
    """Of each heading, as GitHub and the site make them."""
    found = set()
    for code, line in site.prose_lines(text):
        if not code and (heading := re.match(r"#+ (.*)", line)):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            found.add(re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-"))
    return found


def link_complaints(tree: Tree):
    folders = {str(parent) for name in tree for parent in pathlib.PurePosixPath(name).parents}
    headings = {name: anchors(text) for name, text in tree.items() if name.endswith(".md")}
    for name in headings:
        for code, line in site.prose_lines(tree[name]):
            for _, opens, target in [] if code else site.LINK.findall(line):
                path, _, anchor = target.partition("#")
                if not opens or re.match(r"\w+:", target):
                    continue
                to = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
                if to not in tree and to not in folders:
                    yield f"{name}: there is no {target}"
                elif anchor and anchor not in headings.get(to, set()):
                    yield f"{name}: there is no heading {target}"


def complaints(tree: Tree) -> list[str]:
    return [*nav_complaints(tree), *link_complaints(tree)]


def is_built(page: str) -> bool:
    """Whether a site of this page, twice, and of a script is as it must be."""
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
        for file, text in (("index.html", page), ("a.html", '<a id="x"></a>'), ("a.js", "")):
            (pathlib.Path(name) / file).write_text(text)
        return site.built(pathlib.Path(name)) == 0


def self_test() -> int:
    nav = "x: y\nnav:\n" + "".join(f"  - {group}:\n" for group in GROUPS)
    guide = "# The guide\n\n## Start\n\n- [A](a.md): what\n"
    start = '  - Start:\n      - docs/guide/README.md\n      - "A: b": docs/guide/a.md\n'
    good = {"mkdocs.yml": nav.replace("  - Start:\n", start),
            GUIDE + "README.md": guide,
            GUIDE + "a.md": "# A\n\n## One `b`, two\n\n[x](#one-b-two) [y](README.md#start)\n"}
    bad = [{GUIDE + "b.md": "# B\n"}, {GUIDE + "a.md": "# A\n[x](b.md)\n"},
           {GUIDE + "a.md": "# A\n[x](README.md#end)\n"},
           {GUIDE + "README.md": guide.replace("Start", "Seeing")}, {GUIDE + "README.md": "# The guide\n"},
           {"mkdocs.yml": good["mkdocs.yml"] + "      - docs/guide/a.md\n"},
           {"mkdocs.yml": good["mkdocs.yml"] + "      - docs/guide/c.md\n"},
           {"mkdocs.yml": good["mkdocs.yml"].replace("  - Seeing:\n", "")}]
    unnoticed = [f"of a good tree: {line}" for line in complaints(good)]
    unnoticed += [f"nothing of {change}" for change in bad if not complaints({**good, **change})]
    page = '<script src="a.js"></script><a href="#x" id="x">x</a><a href="a.html#x">a</a>'
    if not is_built(page):
        unnoticed.append("that a good page is bad")
    for old, new in (("a.js", "https://example.org/a.js"), ("#x", "#y"), ("a.html", "b.html")):
        if is_built(page.replace(old, new, 1)):
            unnoticed.append(f"nothing of a page with {new}")
    for line in unnoticed:
        print(f"self-test: it says {line}")
    print(f"self-test: {len(bad)} bad trees, {len(unnoticed)} complaints")
    return 1 if unnoticed else 0


def main() -> int:
    if "--self-test" in sys.argv[1:]:
        return self_test()
    tree = {}
    for name in site.tracked():
        text = name.endswith((".md", ".yml"))
        tree[name] = (ROOT / name).read_text(encoding="utf-8") if text else ""
    wrong = complaints(tree)
    for line in wrong:
        print(line)
    print(f"site: {sum(n.endswith('.md') for n in tree)} pages, {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
