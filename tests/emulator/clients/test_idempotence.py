"""How idempotent producers number their batches, release by release."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.clients.idempotence import Sequencer, idempotence_conflict
from emulator.clients.state import SENT, WAITING, Flight, Producer
from emulator.inputs.statements import Produce
from emulator.protocol import RecordBatch
from emulator.releases.profiles import PROFILES

TP = "t-0"
OUT_OF_ORDER, UNKNOWN = "OUT_OF_ORDER_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID"
FIRST, MIDDLE, NOW = "0.11", "2.4", "3.9"


class Bench:
    """A producer with id 7 that numbers batches as a release does."""

    def __init__(self, version: str) -> None:
        self.sequencer = Sequencer(PROFILES[version])
        self.producer = Producer("p1")
        self.producer.identity.producer_id, self.producer.identity.epoch = 7, 0

    def batch(self, count: int = 1, tp: str = TP) -> Flight:
        """A new batch that is numbered and sent."""
        flight = Flight(0, 0, 5, 0, tp, batch=RecordBatch(0, count, -1, 1))
        self.producer.flights.append(flight)
        self.sequencer.number(self.producer, flight)
        flight.phase, flight.attempts = SENT, 1
        return flight

    def acknowledge(self, flight: Flight, offset: int) -> None:
        self.producer.flights.remove(flight)
        self.sequencer.acknowledged(self.producer, flight, offset)

    def fail(self, flight: Flight, error: str, *, exhausted: bool = False) -> None:
        self.producer.flights.remove(flight)
        self.sequencer.failed(self.producer, flight, error, exhausted=exhausted)

    def expire(self, flight: Flight) -> None:
        self.producer.flights.remove(flight)
        self.sequencer.expired(self.producer, flight)

    def may_retry(self, flight: Flight, error: str, log_start: int = 0) -> bool:
        return self.sequencer.may_retry(self.producer, flight, error, log_start)

    def may_send(self, flight: Flight) -> bool:
        return self.sequencer.may_send(self.producer, flight)

    @property
    def owner(self) -> tuple[int, int]:
        return self.producer.identity.producer_id, self.producer.identity.epoch


def unnumbered(tp: str = TP) -> Flight:
    """A batch that has not been sent yet."""
    return Flight(0, 0, 5, 0, tp, batch=RecordBatch(0, 1, -1, 9))


def with_another_id() -> tuple[Bench, Flight]:
    """Up to 2.4: a batch is under way with id 7, which was given up for id 8; that counts anew."""
    bench = Bench(MIDDLE)
    refused, behind = bench.batch(), bench.batch()
    bench.fail(refused, OUT_OF_ORDER)
    bench.producer.identity.producer_id, bench.producer.identity.epoch = 8, 0
    bench.producer.flights.remove(behind)
    bench.batch()
    bench.producer.flights.insert(0, behind)
    return bench, behind


def numbers(*flights: Flight) -> list[tuple[int, int, int]]:
    """Id, epoch and first sequence number of each."""
    batches = [each.batch for each in flights if each.batch is not None]
    return [(b.producer_id, b.producer_epoch, b.base_sequence) for b in batches]


# ---- what does not go together


@pytest.mark.parametrize(
    ("version", "wanted", "word"),
    [
        (NOW, Produce(topic="t", acks=1), "acks=all"),
        (NOW, Produce(topic="t", acks=0), "acks=all"),
        (NOW, Produce(topic="t", retries=0), "retries"),
        (NOW, Produce(topic="t", in_flight=6), "at most 5"),
        (FIRST, Produce(topic="t", in_flight=2), "at most 1"),
    ],
)
def test_what_contradicts_idempotence_is_said(version: str, wanted: Produce, word: str) -> None:
    conflict = idempotence_conflict(PROFILES[version], wanted)
    assert conflict is not None
    assert word in conflict


@pytest.mark.parametrize(
    "wanted",
    [
        Produce(topic="t"),
        Produce(topic="t", acks=-1, retries=1),
        Produce(topic="t", in_flight=5),
    ],
)
def test_what_goes_together_is_let_be(wanted: Produce) -> None:
    assert idempotence_conflict(PROFILES[NOW], wanted) is None


# ---- numbers


def test_batches_are_numbered_one_after_another_in_each_partition() -> None:
    bench = Bench(NOW)
    sent = [bench.batch(3), bench.batch(2), bench.batch(), bench.batch(tp="t-1")]
    assert numbers(*sent) == [(7, 0, 0), (7, 0, 3), (7, 0, 5), (7, 0, 0)]


def test_a_batch_keeps_its_numbers() -> None:
    bench = Bench(NOW)
    flight = bench.batch()
    bench.sequencer.number(bench.producer, flight)
    assert numbers(flight, bench.batch()) == [(7, 0, 0), (7, 0, 1)]


def test_in_0_11_a_batch_counts_only_when_it_is_acknowledged() -> None:
    """So a record after one that was given up takes its number, and may be taken for it."""
    bench = Bench(FIRST)
    given_up = bench.batch()
    bench.fail(given_up, "REQUEST_TIMED_OUT", exhausted=True)
    following = bench.batch()
    assert numbers(given_up, following) == [(7, 0, 0), (7, 0, 0)]
    bench.acknowledge(following, 0)
    assert numbers(bench.batch()) == [(7, 0, 1)]


@given(counts=st.lists(st.integers(1, 9), min_size=1, max_size=20))
def test_numbers_leave_no_gap(counts: list[int]) -> None:
    bench = Bench(NOW)
    sent = [bench.batch(count) for count in counts]
    for before, after in pairwise(sent):
        assert before.batch is not None
        assert after.batch is not None
        assert after.batch.base_sequence == before.batch.base_sequence + before.batch.count


# ---- whose turn it is


def test_of_batches_to_be_sent_again_the_oldest_goes_first() -> None:
    bench = Bench(NOW)
    first, second = bench.batch(), bench.batch()
    first.phase = second.phase = WAITING
    assert (bench.may_send(first), bench.may_send(second)) == (True, False)
    bench.acknowledge(first, 0)
    assert bench.may_send(second)


def test_a_new_batch_is_sent_while_others_are_under_way() -> None:
    bench = Bench(NOW)
    bench.batch()
    assert bench.may_send(unnumbered())


def test_another_partition_is_not_held_up() -> None:
    bench = Bench(NOW)
    bench.batch().phase = WAITING
    assert bench.may_send(bench.batch(tp="t-1"))


@pytest.mark.parametrize(("version", "owner"), [(MIDDLE, (-1, -1)), (NOW, (7, 1))])
def test_nothing_new_is_sent_until_an_expired_batch_is_accounted_for(
    version: str, owner: tuple[int, int]
) -> None:
    bench = Bench(version)
    lost, after = bench.batch(), bench.batch()
    bench.expire(lost)
    new = unnumbered()
    assert not bench.may_send(new)
    bench.sequencer.resolve(bench.producer)
    assert not bench.may_send(new)
    bench.fail(after, "REQUEST_TIMED_OUT", exhausted=True)
    bench.sequencer.resolve(bench.producer)
    assert bench.may_send(new)
    assert bench.owner == owner


def test_an_expired_batch_is_accounted_for_if_a_later_one_succeeds() -> None:
    bench = Bench(NOW)
    lost, after = bench.batch(), bench.batch()
    bench.expire(lost)
    bench.acknowledge(after, 1)
    bench.sequencer.resolve(bench.producer)
    assert bench.owner == (7, 0)
    assert bench.may_send(unnumbered())
    assert numbers(bench.batch()) == [(7, 0, 2)]


def test_every_partition_in_doubt_is_looked_at() -> None:
    bench = Bench(NOW)
    lost, _ = bench.batch(), bench.batch()
    added_up, after = bench.batch(tp="t-1"), bench.batch(tp="t-1")
    short = bench.batch(tp="t-2")
    for flight in (lost, added_up, short):
        bench.expire(flight)
    bench.acknowledge(after, 1)
    bench.sequencer.resolve(bench.producer)
    assert list(bench.producer.identity.in_doubt) == [TP]
    assert bench.owner == (7, 1)
    assert bench.producer.identity.partitions["t-1"].owner == (7, 0)
    assert bench.producer.identity.partitions["t-2"].owner == (7, 1)


def test_a_batch_that_expires_before_it_is_numbered_leaves_no_doubt() -> None:
    bench = Bench(NOW)
    bench.batch()
    bench.sequencer.expired(bench.producer, unnumbered())
    assert bench.producer.identity.in_doubt == {}


# ---- out of order


@pytest.mark.parametrize("version", [MIDDLE, NOW])
def test_a_batch_behind_a_failed_one_is_tried_again_with_its_numbers(version: str) -> None:
    bench = Bench(version)
    bench.acknowledge(bench.batch(), 0)
    _, behind = bench.batch(), bench.batch()
    assert bench.may_retry(behind, OUT_OF_ORDER)
    assert numbers(behind) == [(7, 0, 2)]


@pytest.mark.parametrize("version", [MIDDLE, NOW])
def test_a_batch_before_one_that_is_written_is_tried_again_with_its_numbers(version: str) -> None:
    bench = Bench(version)
    first, second = bench.batch(), bench.batch()
    bench.acknowledge(second, 1)
    assert bench.may_retry(first, OUT_OF_ORDER)
    assert numbers(first) == [(7, 0, 0)]


def test_behind_an_expired_batch_the_very_next_number_begins_an_epoch() -> None:
    bench = Bench(NOW)
    lost, following, _ = bench.batch(), bench.batch(), bench.batch()
    bench.expire(lost)
    assert bench.may_retry(following, OUT_OF_ORDER)
    assert bench.owner == (7, 1)


def test_batches_before_and_further_behind_an_expired_one_wait() -> None:
    bench = Bench(NOW)
    first, lost, _, last = (bench.batch() for _ in range(4))
    bench.expire(lost)
    assert bench.may_retry(first, OUT_OF_ORDER)
    assert bench.may_retry(last, OUT_OF_ORDER)
    assert bench.owner == (7, 0)


@pytest.mark.parametrize("version", [MIDDLE, NOW])
def test_an_error_that_says_nothing_of_numbers_changes_none(version: str) -> None:
    bench = Bench(version)
    flight = bench.batch()
    assert bench.may_retry(flight, "NOT_ENOUGH_REPLICAS")
    assert not bench.may_retry(flight, "MESSAGE_TOO_LARGE")
    assert numbers(flight) == [(7, 0, 0)]
    assert not flight.renumbered


def test_a_gap_at_the_very_next_number_ends_the_id_up_to_2_4() -> None:
    bench = Bench(MIDDLE)
    bench.acknowledge(bench.batch(), 0)
    refused = bench.batch()
    assert not bench.may_retry(refused, OUT_OF_ORDER)
    bench.fail(refused, OUT_OF_ORDER)
    assert bench.owner == (-1, -1)
    assert bench.producer.identity.partitions == {}


def test_a_gap_at_the_very_next_number_begins_an_epoch_from_2_5() -> None:
    bench = Bench(NOW)
    bench.acknowledge(bench.batch(), 0)
    refused, behind = bench.batch(2), bench.batch()
    assert bench.may_retry(refused, OUT_OF_ORDER)
    assert numbers(refused, behind, bench.batch()) == [(7, 1, 0), (7, 1, 2), (7, 1, 3)]
    assert refused.renumbered


def test_a_renumbered_batch_is_tried_again_whatever_the_old_numbers_got() -> None:
    bench = Bench(NOW)
    refused, behind = bench.batch(), bench.batch()
    bench.may_retry(refused, OUT_OF_ORDER)
    owner = bench.owner
    assert bench.may_retry(behind, OUT_OF_ORDER)
    assert bench.owner == owner


def test_another_partition_goes_to_the_new_epoch_once_it_has_nothing_under_way() -> None:
    bench = Bench(NOW)
    other = bench.batch(tp="t-1")
    bench.may_retry(bench.batch(), OUT_OF_ORDER)
    new = unnumbered("t-1")
    assert not bench.may_send(new)
    bench.acknowledge(other, 0)
    assert bench.may_send(new)
    assert numbers(bench.batch(tp="t-1")) == [(7, 1, 0)]


# ---- a leader that knows nothing of the producer (1.1-2.4)


def test_an_unknown_producer_counts_anew_if_the_log_begins_past_what_it_wrote() -> None:
    bench = Bench(MIDDLE)
    bench.acknowledge(bench.batch(), 0)
    refused, behind = bench.batch(), bench.batch()
    assert bench.may_retry(refused, UNKNOWN, log_start=1)
    assert numbers(refused, behind) == [(7, 0, 0), (7, 0, 1)]
    assert bench.may_retry(behind, UNKNOWN, log_start=1)


@pytest.mark.parametrize(("log_start", "anew"), [(3, False), (7, False), (8, True)])
def test_what_a_producer_wrote_last_is_the_last_record_of_its_last_batch(
    log_start: int, anew: bool
) -> None:
    bench = Bench(MIDDLE)
    bench.acknowledge(bench.batch(3), 5)
    assert bench.may_retry(bench.batch(), UNKNOWN, log_start) is anew


def test_an_acknowledgement_without_an_offset_tells_no_place() -> None:
    bench = Bench(MIDDLE)
    bench.acknowledge(bench.batch(3), -1)
    assert bench.may_retry(bench.batch(), UNKNOWN, log_start=1)


def test_from_2_5_an_unknown_producer_begins_an_epoch() -> None:
    bench = Bench(NOW)
    assert bench.may_retry(bench.batch(), UNKNOWN)
    assert bench.owner == (7, 1)


def test_an_unknown_producer_whose_records_should_be_there_ends_its_id() -> None:
    bench = Bench(MIDDLE)
    bench.acknowledge(bench.batch(), 0)
    refused = bench.batch()
    assert not bench.may_retry(refused, UNKNOWN, log_start=0)
    bench.fail(refused, UNKNOWN)
    assert bench.owner == (-1, -1)


def test_a_batch_of_an_id_that_was_given_up_is_not_sent_again() -> None:
    bench = Bench(MIDDLE)
    refused, behind = bench.batch(), bench.batch()
    bench.fail(refused, OUT_OF_ORDER)
    assert bench.sequencer.has_lost_identity(bench.producer, behind)
    assert not Bench(NOW).sequencer.has_lost_identity(bench.producer, behind)


def test_only_a_batch_with_another_id_has_lost_its_identity() -> None:
    bench, behind = with_another_id()
    assert bench.sequencer.has_lost_identity(bench.producer, behind)
    assert not bench.sequencer.has_lost_identity(bench.producer, bench.batch())
    assert not bench.sequencer.has_lost_identity(bench.producer, unnumbered())
    assert not bench.sequencer.has_lost_identity(bench.producer, Flight(0, 0, 5, 0, TP))


def test_what_becomes_of_a_batch_with_another_id_changes_no_count() -> None:
    bench, behind = with_another_id()
    counts = bench.producer.identity.partitions[TP]
    assert not bench.may_retry(behind, OUT_OF_ORDER)
    bench.acknowledge(behind, 9)
    assert (counts.acked, counts.acked_offset) == (-1, -1)
    bench, behind = with_another_id()
    bench.fail(behind, OUT_OF_ORDER)
    assert bench.owner == (8, 0)


@pytest.mark.parametrize("version", [FIRST, MIDDLE])
def test_without_any_count_a_late_end_of_a_batch_changes_nothing(version: str) -> None:
    bench = Bench(version)
    refused, written, failed, expired = (bench.batch() for _ in range(4))
    bench.fail(refused, OUT_OF_ORDER)
    assert not bench.may_retry(written, OUT_OF_ORDER)
    bench.acknowledge(written, 1)
    bench.fail(failed, "REQUEST_TIMED_OUT")
    bench.expire(expired)
    assert bench.owner == (-1, -1)
    assert bench.producer.identity.partitions == {}


# ---- batches that are given up


def test_up_to_2_4_the_batches_behind_a_refused_one_move_down() -> None:
    bench = Bench(MIDDLE)
    refused, behind = bench.batch(3), bench.batch(2)
    bench.fail(refused, "MESSAGE_TOO_LARGE")
    assert numbers(behind, bench.batch()) == [(7, 0, 0), (7, 0, 2)]
    assert behind.renumbered


def test_up_to_2_4_the_batches_before_a_refused_one_stay() -> None:
    bench = Bench(MIDDLE)
    before, refused, behind = bench.batch(), bench.batch(3), bench.batch()
    bench.fail(refused, "MESSAGE_TOO_LARGE")
    assert numbers(before, behind) == [(7, 0, 0), (7, 0, 1)]
    assert not before.renumbered


def test_from_2_5_a_refused_batch_begins_an_epoch() -> None:
    bench = Bench(NOW)
    refused, behind = bench.batch(3), bench.batch(2)
    bench.fail(refused, "MESSAGE_TOO_LARGE")
    assert numbers(behind, bench.batch()) == [(7, 1, 0), (7, 1, 2)]


@pytest.mark.parametrize("version", [MIDDLE, NOW])
def test_the_numbers_of_a_batch_whose_retries_ran_out_stay_used(version: str) -> None:
    """Nobody knows whether it was written."""
    bench = Bench(version)
    bench.fail(bench.batch(), "REQUEST_TIMED_OUT", exhausted=True)
    assert numbers(bench.batch()) == [(7, 0, 1)]


@pytest.mark.parametrize(("error", "again"), [("NOT_ENOUGH_REPLICAS", True), (OUT_OF_ORDER, False)])
def test_in_0_11_only_retriable_errors_are_worth_another_attempt(error: str, again: bool) -> None:
    bench = Bench(FIRST)
    assert bench.may_retry(bench.batch(), error) is again
