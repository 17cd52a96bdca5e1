from console.model.alerts import BROKER_DOWN, CALM, alert_of, edges, nearest
from sessions.model.health import Counts
from tests.console.fakes import ListSource, failover

UP = Counts(brokers_up=3, brokers=3, partitions=4)


def test_the_alert_is_the_worst_that_can_be_said() -> None:
    assert alert_of(UP) == CALM
    assert alert_of(Counts(brokers_up=2, brokers=3)) == BROKER_DOWN
    assert (
        alert_of(Counts(brokers_up=2, brokers=3, at_min_isr=1, under_replicated=2)) == "at min ISR"
    )
    assert alert_of(Counts(offline=1, under_min_isr=4)) == "NO LEADER"
    assert alert_of(Counts(blocked=1, refused=2)) == "WRITES BLOCKED"
    assert alert_of(Counts(3, 3, 4, trouble=3)) == "ZOOKEEPER UNREACHABLE"
    assert alert_of(Counts(3, 3, 4, lost=1, lost_records=7)) == "RECORDS LOST"


def test_brokers_that_start_are_no_alert() -> None:
    starting = Counts(brokers_up=1, brokers=3)
    found = edges([(1, 10, starting), (2, 20, UP), (3, 30, starting)])
    assert [(edge.seq, edge.before, edge.now) for edge in found] == [(3, CALM, BROKER_DOWN)]


def test_counts_that_change_without_another_alert_are_no_edge() -> None:
    one, two = (Counts(3, 3, 4, under_replicated=n) for n in (1, 2))
    found = edges([(1, 10, UP), (2, 20, one), (3, 30, two), (4, 40, UP)])
    assert [(edge.seq, edge.now) for edge in found] == [(2, "under-replicated"), (4, CALM)]


def test_the_nearest_edge_lies_beyond_the_cursor() -> None:
    found = edges(ListSource(failover()).samples())
    assert found[-1].now == "NO LEADER"
    first, second = found[0], found[1]
    assert nearest(found, 0, 1) == first
    assert nearest(found, first.seq, 1) == second
    assert nearest(found, first.seq, -1) is None
    assert nearest(found, 10_000, -1) == found[-1]
