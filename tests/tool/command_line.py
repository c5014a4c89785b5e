"""The command line of every script here: `--weft PATH`, the tool under test, and unittest's own arguments."""
import argparse
import pathlib
import re
import sys

import browser

SKIPPED = 77  # what CTest takes for it


def weft(doc, draws=False):
    """The tool's absolute path; takes what is not unittest's out of sys.argv. `draws`: the script needs a browser."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True, help="the tool under test")
    own, rest = parser.parse_known_args()
    if draws and browser.find() is None:
        print("Chromium is not installed: skipped")
        sys.exit(SKIPPED)
    sys.argv[1:] = rest
    return str(pathlib.Path(own.weft).resolve())


def spoken(stderr):
    """What a command said, text or bytes, without how far it is. It says that where it takes seconds, and on a busy
    computer that may be anywhere."""
    line = r"weft[^\n]*: \d+ %\n"
    return re.sub(line if isinstance(stderr, str) else line.encode(), "" if isinstance(stderr, str) else b"", stderr)
