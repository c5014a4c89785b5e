#!/usr/bin/env python3
"""Machine files as a user meets them: listed, shown, run on, and refused in words with exit code 2.

Run as: python3 tests/tool/machine_test.py --weft PATH [unittest arguments]
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
GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/22-machine-files.md"
FILE = """summary = "two cores"
[sources]
lab = { text = "a laboratory", date = "2026-01" }
[topology]
hwloc = "L3:1 PU:2"
from = "lab"
"""


CRASHES = """<?xml version="1.0"?>
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x1" complete_cpuset="0x1" allowed_cpuset="0x1" nodeset="0x1"
          complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
    <object type="NUMANode" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"
            gp_index="2" local_memory="1024"/>
    <object type="PU" os_index="0" {pu} gp_index="3"/>
  </object>
</topology>
"""

APART = """<?xml version="1.0"?>
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x1"
          complete_nodeset="0x3" allowed_nodeset="0x1" gp_index="1">
    <object type="Package" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"
            gp_index="2">
      <object type="NUMANode" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"
              gp_index="3" local_memory="1024"/>
      <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"
              gp_index="4"/>
    </object>
    <object type="Package" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x0" complete_nodeset="0x2"
            gp_index="5">
      <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x0" complete_nodeset="0x2"
              gp_index="6"/>
    </object>
  </object>
</topology>
"""

# Two packages of one core, fast memory beside the first (node 2), and memory that belongs to neither (node 3).
BARE = """<?xml version="1.0"?>
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0xf"
          complete_nodeset="0xf" allowed_nodeset="0xf" gp_index="1">
    <object type="NUMANode" os_index="3" cpuset="0x0" complete_cpuset="0x0" nodeset="0x8" complete_nodeset="0x8"
            gp_index="2" local_memory="1024"/>
    <object type="Package" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0xd" complete_nodeset="0xd"
            gp_index="3">
      <object type="NUMANode" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"
              gp_index="4" local_memory="1024"/>
      <object type="NUMANode" os_index="2" cpuset="0x1" complete_cpuset="0x1" nodeset="0x4" complete_nodeset="0x4"
              gp_index="5" local_memory="1024" subtype="HBM"/>
      <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x5" complete_nodeset="0x5"
              gp_index="6"/>
    </object>
    <object type="Package" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0xa" complete_nodeset="0xa"
            gp_index="7">
      <object type="NUMANode" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2"
              gp_index="8" local_memory="1024"/>
      <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2"
              gp_index="9"/>
    </object>
  </object>
