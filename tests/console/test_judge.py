"""At many moments of random faults, in both modes, the console says what is so.

Headline, header, status column, inspector, strip and sentences are compared with a judge that looks
at the cluster's own state; headline and counts after everything that the cluster does, the others
after each statement, often in waits, and after a sample of what the cluster does between, drawn by
the run's seed. ``TIDEGAUGE_JUDGED_RUNS`` sets how many runs of each mode are judged.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import pytest

from console.model.workspace import Stage
from console.render.bars import header_line
from console.render.inspector import partition_lines
from console.render.lines import text_of
from console.render.overview import healthy_sentence
from console.render.partition_columns import state_cell
from console.render.time_bar import worst_of
from console.render.verdict import verdict_line
from emulator.cluster import Cluster
from emulator.events import Event, PartitionStateChanged, ReplicaRoleChanged, TopicDeleted
from emulator.inputs.statements import (
    AnyInput,
    CreateTopic,
    CutLink,
    DelayLink,
    HoldMessages,
    PauseReplica,
    Produce,
    Wait,
)
from emulator.releases.config import resolve
from emulator.scenario.runner import Runner
from sessions.model.cluster_view import ClusterView
from sessions.model.states import PartitionState
from sessions.model.verdict import brokers_in_words, words
from sessions.model.verdict import verdict as worst_verdict
from tests.console.fakes import ListSource
from tests.console.judge import Elections, HighWatermarks, PartitionTruth, Truth, judge, verdict
from tests.support.kraft_soak import STATEMENTS, KraftSoak
from tests.support.random_scripts import statements
from tests.support.soak import RandomRun, Soak

RUNS = int(os.environ.get("TIDEGAUGE_JUDGED_RUNS", "3"))
LENGTH = 20
STEP_US = 700_000
"""Waits are cut into pieces of this length, with a look after each."""
PIECES_MAX = 12
SAMPLED = 20
"""One of so many kernel events that do something is followed by a look at everything."""
SAMPLED_MAX = 60
"""How many such looks a run has at most: they take most of its time."""
WIDTH = 300
CHANGES_OF_LEADERS = (PartitionStateChanged, ReplicaRoleChanged, TopicDeleted)

Begin = Callable[[int], tuple[RandomRun, Callable[[], AnyInput]]]
"""Makes the run of a seed, and what draws its next statement."""


class Watched(ListSource):
    """A source that shows a cluster's events so far."""

    def __init__(self) -> None:
        super().__init__([])

    def take(self, event: Event) -> None:
        """Take the next event."""
        self.history.append(event)
        self.view.apply(event)


class SteppedCluster(Cluster):
    """A cluster that tells when it has dispatched a kernel event."""

    after_step: Callable[[], None] | None = None

    def step(self) -> bool:
        """Dispatch one kernel event, and tell."""
        did = super().step()
        if self.after_step is not None:
            self.after_step()
        return did


