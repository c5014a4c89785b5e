#!/usr/bin/env python3
"""Installs weft into a scratch prefix, moves the prefix (nothing may depend on where it was), and builds and runs a
consumer by find_package and by pkg-config: the build given, or with --shared one with a shared library, made as a
package would. The consumer is also a plug-in that is loaded and let go, and a project that has Weft as a part and
installs nothing of it.

usage: run.py --build DIR --cmake CMAKE --compiler CXX [--shared]
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent


def sh(*command: object, **env: str) -> str:
    """Runs a command and returns its output; on failure prints both and raises."""
    done = subprocess.run([str(c) for c in command], text=True, env={**os.environ, **env}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        print("failed:", *command, sep=" ")
        print(done.stdout)
        raise SystemExit(1)
    return done.stdout


def expect_42(output: str, what: str) -> None:
    print(f"{what}: {output.strip()}")
    if output.strip() != "42":
        raise SystemExit(f"{what}: 42 expected")


def no_build_paths(prefix: pathlib.Path) -> None:
    for file in [*prefix.rglob("*.cmake"), *prefix.rglob("*.pc")]:
        for path in (SOURCE, prefix.parent):
            if re.search(rf"(?<![\w.}}/-]){re.escape(str(path))}/", file.read_text()):
                raise SystemExit(f"{file.name} names {path}: the package cannot be moved")


def consume(prefix: pathlib.Path, work: pathlib.Path, opt: argparse.Namespace, kind: str) -> None:
    build = work / f"consumer-{kind}"
    sh(opt.cmake, "-S", HERE, "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={opt.compiler}",
       f"-DCMAKE_PREFIX_PATH={prefix}")
    sh(opt.cmake, "--build", build)
    expect_42(sh(build / "consumer"), f"{kind}, find_package")
    expect_42(sh(build / "host", build / "libplugin.so"), f"{kind}, a plug-in")
    expect_42(sh(build / "lab"), f"{kind}, weft::lab")
    without_lab(build / "consumer-without-lab")
    expect_42(sh(build / "ranks"), f"{kind}, ranks that are threads")
    if (build / "mpi").exists():
        expect_42(sh(build / "mpi"), f"{kind}, a rank of MPI")

    pc = str(next(prefix.rglob("weft.pc")).parent)
    path = pc + os.pathsep + os.environ.get("PKG_CONFIG_PATH", "")
    libdir = str(pathlib.Path(pc).parent)
    for extra in ([], ["--static"]) if kind == "static" else ([],):
        flags = sh("pkg-config", "--cflags", "--libs", "weft", *extra, PKG_CONFIG_PATH=path).split()
        program = work / f"by-pkg-config-{kind}"
        sh(opt.compiler, "-std=c++20", HERE / "main.cpp", "-o", program, *flags)
        expect_42(sh(program, LD_LIBRARY_PATH=libdir), " ".join([f"{kind}, pkg-config", *extra]))
    flags = sh("pkg-config", "--cflags", "--libs", "weft-lab", PKG_CONFIG_PATH=path).split()
    sh(opt.compiler, "-std=c++20", HERE / "lab.cpp", "-o", program, *flags)
    expect_42(sh(program, LD_LIBRARY_PATH=libdir), f"{kind}, pkg-config weft-lab")


def without_lab(program: pathlib.Path) -> None:
    """A section asks for an executor of the lab, which the program does not have."""
    done = subprocess.run([program], env={**os.environ, "WEFT_ORDERED": "oracle"}, text=True, capture_output=True)
    if done.returncode == 0 or "#include <weft/lab/oracle.hpp>, and link weft::lab" not in done.stderr:
        raise SystemExit(f"without weft::lab: status {done.returncode}, {done.stderr}")


def install(build: pathlib.Path, work: pathlib.Path, opt: argparse.Namespace, kind: str) -> pathlib.Path:
    first, moved = work / f"prefix-{kind}", work / f"moved-{kind}"
    sh(opt.cmake, "--install", build, "--prefix", first)
    first.rename(moved)
    no_build_paths(moved)
    return moved


def installed_as_part(work: pathlib.Path, opt: argparse.Namespace, *flags: str) -> set[str]:
    """What a project installs that has Weft's source as a part: the files below its prefix."""
    build, prefix = work / "build-part", work / "prefix-part"
    for folder in (build, prefix):
        shutil.rmtree(folder, ignore_errors=True)
    sh(opt.cmake, "-S", HERE / "part", "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={opt.compiler}",
       f"-DWEFT_SOURCE={SOURCE}", *flags)
    if flags:  # empty archives: what is in them is not what this is about
        sh(opt.cmake, "-E", "touch", build / "weft" / "libweft.a", build / "weft" / "libweft_lab.a")
    sh(opt.cmake, "--install", build, "--prefix", prefix)
    return {str(file.relative_to(prefix)) for file in prefix.rglob("*") if file.is_file()}


def check_optimised(work: pathlib.Path, opt: argparse.Namespace) -> None:
    """A project that says nothing of optimisation gets a fast library; what one says itself is what it gets."""
    def levels(*flags: str) -> set[str]:
        build = work / "build-optimised"
        shutil.rmtree(build, ignore_errors=True)
        sh(opt.cmake, "-S", HERE / "part", "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={opt.compiler}",
           f"-DWEFT_SOURCE={SOURCE}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *flags)
        commands = (build / "compile_commands.json").read_text()
        return set(re.findall(r" -O\w?", commands))

    for flags, expected in (((), {" -O3"}), (("-DCMAKE_BUILD_TYPE=Debug",), set()),
                            (("-DCMAKE_CXX_FLAGS=-O1",), {" -O1"})):
        if (found := levels(*flags)) != expected:
            raise SystemExit(f"as a part, with {flags}, Weft is compiled with {found} and not {expected}")
    print("as a part of another project: optimised unless that says otherwise")


def check_part(work: pathlib.Path, opt: argparse.Namespace) -> None:
    own = {"share/whole/CMakeLists.txt"}
    found = installed_as_part(work, opt)
    if found != own:
        raise SystemExit(f"as a part of another project Weft installs {sorted(found - own)[:3]}")
    if "include/weft.h" not in installed_as_part(work, opt, "-DWEFT_INSTALL=ON"):
        raise SystemExit("as a part of another project Weft installs nothing, asked by WEFT_INSTALL")
    print("as a part of another project: installs when asked, and only then")


def main() -> int:
    args = argparse.ArgumentParser()
    args.add_argument("--build", required=True, type=pathlib.Path)
    args.add_argument("--cmake", required=True)
    args.add_argument("--compiler", required=True)
    args.add_argument("--shared", action="store_true")
    opt = args.parse_args()
    work = opt.build.resolve() / ("install-shared" if opt.shared else "install-test")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()

    if opt.shared:
        shared = work / "build-shared"
        sh(opt.cmake, "-S", SOURCE, "-B", shared, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={opt.compiler}",
           "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=ON", "-DWEFT_DEV=OFF")
        sh(opt.cmake, "--build", shared, "-j", "2")
        consume(install(shared, work, opt, "shared"), work, opt, "shared")
    else:
        check_part(work, opt)
        check_optimised(work, opt)
        consume(install(opt.build, work, opt, "static"), work, opt, "static")
    shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
