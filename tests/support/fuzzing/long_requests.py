"""Requests with long lists: each list of an API in turn has thousands of items, all different.

An attempt has a cluster of its own, of one of some releases, and asks for one API. Handling a
request takes time in proportion to the request: one that takes its square stops a server for a
minute, though it is small enough to be let in.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, Final

from emulator.inputs.statements import CreateTopic
from emulator.wire.apis import API_NAMED, APIS
from emulator.wire.codec import encode_request
from emulator.wire.exceptions import UnwritableMessage
from emulator.wire.header import RequestHeader
from emulator.wire.messages.cluster import MetadataRequest, MetadataRequestTopic
from emulator.wire.schema import Array, Kind, fields_in
from emulator.wire.types import Message, Number, Sized
from tests.support.fuzzing import Attack
from tests.support.fuzzing.wire import CLUSTERS, HANDLED_SECONDS_MAX
from tests.support.wire_client import WireLab

ITEMS: Final = 20_000
"""The items of a long list: a fifth of what a request may have, in a fifth of the time."""
ListPath = tuple[str, ...]


@contextmanager
def target(folder: Path) -> Iterator[Attack]:
    """Attack clusters of this process."""
    del folder
    yield _attempt


def _attempt(chance: Random) -> None:
    """Send a request for each list of one API to a new cluster; another client is answered."""
    version, mode = chance.choice(CLUSTERS)
    lab = WireLab.made(version=version, mode=mode, brokers=3)
    lab.run(CreateTopic(topic="t", partitions=2, replication_factor=1))
    lab.pass_time(2_000_000)
    key = chance.choice(list(lab.external.versions))
    api, advertised = APIS[key], chance.choice(lab.external.versions[key])
    header = RequestHeader(key, advertised, 1, "long")
    for long in _lists(api.request, advertised):
        request = LongRequest(advertised, long).message(api.request)
        with suppress(UnwritableMessage):
            frame = encode_request(header, request)
            begun = process_time()
            lab.send_frame(lab.connect(), frame)
            lab.pass_time(20_000)
            taken = process_time() - begun
            shown = f"{api.name} {advertised} of {version} with {ITEMS:,} {'.'.join(long)}"
            assert taken < HANDLED_SECONDS_MAX, f"{shown}: takes {taken:.1f} s"
    oldest = lab.external.versions[API_NAMED["Metadata"].key][0]
    asked = MetadataRequest([MetadataRequestTopic(name="t")])
    assert lab.ask(lab.connect(), asked, oldest).topics


def _lists(message: type[Message], version: int, above: ListPath = ()) -> Iterator[ListPath]:
    """Yield the path of each list in a message."""
    for field in fields_in(message, version):
        kind, path = field.kind, above
        if isinstance(kind, Array):
            path = (*above, field.name)
            yield path
            kind = kind.item
        if isinstance(kind, type):
            yield from _lists(kind, version, path)


class LongRequest:
    """Makes a request in which one list is long and each other one has one item."""

    def __init__(self, version: int, long: ListPath) -> None:
        """Make requests of a version, with a long list at the path ``long``."""
        self._version = version
        self._long = long

    def message(self, message: type[Message], above: ListPath = (), number: int = 0) -> Message:
        """Return a message; ``number`` is its place in the long list."""
        return message(
            **{
                field.name: self._value(field.name, field.kind, above, number)
                for field in fields_in(message, self._version)
            }
        )

    def _value(self, name: str, kind: Kind, above: ListPath, number: int) -> Any:  # noqa: ANN401
        if isinstance(kind, Number):
            return self._number(name, kind, number)
        if kind is Sized.STRING:
            return f"{name}{number}"
        if kind is Sized.BYTES:
            return b""
        if isinstance(kind, Array):
            path = (*above, name)
            numbers = range(ITEMS) if path == self._long else (number,)
            return [self._value(name, kind.item, path, each) for each in numbers]
        assert isinstance(kind, type)
        return self.message(kind, above, number)

    def _number(self, name: str, kind: Number, number: int) -> int | bool | float | bytes:
        if kind.code == "16s":
            return number.to_bytes(16)
        if kind.code == "?":
            return False
        if kind.code == "d":
            return 1.0
        return number if "partition" in name else 0
