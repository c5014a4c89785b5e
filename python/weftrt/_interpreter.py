"""One interpreter of a process has Weft: its threads and their states are that one's."""
import importlib
import sys

_them = importlib.import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
_here, _main = _them.get_current(), _them.get_main()
if (_here[0] if isinstance(_here, tuple) else _here) != (_main[0] if isinstance(_main, tuple) else _main):
    raise ImportError("weftrt runs in the main interpreter of a process; this is a subinterpreter. Import it in the "
                      "main one, or use a process of its own (multiprocessing with spawn)")
