#!/usr/bin/env python3
"""Boots Debian's kernel in QEMU on a computer with several memory nodes and runs tests/numa/guest.cpp as all there is.

usage: boot.py --guest PROGRAM --nodes N [--cores-per-node N] [--kernel FILE] [--verbose]

Exit status 0 if the program says that it passed, 77 if QEMU or a kernel is missing, 1 else. Needs no root and no
virtualisation: QEMU translates. The kernel is FILE, or that which cmake/kernel.sh has unpacked below build/, or the one
that this computer booted from, where it may be read.
"""
import argparse
import gzip
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NODE_MIB = 160  # below 512 MiB in all the kernel gives no huge pages
LIMIT_S = 900  # a hang guard; a boot takes seconds


def skip(why: str) -> int:
    print(f"skipped: {why}")
    return 77


def find_kernel(given: str) -> pathlib.Path | None:
    if given:
        return pathlib.Path(given)
    found = sorted(ROOT.glob("build/kernel/boot/vmlinuz-*")) + sorted(pathlib.Path("/boot").glob("vmlinuz-*"))
    for kernel in found:
        try:
            with kernel.open("rb"):
                return kernel
        except OSError:
            continue
    return None


class Archive:
    """An initramfs in the kernel's cpio format, written without root: a device file is a line in it."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.entries = 0
        self.folders: set[str] = set()

    def entry(self, name: str, mode: int, body: bytes = b"", device: tuple[int, int] = (0, 0)) -> None:
        self.entries += 1
        fields = [self.entries, mode, 0, 0, 1, 0, len(body), 0, 0, *device, len(name) + 1, 0]
        self.data += b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        self.pad()
        self.data += body
        self.pad()

    def pad(self) -> None:
        self.data += b"\0" * (-len(self.data) % 4)

    def add(self, name: str, body: bytes) -> None:
        for parent in list(reversed(pathlib.PurePosixPath(name).parents))[1:]:
            if str(parent) not in self.folders:
                self.folders.add(str(parent))
                self.entry(str(parent), 0o040755)
        self.entry(name, 0o100755, body)

    def finish(self) -> bytes:
        self.entry("TRAILER!!!", 0)
        return gzip.compress(bytes(self.data), 1)


def libraries(program: pathlib.Path) -> list[str]:
    """What the program loads, the loader among it, by the paths it asks for."""
    said = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(?:=> )?(/\S+) \(0x", said)


def make_initramfs(program: pathlib.Path, scratch: pathlib.Path) -> pathlib.Path:
    stripped = scratch / "init"
    if subprocess.run(["strip", "-o", stripped, program], capture_output=True).returncode != 0:
        shutil.copy(program, stripped)
    archive = Archive()
    for folder in ("dev", "proc", "sys", "tmp"):
        archive.entry(folder, 0o040755)
    archive.entry("dev/console", 0o020600, device=(5, 1))
    archive.add("init", stripped.read_bytes())
    for library in libraries(program):
        archive.add(library.lstrip("/"), pathlib.Path(library).read_bytes())
    made = scratch / "initramfs.gz"
    made.write_bytes(archive.finish())
    return made


def computer(nodes: int, cores: int) -> list[str]:
    """So many nodes in two halves; the way to the other half is the longer one."""
    options = ["-machine", "q35", "-cpu", "max", "-smp", str(nodes * cores), "-m", f"{nodes * NODE_MIB}M"]
    for node in range(nodes):
        options += ["-object", f"memory-backend-ram,id=m{node},size={NODE_MIB}M", "-numa",
                    f"node,nodeid={node},memdev=m{node},cpus={node * cores}-{(node + 1) * cores - 1}"]
    for a in range(nodes):
        for b in range(nodes):
            if a != b:
                near = (a < nodes // 2) == (b < nodes // 2)
                options += ["-numa", f"dist,src={a},dst={b},val={16 if near else 32}"]
    return options


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--guest", required=True, type=pathlib.Path)
    args.add_argument("--nodes", required=True, type=int)
    args.add_argument("--cores-per-node", type=int, default=2)
    args.add_argument("--kernel", default="")
    args.add_argument("--verbose", action="store_true", help="show what the kernel says")
    opt = args.parse_args()
    qemu = shutil.which("qemu-system-x86_64")
    if qemu is None:
        return skip("there is no qemu-system-x86_64; the package is qemu-system-x86")
    kernel = find_kernel(opt.kernel)
    if kernel is None:
        return skip("there is no kernel to boot; cmake/kernel.sh fetches one")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        initramfs = make_initramfs(opt.guest, pathlib.Path(scratch))
        # Pages shall not be moved after they were laid.
        line = f"console=ttyS0 {'' if opt.verbose else 'quiet'} panic=-1 numa_balancing=disable numa_nodes={opt.nodes}"
        command = [qemu, *computer(opt.nodes, opt.cores_per_node), "-accel", "tcg,thread=multi", "-kernel", str(kernel),
                   "-initrd", str(initramfs), "-append", line, "-display", "none", "-nodefaults", "-serial", "stdio",
                   "-no-reboot"]
        try:
            ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                                 timeout=LIMIT_S)
        except subprocess.TimeoutExpired as hung:
            print((hung.stdout or b"").decode(errors="replace"))
            print(f"no end after {LIMIT_S} s")
            return 1
    console = ran.stdout.replace("\r", "")
    print(console + ran.stderr)
    passed = re.search(r"^numa: passed$", console, re.MULTILINE) is not None and "numa: wrong" not in console
    print(f"{opt.nodes} nodes of {opt.cores_per_node} cores, {kernel.name}: {'passed' if passed else 'FAILED'} after "
          f"{time.monotonic() - began:.1f} s")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
