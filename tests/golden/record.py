"""Records what a real Kafka does with scripts, on this machine.

``python -m tests.golden.record --kafka FOLDER SCRIPT..`` runs each script on the release whose
jars lie in ``FOLDER/libs`` (an unpacked release, or what :mod:`tests.golden.real.fetch` made) with
the ZooKeeper among them, writes what was seen to ``recordings/``, and prints where the emulator
differs. ``--dry`` writes nothing. Needs Java and the package kazoo.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tests.golden.comparing import RECORDINGS, emulated
from tests.golden.facts import Facts, differences, facts
from tests.golden.real.processes import RealClusterError, release_in
from tests.golden.real.scripts import run

Groups = list[dict[str, Any]]


def recorded(seen: dict[str, Any]) -> Facts:
    """The facts of a real run, but what could not be seen, or while it was still moving."""
    settled = {name: mark for name, mark in seen["marks"].items() if "unsettled" not in mark}
    found = facts({**seen, "marks": settled})
    return {
        place: {
            what: value
            for what, value in there.items()
            if value is not None or what.endswith(".leader")
        }
        for place, there in found.items()
    }


def added(groups: Groups, release: str, found: Facts) -> Groups:
    """Recordings with one release's, releases that agree together and in order."""
    by_release = {each: group["facts"] for group in groups for each in group["releases"]}
    by_release[release] = found
    together: Groups = []
    for each in sorted(by_release, key=_number):
        same = [group for group in together if group["facts"] == by_release[each]]
        if same:
            same[0]["releases"].append(each)
        else:
            together.append({"releases": [each], "facts": by_release[each]})
    return together


def _number(release: str) -> list[int]:
    return [int(each) for each in release.split(".")]


def as_text(groups: Groups) -> str:
    """Recordings as a file: one fact a line."""
    return "[\n" + ",\n".join(map(_group_text, groups)) + "\n]\n"


def _group_text(group: dict[str, Any]) -> str:
    places = ",\n".join(
        f" {json.dumps(place)}: {{\n{_facts_text(found)}\n }}"
        if found
        else f" {json.dumps(place)}: {{}}"
        for place, found in group["facts"].items()
    )
    return f'{{"releases": {json.dumps(group["releases"])}, "facts": {{\n{places}\n}}}}'


def _facts_text(found: dict[str, Any]) -> str:
    return ",\n".join(f"  {json.dumps(what)}: {json.dumps(value)}" for what, value in found.items())


def write(script: str, release: str, found: Facts) -> None:
    """Keep a recording beside the others."""
    file = RECORDINGS / f"{script}.json"
    groups = json.loads(file.read_text("utf-8")) if file.exists() else []
    file.write_text(as_text(added(groups, release, found)), "utf-8")


def main() -> int:
    """Run the program; 1 if anything differs or did not come to hold, 2 if it cannot run."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.record", description=__doc__)
    parser.add_argument("scripts", nargs="+", type=Path, metavar="SCRIPT")
    parser.add_argument("--kafka", required=True, type=Path, metavar="FOLDER")
    parser.add_argument("--keep", action="store_true", help="keep the processes' logs")
    parser.add_argument("--dry", action="store_true", help="write no recording")
    given = parser.parse_args()
    status = 0
    for script in given.scripts:
        try:
            release = release_in(given.kafka)
            seen, failed = run(given.kafka, script, keep=given.keep)
        except RealClusterError as error:
            sys.stderr.write(f"{script}: {error}\n")
            return 2
        found = recorded(seen)
        if not given.dry:
            write(script.stem, release, found)
        lines = failed + differences(found, emulated(script, release))
        told = "\n    ".join(lines or ["no difference"])
        sys.stdout.write(f"{script.stem} {release}:\n    {told}\n")
        sys.stdout.flush()
        status = status or int(bool(lines))
    return status


if __name__ == "__main__":
    sys.exit(main())
