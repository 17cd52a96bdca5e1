"""Events written by hand: a tiny cluster that does what it is told, legal or not, and says so.

It keeps whole logs as lists of record ids, so that tests can compare what clever code made of the
events with what the simplest code makes of them.
"""

from collections.abc import Callable, Iterator

from hypothesis import strategies as st

from emulator.events import (
    ClusterCreated,
    Event,
    HighWatermarkChanged,
    IsrChanged,
    LogCreated,
    LogTruncated,
    PartitionStateChanged,
    ProduceAcknowledged,
    ProduceFailed,
    ProduceRetried,
    ProduceSent,
    RecordsAppended,
    RemoteLogEndOffsetChanged,
    ReplicaRoleChanged,
    TopicCreated,
)

BROKERS = (0, 1, 2)


class Story:
    """Events so far, and the state that they tell of; each method is one happening."""

    def __init__(self, partitions: int = 1, min_isr: int = 1) -> None:
        self.events: list[Event] = []
        self.time_us = 0
        self.cause = 0
        self.next_record = 1
        self.logs: dict[tuple[str, int], list[int]] = {}
        self.hw: dict[tuple[str, int], int] = {}
        self.leader: dict[str, int] = {}
        self.epoch: dict[str, int] = {}
        self.isr: dict[str, list[int]] = {}
        self.batches: list[ProduceSent] = []
        self.answered: set[int] = set()
        self.tell(ClusterCreated, "3.9", 1, list(BROKERS), [], {}, False)
        config = {"min.insync.replicas": str(min_isr)}
        self.tell(TopicCreated, "orders", [list(BROKERS)] * partitions, config)
        for number in range(partitions):
            tp = f"orders-{number}"
            for broker in BROKERS:
                self.logs[tp, broker] = []
                self.hw[tp, broker] = 0
                self.tell(LogCreated, tp, broker)
            self.isr[tp] = list(BROKERS)
            self.epoch[tp] = -1
            self.elect(tp, 0)

    @property
    def partitions(self) -> list[str]:
        """The partitions' names."""
        return list(self.isr)

    def tell(self, type_: Callable[..., Event], *fields: object) -> Event:
        """State one event."""
        event = type_(len(self.events) + 1, self.time_us, self.cause, *fields)
        self.events.append(event)
        return event

    def wait(self, us: int) -> None:
        """Let time pass."""
        self.time_us += us

    # ---- the controller

    def elect(self, tp: str, leader: int) -> None:
        """Make a broker leader, whatever its log is like; the others follow and are cut."""
        self.leader[tp] = leader
        self.epoch[tp] += 1
        if leader not in self.isr[tp]:
            self.isr[tp] = [leader]
        self.tell_state(tp)
        self.tell(ReplicaRoleChanged, tp, leader, "leader", leader, self.epoch[tp])
        for broker in BROKERS:
            if broker != leader:
                self.tell(ReplicaRoleChanged, tp, broker, "follower", leader, self.epoch[tp])
                self.cut(tp, broker)

    def cut(self, tp: str, broker: int) -> None:
        """Cut a follower's log back to where it begins to differ from its leader's."""
        log, leader_log = self.logs[tp, broker], self.logs[tp, self.leader[tp]]
        same = 0
        while same < min(len(log), len(leader_log)) and log[same] == leader_log[same]:
            same += 1
        if same < len(log):
            self.tell(LogTruncated, tp, broker, same, len(log), "epoch")
            del log[same:]
            if self.hw[tp, broker] > same:
                self.move_hw(tp, broker, same, "truncate")

    def tell_state(self, tp: str) -> None:
        """Write the state znode."""
        zk_version = sum(isinstance(event, PartitionStateChanged) for event in self.events)
        state = (self.leader[tp], self.epoch[tp], list(self.isr[tp]), 1, zk_version)
        self.tell(PartitionStateChanged, tp, *state)

    def change_isr(self, tp: str, broker: int) -> None:
        """Let a follower leave the ISR, or come back."""
        if broker == self.leader[tp]:
            return
        self.isr[tp] = sorted(set(self.isr[tp]) ^ {broker})
        self.tell_state(tp)
        self.tell(IsrChanged, tp, self.leader[tp], list(self.isr[tp]), 1)
        self.commit(tp, "isr")

    # ---- producers

    def send(self, tp: str, count: int, acks: int = -1, keys: bool = False) -> ProduceSent:
        """Send a batch."""
        first, self.next_record = self.next_record, self.next_record + count
        values = [f"v{record}" for record in range(first, first + count)]
        names = [f"k{record}" for record in range(first, first + count)] if keys else []
        event = self.tell(ProduceSent, "p1", tp, first, names, values, acks)
        assert isinstance(event, ProduceSent)
        self.batches.append(event)
        return event

    def append(self, batch: ProduceSent) -> None:
        """The leader writes a batch (again, if it is told so again)."""
        leader, count = self.leader[batch.tp], len(batch.values)
        log = self.logs[batch.tp, leader]
        place = (len(log), count, self.epoch[batch.tp], batch.first_record)
        self.tell(RecordsAppended, batch.tp, leader, *place)
        log.extend(range(batch.first_record, batch.first_record + count))

    def acknowledge(self, batch: ProduceSent) -> None:
        """The producer is told that all is well, at the last copy's offset (-1: there is none)."""
        if batch.first_record not in self.answered:
            self.answered.add(batch.first_record)
            log = self.logs[batch.tp, self.leader[batch.tp]]
            known = batch.acks and batch.first_record in log
            base = len(log) - 1 - log[::-1].index(batch.first_record) if known else -1
            response = (batch.tp, batch.first_record, len(batch.values), base)
            self.tell(ProduceAcknowledged, "p1", *response)

    def fail(self, batch: ProduceSent) -> None:
        """The producer gives up."""
        if batch.first_record not in self.answered:
            self.answered.add(batch.first_record)
            response = (batch.tp, batch.first_record, len(batch.values), "REQUEST_TIMED_OUT")
            self.tell(ProduceFailed, "p1", *response)

    def retry(self, batch: ProduceSent) -> None:
        """The producer sends it again and the leader writes it again."""
        if batch.first_record not in self.answered:
            self.tell(ProduceRetried, "p1", batch.tp, batch.first_record, "NETWORK_EXCEPTION", True)
            self.append(batch)

    # ---- replication

    def fetch(self, tp: str, broker: int, records_max: int = 1_000) -> None:
        """A follower writes what it lacks of the leader's log, by runs, and fetches again."""
        leader = self.leader[tp]
        if broker == leader:
            return
        log, leader_log = self.logs[tp, broker], self.logs[tp, leader]
        for run in runs(leader_log[len(log) : len(log) + records_max]):
            place = (len(log), len(run), self.epoch[tp], run[0])
            self.tell(RecordsAppended, tp, broker, *place)
            log.extend(run)
        self.tell(RemoteLogEndOffsetChanged, tp, leader, broker, len(log))
        self.commit(tp, "fetch")

    def commit(self, tp: str, occasion: str) -> None:
        """The leader's HW becomes the smallest LEO of the ISR, if it is above it."""
        leader = self.leader[tp]
        low = min(len(self.logs[tp, broker]) for broker in {*self.isr[tp], leader})
        if low > self.hw[tp, leader]:
            self.move_hw(tp, leader, low, occasion)

    def respond(self, tp: str, broker: int) -> None:
        """A follower learns of its leader's HW."""
        hw = min(self.hw[tp, self.leader[tp]], len(self.logs[tp, broker]))
        if hw > self.hw[tp, broker]:
            self.move_hw(tp, broker, hw, "response")

    def move_hw(self, tp: str, broker: int, hw: int, occasion: str) -> None:
        """A replica's HW moves."""
        self.tell(HighWatermarkChanged, tp, broker, hw, self.hw[tp, broker], occasion)
        self.hw[tp, broker] = hw


