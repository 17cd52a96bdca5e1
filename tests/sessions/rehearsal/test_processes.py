import os
import threading
from concurrent.futures.process import BrokenProcessPool
from threading import Event, Thread

import pytest

from emulator.cluster_image.assumptions import complete
from emulator.cluster_image.image import Broker, ClusterImage, Partition, Topic
from emulator.inputs.statements import CreateCluster
from sessions.rehearsal import cases, processes
from sessions.rehearsal.processes import in_processes
from sessions.rehearsal.runs import Order, Rehearsal, Trial, all_trials

IMAGE = complete(
    ClusterImage(
        "3.9",
        "kraft",
        brokers=(Broker(1, "a", up=True), Broker(2, "b", up=True), Broker(3, "b", up=True)),
        topics=(
            Topic(
                "t",
                configs={},
                partitions=tuple(
                    Partition(number, (1 + number % 3, 1 + (number + 1) % 3), 1 + number % 3)
                    for number in range(6)
                ),
            ),
        ),
    )
).image
SPEC = CreateCluster(version="3.9", mode="kraft", image=IMAGE)
TRIALS = all_trials([*cases.each_broker(IMAGE), *cases.each_rack(IMAGE)], IMAGE)


@pytest.fixture
def rehearsal(monkeypatch: pytest.MonkeyPatch) -> Rehearsal:
    monkeypatch.setattr(processes, "SMALL", 0)
    return Rehearsal(SPEC, IMAGE)


def test_trials_end_alike_in_one_process_in_forks_and_beside_threads(rehearsal: Rehearsal) -> None:
    counts: list[int] = []
    alone = in_processes(rehearsal, SPEC, 1)(TRIALS, counts.append)
    forked = in_processes(rehearsal, SPEC, 2)(TRIALS, counts.append)
    over = Event()
    thread = Thread(target=over.wait)
    thread.start()
    try:
        beside_a_thread = in_processes(rehearsal, SPEC, 2)(TRIALS[:2], counts.append)
    finally:
        over.set()
        thread.join()
    assert forked == alone
    assert beside_a_thread == alone[:2]
    every = list(range(1, len(TRIALS) + 1))
    assert counts == [*every, *every, 1, 2]


def test_equal_states_of_partitions_are_one_object(rehearsal: Rehearsal) -> None:
    orders = in_processes(rehearsal, SPEC, 2)(TRIALS, lambda _: None)
    states = [state for order in orders for state in order.outcome.changed.values()]
    assert len({id(state) for state in states}) == len(set(states)) < len(states)


def test_a_process_that_dies_is_an_error(
    rehearsal: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(rehearsal: Rehearsal, trial: Trial) -> Order:
        os._exit(9)

    monkeypatch.setattr(Rehearsal, "run_last", die)
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # other tests leave some behind
    with pytest.raises(BrokenProcessPool, match=r"ended early \(exit status 9\)"):
        in_processes(rehearsal, SPEC, 2)(TRIALS, lambda _: None)
