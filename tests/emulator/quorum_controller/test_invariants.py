"""What holds whatever happens: brokers come and go, leaders ask, people elect and reassign."""

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.registrations import PartitionRegistration
from emulator.quorum_controller.configuration_control import ConfigResource
from emulator.quorum_controller.partition_change_builder import Election
from emulator.quorum_controller.partition_index import PartitionIndex
from emulator.quorum_controller.result import ApiException
from emulator.quorum_controller.state import ControllerState
from emulator.simulation.snapshot import copier
from tests.emulator.quorum_controller.quorum import Quorum

BROKERS = (0, 1, 2, 3)
TOPICS = ("t", "u")
MIN_ISR = 2
brokers = st.sampled_from(BROKERS)
topics = st.sampled_from(TOPICS)
replica_lists = st.permutations(BROKERS).flatmap(
    lambda order: st.integers(1, 4).map(lambda size: tuple(order[:size]))
)


class Partitions(RuleBasedStateMachine):
    """A controller under random requests, and a ledger of who was in sync when."""

    @initialize(release=st.sampled_from(["3.9.2", "4.0.2", "4.1.2"]), elr=st.booleans())
    def begin(self, release: str, elr: bool) -> None:
        has_elr = release != "3.9.2"
        features = {"eligible.leader.replicas.version": int(elr)} if has_elr else {}
        self.quorum = Quorum(release, features=features)
        self.is_dead_elected = release.startswith("4.0")
        self.quorum.start(*BROKERS)
        for topic in TOPICS:
            self.quorum.create(topic, (0, 1, 2), min_insync_replicas=str(MIN_ISR))
        self.before = self.partitions()
        self.asked_for: tuple[int, ...] = ()
        self.cancelled: set[str] = set()

    def partitions(self) -> dict[str, PartitionRegistration]:
        return {topic: self.quorum.partition(topic) for topic in TOPICS}

    def is_up(self, broker: int) -> bool:
        return self.quorum.controller.image.brokers[broker].is_active

    @rule(broker=brokers)
    def falls_silent(self, broker: int) -> None:
        up = [each for each in BROKERS if each != broker and self.is_up(each)]
        self.quorum.let_pass(5, *up)

    @rule(broker=brokers, clean=st.booleans())
    def starts(self, broker: int, clean: bool) -> None:
        with suppress(ApiException):  # DUPLICATE_BROKER_REGISTRATION
            self.quorum.start(broker, clean=clean)

    @rule(broker=brokers)
    def wakes(self, broker: int) -> None:
        # Who is on its way out does not turn back: it goes, and starts again.
        if not self.quorum.controller.image.brokers[broker].in_controlled_shutdown:
            self.quorum.heartbeat(broker)

    @rule(broker=brokers)
    def wants_to_go(self, broker: int) -> None:
        self.quorum.heartbeat(broker, want_shut_down=True)

    @rule(topic=topics, isr=replica_lists)
    def asks_for_isr(self, topic: str, isr: tuple[int, ...]) -> None:
        if self.quorum.partition(topic).has_leader:
            self.asked_for = isr
            self.quorum.alter_partition(topic, *isr)

    @rule(topic=topics, replicas=st.none() | replica_lists)
    def reassigned(self, topic: str, replicas: tuple[int, ...] | None) -> None:
        partition = self.quorum.partition(topic)
        if replicas is None and set(partition.isr) <= set(partition.adding_replicas):
            self.cancelled.add(topic)  # its first replica becomes the ISR, whether it lives or not
        change = {(topic, 0): replicas}
        self.quorum.append(self.quorum.controller.alter_partition_reassignments(change))

    @rule(election=st.sampled_from([Election.PREFERRED, Election.UNCLEAN]))
    def elected(self, election: Election) -> None:
        self.quorum.append(self.quorum.controller.elect_leaders(election, None))

    @rule()
    def balanced(self) -> None:
        self.quorum.append(self.quorum.controller.maybe_balance_partition_leaders())
        self.quorum.append(self.quorum.controller.maybe_elect_unclean_leaders())

    @rule(topic=topics, value=st.sampled_from(["true", "false"]))
    def configured(self, topic: str, value: str) -> None:
        change = {ConfigResource(2, topic): {"unclean.leader.election.enable": value}}
        self.quorum.append(self.quorum.controller.incremental_alter_configs(change))

    @rule()
    def fails_over(self) -> None:
        self.quorum.fail_over()

    # ---- what always holds

    @invariant()
    def nobody_stands_twice(self) -> None:
        for partition in self.partitions().values():
            members = (*partition.isr, *partition.elr)
            assert len(set(members)) == len(members)
            assert set(members) <= {*partition.replicas, *BROKERS}
            assert set(partition.isr) <= set(partition.replicas)

    @invariant()
    def the_leader_is_in_sync_and_active(self) -> None:
        for partition in self.partitions().values():
            if partition.has_leader:
                assert partition.leader in partition.isr
                is_dead = self.is_dead_elected and partition.leader_recovery_state
                assert self.is_up(partition.leader) or is_dead

    @invariant()
    def epochs_rise_and_who_was_out_of_sync_leads_only_as_recovering(self) -> None:
        after = self.partitions()
        for topic, now in after.items():
            then = self.before[topic]
            assert now.partition_epoch >= then.partition_epoch
            assert now.leader_epoch >= then.leader_epoch
            if now.leader != then.leader:
                assert now.leader_epoch > then.leader_epoch
            if now.leader_epoch > then.leader_epoch:
                assert now.partition_epoch > then.partition_epoch
            if now.has_leader and now.leader != then.leader and not now.leader_recovery_state:
                assert now.leader in {*then.isr, *then.elr, *self.asked_for}
        self.before = after
        self.asked_for = ()

    @invariant()
    def nobody_is_eligible_while_enough_are_in_sync(self) -> None:
        elr_enabled = self.quorum.controller.image.elr_enabled
        for topic, partition in self.partitions().items():
            assert not partition.elr or (elr_enabled and len(partition.isr) < MIN_ISR)
            if partition.has_leader:
                self.cancelled.discard(topic)
            if elr_enabled and topic not in self.cancelled:
                assert partition.has_leader == bool(partition.isr)

    @invariant()
    def the_index_is_what_the_image_says(self) -> None:
        state = self.quorum.controller.state
        fresh = PartitionIndex.of(state.image)
        assert state.partitions == fresh

    @precondition(lambda self: len(self.quorum.log) % 5 == 0)
    @invariant()
    def the_state_is_plain(self) -> None:
        state = self.quorum.controller.state
        encoded = msgspec.msgpack.encode(state)
        assert msgspec.msgpack.decode(encoded, type=ControllerState) == state
        copy: Any = copier(ControllerState)
        other = copy(state)
        assert other == state
        assert other.image.topics is not state.image.topics


TestPartitions = Partitions.TestCase
TestPartitions.settings = settings(
    max_examples=60,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.mark.parametrize("release", ["3.9.2", "4.0.2", "4.1.2"])
def test_a_log_read_by_another_is_the_same_image(release: str) -> None:
    quorum = Quorum(release)
    quorum.start(0, 1, 2)
    quorum.create("t", (0, 1, 2))
    quorum.let_pass(5, 1, 2)
    image = MetadataImage()
    for offset, record in enumerate(record for batch in quorum.log for record in batch):
        image.replay(record, offset, 1)
    assert image == quorum.controller.image
