#!/usr/bin/env python3
"""Pages of the repository as pages of a site, for `make docs`, and what was built of them, checked.

usage: docs/site_pages.py pages FOLDER      lays the pages into FOLDER, as mkdocs.yml expects them
       docs/site_pages.py built FOLDER      looks at each page of a built site

The pages stay where they are, and read well there. What differs on a site:
- A link to a source file leads to a page that shows the file; one to a folder leads to its README, or to a list of it.
- Python-Markdown wants an empty line before a list or a table that follows a paragraph.
Of a built site each link must lead to a file of it, with that anchor, and nothing may be loaded from elsewhere.
"""
import html.parser
import pathlib
import posixpath
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(`[^`]*`)|(\]\()([^)\s]+)")
ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".h": "c", ".py": "python", ".toml": "toml", ".cmake": "cmake",
             ".rs": "rust", ".f90": "fortran", ".json": "json", ".sh": "bash", ".c": "c"}
SHOWN_AS_THEY_ARE = (".png", ".svg", ".js", ".css")
OF_ALL_PAGES = {"docs/iframe-worker.js", "docs/site.css"}
SOURCE_BYTES_MAX = 200_000  # longer files are named and not shown


def tracked() -> list[str]:
    """Every file that is or could be committed."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True)
    if listed.returncode == 0:
        return sorted(n for n in listed.stdout.split("\0") if n and (ROOT / n).is_file())
    found = (p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*") if p.is_file())  # a release archive
    return sorted(n for n in found if not n.startswith(("build", ".git/")))


def prose_lines(text: str):
    """(whether it is in a block of code, line) of each line."""
    inside = False
    for line in text.splitlines():
        fence = line.startswith("```")
        yield inside or fence, line
        inside ^= fence


def with_room(text: str) -> str:
    """An empty line before each list and table that follows a paragraph."""
    lines, before, in_list = [], "", False
    for code, line in prose_lines(text):
        starts = not code and (ITEM.match(line) and not in_list or line.startswith("|") and not before.startswith("|"))
        if starts and before.strip():
            lines.append("")
        if code or line.startswith(("#", "|")) or before == "" and line and not ITEM.match(line) and line[0] != " ":
            in_list = False
        in_list = not code and bool(ITEM.match(line)) or in_list and not code
        lines.append(line)
        before = line
    return "\n".join(lines) + "\n"


class pages:
    """All pages of the site, and what their links lead to."""

    def __init__(self):
        self.names = tracked()
        self.files = set(self.names)
        self.folders = {str(parent) for name in self.names for parent in pathlib.PurePosixPath(name).parents}
        self.wanted: set[str] = set()  # source files and folders that pages link to

    def target(self, full: str) -> str:
        """The page, or file, that shows what lies at `full`."""
        if full in self.folders:
            if f"{full}/README.md" in self.files:
                return f"{full}/README.md"
            self.wanted.add(full)
            return f"{full}/index.md"
        if full.endswith(".md") or full not in self.files:
            return full
        self.wanted.add(full)
        return full if full.endswith(SHOWN_AS_THEY_ARE) else full + ".md"

    def relinked(self, name: str, line: str) -> str:
        folder = posixpath.dirname(name)

        def one(found: re.Match) -> str:
            if found[1] or re.match(r"\w+:|#", found[3]):
                return found[0]
            path, _, anchor = found[3].partition("#")
            to = self.target(posixpath.normpath(posixpath.join(folder, path)))
            return "](" + posixpath.relpath(to, folder or ".") + ("#" + anchor if anchor else "")

        return LINK.sub(one, line)

    def page(self, name: str) -> str:
        text = with_room((ROOT / name).read_text(encoding="utf-8"))
        return "".join((line if code else self.relinked(name, line)) + "\n" for code, line in prose_lines(text))

    def source(self, name: str) -> str:
        text = (ROOT / name).read_text(encoding="utf-8")
        begin = f"---\nsearch:\n  exclude: true\nhide: [toc]\n---\n# {name}\n\n"
        if len(text) > SOURCE_BYTES_MAX:
            return begin + f"{len(text) // 1024} KiB, not shown here.\n"
        fence = "`" * 6  # of which no source has so many
        return begin + f"{fence}{LANGUAGES.get(pathlib.PurePosixPath(name).suffix, 'text')}\n{text}{fence}\n"

    def listing(self, folder: str) -> str:
        lines = ["---\nsearch:\n  exclude: true\n---", f"# {folder}", ""]
        for name in (n for n in self.names if n.startswith(folder + "/")):
            shown = name if name.endswith(".md") else name + ".md" if name in self.wanted else ""
            text = name[len(folder) + 1:]
            lines.append(f"- [{text}]({posixpath.relpath(shown, folder)})" if shown else f"- {text}")
        return "\n".join(lines) + "\n"

    def lay(self, into: pathlib.Path) -> int:
        laid = {name: self.page(name) for name in self.names if name.endswith(".md")}
        sources = {n for n in self.wanted if n in self.files} | OF_ALL_PAGES
        for name in sources:
            if not name.endswith(SHOWN_AS_THEY_ARE):
                laid[name + ".md"] = self.source(name)
        for folder in self.wanted - sources:
            laid[folder + "/index.md"] = self.listing(folder)
        for name, text in laid.items():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            (into / name).write_text(text, encoding="utf-8")
        for name in sources:
            if name.endswith(SHOWN_AS_THEY_ARE):
                (into / name).parent.mkdir(parents=True, exist_ok=True)
                (into / name).write_bytes((ROOT / name).read_bytes())
        print(f"site: {len(laid)} pages, {len(sources)} files that they link to")
        return 0


class built_page(html.parser.HTMLParser):
    """What a page links to, what it loads, and the anchors it has."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]):
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[key] for key in ("id", "name") if key in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        loads = tag == "link" and given.get("rel") not in ("prev", "next", "canonical")
        self.loads.extend(given[key] for key in ("src", "href") if key in given and (key == "src" or loads))


def built(folder: pathlib.Path) -> int:
    read = {p.relative_to(folder).as_posix(): built_page(p.read_text()) for p in sorted(folder.rglob("*.html"))}
    wrong = []
    for name, page in read.items():
        for url in page.loads + page.links:
            outside = re.match(r"\w+:|//", url)
            if outside and url in page.loads and not url.startswith("data:"):
                wrong.append(f"{name}: loads {url}")
            if outside or name == "404.html":  # which is shown at any address, so its links are absolute
                continue
            path, _, anchor = urllib.parse.unquote(url).partition("#")
            to = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            to = posixpath.join(to, "index.html") if (folder / to).is_dir() else to
            if not (folder / to).is_file():
                wrong.append(f"{name}: there is no {url}")
            elif anchor and to in read and anchor not in read[to].anchors and url in page.links:
                wrong.append(f"{name}: there is no anchor {url}")
    for line in wrong:
        print(line)
    print(f"site: {len(read)} pages built, {len(wrong)} complaints")
    return 1 if wrong or not read else 0


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in ("pages", "built"):
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[2])
    return built(folder) if sys.argv[1] == "built" else pages().lay(folder)


if __name__ == "__main__":
    sys.exit(main())
