"""The core of the paper's processor, an Opteron 6220, as both programs of the paper have it: how long the scheduler's
instructions take on it, and at which clock it runs. All are inputs.

Instructions: as virtual.toml has them for Zen 4, in cycles, times 3.13, which Zen 4 does more per clock than Bulldozer
(papers/superglue/README.md has the sources).
Clock: 3.6 GHz while at most half of a package's cores work (AMD's guide, see the machine file), and 3.3 GHz else: with
Turbo Core all cores of an Opteron 6200 run 300 to 500 MHz above the 3.0 that is written on it, as long as the power is
enough (computerwoche.de on the 6276, 2011-12-05). Times of bodies are those of 3.0 GHz.
"""
STEADY_GHZ = 3.0
ALL_GHZ = 3.3
HALF_GHZ = 3.6
FAST = HALF_GHZ / STEADY_GHZ  # the clock of a serial program
PER_CLOCK = 3.13
ZEN_GHZ = 3.7

OUR_RUN = 94  # cycles from a task that is taken to one that is done, less what is in the lines below
INSTRUCTIONS = {"lines.load": 3, "lines.store": 3, "lines.modify": 24, "runtime.submit": 50,
                "runtime.submit_access": 25, "runtime.advance": 24, "runtime.request": 50, "runtime.switch": 66}


def cycles(ns: float) -> int:
    """Of this core, for what took so long on the Zen 4 server."""
    return round(ns * ZEN_GHZ * PER_CLOCK)


def instructions(run: int = OUR_RUN) -> str:
    return "; ".join(f"{name}.cycles = {n}" for name, n in (INSTRUCTIONS | {"runtime.run": run}).items())


def clock(workers: int) -> str:
    """Workers fill one package of 8 cores first."""
    ghz = [ALL_GHZ if n > 4 else HALF_GHZ for n in (min(workers, 8), max(0, workers - 8))]
    types = ", ".join("8 all" if g == ALL_GHZ else "8 half" for g in ghz) if ghz[0] != ghz[1] else (
        "16 all" if ghz[0] == ALL_GHZ else "16 half")
    used = [f"types.{name}.speed.x = {g / STEADY_GHZ:g}" for name, g in (("all", ALL_GHZ), ("half", HALF_GHZ))
            if name in types]
    return "; ".join([f'topology.types = "{types}"', *used])


def change(workers: int, run: int = OUR_RUN) -> str:
    return f"{instructions(run)}; {clock(workers)}"
