"""Blocks of producer ids, and what happens when the znode that they come from is not as it was."""

import json

import pytest

from emulator.broker.membership import BLOCK_SIZE
from emulator.broker.zookeeper_membership.producer_ids import ID_MAX
from emulator.events import CLIENTS
from emulator.inputs.statements import (
    CrashBroker,
    CutLink,
    HealLinks,
    StartBroker,
    Wait,
    ZkCommand,
)
from emulator.protocol import AnyMessage, InitProducerIdRequest, InitProducerIdResponse
from emulator.zookeeper.data import PRODUCER_IDS as PATH
from tests.support.lab import Lab
from tests.support.memberships import producer_ids

RESPONSE_US = 50_000


class Ears:
    """The clients, with a record of the ids that they are told."""

    def __init__(self, lab: Lab) -> None:
        self.heard: list[tuple[str, int, int]] = []
        self._clients = lab.cluster.clients
        lab.cluster.kernel.actors[CLIENTS] = self

    def handle(self, source: int, message: AnyMessage) -> None:
        if isinstance(message, InitProducerIdResponse):
            self.heard.append((message.error, message.producer_id, message.producer_epoch))
        self._clients.handle(source, message)


def ask(lab: Lab, broker: int = 0, times: int = 1) -> list[tuple[str, int, int]]:
    """What a broker answers when it is asked for an id: error, id, epoch."""
    ears = Ears(lab)
    for _ in range(times):
        lab.cluster.network.send(CLIENTS, broker, InitProducerIdRequest())
    lab.do(Wait(duration_us=RESPONSE_US))
    return ears.heard


def block(lab: Lab) -> dict[str, object] | None:
    data = lab.cluster.zookeeper.get(PATH).data
    return None if data is None else json.loads(data)


@pytest.mark.parametrize("version", ["0.11", "1.1", "2.8"])
def test_each_broker_takes_a_block_when_it_starts(version: str) -> None:
    lab = Lab(version, brokers=3)
    assert block(lab) == {"version": 1, "broker": 2, "block_start": "2000", "block_end": "2999"}
    assert lab.cluster.zookeeper.get(PATH).version == 3
    assert ask(lab, 1, 2) == [("NONE", 1000, 0), ("NONE", 1001, 0)]
    assert ask(lab, 0) == [("NONE", 0, 0)]


LOADING = ("COORDINATOR_LOAD_IN_PROGRESS", -1, -1)


@pytest.mark.parametrize("mode", ["zookeeper", "kraft"])
def test_from_3_6_a_broker_does_not_wait_for_its_block(mode: str) -> None:
    """Asked of real brokers of 3.5.2 (which wait), 3.6.1, 3.9 and 4.1: each after its start."""
    lab = Lab("3.9", brokers=3, mode=mode)
    assert ask(lab, 1) == [LOADING]
    assert ask(lab, 1, 2) == [("NONE", 0, 0), ("NONE", 1, 0)]
    assert ask(lab, 0) == [LOADING]
    assert ask(lab, 0) == [("NONE", 1000, 0)]


@pytest.mark.parametrize("mode", ["zookeeper", "kraft"])
def test_from_3_6_a_broker_asks_early_for_the_next_block(mode: str) -> None:
    lab = Lab("3.9", brokers=2, mode=mode)
    assert ask(lab) == [LOADING]
    state = producer_ids(lab.cluster, 0)
    state.next = 900
    assert ask(lab) == [("NONE", 900, 0)]
    assert ask(lab, 1) == [LOADING]
    assert ask(lab, 1) == [("NONE", 2000, 0)]
    state.next = BLOCK_SIZE - 1
    assert ask(lab, 0, 2) == [("NONE", 999, 0), ("NONE", 1000, 0)]


def test_from_3_0_a_broker_takes_its_block_when_it_is_asked() -> None:
    lab = Lab("3.5", brokers=3)
    assert block(lab) is None
    assert ask(lab, 1, 2) == [("NONE", 0, 0), ("NONE", 1, 0)]
    assert ask(lab, 0) == [("NONE", 1000, 0)]
    assert block(lab) == {"version": 1, "broker": 0, "block_start": "1000", "block_end": "1999"}


def test_before_0_11_there_is_no_such_znode() -> None:
    assert Lab("0.10.2").cluster.zookeeper.find(PATH) is None


def test_a_used_up_block_is_followed_by_another() -> None:
    lab = Lab("2.4", brokers=1)
    producer_ids(lab.cluster, 0).next = BLOCK_SIZE - 1
    assert ask(lab, 0, 2) == [("NONE", 999, 0), ("NONE", 1000, 0)]


def test_what_is_left_of_a_block_is_lost_at_a_restart() -> None:
    lab = Lab("2.4", brokers=1)
    assert ask(lab) == [("NONE", 0, 0)]
    lab.do(CrashBroker(broker=0))
    lab.do(StartBroker(broker=0))
    assert ask(lab) == [("NONE", 1000, 0)]


def test_a_broker_without_zookeeper_gives_out_what_it_has_and_then_does_not_answer() -> None:
    lab = Lab("2.4", brokers=1)
    lab.do(CutLink(source=0, destination=-1))
    assert ask(lab) == [("NONE", 0, 0)]
    producer_ids(lab.cluster, 0).next = -1
    assert ask(lab) == []


@pytest.mark.parametrize("version", ["2.4", "3.5"])
def test_a_lost_response_of_zookeeper_gives_no_id_until_there_is_one(version: str) -> None:
    lab = Lab(version, brokers=1)
    producer_ids(lab.cluster, 0).next = -1
    before = block(lab)
    lab.do(CutLink(source=-1, destination=0, one_way=True))
    assert ask(lab) == []
    assert block(lab) == before
    lab.do(HealLinks())
    assert ask(lab) == [("NONE", 1000 if before else 0, 0)]


@pytest.mark.parametrize(
    "data",
    [
        "what?",
        '{"version":1}',
        '{"version":1,"broker":0,"block_start":"0","block_end":"many"}',
        f'{{"version":1,"broker":0,"block_start":"0","block_end":"{ID_MAX - 1}"}}',
    ],
    ids=["no JSON", "no fields", "no number", "no ids left"],
)
@pytest.mark.parametrize(
    ("version", "response"), [("3.5", ("UNKNOWN_SERVER_ERROR", -1, -1)), ("3.9", LOADING)]
)
def test_a_znode_that_cannot_be_gone_on_from_gives_no_id(
    version: str, response: tuple[str, int, int], data: str
) -> None:
    lab = Lab(version, brokers=1)
    lab.do(ZkCommand(command="set", path=PATH, data=data))
    assert ask(lab) == [response]
    assert lab.cluster.zookeeper.get(PATH).data == data


def test_without_the_znode_there_is_no_id() -> None:
    lab = Lab("3.5", brokers=1)
    lab.do(ZkCommand(command="delete", path=PATH))
    assert ask(lab) == [("UNKNOWN_SERVER_ERROR", -1, -1)]
