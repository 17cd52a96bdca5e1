"""The explorer against TLC: the same states, depth and counterexamples, and what they take.

``python -m benchmarks.explorer [--small | --releases]`` explores the published specifications and
prints a row a search: states and depth (or the length of the shortest counterexample) beside what
TLC found, and seconds and memory beside what TLC took. TLC ran with one or two workers; the
explorer uses one core. Each search has a process of its own, so that memory is its own. Exit
status 1: a number differs from TLC's. ``--small`` leaves out what has over 100,000 states.
``--releases`` explores releases by the brokers' own rules instead, and prints what was found, in
how many states, and states a second of CPU.
"""

import argparse
import gc
import json
import resource
import subprocess
import sys
import time

from msgspec import Struct

from emulator.explorer.bounds import (
    ACKNOWLEDGED_KEPT,
    COMMITTED_AGREEMENT,
    ISR_HAS_COMMITTED,
    Bounds,
    properties_for,
)
from emulator.explorer.partition_model import partition_model
from emulator.explorer.search import Search
from emulator.explorer.specifications import GENERATIONS, Constants, specification


class Cell(Struct, frozen=True):
    """A search, and what TLC found: states and depth, or with a property the steps.

    ``seconds`` is what TLC took where it was recorded.
    """

    spec: str
    constants: tuple[int, int, int, int]
    found: tuple[int, int] | int
    seconds: float | None = None
    property: str = ""
    symmetric: bool = False


SMALL = ((2, 2, 2, 1), (2, 2, 2, 2), (2, 3, 3, 2), (3, 2, 2, 1))
LARGE = (3, 2, 2, 2)
STATES = {
    "TruncateToHW": ((1_251, 16), (10_131, 20), (37_667, 25), (67_807, 21), (1_988_158, 28)),
    "Kip101": ((1_177, 15), (9_045, 18), (32_933, 21), (59_788, 22), (1_613_089, 26)),
    "Kip279": ((1_177, 15), (9_027, 18), (32_713, 21), (60_106, 22), (1_616_461, 26)),
    "Kip320FirstTry": ((1_165, 15), (8_429, 18), (30_737, 22), (59_092, 22), (1_437_076, 28)),
    "Kip320": ((957, 15), (5_973, 18), (21_493, 22), (39_619, 22), (737_794, 26)),
}
SECONDS = {
    "TruncateToHW": (1.02, 3.42, 11.34, 7.90, 82.67),
    "Kip101": (1.22, 4.54, 13.60, 11.92, 290.22),
    "Kip279": (0.97, 3.96, 7.89, 6.39, 120.00),
    "Kip320FirstTry": (1.17, 4.91, 7.67, 10.24, 96.70),
    "Kip320": (1.93, 2.99, 3.79, 4.45, 31.42),
}
SYMMETRIC = {
    "TruncateToHW": ((332_037, 28), 31.41),
    "Kip101": ((269_488, 26), 41.14),
    "Kip279": ((270_050, 26), 25.47),
    "Kip320FirstTry": ((240_028, 28), 29.07),
    "Kip320": ((123_311, 26), 12.82),
}
COUNTEREXAMPLES = (
    ("TruncateToHW", (2, 2, 2, 1), "WeakIsr", 8, 0.82),
    ("TruncateToHW", (2, 2, 2, 1), "StrongIsr", 9, 1.03),
    ("TruncateToHW", (3, 2, 2, 1), "StrongIsr", 8, 1.32),
    ("TruncateToHW", (2, 2, 2, 2), "CommittedAgreement", 14, 3.84),
    ("TruncateToHW", LARGE, "CommittedAgreement", 13, 24.61),
    ("Kip101", (2, 2, 2, 2), "WeakIsr", 11, 2.92),
    ("Kip101", LARGE, "WeakIsr", 10, 9.23),
    ("Kip101", (2, 2, 2, 2), "StrongIsr", 11, 2.98),
    ("Kip101", (3, 2, 2, 1), "StrongIsr", 11, 3.19),
    ("Kip101", LARGE, "StrongIsr", 10, 10.08),
    ("Kip101", LARGE, "CommittedAgreement", 17, 127.01),
    ("Kip279", LARGE, "WeakIsr", 10, 7.37),
    ("Kip279", (3, 2, 2, 1), "StrongIsr", 11, 3.86),
    ("Kip279", LARGE, "StrongIsr", 10, 7.34),
    ("Kip279", LARGE, "CommittedAgreement", 17, 83.78),
    ("Kip320FirstTry", LARGE, "WeakIsr", 11, 12.78),
    ("Kip320FirstTry", LARGE, "StrongIsr", 12, 19.17),
)
LARGER = (
    Cell("Kip320", (3, 3, 3, 2), (4_093_531, 31)),
    Cell("Kip320", (3, 2, 2, 3), (9_985_570, 32)),
)


