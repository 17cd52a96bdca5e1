"""The scenarios that come with the program: ten ways in which replication was, or is, put to test.

Each is one script that runs on every release. What comes out of it is never written down here for
printing: ``tidegauge matrix`` runs the scripts and looks. The outcomes named here are what is known
of real Kafka, so that a cell that says something else can be told.
"""

from pathlib import Path
from typing import Final

from msgspec import Struct

from commands.words import BadWord, nearest

FOLDER: Final = Path(__file__).parent / "scenarios"

OK: Final = "ok"
LOSS: Final = "loss"
DIVERGE: Final = "diverge"
BOTH: Final = f"{LOSS}+{DIVERGE}"
SHORT: Final = "ISR member short"

MEANINGS: Final = {
    OK: "no acknowledged record is missing, all logs agree, each ISR member has what is committed",
    LOSS: "a record that was acknowledged is not in the leader's log",
    DIVERGE: "two replicas hold different records at one offset",
    SHORT: "a member of the ISR lacks a committed record, which is lost if it is elected",
}
"""What the words of an outcome say; ``loss+diverge`` is both."""


class Scenario(Struct, frozen=True):
    """One script. ``watch`` says what to look at while it runs, ``change`` what made it end.

    ``outcomes`` are (since release, outcome), oldest first, as known of real Kafka. The file has
    the scenario's name.
    """

    name: str
    title: str
    watch: str
    change: str
    outcomes: tuple[tuple[str, str], ...]

    @property
    def path(self) -> Path:
        """Where the script is."""
        return FOLDER / f"{self.name}.tide"

    def known(self, version: str) -> str:
        """What is known to come out on a release."""
        from emulator.profiles import VERSIONS

        place = VERSIONS.index(version)
        return [what for since, what in self.outcomes if VERSIONS.index(since) <= place][-1]

    def script(self, version: str) -> str:
        """The whole script for one release, as ``tidegauge run -`` takes it."""
        text = self.path.read_text(encoding="utf-8")
        return text.replace("\ncluster ", f"\ncluster --version {version} ", 1)


SCENARIOS: Final = (
    Scenario(
        "V7-stale-hw-restart",
        "V7 stale-HW restart",
        "broker 2 has m2, which is acknowledged, but knows of a HW before it. It restarts, follows"
        " the leader, and leads before it has fetched anything. (In the documents it is cut once"
        " more when it restarts as leader, so that the logs agree in the end.)",
        "KIP-101 (0.11): a follower asks for the end of its epoch instead of cutting to its HW.",
        (("seed", LOSS), ("0.8.1", BOTH), ("0.11", OK)),
    ),
    Scenario(
        "V8-literal",
        "V8 restarted replica leads",
        "broker 2 has m1 and a HW of 0. Both brokers die; broker 2 is back first, and leads.",
        "No Kafka cuts the log of a replica that leads; only the documents' wording does.",
        (("seed", LOSS), ("0.8.1", OK)),
    ),
    Scenario(
        "V10-power-loss-divergence",
        "V10 power-loss divergence",
        "broker 2 loses m2 with its power, leads, and writes m3 where broker 1 has m2.",
        "KIP-101 (0.11): broker 1 asks where the epoch of m2 ends, and cuts it.",
        (("seed", DIVERGE), ("0.11", OK)),
    ),
    Scenario(
        "V11-fast-failover",
        "V11 fast failover",
        "leadership goes to broker 2, which writes, and back to broker 1, which saw none of it. Its"
        " log has no entry of broker 2's epoch, and the answer is the start of its own.",
        "KIP-279 (2.0): the leader's answer names the epoch that it speaks of, and the follower"
        " asks again. (Cutting to the HW, as up to 0.10.2, does no harm here.)",
        (("seed", OK), ("0.11", DIVERGE), ("2.0.0", OK)),
    ),
    Scenario(
        "V12-hw-fallback",
        "V12 HW fallback",
        "broker 2 knows of an epoch that its leader has not heard of yet: up to 2.0.1 it falls back"
        " to its HW, and cuts the committed m0 although it is in the ISR.",
        "KIP-320 (2.1): the leader answers UNKNOWN_LEADER_EPOCH until it has caught up.",
        (("seed", SHORT), ("2.1", OK)),
    ),
    Scenario(
        "KAFKA-7128-early-isr-expand",
        "KAFKA-7128 early ISR expand",
        "broker 3 leads with a HW below the committed m, and lets broker 2, which lacks m, into the"
        " ISR. Then broker 2 is elected.",
        "KAFKA-7128 (2.0.1): who joins must have reached the start of the leader's epoch as well.",
        (("seed", LOSS), ("2.0.1", OK)),
    ),
    Scenario(
        "V14-stale-epoch-fetch",
        "V14 stale-epoch fetch",
        "broker 3 lives in the first epoch and fetches m0 from broker 1, which leads the third and"
        " counts it. Then broker 3 is told of the second epoch, and cuts m0.",
        "KIP-320 (2.1): a fetch carries the leader epoch, an old one gets FENCED_LEADER_EPOCH.",
        (("seed", SHORT), ("2.1", OK)),
    ),
    Scenario(
        "V16-unclean",
        "V16 unclean election",
        "b and c are on broker 1 alone. It dies, and broker 2 is let lead without them; broker 1"
        " returns with a longer log.",
        "KIP-101 (0.11) ends the divergence. The loss is what was asked for; since KIP-106 (0.11)"
        " one has to ask.",
        (("seed", BOTH), ("0.11", LOSS)),
    ),
    Scenario(
        "V24-last-replica-power-loss",
        "V24 last replica, power loss",
        "the ISR is broker 1 alone, and k is acknowledged with acks=all. The power fails before k"
        " is on the disk; broker 1 is elected again, cleanly.",
        "min.insync.replicas=2 keeps the producer from it; KAFKA-15583 (3.7) keeps the HW, and so"
        " the consumers, from it as well. The rest of KIP-966 came without ZooKeeper.",
        (("seed", LOSS),),
    ),
    Scenario(
        "V6-acks-1",
        "V6 acks=1",
        "m2 is acknowledged by broker 1, which dies. Broker 2, which lacks m2, leads, and broker 3"
        " cuts it.",
        "acks=all (the default since 3.0, KIP-679).",
        (("seed", LOSS),),
    ),
)
"""The scenarios in the order in which they are printed."""


def find(name: str) -> Scenario:
    """The scenario of that name, or the one whose name begins so.

    Raises:
        BadWord: there is none, or more than one.
    """
    names = [scenario.name for scenario in SCENARIOS]
    found = [
        scenario
        for scenario in SCENARIOS
        if scenario.name.lower() == name.lower()
        or f"{scenario.name.lower()}-".startswith(f"{name.lower()}-")
    ]
    if len(found) != 1:
        listed = ", ".join(names)
        raise BadWord(f"there is no scenario '{name}'{nearest(name, names) or f' ({listed})'}")
    return found[0]
