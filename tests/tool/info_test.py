#!/usr/bin/env python3
"""How many workers a program gets: the affinity mask, the container's quota and the option, on this very machine.

Run as: python3 tests/tool/info_test.py --weft PATH [unittest arguments]
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import command_line

WEFT = "weft"
CORES = sorted(os.sched_getaffinity(0))


def json_of(*args, cores=CORES, prefix=(), **env):
    """What the tool says, on the given cores, started by `prefix`, with only these WEFT_* variables."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
    done = subprocess.run([*prefix, WEFT, *args, "--json"], capture_output=True, text=True, timeout=600,
                          env=clean | env, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Container:
    """A folder of made-up cgroup files in the place of /sys/fs/cgroup, for one process; needs the right to mount."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="weft-cgroup-")
        script = f'mount --bind "{self.folder.name}" /sys/fs/cgroup && exec "$@"'
        self.prefix = ("unshare", "--mount", "sh", "-c", script, "sh")

    def possible(self):
        if not pathlib.Path("/sys/fs/cgroup").is_dir():
            return False
        try:
            return subprocess.run([*self.prefix, "true"], capture_output=True).returncode == 0
        except FileNotFoundError:
            return False

    def has(self, **files):
        for name, text in files.items():
            path = pathlib.Path(self.folder.name) / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def smallest_quota():
    """Of this machine as it is, by the tool's own words; None if there is none."""
    reason = json_of("info")["usable_cpus_reason"]
    return None if "no cgroup quota" in reason else reason


class Workers(unittest.TestCase):
    def test_affinity(self):
        if smallest_quota() is not None:
            self.skipTest("this machine has a quota")
        for count in range(1, len(CORES) + 1):
            for cores in (CORES[:count], CORES[-count:]):
                reply = json_of("info", cores=cores)
                self.assertEqual(reply["usable_cpus"], count)
                words = "1 core" if count == 1 else f"{count} cores"
                self.assertEqual(reply["usable_cpus_reason"], f"{words} in the affinity mask, no cgroup quota")
                self.assertEqual(json_of("run", "independent", "--n", "100", cores=cores)["workers"], count)

    def test_taskset(self):
        """As users do it: the mask comes from another program."""
        reply = json_of("info", prefix=("taskset", "-c", str(CORES[-1])))
        self.assertEqual(reply["usable_cpus"], 1)
        self.assertIn("1 core in the affinity mask", reply["usable_cpus_reason"])

    def test_option(self):
        """The option and its variable are obeyed, below and above the number of cores."""
        for workers in (1, len(CORES), 3 * len(CORES)):
            reply = json_of("run", "independent", "--n", "100", WEFT_WORKERS=str(workers))
            self.assertEqual(reply["workers"], workers)
            reply = json_of("run", "independent", "--n", "100", "--workers", str(workers), cores=CORES[:1])
            self.assertEqual(reply["workers"], workers)

    def test_rules(self):
        """All rules are listed, each can be set by its name, and one that is not there is refused in one line."""
        rules = json_of("info", "--rules")["rules"]
        header = (pathlib.Path(__file__).parents[2] / "include" / "weft" / "rule.hpp").read_text()
        self.assertEqual(len(rules), int(re.search(r"rule_count = (\d+);", header)[1]))
        for rule in rules:
            self.assertEqual(set(rule), {"name", "value", "off", "least", "most", "unit", "decides", "counted"})
            self.assertLessEqual(rule["least"], rule["value"], rule["name"])
        text = subprocess.run([WEFT, "info", "--rules"], capture_output=True, text=True).stdout
        for rule in rules:
            self.assertRegex(text, rf"(?m)^ *{rule['name']} .*\b{rule['value']} {rule['unit']} .*{rule['decides']}$")
        off = ",".join(f"{rule['name']}=off" for rule in rules)
        self.assertTrue(json_of("run", "independent", "--n", "100", WEFT_RULES=off)["ok"])
        wrong = subprocess.run([WEFT, "run", "independent", "--n", "100"], capture_output=True, text=True,
                               env=os.environ | {"WEFT_RULES": "tinny=off"})
        self.assertEqual(wrong.returncode, 2)
        self.assertEqual(wrong.stderr, "weft: WEFT_RULES = 'tinny=off': there is no rule 'tinny'; did you mean tiny? "
                                       "`weft info --rules` lists them\n")

    def test_quota(self):
        """A quota of one CPU, or of less, leaves a worker, and programs end."""
        box = Container()
        self.addCleanup(box.folder.cleanup)
        if not box.possible():
            self.skipTest("this user may not mount anything")
        for quota, expected in (("max 100000", len(CORES)), ("30000 100000", 1), ("100000 100000", 1),
                                ("150000 100000", min(2, len(CORES))), ("9900000 100000", len(CORES))):
            box.has(cpu_dot_max=quota + "\n")
            reply = json_of("info", prefix=box.prefix)
            self.assertEqual(reply["usable_cpus"], expected, f"{quota}: {reply['usable_cpus_reason']}")
            if quota.startswith("max"):
                self.assertIn("no cgroup quota", reply["usable_cpus_reason"])
            else:
                paid = int(quota.split()[0]) / 100_000
                self.assertIn(f"cgroup quota of {paid:.2f} CPUs (/sys/fs/cgroup/cpu.max)", reply["usable_cpus_reason"])
            ran = json_of("run", "independent", "--n", "100", prefix=box.prefix)
            self.assertEqual(ran["workers"], expected)
        both = json_of("info", cores=CORES[:1], prefix=box.prefix)
        self.assertEqual(both["usable_cpus"], 1)


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
