"""The clients' host: who can be asked, and the ledger of what was ever produced."""

from emulator.clients.client_host import Clients
from emulator.inputs.statements import CrashBroker, FreezeBroker, Settle
from tests.support.running import do, produce, with_topic


def test_only_brokers_that_can_answer_are_asked_in_the_order_of_their_ids() -> None:
    cluster, _ = with_topic(1, 2)
    clients = cluster.clients
    assert isinstance(clients, Clients)
    assert clients.askable() == [0, 1, 2, 3]
    do(cluster, CrashBroker(broker=0), FreezeBroker(broker=2))
    assert clients.askable() == [1, 3]


def test_the_ledger_knows_every_record_by_its_number() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, produce("a", count=3), produce("b"), Settle())
    clients = cluster.clients
    assert [clients.value_of(record) for record in (1, 2, 3, 4)] == ["a-0", "a-1", "a-2", "b"]
    assert clients.entry_of(4).producer == "p1"


def test_without_a_leader_the_error_says_whether_there_is_such_a_topic() -> None:
    cluster, _ = with_topic(1, 2)
    assert cluster.clients.no_leader_error("t") == "LEADER_NOT_AVAILABLE"
    assert cluster.clients.no_leader_error("x") == "UNKNOWN_TOPIC_OR_PARTITION"
