"""weft-ranks says what page 53 shows, twice, and refuses what it does not understand."""

import argparse
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[2] / "docs/guide/53-modelled-clusters.md"


def run(program, arguments, status=0):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=600)
    if done.returncode != status:
        said = done.stdout + done.stderr
        sys.exit(f"weft-ranks {' '.join(arguments)}: status {done.returncode}, not {status}\n{said}")
    return done.stdout if status == 0 else done.stderr


def shown():
    """Each command of the page, and its output there."""
    (block,) = re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.S)
    for part in block.split("$ weft-ranks ")[1:]:
        command, _, output = part.partition("\n")
        yield command.split(), output


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    commands = list(shown())
    assert len(commands) == 4, commands
    sums = set()
    for command, output in commands:
        seen = run(program, command)
        if seen != output:
            sys.exit(f"weft-ranks {' '.join(command)} says\n{seen}and page 53\n{output}")
        sums.update(re.findall(r"checksum +(\w+)", seen))
    sums.add(re.search(r"checksum +(\w+)", run(program, ["cholesky", "33", "64", "--ranks", "2"])).group(1))
    assert len(sums) == 1, sums
    stencil = ["stencil", "8", "10", "--machine", "cluster-2x4"]
    assert run(program, stencil) == run(program, stencil)
    assert "--machine" in run(program, ["--help"])
    # What binds is tried beside the user's own network.
    for change in ("network.latency.us = 100; network.link.GBps = 1", "network.shape = 'torus';network.sides = [2, 1]"):
        assert "binds" in run(program, [*stencil, "--change", change]), change
    for wrong, text in [
        (["choleski", "8"], "weft-ranks cholesky"),
        (["cholesky", "0"], "cholesky takes a number from 1"),
        (["stencil", "4x", "4"], "not '4x'"),
        (["cholesky", "8", "8", "--ranks", "abc"], "--ranks takes a number from 1"),
        (["cholesky", "8", "8", "--machine"], "needs a value"),
        (["cholesky", "8", "8", "--node", "3"], "there is no option --node"),
        (["cholesky", "8", "8", "--machine", "cluster-2x4", "--nodes", "1,0"], "--nodes takes a number from 1"),
        (["cholesky", "8", "8", "--nodes", "1,2"], "--nodes are of a --machine"),
        (["cholesky", "8", "8", "--machine", "epyc-7551-32"], "has no [network]"),
        (["cholesky", "8", "8", "--machine", "cluster-2x4", "--ranks", "3"], "has 2 nodes, and 3 are asked for"),
    ]:
        assert text in run(program, wrong, 2), wrong


if __name__ == "__main__":
    main()
