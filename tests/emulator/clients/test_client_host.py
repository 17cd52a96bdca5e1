"""The clients' host: each message reaches the client that it is for, and records are known."""

from emulator.clients.client_host import ClientHost
from emulator.inputs.statements import Settle
from tests.support.running import do, produce, with_topic


def test_the_ledger_knows_every_record_by_its_number() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, produce("a", count=3), produce("b"), Settle())
    clients = cluster.clients
    assert isinstance(clients, ClientHost)
    assert [clients.value_of(record) for record in (1, 2, 3, 4)] == ["a-0", "a-1", "a-2", "b"]
    assert clients.context.ledger.entry_of(4).producer == "p1"
