"""What the tests of weft whatif share: traces made for it, and how it is called."""
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

import trace_maker

WEFT = "weft"  # set by the test's main
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}


def run(*args, **kwargs):
    return subprocess.run([WEFT, "whatif", *map(str, args)], capture_output=True, text=True, timeout=600, env=CLEAN,
                          **kwargs)


def asked(*words):
    """What a command of the tool says as JSON."""
    done = subprocess.run([WEFT, *map(str, words), "--json"], env=CLEAN, check=True, stdout=subprocess.PIPE,
                          timeout=600)
    return json.loads(done.stdout)


def change(trace, *statements):
    with sqlite3.connect(trace) as db:
        for s in statements:
            db.execute(s)
    db.close()
    return trace


class WhatIf(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weft-whatif-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def good(self, *args):
        done = run(*args, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def recorded(self, *words):
        """A trace of `weft run` with these."""
        trace = self.folder / "run.weft"
        subprocess.run([WEFT, "run", *map(str, words), "--trace", trace], env=CLEAN, check=True, timeout=600,
                       stdout=subprocess.DEVNULL)
        return trace

    def bad(self, expected, *args):
        done = run(*args)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(expected, done.stderr)
        self.assertEqual(done.stdout, "")

    def independent(self, count, body, name="part"):
        p = trace_maker.Program()
        for _ in range(count):
            p.submit(name, body)
        return p.run(self.folder / "independent.weft", 2)

    def chain(self, count, body):
        p = trace_maker.Program()
        x = p.handle("x")
        for _ in range(count):
            p.submit("link", body, ("write", x))
        return p.run(self.folder / "chain.weft", 2)

    def binds(self, reply):
        return {r["workers"]: r["binds"] for r in reply["rows"]}

    def kinds(self, reply):
        return [a["kind"] for a in reply["advice"]]