class Judged:
    """A random run whose every moment is compared with what the console says."""

    def __init__(self, run: RandomRun, seed: int) -> None:
        self.run = run
        self.sample = Random(seed)
        self.sampled = 0
        self.source = Watched()
        self.view: ClusterView = self.source.view
        self.elections = Elections()
        self.high_watermarks = HighWatermarks()
        cluster = SteppedCluster(run.cluster.state.spec, observers=[self.take])
        run.cluster = cluster
        cluster.after_step = self.after_step
        run.runner = Runner(run.cluster)
        self.stage = Stage(self.source, paused=True)
        self.looks = 0
        self.compared = 0
        self.stalled = 0

    def take(self, event: Event) -> None:
        """Take the next event, and look who leads."""
        self.source.take(event)
        if isinstance(event, CHANGES_OF_LEADERS) and hasattr(self.run, "cluster"):
            self.elections.look(self.run.cluster)

    def after_step(self) -> None:
        """Compare headline and counts, and now and then everything, if there are new events."""
        if self.compared == self.view.seq:
            return
        self.compare_counts()
        if self.sampled < SAMPLED_MAX and not self.sample.randrange(SAMPLED):
            self.sampled += 1
            self.compare()

    def compare_counts(self) -> None:
        """Compare headline and counts."""
        self.elections.look(self.run.cluster)
        self.high_watermarks.look(self.run.cluster)
        truth = self._truth()
        self.compared = self.view.seq
        counts = self.view.counts()
        said = (self.source.history[-1], counts, truth)
        headline, expected = words(self.view, worst_verdict(counts)), verdict(truth)
        assert headline.startswith(expected), (headline, said)
        assert expected or not headline.split(":")[0].isupper(), (headline, said)
        judged = truth.partitions.values()
        assert counts.offline == sum(partition.is_offline for partition in judged), said
        assert counts.blocked == sum(partition.is_blocked for partition in judged), said
        assert counts.refused == sum(partition.is_refused for partition in judged), said
        assert counts.under_replicated == sum(bool(partition.out) for partition in judged), said
        assert counts.lost_records == sum(partition.lost for partition in judged), said
        assert counts.unclean == self._unclean(truth), said

    def _truth(self) -> Truth:
        """What is so, of the partitions that the screens know."""
        truth = judge(self.run.cluster, self.elections.led)
        known = {tp: of for tp, of in truth.partitions.items() if tp in self.view.partitions}
        return truth._replace(partitions=known)

    def _unclean(self, truth: Truth) -> int:
        unclean = self.elections.unclean
        return sum(
            unclean.get(tp, False) and partition.leader >= 0
            for tp, partition in truth.partitions.items()
        )

    def do(self, wanted: AnyInput) -> None:
        """Give a statement, and compare; long waits are looked into."""
        if isinstance(wanted, Wait) and wanted.duration_us > STEP_US:
            for _ in range(min(PIECES_MAX, wanted.duration_us // STEP_US)):
                self.run.do(Wait(duration_us=STEP_US))
                self.compare()
        else:
            self.run.do(wanted)
            self.compare()

    def compare(self) -> None:
        """Compare all that is said at this moment."""
        self.looks += 1
        self.elections.look(self.run.cluster)
        self.high_watermarks.look(self.run.cluster)
        truth = self._truth()
        self.stage.follow()
        header = text_of(header_line(self.stage, WIDTH))
        sentence = healthy_sentence(self.stage)
        shown = text_of(verdict_line(self.stage, WIDTH))[3:]
        said = verdict(truth)
        if said:
            assert shown.startswith(said), (shown, said, truth)
        else:
            assert not shown.split(":")[0].isupper(), (shown, truth)
        if not truth.controls and self.view.partitions:
            assert "No faults" not in sentence
        for name, told in self._counts(truth).items():
            assert _count_in(header, name) == told, (name, header, truth)
        for tp, partition in self.view.partitions.items():
            if tp in truth.partitions and partition.state != "nonexistent":
                self._compare_partition(partition, truth.partitions[tp])

    def _counts(self, truth: Truth) -> dict[str, int]:
        judged = truth.partitions.values()
        return {
            "offl": sum(partition.is_offline for partition in judged),
            "wait": sum(bool(partition.waits_for) for partition in judged),
            "urp": sum(bool(partition.out) for partition in judged),
            "uncl": self._unclean(truth),
        }

    def _compare_partition(self, partition: PartitionState, truth: PartitionTruth) -> None:
        tp = partition.name
        word, _ = state_cell(self.stage.index.severity[tp], self.stage.glyphs)
        drawer = "\n".join(map(text_of, partition_lines(self.stage, partition, WIDTH)))
        nobody = not truth.acting and (truth.has_led or not truth.named_serves)
        said = (tp, word, drawer, truth)
        if truth.is_offline:
            assert word.endswith("OFFL"), said
        elif nobody:
            assert word.endswith("DEAD"), said
        elif truth.acting:
            assert word.split()[-1:] not in (["OFFL"], ["DEAD"]), said
        if truth.waits_for and "acks=all is refused" not in drawer:
            assert f"waits for {brokers_in_words(truth.waits_for)}" in drawer, said
            assert word.strip(), said
        if truth.is_offline or nobody:
            assert "writes nobody takes them" in drawer, said
            assert worst_of([self.view.counts()]).words in ("NO LEADER", "WRITES BLOCKED")
        if truth.out:
            assert word.strip(), said
        assert len(partition.lost) == truth.lost, said
        assert partition.min_isr == truth.min_isr, said
        writes = "ok" if truth.is_served else "nobody"
        if truth.acting and not truth.is_offline:
            writes = "refused" if truth.is_refused else "waiting" if truth.waits_for else "ok"
        now_us = self.view.time_us
        if writes == "ok" and self.high_watermarks.is_stalled(self.run.cluster, tp, now_us):
            writes = "waiting"
            self.stalled += 1
        assert self.view.writes(partition) == writes, said


def _count_in(header: str, name: str) -> int:
    found = re.search(rf"\b{name} ([\d,]+)", header)
    return 0 if found is None else int(found[1].replace(",", ""))


def zookeeper(seed: int) -> tuple[RandomRun, Callable[[], AnyInput]]:
    """A run with ZooKeeper, and what draws its next statement."""
    run = Soak(seed)
    return run, lambda: statements(run.draw, 1)[0]


def kraft(seed: int) -> tuple[RandomRun, Callable[[], AnyInput]]:
    """A run without."""
    run = KraftSoak(seed)

    def drawn() -> AnyInput:
        choice: Any = run.draw.choice(STATEMENTS)
        wanted: AnyInput = choice(run.draw, run.cluster)
        return wanted

    return run, drawn


DISAGREED: dict[Begin, tuple[int, ...]] = {
    zookeeper: (21, 119, 158, 173),
    kraft: (23, 28, 32, 50, 55, 76, 89, 125),
}
"""Seeds of runs in which the console and the judge once said different things."""


def runs() -> Iterator[Any]:
    """The runs to judge: the first ones of both modes, and those that once disagreed."""
    for begin, disagreed in DISAGREED.items():
        for seed in dict.fromkeys((*range(RUNS), *disagreed)):
            yield pytest.param(begin, seed, id=f"{begin.__name__}-{seed}")


@pytest.mark.parametrize(("begin", "seed"), [*runs()])
def test_the_console_says_what_is_so(begin: Begin, seed: int) -> None:
    run, drawn = begin(seed * 7)
    judged = Judged(run, seed)
    factor = Random(seed).randint(2, 3)
    judged.do(CreateTopic(topic="t", partitions=2, replication_factor=factor))
    for _ in range(LENGTH):
        judged.do(drawn())
    judged.do(Wait(duration_us=PIECES_MAX * STEP_US))
    assert judged.looks > LENGTH + judged.sampled


def pause(follower: int, leader: int) -> Sequence[AnyInput]:
    """Let a follower no longer fetch."""
    return (PauseReplica(tp="t-0", broker=follower),)


def cut(follower: int, leader: int) -> Sequence[AnyInput]:
    """Cut it off from its leader, so that nothing reaches it."""
    return (CutLink(source=leader, destination=follower, one_way=True),)


def hold(follower: int, leader: int) -> Sequence[AnyInput]:
    """Hold its requests back."""
    return (HoldMessages(source=follower, destination=leader, api="Fetch"),)


@pytest.mark.parametrize("silence", [pause, cut, hold])
@pytest.mark.parametrize("begin", [zookeeper, kraft])
def test_writes_wait_for_a_follower_that_does_not_fetch(
    begin: Begin, silence: Callable[[int, int], Sequence[AnyInput]]
) -> None:
    """From the moment on in which it cannot, until the leader takes it out of the ISR."""
    judged, leader, follower = replicated(begin)
    for statement in silence(follower, leader):
        judged.do(statement)
    assert judged.view.counts().blocked == 1
    waits = f"WRITES BLOCKED: 1 partition waits for broker {follower}"
    assert text_of(verdict_line(judged.stage, WIDTH))[3:].startswith(waits)
    judged.do(Produce(topic="t", acks=1))
    lag_us = lag_of(judged)
    judged.run.do(Wait(duration_us=lag_us * 3 // 2))
    judged.do(Wait(duration_us=PIECES_MAX * STEP_US))
    assert judged.view.partitions["t-0"].isr == [leader]
    assert judged.view.counts().blocked == 0


@pytest.mark.parametrize("begin", [zookeeper, kraft])
def test_writes_wait_for_a_follower_whose_fetches_take_too_long(begin: Begin) -> None:
    """Such a high watermark is seen from replica.lag.time.max.ms on."""
    judged, leader, follower = replicated(begin)
    lag_us = lag_of(judged)
    judged.do(DelayLink(source=follower, destination=leader, delay_us=3 * lag_us))
    judged.do(Produce(topic="t", acks=1))
    judged.run.do(Wait(duration_us=lag_us - STEP_US))
    judged.do(Wait(duration_us=PIECES_MAX * STEP_US))
    assert judged.stalled


def lag_of(judged: Judged) -> int:
    """replica.lag.time.max.ms in microseconds."""
    return resolve(judged.run.version, judged.run.cluster.state.spec.config).replica_lag_time_max_us


def replicated(begin: Begin) -> tuple[Judged, int, int]:
    """A run with a partition, its leader and its follower."""
    run, _ = begin(0)
    judged = Judged(run, 0)
    judged.do(CreateTopic(topic="t", partitions=1, replication_factor=2))
    judged.do(Wait(duration_us=STEP_US))
    leader, follower = run.cluster.state.states["t-0"].isr
    return judged, leader, follower
