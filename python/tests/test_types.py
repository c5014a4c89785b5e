"""The package and a program that uses it, under mypy --strict."""
import ast
import pathlib
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


def test_the_stub_names_what_is_there(tmp_path):
    """The extension's functions are nanobind's own kind, which stubtest takes for none: their names are compared."""
    allowed = tmp_path / "allowed"
    allowed.write_text("weftrt\\._core\\..*\nweftrt\\.(joblib|threadpoolctl)\\..*\n")
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "weftrt", "--concise", "--ignore-unused-allowlist",
                           "--allowlist", str(allowed)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout

    import weftrt
    from weftrt import _core

    stub = ast.parse((pathlib.Path(weftrt.__file__).parent / "_core.pyi").read_text())
    said = {node.name: node for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert set(said) == {name for name in vars(_core) if not name.startswith("__")}
    for name, node in said.items():
        members = {m.name for m in getattr(node, "body", []) if isinstance(m, ast.FunctionDef)}
        assert members <= set(dir(getattr(_core, name))), name
