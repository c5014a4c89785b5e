"""The notebooks run to their end, and what they show needs no network."""
import pathlib
import re
import subprocess
import sys

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_some():
    assert len(NOTEBOOKS) >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook(path, tmp_path):
    book = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells), "stored without outputs"
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    pages = [out.data["text/html"] for cell in book.cells for out in cell.get("outputs", [])
             if out.output_type in ("display_data", "execute_result") and "text/html" in out.data]
    assert pages
    for page in pages:
        assert page.startswith("<iframe srcdoc=")
        assert not re.search(r"(src|href)=(&quot;|\")?(https?:)?//", page)
        assert not re.search(r"(@import|url\()\s*['\"(]?(https?:)?//", page)


def test_the_progress_line():
    program = "import time, weftrt as wf\n" \
              "with wf.Runtime(2) as rt:\n" \
              "    for _ in range(20): rt.submit(time.sleep, 0.05)\n" \
              "    rt.wait(progress=True)\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stdout == b""
    lines = done.stderr.decode().split("\r")
    assert lines[-1].startswith("20 of 20 tasks, ") and lines[-1].rstrip(" \n").endswith("s")
    assert any(re.match(r"\d+ of 20 tasks, [\d.]+ s(, [\d.]+ s to go)?", line) for line in lines[1:-1])
