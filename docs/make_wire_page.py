"""Writes the tables of ``wire.md`` and ``clients.md``: ``python -m docs.make_wire_page``.

They hold the APIs that are understood, which versions each release advertises, and which APIs of
real brokers are not served.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from emulator.releases.versions import RELEASES, is_since, is_until, numbers_of
from emulator.wire.apis import APIS
from emulator.wire.types import Api
from emulator.wire.versions import versions_of

FOLDER: Final = Path(__file__).parent
BEGIN: Final = "<!-- made by docs/make_wire_page.py: begin -->\n"
END: Final = "<!-- made by docs/make_wire_page.py: end -->\n"
WITHOUT_ZOOKEEPER: Final = ("4.0", "4.1", "4.2", "4.3", "4.4")


class Unserved(Struct, frozen=True):
    """Requests that only real brokers advertise: by key, since and until when, and for whom."""

    names: dict[int, str]
    since: str
    until: str
    meaning: str

    def is_in(self, release: str) -> bool:
        """Whether brokers of a release advertise them."""
        numbers = numbers_of(release)
        return is_since(numbers, self.since) and (not self.until or is_until(numbers, self.until))


_SHARE_STATE: Final = {
    83: "InitializeShareGroupState",
    84: "ReadShareGroupState",
    85: "WriteShareGroupState",
    86: "DeleteShareGroupState",
    87: "ReadShareGroupStateSummary",
}
_CONTROLLERS: Final = "what brokers with ZooKeeper and their controller ask each other"
_STREAMS: Final = "groups of Kafka Streams (KIP-1071)"
UNSERVED: Final = (
    Unserved(
        {4: "LeaderAndIsr", 5: "StopReplica", 6: "UpdateMetadata", 7: "ControlledShutdown"},
        *("0.8.1", "3.9", _CONTROLLERS),
    ),
    Unserved(
        {56: "AlterPartition", 58: "Envelope", 67: "AllocateProducerIds"},
        *("2.7", "3.9", _CONTROLLERS),
    ),
    Unserved({80: "AddRaftVoter", 81: "RemoveRaftVoter"}, "3.9", "", "the quorum's voters"),
    Unserved({94: "UnregisterController"}, "4.4", "", "the quorum's voters"),
    Unserved(_SHARE_STATE, "4.1", "", "what brokers ask share coordinators (KIP-932)"),
    Unserved({88: "StreamsGroupHeartbeat", 89: "StreamsGroupDescribe"}, "4.2", "", _STREAMS),
    Unserved({93: "StreamsGroupTopologyDescriptionUpdate"}, "4.4", "", _STREAMS),
)


def page(name: str) -> str:
    """The whole page, with the tables as they have to be."""
    text = (FOLDER / name).read_text("utf-8")
    lines = ["", *TABLES[name](), "", ""]
    return text[: text.index(BEGIN) + len(BEGIN)] + "\n".join(lines) + text[text.index(END) :]


# ---- wire.md


def apis() -> Iterator[str]:
    """The APIs, each with the releases that brought its versions."""
    yield "| API | key | versions | flexible | last version in each release |"
    yield "|--|--:|--:|--:|--|"
    for api in APIS.values():
        flexible = api.flexible_since if api.flexible_since in api.versions else ""
        last = ", ".join(f"{version} in {release}" for release, version in history(api))
        yield f"| {api.name} | {api.key} | 0 to {api.last_version} | {flexible} | {last} |"


def history(api: Api) -> Iterator[tuple[str, int]]:
    """The lines of releases that brought a newer version, each with that."""
    before = None
    for release in lines_of_releases():
        versions = versions_of(release).get(api.key) or versions_of(
            release, without_zookeeper=True
        ).get(api.key)
        if versions and versions[-1] != before:
            before = versions[-1]
            yield release, before


def lines_of_releases() -> list[str]:
    """Each release without its last number, oldest first: 0.8.1, .., 3.9, and those with KRaft."""
    lines = [release.rpartition(".")[0] for release in RELEASES if release != "0.8.1"]
    return list(dict.fromkeys([*lines, *WITHOUT_ZOOKEEPER]))


# ---- clients.md


def served() -> Iterator[str]:
    """What each release began to serve, then what only real brokers serve."""
    histories = {api.name: dict(history(api)) for api in APIS.values()}
    yield "| release | begins to serve (with the last version) | serves newer versions of |"
    yield "|--|--|--|"
    for release in lines_of_releases():
        new, newer = list[str](), list[str]()
        for name, versions in histories.items():
            if release in versions:
                is_first = next(iter(versions)) == release
                (new if is_first else newer).append(f"{name} {versions[release]}")
        if new or newer:
            yield f"| {release} | {', '.join(new)} | {', '.join(newer)} |"
    yield ""
    yield "Of what real brokers advertise, these requests are missing:"
    yield ""
    yield "| requests | in | what they are about |"
    yield "|--|--|--|"
    for row in UNSERVED:
        span = f"{row.since} to {row.until}" if row.until else f"{row.since} and newer"
        yield f"| {', '.join(row.names.values())} | {span} | {row.meaning} |"


TABLES: Final[dict[str, Callable[[], Iterator[str]]]] = {"wire.md": apis, "clients.md": served}

if __name__ == "__main__":
    for made in TABLES:
        (FOLDER / made).write_text(page(made), "utf-8")
