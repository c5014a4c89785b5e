"""Each block of the page of the guide prints what the page says."""
import pathlib
import re
import subprocess
import sys

import pytest

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "guide" / "49-python.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```\n```\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_there_are_blocks():
    assert len(BLOCKS) == PAGE.read_text().count("```python") >= 6


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block(number, tmp_path):
    program, output = BLOCKS[number]
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == (output, "", 0)


def test_what_the_readme_is_held_to_is_there():
    """Each test that the table names."""
    folder = pathlib.Path(__file__).resolve().parent
    named = re.findall(r"`(test_\w+\.py)::(\w+)`", (folder.parent / "README.md").read_text())
    assert len(named) >= 25
    for file, name in named:
        assert re.search(rf"^(def|class) {name}\b", (folder / file).read_text(), re.MULTILINE), (file, name)
