"""Very many partitions, as a user runs them: ``tidegauge run --json``, its output included.

    python -m benchmarks.scale [--partitions N]

Prints how long each statement took by the clock (as the program narrates its end), what writing the
result took, the processor's time and the most memory. Start-up and reading the script are part of
the first line.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

BROKERS = 12
SCRIPT = """\
cluster --brokers {brokers}
topic create t --partitions {partitions} --replication-factor 3
wait until t-{last}@{leader}.role == leader
settle
wait 60s
wait 600s
broker crash 5
wait until t-5.leader != 5 and t-{fifth}.leader != 5
settle
broker crash 0
wait until controller.epoch == 2
settle
"""
STEPS = (
    ("start", 1),
    ("build, until every follower has fetched", 3),
    ("60 virtual seconds, with each follower's first response", 1),
    ("600 virtual seconds of an idle cluster", 1),
    ("a broker's crash to all its leaders moved, quiet", 3),
    ("the controller's crash to its successor's work done", 3),
)
"""What is printed, with how many statements it takes."""
MIB = 1024
PROGRAM = Path(sys.executable).with_name("tidegauge")


def measured(partitions: int) -> tuple[list[float], float, int]:
    """The clock at the end of each statement and of the program (from its start), its output."""
    last = partitions - 1
    fifth = last - (last - 5) % BROKERS
    text = SCRIPT.format(
        brokers=BROKERS, partitions=partitions, last=last, leader=last % BROKERS, fifth=fifth
    )
    with tempfile.TemporaryDirectory() as folder:
        script, result = Path(folder, "scale.tide"), Path(folder, "scale.json")
        script.write_text(text)
        command = [str(PROGRAM), "run", str(script), "--json"]
        began = perf_counter()
        ends: list[float] = []
        with result.open("wb") as output:
            program = subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, text=True)
            assert program.stderr is not None
            for line in program.stderr:
                ends.append(perf_counter() - began)
                if not line.startswith("00:"):
                    sys.exit(line)
            program.wait()
        return ends, perf_counter() - began, result.stat().st_size


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=100_000)
    partitions = parser.parse_args().partitions
    ends, finished, size = measured(partitions)
    before, place = 0.0, 0
    print(f"{partitions:,} partitions x 3 on {BROKERS} brokers, by the clock:")
    for what, statements in STEPS:
        place += statements
        after = ends[place - 1]
        print(f"  {what:<56}{after - before:>8.1f} s")
        before = after
    print(f"  {f'the result as JSON, {size / 1e6:.0f} MB':<56}{finished - before:>8.1f} s")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"in all {finished:.1f} s, {usage.ru_utime + usage.ru_stime:.1f} s of a core,", end=" ")
    print(f"{usage.ru_maxrss / MIB:,.0f} MiB")


if __name__ == "__main__":
    main()
