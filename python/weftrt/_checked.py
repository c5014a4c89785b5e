"""A function that `check` has run by a process of its own for each schedule: how it is named, and that process."""
from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any


def told(f: Callable[..., Any], folder: str) -> list[str]:
    """The words by which the process finds f. Raises TypeError if it cannot."""
    name = getattr(f, "__qualname__", "")
    home = sys.modules.get(getattr(f, "__module__", None) or "")
    if home is not None and _find(home, name) is f:
        file = getattr(home, "__file__", None)
        if home.__name__ != "__main__":
            return ["module", home.__name__, name]
        if file is not None and os.path.isfile(file):
            return ["file", os.path.abspath(file), name]
    try:
        cloudpickle = importlib.import_module("cloudpickle")
    except ImportError:
        raise TypeError(f"weftrt: check() runs {name or f!r} in processes of their own, which find only functions of "
                        "modules and of program files; for others install cloudpickle") from None
    pickled = os.path.join(folder, "function")
    with open(pickled, "wb") as out:
        out.write(cloudpickle.dumps(f))
    return ["pickle", pickled, name]


def _find(home: Any, name: str) -> Any:
    for part in name.split("."):
        home = getattr(home, part, None)
    return home


def load(kind: str, where: str, name: str) -> Callable[..., Any]:
    if kind == "module":
        found = _find(importlib.import_module(where), name)
    elif kind == "file":
        import runpy

        found = runpy.run_path(where, run_name="__weft_check__")[name.split(".")[0]]
        for part in name.split(".")[1:]:
            found = getattr(found, part)
    else:
        import pickle

        with open(where, "rb") as file:
            found = pickle.load(file)
    return found  # type: ignore[no-any-return]


def main() -> int:
    from weftrt._runtime import Runtime

    f = load(*sys.argv[1:4])
    try:
        with Runtime() as rt:  # the environment says on which machine, and by which schedule
            result = f(rt)
            rt.wait()
    except Exception as e:
        print(f"raised {e!r}")
        return 1
    print(repr(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
