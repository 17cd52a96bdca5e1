from console.model.lookback import Writes, last_match, statement_end
from console.model.reader import EventReader
from emulator.events import BrokerStateChanged, InputReceived, RecordsAppended
from tests.console.fakes import ListSource, failover


def reader() -> EventReader:
    return EventReader(ListSource(failover()))


def test_the_last_match_lies_at_or_before_the_place() -> None:
    def crashed(event: object) -> bool:
        return isinstance(event, BrokerStateChanged) and event.state == "crashed"

    found = last_match(reader(), 170, crashed)
    assert found is not None
    assert found.seq == 128
    assert last_match(reader(), 128, crashed) == found
    assert last_match(reader(), 127, crashed) is None
    assert last_match(reader(), 170, crashed, budget_ms=0) is None


def test_a_write_is_found_by_replica_and_offset_and_kept() -> None:
    writes = Writes(reader())
    found = writes.find("orders-0", 2, 9, 170)
    assert isinstance(found, RecordsAppended)
    assert (found.tp, found.broker) == ("orders-0", 2)
    assert writes.find("orders-0", 2, 9, 170) is found
    assert writes.find("orders-0", 2, 9, found.seq - 1) is None


def test_what_was_not_found_is_not_looked_for_again_at_once() -> None:
    source = ListSource(failover())
    writes = Writes(EventReader(source))
    assert writes.find("orders-0", 2, 99, 170) is None
    source.history.clear()
    assert writes.find("orders-0", 2, 99, 171) is None


def test_a_step_by_statement_ends_before_the_next_statement() -> None:
    found = reader()
    given = next(each for each in found.page(1, 500) if isinstance(each, InputReceived))
    assert statement_end(found, 1, 1) == given.seq - 1
    assert statement_end(found, given.seq - 1, 1) == found.source.last_seq
    assert statement_end(found, found.source.last_seq, 1) is None
    assert statement_end(found, found.source.last_seq, -1) == given.seq - 1
    assert statement_end(found, given.seq - 1, -1) is None