RELEASES = ("0.10.2", "0.11", "2.0.0", "2.0.1", "2.1", "3.9")
HISTORIES: tuple[tuple[str, dict[str, int], tuple[str, ...]], ...] = (
    ("V7, V12", {}, ()),
    ("V10, V14", {"elections": 0, "power_losses": 1}, (ISR_HAS_COMMITTED,)),
    ("V11", {"records": 3, "crashes": 0}, (COMMITTED_AGREEMENT,)),
    ("three replicas", {"replicas": 3, "records": 1, "elections": 1}, ()),
    (
        "KAFKA-7128",
        {"replicas": 3, "records": 1, "elections": 1, "crashes": 2},
        (ACKNOWLEDGED_KEPT,),
    ),
)
"""The protocol's known mistakes, the bounds in which they are looked for, and the property."""


def cells(*, small: bool) -> list[Cell]:
    """Every search; with ``small``, those that are quick."""
    found = [
        Cell(spec, constants, states, seconds)
        for spec in STATES
        for constants, states, seconds in zip(
            (*SMALL, LARGE), STATES[spec], SECONDS[spec], strict=True
        )
    ]
    for spec, (states, seconds) in SYMMETRIC.items():
        found.append(Cell(spec, LARGE, states, seconds, symmetric=True))
    for spec, constants, name, steps, seconds in COUNTEREXAMPLES:
        found.append(Cell(spec, constants, steps, seconds, name))
    found += LARGER
    return [cell for cell in found if not small or cell.constants in SMALL]


def searched(number: int) -> dict[str, float]:
    """Do a search in this process."""
    cell = cells(small=False)[number]
    gc.disable()
    model = specification(
        GENERATIONS[cell.spec], Constants(*cell.constants), symmetric=cell.symmetric
    )
    began, cpu_began = time.perf_counter(), time.process_time()
    result = Search(model, [cell.property]).run()
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu_began
    return {
        "states": result.states,
        "depth": result.depth,
        "steps": result.violations[0].steps if result.violations else 0,
        "seconds": seconds,
        "cpu": cpu,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def explore_release(number: int, version: str) -> None:
    """Explore a release in this process and print what was found."""
    name, bounds, properties = HISTORIES[number]
    gc.disable()
    asked = Bounds(version, **bounds)  # type: ignore[arg-type]
    search = Search(partition_model(asked), properties or properties_for(asked))
    began = time.process_time()
    result = search.run()
    cpu = time.process_time() - began
    found = ", ".join(
        f"{each.name} in {each.steps} steps, {each.faults} faults" for each in result.violations
    )
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name:15} {version:7} {result.states:9,} states {cpu:6.1f} s CPU"
        f" {result.states / cpu:7,.0f} /s {megabytes:4.0f} MB  {found or 'nothing'}",
        flush=True,
    )


def releases() -> None:
    """A process for each search."""
    for number in range(len(HISTORIES)):
        for version in RELEASES:
            command = [sys.executable, "-m", "benchmarks.explorer"]
            subprocess.run([*command, "--release", f"{number}:{version}"], check=True)


def row(cell: Cell, number: int) -> bool:
    """Search in a new process and print what it found; whether it is what TLC found."""
    command = [sys.executable, "-m", "benchmarks.explorer", "--search", str(number)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    measured = json.loads(output)
    if isinstance(cell.found, int):
        agrees = bool(measured["steps"] == cell.found)
        found = f"{cell.property} {measured['steps']} steps"
    else:
        agrees = (measured["states"], measured["depth"]) == cell.found
        found = f"{measured['states']:,} states, depth {measured['depth']}"
    constants = ",".join(map(str, cell.constants)) + (" symmetric" if cell.symmetric else "")
    seconds, tlc = measured["seconds"], cell.seconds
    against = "" if tlc is None else f"TLC {tlc:7.2f} s  1/{tlc / seconds:.1f}"
    print(
        f"{cell.spec:15} {constants:18} {found:36} {'equal' if agrees else 'NOT EQUAL':9} "
        f"{seconds:7.2f} s ({measured['cpu']:.2f} CPU) {measured['megabytes']:5.0f} MB  {against}",
        flush=True,
    )
    return agrees


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="only what is quick")
    parser.add_argument("--search", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--releases", action="store_true", help="releases, by brokers' rules")
    parser.add_argument("--release", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.release is not None:
        number, _, version = given.release.partition(":")
        explore_release(int(number), version)
        return 0
    if given.releases:
        releases()
        return 0
    if given.search is not None:
        print(json.dumps(searched(given.search)))
        return 0
    every = cells(small=False)
    wanted = cells(small=given.small)
    agree = [row(cell, number) for number, cell in enumerate(every) if cell in wanted]
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
