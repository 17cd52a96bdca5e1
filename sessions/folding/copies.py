"""Copies of the read model's objects, as deep as the folding changes them in place.

What is not copied here (ISR lists, epoch caches, runs, ..) is only ever replaced as a whole.
"""

from copy import copy

from sessions.states import (
    BrokerState,
    ConsumerState,
    ControllerState,
    Expectations,
    PartitionState,
    ProducerState,
    ReplicaState,
    ViewState,
    ZnodeState,
)


def partition(old: PartitionState) -> PartitionState:
    """A copy that shares its replicas, each of which is copied when it is touched."""
    new = copy(old)
    new.replica_states = old.replica_states.copy()
    return new


def replica(old: ReplicaState) -> ReplicaState:
    """A copy with a log and a memory of followers of its own."""
    new = copy(old)
    new.log = old.log.copy()
    new.remote_leo = old.remote_leo.copy()
    return new


def broker(old: BrokerState) -> BrokerState:
    """A copy with its own times of fetches."""
    new = copy(old)
    new.fetch_sent_us = old.fetch_sent_us.copy()
    return new


def znode(old: ZnodeState) -> ZnodeState:
    """A copy with its own children."""
    new = copy(old)
    new.children = old.children.copy()
    return new


def producer(old: ProducerState) -> ProducerState:
    """A copy with its own errors."""
    new = copy(old)
    new.errors = old.errors.copy()
    return new


def consumer(old: ConsumerState) -> ConsumerState:
    """A copy with its own runs."""
    new = copy(old)
    new.runs = old.runs.copy()
    return new


def view_state(old: ViewState) -> ViewState:
    """A copy that shares all objects which carry ``changed``; everything else is its own."""
    new = copy(old)
    for name in (
        "config",
        "brokers",
        "partitions",
        "topic_configs",
        "broker_configs",
        "znodes",
        "sessions",
        "producers",
        "consumers",
        "batches",
        "bookmarks",
        "invariants",
        "held",
    ):
        setattr(new, name, getattr(old, name).copy())
    new.controller = controller(old.controller)
    new.links = [copy(link) for link in old.links]
    new.expectations = expectations(old.expectations)
    return new


def controller(old: ControllerState) -> ControllerState:
    """A copy of its own."""
    return copy(old)


def expectations(old: Expectations) -> Expectations:
    """A copy with its own list of what failed."""
    return Expectations(old.passed, old.failed.copy())
