"""The package and a program that uses it, under mypy --strict."""
import subprocess
import sys
import textwrap


def test_mypy(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent("""
        import weftrt as wf

        def twice(x: int) -> int:
            return 2 * x

        with wf.Runtime(2) as rt:
            f: wf.Future[int] = rt.submit(twice, 1)
            n: int = f.result()
        with wf.Executor() as ex:
            g = ex.submit(twice, 2)
            m: int = g.result()
        """))
    for what in (["-p", "weftrt"], [str(program)]):
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), *what],
                              capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout


def test_names_have_words():
    import weftrt

    in_the_stub = {"Access", "Clause", "Handle", "add", "read", "write"}
    assert all(getattr(weftrt, name).__doc__ for name in weftrt.__all__ if name not in in_the_stub)