</topology>
"""


class Machines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft-machines-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.own = self.folder / "weft/machines"
        self.own.mkdir(parents=True)

    def run_weft(self, *args, **env):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
        clean |= {"XDG_CONFIG_HOME": str(self.folder)}
        return subprocess.run([WEFT, *args], capture_output=True, text=True, timeout=600, env=clean | env,
                              cwd=self.folder)

    def good(self, *args, **env):
        done = self.run_weft(*args, **env)
        self.assertEqual((done.returncode, command_line.spoken(done.stderr)), (0, ""), done.stderr)
        return done.stdout

    def good_json(self, *args, **env):
        return json.loads(self.good(*args, "--json", **env))

    def bad(self, *args, **env):
        done = self.run_weft(*args, **env)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(command_line.spoken(done.stderr).count("\n"), 1, done.stderr)
        reply = self.run_weft(*args, "--json", **env)
        self.assertEqual(reply.returncode, 2)
        self.assertEqual(f"weft: {json.loads(reply.stdout)['error']}\n", command_line.spoken(done.stderr))
        return command_line.spoken(done.stderr).strip()

    def test_listed(self):
        (self.own / "mine.toml").write_text(FILE)
        (self.own / "broken.toml").write_text("summary = 1")
        listed = {m["name"]: m["summary"] for m in self.good_json("info")["machines"]}
        self.assertEqual(list(listed)[:2], ["host", "virtual"])
        self.assertEqual(listed["mine"], "two cores")
        self.assertIn("cannot be used", listed["broken"])
        self.assertIn("epyc-7551-32", listed)
        self.assertEqual(sum(name.startswith("tasksim-") for name in listed), 28)
        self.assertIn("tasksim-64-biglittle-rtopt", self.good("info"))

    def test_a_core_made_for_creating_runs_tasks_only_where_asked(self):
        run = ["run", "independent", "--n", "100", "--machine", "tasksim-8-rtopt", "--json"]
        self.assertEqual(json.loads(self.good(*run))["workers"], 8)
        asked = self.run_weft(*run, "--workers", "9")
        self.assertEqual((asked.returncode, json.loads(asked.stdout)["workers"]), (0, 9))
        self.assertIn("worker 8 runs tasks on a core of type 'rtopt' of machine tasksim-8-rtopt", asked.stderr)
        self.assertEqual(command_line.spoken(asked.stderr).count("\n"), 1)
        self.assertEqual(json.loads(self.good(*run, WEFT_CREATION="decoupled"))["workers"], 9)

    def test_every_machine_is_shown_and_runs(self):
        for name in (m["name"] for m in self.good_json("info")["machines"]):
            with self.subTest(name):
                shown = self.good_json("info", "--machine", name)
                self.assertEqual(shown["name"], name)
                self.assertIn("machine", self.good("info", "--machine", name))
                if name == "host":
                    continue
                for figure in shown["figures"]:
                    self.assertTrue(figure["source"] if figure["from"] != "assumed" else figure["why"], figure)
                creation = "decoupled" if name.endswith("-rtopt") else "inline"  # by the core made for it
                ran = self.good_json("run", "independent", "--n", "100", "--machine", name, WEFT_CREATION=creation)
                self.assertEqual(ran["machine"], name)
                self.assertEqual(ran["workers"], 1 if name == "virtual" else shown["cores"])
        again = [self.good_json("run", "independent", "--n", "2000", "--machine", "sgi-uv2000-192") for _ in range(2)]
        self.assertEqual(*again)

    def test_shown_in_words(self):
        text = self.good("info", "--machine", "opteron-6282-64")
        for words in ("64 cores in 32 physical cores", "8 memory nodes", "package x 4", "L3 6 MiB", "L2 2 MiB x 4",
                      "core x 2", "76.8, 138.8, 165.8, 333.9 ns", "table1", "2016-09", "OpenStream"):
            self.assertIn(words, text)
        self.assertNotIn("\033", text)
        self.assertIn("any number of cores", self.good("info", "--machine", "virtual"))
        self.assertIn("16.0", self.good("info", "--machine", "tasksim-8-rtopt"))

    def test_host_with_and_without_calibration(self):
        plain = self.good_json("info", "--machine", "host")
        self.assertEqual(plain["figures"], [])
        (self.own / "this-host.toml").write_text(FILE + '[lines]\nload = { ns = 0.5, from = "lab" }\n')
        calibrated = self.good_json("info", "--machine", "host")
        self.assertEqual(calibrated["lines"]["load_ps"], 500)
        self.assertEqual(calibrated["tree"], plain["tree"])
        self.assertEqual(self.good_json("run", "independent", "--n", "9", "--machine", "this-host")["workers"], 2)

    def test_paths(self):
        path = self.folder / "x.toml"
        path.write_text(FILE)
        for name in (str(path), "x.toml", "./x.toml"):
            self.assertEqual(self.good_json("info", "--machine", name)["cores"], 2)
            self.assertEqual(self.good_json("run", "independent", "--n", "9", WEFT_MACHINE=name)["workers"], 2)

    def test_refused(self):
        run = ("run", "independent", "--n", "9", "--machine")
        self.assertEqual(self.bad("info", "--machine", "epic-7551"),
                         "weft: there is no machine 'epic-7551'; did you mean epyc-7551-32? `weft info` lists them")
        self.assertEqual(self.bad(*run, "cray"), "weft: there is no machine 'cray'; `weft info` lists them")
        self.assertEqual(self.bad(*run, "i7-2600k-4", "--workers", "5"), "weft: option workers = '5' cannot be; it "
                         "must be a number from 1 to 4, the cores of machine i7-2600k-4")
        self.assertEqual(self.bad(*run, "none.toml"), "weft: none.toml: it cannot be read: No such file or directory")
        self.assertIn("this is a folder", self.bad(*run, "." + os.sep))
        for text, why in ((FILE + "[lines]\nlaod = 1\n", ":8: lines.laod: there is no such key; did you mean load?"),
                          (FILE[:60], ":3: this is no TOML: "),
                          (FILE.replace("PU:2", "PU:2000"), ":5: topology.hwloc: it has more than 1024 cores"),
                          (FILE.replace("PU:2", "PU:0"), ":5: topology.hwloc: it has a 0 in it, so no core")):
            (self.folder / "bad.toml").write_text(text)
            self.assertTrue(self.bad("info", "--machine", "bad.toml").startswith("weft: bad.toml" + why))
            self.assertTrue(self.bad(*run, "bad.toml").startswith("weft: bad.toml" + why))
        for name, text in (("empty.xml", ""), ("cut.xml", "<?xml version='1.0'?><topology version='2.0'><object>")):
            (self.folder / name).write_text(text)
            self.assertRegex(self.bad("info", "--machine", name), f"^weft: {name}: line 1: .* \\(hwloc")

    def test_xml_of_hwloc_3(self):
        """Its version is all that hwloc 2 has against it; what no hwloc wrote yet is refused with the line."""
        whole = CRASHES.format(pu='cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"')
        (self.folder / "third.xml").write_text(whole.replace('version="2.0"', 'version="3.0"'))
        self.assertEqual(json.loads(self.run_weft("info", "--machine", "third.xml", "--json").stdout)["cores"], 1)
        (self.folder / "ninth.xml").write_text(whole.replace('version="2.0"', 'version="9.0"'))
        self.assertRegex(self.bad("info", "--machine", "ninth.xml"),
                         r"ninth\.xml: line 2: it is of version 9\.0 of hwloc's format, .* with `lstopo FILE\.xml`")
        (self.folder / "cut.xml").write_text(whole.replace('version="2.0"', 'version="3.0"')[:300])
        self.assertIn("line 2: it is of version 3.0", self.bad("info", "--machine", "cut.xml"))

    def test_xml_with_a_core_without_memory_of_its_own(self):
        (self.folder / "apart.xml").write_text(APART)
        told = json.loads(self.run_weft("info", "--machine", "apart.xml", "--json").stdout)
        self.assertEqual((told["cores"], told["nodes"]), (2, 1))

    def test_xml_with_nodes_without_cores(self):
        """They are places for memory: a run finds its data there, farther away than in its own."""
        (self.folder / "bare.xml").write_text(BARE)
        told = json.loads(self.run_weft("info", "--machine", "bare.xml", "--json").stdout)
        self.assertEqual((told["cores"], told["nodes"]), (2, 4))
        self.assertRegex(self.run_weft("info", "--machine", "bare.xml").stdout, "4 memory nodes")
        heat = json.loads(self.run_weft("run", "independent", "--n", "100", "--machine", "bare.xml", "--json").stdout)
        self.assertEqual(heat["workers"], 2)

    def test_damaged_xml_on_which_hwloc_crashes(self):
        whole = CRASHES.format(pu='cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"')
        (self.folder / "whole.xml").write_text(whole)
        self.assertEqual(json.loads(self.run_weft("info", "--machine", "whole.xml", "--json").stdout)["cores"], 1)
        # An assertion of hwloc 2.9.
        (self.folder / "bad.xml").write_text(CRASHES.format(pu='cpuset="0x1" complete_cpuset=",x0000000f"'))
        self.assertEqual(self.bad("info", "--machine", "bad.xml"), 'weft: bad.xml: line 7: ",x0000000f" is no set of '
                         "numbers (hwloc cannot read it: it is damaged, and hwloc would crash on it; export it again "
                         "with `lstopo FILE.xml`)")

    def test_numbers_that_are_far_apart(self):
        """hwloc keeps a bit for each number up to the greatest, in each set of each part."""
        whole = CRASHES.format(pu='cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"')
        for part in ("PU", "NUMANode"):
            far = whole.replace(f'type="{part}" os_index="0"', f'type="{part}" os_index="4294967290"')
            self.assertNotEqual(far, whole)
            (self.folder / "far.xml").write_text(far)
            self.assertRegex(self.bad("info", "--machine", "far.xml"),
                             r"line [57]: .* whose number \(os_index\) is above 1048575")

    def test_the_guide(self):
        """The example of the guide is a machine file, and uses every key there is."""
        example = re.search(r"```toml\n(.*?)```", GUIDE.read_text(), re.DOTALL)[1]
        (self.folder / "example.toml").write_text(example)
        shown = self.good_json("info", "--machine", "example.toml")
        self.assertEqual(shown["cores"], 16)
        self.assertEqual([t["name"] for t in shown["types"]], ["big", "little", "helper"])
        self.assertEqual(shown["runtime"]["request_ps"], 60000)
        self.assertEqual(shown["lines"]["transfer_ps"], [0, 15000, 40000, 90000, 140000])
        defaults = GUIDE.read_text().split("| key | default |")[1].split("\n\n")[0]
        keys = re.findall(r"`([\w.]+)`", "\n".join(row.split("|")[1] for row in defaults.splitlines() if row))
        self.assertGreater(len(keys), 25)
        for key in keys:
            if key == "xml":  # in place of `hwloc`, which the example has
                continue
            self.assertRegex(example, rf"\b{key.split('.')[-1]}\b", f"the example does not show {key}")
        ran = self.good_json("run", "independent", "--n", "9", "--machine", "example.toml")
        self.assertEqual(ran["workers"], 15)  # the sixteenth core is for creating


if __name__ == "__main__":
    WEFT = command_line.weft(__doc__)
    unittest.main()
