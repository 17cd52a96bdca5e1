"""Why a batch changes partitions, as far as the batch itself tells."""

from emulator.metadata_log.changes import Change
from emulator.metadata_log.records import FENCE, BrokerRegistrationChangeRecord
from emulator.metadata_log.registrations import PartitionRegistration
from sessions.postmortem.reasons import Reasons


def test_each_broker_that_left_has_its_own_verb() -> None:
    reasons = Reasons([BrokerRegistrationChangeRecord(broker, 7, FENCE) for broker in (2, 1, 9)])
    before = PartitionRegistration((0, 1, 2), (0, 1, 2), 0)
    after = PartitionRegistration((0, 1, 2), (0,), 0)
    assert reasons.of(Change("t", before, after)) == "broker 1 is fenced and broker 2 is fenced"
