#!/usr/bin/env python3
"""Every command of weft that reads a file, with files that are spoiled: traces, machine files, hwloc's XML, matrices,
orders. Each run is drawn from a number alone, so it can be had again; a failure prints the line that does that.

A failure is: an end by a signal, a sanitizer's report, more than 10 s of a core (or a minute in all), a file that was
given and is changed, an output that is there only in part or though the command failed, a file left behind, or a status
that is none of 0, 1 and 2. What a command says of such a file, and whether it takes it, is for the tests in tests/tool.

Run as: python3 tests/fuzz/tool_fuzz.py --weft PATH [--runs N] [--seed S] [--jobs J] [--keep FOLDER] [--self-test]
"""
import argparse
import collections
import hashlib
import multiprocessing
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import mutations

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/tool"))
import foreign_seeds  # pylint: disable=wrong-import-position
CPU_S, WALL_S = 10, 60
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")} | {
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=8192:exitcode=99",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=99"}
REPORTS = ("AddressSanitizer", "LeakSanitizer", "runtime error: ", "internal error", "ended by signal",
           "terminate called", "ThreadSanitizer")
MEMORY_KIB = 6 << 20

# What is recorded to be spoiled: small, and with something of each kind in it.
RECORDED = [
    ("independent", "--n", "12", "--grain-ns", "2000"),
    ("cholesky", "--n", "64", "--tile", "16", "--repeat", "1"),
    ("fft", "--points", "256", "--lanes", "2", "--signals", "2"),
    ("heat", "--size", "32", "--bands", "2", "--steps", "2", "--width", "2"),
    ("cilksort", "--count", "3000", "--tile", "256"),
    ("nbody", "--n", "64", "--block", "16", "--steps", "1"),
    ("ledger", "--accounts", "20", "--transfers", "20", "--rounds", "1"),
    ("bfs", "--width", "6", "--height", "5"),
]
XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0xf" complete_cpuset="0xf" allowed_cpuset="0xf" nodeset="0x3"
          complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">
    <info name="Backend" value="Linux"/>
{packages}  </object>
  <distances2 type="NUMANode" nbobjs="2" kind="5" name="NUMALatency" indexing="os">
    <indexes length="4">0 1 </indexes>
    <u64values length="12">10 21 21 10 </u64values>
  </distances2>
</topology>
"""
PACKAGE = """    <object type="Package" os_index="{n}" {sets} gp_index="{a}">
      <object type="NUMANode" os_index="{n}" {sets} gp_index="{b}" local_memory="1073741824"/>
      <object type="L3Cache" {sets} gp_index="{c}" cache_size="8388608" depth="3" cache_linesize="64"
              cache_associativity="16" cache_type="0">
{cores}      </object>
    </object>
"""
CORE = """        <object type="Core" os_index="{i}" {sets} gp_index="{a}">
          <object type="PU" os_index="{i}" {sets} gp_index="{b}"/>
        </object>
