"""A hundred thousand partitions: what the controller decides costs what it changes."""

import time

from emulator.quorum_controller.topics import CreatableTopic
from tests.emulator.quorum_controller.quorum import Quorum


def test_fencing_a_broker_of_33_000_partitions_is_a_matter_of_tenths_of_a_second() -> None:
    quorum = Quorum(default_replication_factor=3)
    brokers = range(9)
    quorum.start(*brokers)
    for number in range(20):
        quorum.append(quorum.controller.create_topics([CreatableTopic(f"t{number}", 5_000)]))
    in_isr = quorum.controller.state.partitions.in_isr[0]
    assert sum(len(numbers) for numbers in in_isr.values()) > 33_000
    quorum.now_us += 3_000_000
    for broker in brokers[1:]:
        quorum.heartbeat(broker)
    quorum.now_us += 2_000_000

    began = time.process_time()
    fenced = quorum.controller.maybe_fence_one_stale_broker(quorum.now_us)
    quorum.append(fenced)
    assert [len(batch) for batch in fenced.batches][:-1] == [10_000] * 3
    quorum.fail_over()
    assert time.process_time() - began < 5  # 0.6 s where this was written
    assert not quorum.controller.state.partitions.has_leaderships(0)
    assert not quorum.controller.state.partitions.leaderless
