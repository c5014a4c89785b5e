#!/usr/bin/env python3
"""The built site in a browser, opened from its folder: no page is wider than the window, at 1400 and at 400 pixels;
none asks anybody for anything; no script fails; and the search finds. Part of `make docs`, where there is a Chromium.

usage: site_drawn.py SITE [--shots FOLDER [PAGE...]]

--shots draws the pages named, or the first of each group, at both widths in both colours, for people to look at.
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "tool"))
import browser  # noqa: E402

WIDTHS = (1400, 400)
SHOWN = ("index.html", "docs/guide/index.html", "docs/guide/33-fork-join.html", "docs/guide/54-from-openmp.html",
         "docs/guide/25-whatif.html", "docs/guide/50-openmp.html", "ARCHITECTURE.html", "docs/decisions/index.html",
         "examples/from-openmp/original.cpp.html")
# What else slides and fades for a quarter of a second when the window changes.
AT_ONCE = "document.head.insertAdjacentHTML('beforeend', '<style>* { transition: none !important }</style>')"
WIDER = "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - innerWidth"


def address(site: pathlib.Path, name: str) -> str:
    return "file://" + str(site / name)


def is_page(name: str) -> bool:
    """Not one that shows a source file: those are alike, and one of them is enough."""
    return "." not in pathlib.PurePosixPath(name).stem or name in SHOWN


def resize(page: browser.Page, width: int) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    page.settle()


def complaints(site: pathlib.Path, page: browser.Page, names: list[str]) -> list[str]:
    wrong = []
    for name in names:
        page.go(address(site, name))
        page.evaluate(AT_ONCE)
        for width in WIDTHS:
            resize(page, width)
            if (wider := page.evaluate(WIDER)) > 0:
                wrong.append(f"{name}: {wider} pixels wider than {width}")
    wrong += [f"asks for {url}" for url in set(page.requests) if not url.startswith(("file:", "data:", "blob:"))]
    return wrong + [f"an error: {error}" for error in set(page.errors)]


def search(site: pathlib.Path, page: browser.Page, words: str, leads_to: str) -> list[str]:
    resize(page, WIDTHS[0])
    page.go(address(site, "index.html"))
    page.evaluate("document.querySelector('[data-md-component=search-query]').focus()")
    page.write(words)
    found = "Array.from(document.querySelectorAll('.md-search-result__link')).map((a) => a.href)"
    page.until(f"{found}.length > 0", 60)
    links = page.evaluate(found)
    return [] if any(leads_to in link for link in links) else [f"a search for {words!r} finds {links[:5]}"]


def shots(site: pathlib.Path, page: browser.Page, names: list[str], into: pathlib.Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    for name in names:
        page.go(address(site, name))
        page.evaluate(AT_ONCE)
        for width in WIDTHS:
            resize(page, width)
            for scheme in ("default", "slate"):
                page.evaluate(f"document.body.setAttribute('data-md-color-scheme', '{scheme}')")
                file = f"{name.replace('/', '_').removesuffix('.html')}-{width}-{scheme}.png"
                (into / file).write_bytes(page.screenshot())


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("site", type=pathlib.Path)
    args.add_argument("--shots", type=pathlib.Path)
    args.add_argument("pages", nargs="*")
    opt = args.parse_intermixed_args()
    if browser.find() is None:
        print("site: no Chromium here, so no page is looked at")
        return 0
    site = opt.site.resolve()
    with browser.Browser(*WIDTHS) as b:
        if opt.shots:
            shots(site, b.page, opt.pages or list(SHOWN), opt.shots)
            return 0
        names = [p.relative_to(site).as_posix() for p in sorted(site.rglob("*.html"))]
        names = [n for n in names if n != "404.html" and is_page(n)]
        wrong = complaints(site, b.page, names) + search(site, b.page, "bounded queue shutdown", "58-from-std-async")
    for line in wrong:
        print(line)
    print(f"site: {len(names)} pages looked at, {len(wrong)} complaints")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