"""


def sets(cpus, nodes):
    return (f'cpuset="{cpus:#x}" complete_cpuset="{cpus:#x}" nodeset="{nodes:#x}" complete_nodeset="{nodes:#x}"')


def hwloc_xml():
    packages = ""
    for n in (0, 1):
        cores = "".join(CORE.format(i=i, sets=sets(1 << i, 1 << n), a=20 + i, b=30 + i) for i in (2 * n, 2 * n + 1))
        packages += PACKAGE.format(n=n, sets=sets(3 << 2 * n, 1 << n), a=2 + n, b=4 + n, c=6 + n, cores=cores)
    return XML.format(packages=packages)


def make_seeds(weft, folder):
    """Files to be spoiled, by kind. The same everywhere: recorded in virtual time."""
    found = collections.defaultdict(list)
    for i, words in enumerate(RECORDED):
        path = folder / f"seed{i}.weft"
        done = subprocess.run([weft, "run", *words, "--machine", "virtual", "--workers", "3", "--trace", path],
                              env=CLEAN, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0 or not path.exists():
            sys.exit(f"tool_fuzz: cannot record {words}: {done.stderr}")
        if path.stat().st_size < 4 << 20:
            found["trace"].append(path.read_bytes())
    found["toml"] = [p.read_bytes() for p in sorted((ROOT / "machines").glob("*.toml"))]
    found["xml"] = [hwloc_xml().encode()]
    found["matrix"] = [b"%%MatrixMarket matrix coordinate real symmetric\n% small\n4 4 6\n1 1 4\n2 2 4\n3 3 4\n4 4 4\n"
                       b"2 1 -1\n4 3 -1.5e-1\n",
                       b"%%MatrixMarket matrix array real general\n2 2\n2\n1\n1\n2\n",
                       (ROOT / "apps/cholesky/data/bar.mtx").read_bytes()[:4000]]
    order = folder / "order"
    subprocess.run([weft, "run", "independent", "--n", "20", "--machine", "virtual", "--workers", "2"],
                   env=CLEAN | {"WEFT_ORDER_LOG": str(order)}, capture_output=True, timeout=300, check=False)
    if order.exists():
        found["order"] = [order.read_bytes()]
    found["foreign"] = [text.encode() for text in foreign_seeds.all_formats()]
    return dict(found)


# Commands by kind of file: words, and the name of what they write. FILE is the spoiled one, GOOD one that is not.
COMMANDS = {
    "trace": [
        (("report", "FILE"), None), (("report", "FILE", "--json"), None), (("report", "FILE", "--html", "OUT"), "OUT"),
        (("report", "FILE", "GOOD"), None), (("report", "GOOD", "FILE", "--json"), None),
        (("sim", "FILE", "--workers", "3"), None),
        (("sim", "FILE", "--submitter", "trace", "--json", "-o", "OUT"), "OUT"),
        (("sim", "FILE", "--creation", "decoupled", "--workers", "2", "--trace", "OUT"), "OUT"),
        (("sim", "FILE", "--machine", "i7-2600k-4", "--team", "learned"), None),
        (("whatif", "FILE", "--workers", "1,3", "-j", "1"), None),
        (("whatif", "FILE", "--workers", "2", "--grain", "1,3,/2", "-j", "1", "--html", "OUT"), "OUT"),
        (("export", "FILE", "--format", "perfetto", "-o", "OUT", "--arrows", "all"), "OUT"),
        (("export", "FILE", "--format", "perfetto", "--children", "-o", "OUT", "--json"), "OUT"),
        (("export", "FILE", "--format", "dot", "-o", "OUT"), "OUT"),
        (("export", "FILE", "--format", "csv", "-o", "OUT"), "OUT"),
        (("export", "FILE", "--format", "data-dot", "-o", "OUT", "--limit", "9"), "OUT"),
    ],
    "toml": [
        (("info", "--machine", "FILE.toml"), None), (("info", "--machine", "FILE.toml", "--json"), None),
        (("run", "independent", "--n", "20", "--machine", "FILE.toml"), None),
        (("run", "cholesky", "--n", "32", "--tile", "16", "--machine", "FILE.toml", "--trace", "OUT"), "OUT"),
        (("sim", "GOOD", "--machine", "FILE.toml"), None),
        (("whatif", "GOOD", "--machines", "FILE.toml", "-j", "1"), None),
    ],
    "matrix": [(("run", "cholesky", "--matrix", "FILE", "--machine", "virtual", "--workers", "2"), None)],
    "order": [(("run", "independent", "--n", "20", "--machine", "virtual", "--workers", "2"), None)],
}
COMMANDS["xml"] = [(tuple(w.replace(".toml", ".xml") for w in words), out) for words, out in COMMANDS["toml"]]
COMMANDS["foreign"] = [(("import", "FILE", "-o", "OUT"), "OUT"), (("import", "FILE", "-o", "OUT", "--json"), "OUT"),
                       (("import", "FILE", "-o", "OUT", "--no-replay", "--workers", "3", "--unit", "us"), "OUT")]
COMMANDS["foreign"] += [(("import", "FILE", "-o", "OUT", "--no-replay", "--format", name), "OUT")
                        for name in ("csv", "stg", "dot", "wfcommons", "starpu", "chrome", "tfprof")]
SHARES = {"trace": 10, "toml": 6, "xml": 3, "matrix": 1, "order": 1, "foreign": 5}


def contents(folder):
    return {p.name: hashlib.sha1(p.read_bytes()).hexdigest() for p in folder.iterdir() if p.is_file()}


class Case:
    """One run, drawn from its number."""

    def __init__(self, seeds, number, folder):
        r = random.Random(f"weft {number}")
        kinds = [k for k in SHARES if k in seeds]
        self.kind = r.choices(kinds, [SHARES[k] for k in kinds])[0]
        words, out = r.choice(COMMANDS[self.kind])
        self.folder = folder
        data = mutations.spoiled(self.kind, r.choice(seeds[self.kind]), r, folder / "scratch")
        (folder / "scratch").unlink(missing_ok=True)
        name = "file." + {"toml": "toml", "xml": "xml", "trace": "weft"}.get(self.kind, self.kind)
        (folder / name).write_bytes(data)
        (folder / "good.weft").write_bytes(seeds["trace"][0])
        self.words = [{"FILE": name, "FILE.toml": name, "FILE.xml": name, "GOOD": "good.weft", "OUT": "out"}.get(w, w)
                      for w in words]
        self.out = out and "out"
        self.had = self.out is not None and r.random() < 0.3
        if self.had:
            (folder / "out").write_text("older\n")
        self.env = CLEAN | ({"WEFT_SCHEDULE": f"order:{name}"} if self.kind == "order" else {})

    def run(self, weft, limited):
        """What went wrong, "" if nothing did; and the status."""
        before = contents(self.folder)
        limit = f"ulimit -t {CPU_S}; " + (f"ulimit -v {MEMORY_KIB}; " if limited else "") + 'exec "$@"'
        with subprocess.Popen(["sh", "-c", limit, "weft", weft, *self.words], cwd=self.folder, env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              start_new_session=True) as p:
            try:
                out, err = p.communicate(timeout=WALL_S)
            except subprocess.TimeoutExpired:
                os.killpg(p.pid, 9)
                p.communicate()
                return f"took more than {WALL_S} s", -9
        said = (out + err).decode("utf-8", "replace")
        return self.verdict(p.returncode, said, before), p.returncode

    def verdict(self, status, said, before):
        for report in REPORTS:
            if report in said:
                return f"{report.strip()}: ...{said[max(0, said.index(report) - 200):][:1500]}"
        if status not in (0, 1, 2):
            why = ": more than 10 s, or a signal" if status < 0 else ""
            return f"ended with status {status}{why}\n{said[-600:]}"
        after = contents(self.folder)
        for name, was in before.items():
            if name != "out" and after.get(name) != was:
                return f"{name}, which it was given, is changed"
        more = sorted(set(after) - set(before) - {"out"})
        if more:
            return f"left behind: {more}"
        return self.of_output(status, before, after)

    def of_output(self, status, before, after):
        if self.out is None:
            return ""
        changed = after.get("out") != before.get("out")
        if status == 2 and changed:
            return "failed, and there is an output, or the older one is not as it was"
        if status == 0 and (not changed or not (self.folder / "out").read_bytes()):
            return "succeeded, and there is no output"
        return ""


def one(job):
    weft, seeds, number, limited, keep = job
    with tempfile.TemporaryDirectory(prefix="weft-fuzz-") as scratch:
        case = Case(seeds, number, pathlib.Path(scratch))
        wrong, status = case.run(weft, limited)
        if wrong and keep:
            shutil.copytree(scratch, pathlib.Path(keep) / str(number), dirs_exist_ok=True)
        return number, case.kind, status, case.words, wrong


def is_sanitized(weft):
    with subprocess.Popen([weft, "info"], env=CLEAN | {"ASAN_OPTIONS": "help=1"}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as p:
        return b"AddressSanitizer" in p.communicate()[0]


def fuzz(weft, first, runs, jobs, keep, most=20):
    """Returns the failures."""
    failures, counts = [], collections.Counter()
    begun = told = time.monotonic()
    limited = not is_sanitized(weft)
    with tempfile.TemporaryDirectory(prefix="weft-fuzz-seeds-") as folder:
        seeds = make_seeds(weft, pathlib.Path(folder))
    work = ((weft, seeds, n, limited, keep) for n in range(first, first + runs))
    with multiprocessing.Pool(jobs) as pool:
        for done, (number, kind, status, words, wrong) in enumerate(pool.imap_unordered(one, work, chunksize=1), 1):
            counts[kind, status] += 1
            if wrong:
                failures.append(number)
                print(f"\nweft {' '.join(words)}: {wrong}\n  replay: python3 tests/fuzz/tool_fuzz.py --weft {weft} "
                      f"--runs 1 --seed {number} --keep FOLDER", flush=True)
            if len(failures) >= most:
                print(f"{most} failures are enough")
                pool.terminate()
                break
            if time.monotonic() > told + 30:
                told = time.monotonic()
                print(f"  {done} of {runs}, {done / (told - begun):.0f} a second", flush=True)
    print(f"{sum(counts.values())} runs in {time.monotonic() - begun:.0f} s, {len(failures)} failures; by kind and "
          "status: " + ", ".join(f"{k} {s}: {n}" for (k, s), n in sorted(counts.items())))
    if runs >= 200 and not failures:
        for kind in seeds:
            if runs >= 1000 or kind in ("trace", "toml"):
                assert counts[kind, 2] > 0, f"no {kind} was ever refused: nothing is spoiled"
                assert counts[kind, 0] > 0, f"no {kind} was ever taken: all is refused at once"
    return failures


WRONG = {  # a tool that is wrong in one way each, and what must be said of it
    "signal": ("kill -SEGV $$", "ended with status"),
    "report": ("echo 'x.cpp:1: runtime error: overflow' >&2; exit 1", "runtime error"),
    "slow": ("while :; do :; done", "10 s"),
    "input": ("for f in file.*; do echo x >> $f; done; exit 2", "is changed"),
    "half": ("echo half > out; exit 2", "failed, and there is an output"),
    "left": ("echo > out.part-1; exit 2", "left behind"),
    "status": ("exit 3", "ended with status 3"),
    "none": ("exit 0", "succeeded, and there is no output"),
}


def self_test():
    """Each kind of failure is found in a tool that has it, and in one that has none nothing is."""
    global CPU_S
    CPU_S = 1
    seeds = {"trace": [b""], "toml": [b"summary = 'x'\n"]}
    with tempfile.TemporaryDirectory() as place:
        tool = pathlib.Path(place, "weft")
        for name, (script, said) in {**WRONG, "right": ("exit 2", "")}.items():
            tool.write_text(f"#!/bin/sh\n{script}\n")
            tool.chmod(0o755)
            found = set()
            for number in range(1 if name == "slow" else 30):
                with tempfile.TemporaryDirectory() as folder:
                    found.add(Case(seeds, number, pathlib.Path(folder)).run(str(tool), True)[0])
            assert any(said in wrong for wrong in found) and (said or found == {""}), f"{name}: {found}"
    first, again = (drawn(seeds, 7) for _ in range(2))
    assert first == again, "a number does not say what a run is"


def drawn(seeds, number):
    with tempfile.TemporaryDirectory() as folder:
        case = Case(seeds, number, pathlib.Path(folder))
        return case.words, contents(pathlib.Path(folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep", help="copy what a failure read and wrote to this folder")
    parser.add_argument("--self-test", action="store_true")
    given = parser.parse_args()
    if given.self_test:
        self_test()
        return 0
    if not given.weft:
        parser.error("--weft is needed")
    return 1 if fuzz(str(pathlib.Path(given.weft).resolve()), given.seed, given.runs, given.jobs, given.keep) else 0


if __name__ == "__main__":
    sys.exit(main())