def runs(records: list[int]) -> Iterator[list[int]]:
    """Stretches of consecutive numbers."""
    run: list[int] = []
    for record in records:
        if run and record != run[-1] + 1:
            yield run
            run = []
        run.append(record)
    if run:
        yield run


def committed_story() -> Story:
    """One batch of three records goes the normal way in 100 us steps."""
    story = Story()
    story.wait(1_000)
    batch = story.send("orders-0", 3)
    story.wait(100)
    story.append(batch)
    for broker in (1, 2):
        story.wait(100)
        story.fetch("orders-0", broker)
    story.wait(100)
    story.acknowledge(batch)
    for broker in (1, 2):
        story.respond("orders-0", broker)
    story.wait(500)
    return story


@st.composite
def stories(draw: st.DrawFn, steps_max: int = 40) -> Story:
    """Random sessions of two partitions, with retries, failures and unclean elections."""
    story = Story(partitions=2)
    tps, brokers = st.sampled_from(story.partitions), st.sampled_from(BROKERS)
    for _ in range(draw(st.integers(0, steps_max))):
        story.wait(draw(st.integers(0, 3)) * 100)
        match draw(st.integers(0, 9)):
            case 0 | 1:
                batch = story.send(
                    draw(tps), draw(st.integers(1, 4)), draw(st.sampled_from((-1, 0, 1)))
                )
                if draw(st.booleans()):
                    story.append(batch)
            case 2 | 3 | 4:
                story.fetch(draw(tps), draw(brokers), draw(st.integers(0, 5)))
            case 5:
                story.respond(draw(tps), draw(brokers))
            case 6:
                story.change_isr(draw(tps), draw(brokers))
            case 7:
                story.elect(draw(tps), draw(brokers))
            case _:
                if story.batches:
                    happening = draw(st.sampled_from((story.acknowledge, story.fail, story.retry)))
                    happening(draw(st.sampled_from(story.batches)))
    return story
