"""The page of ten minutes, followed block by block by somebody who has only pip: an environment is made as it says."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "guide" / "65-python-in-ten-minutes.md"
TEXT = PAGE.read_text()
SESSION = re.findall(r"^```python\n(.*?)^```\n```\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
INSTALL = re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
BETWEEN = "---- the next block"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    wheel = os.environ.get("WEFTRT_WHEEL")
    if wheel is None:
        pytest.skip("WEFTRT_WHEEL does not say which wheel to install, as `make test-python` does")
    folder = tmp_path_factory.mktemp("ten-minutes")
    (folder / pathlib.Path(wheel).name).symlink_to(wheel)
    (install,) = INSTALL
    env = {"PATH": os.path.dirname(sys.executable) + ":/usr/bin:/bin", "HOME": str(folder)}
    subprocess.run(["sh", "-euc", install], cwd=folder, env=env, check=True, capture_output=True, timeout=800)
    return folder


def test_the_page_is_read_whole():
    assert len(SESSION) == TEXT.count("```python") >= 5 and len(INSTALL) == TEXT.count("```sh") == 1


def test_the_session(place):
    """All blocks in one process, as a reader types them."""
    program = f"\nprint({BETWEEN!r})\n".join(block for block, _ in SESSION)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(place)}  # nothing of this environment
    python = str(place / "ten-minutes" / "bin" / "python")
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, timeout=600, cwd=place, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.split(BETWEEN + "\n")
    assert said == [output for _, output in SESSION]


def test_the_wheel():
    wheel = os.environ.get("WEFTRT_WHEEL")
    if wheel is None:
        pytest.skip("no wheel")
    assert os.path.getsize(wheel) < 6_000_000
