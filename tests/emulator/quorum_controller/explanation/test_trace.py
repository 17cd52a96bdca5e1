"""Real controllers' logs are explained by the rules; one mutated record is not."""

from itertools import islice
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from emulator.metadata_log.records import FENCE, NO_LEADER_CHANGE, UNFENCE
from emulator.quorum_controller.explanation.rules import Rule
from emulator.quorum_controller.explanation.trace import Explainer
from emulator.wire.metadata import messages as wire
from tests.emulator.quorum_controller.explanation.mutations import Log, mutants
from tests.emulator.quorum_controller.explanation.recorded import (
    NAMES,
    batches_of,
    explained,
    unexplained,
)

MUTANTS_EACH = 10


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_explains_each_record_of_a_real_log(name: str) -> None:
    batches = batches_of(name)
    found = explained(batches)

    assert [each for each in found if not each.is_explained] == []
    records = [record for batch in batches for record in batch.records]
    assert [record for each in found for record in each.messages] == records
    assert {each.rule for each in found} >= {Rule.FENCING, Rule.UNFENCING, Rule.ALTER_PARTITION}


@pytest.mark.parametrize("name", NAMES)
def test_the_release_that_wrote_a_log_explains_it(name: str) -> None:
    assert unexplained(batches_of(name), name.split("-", maxsplit=1)[0]) == []


def test_what_a_log_does_not_name_is_concluded_from_it() -> None:
    """These brokers were started with unclean.leader.election.enable=true."""
    explainer = Explainer()
    found = [each for batch in batches_of("4.1.2-5") for each in explainer.feed(batch)]

    assert explainer.hypothesis.release == "4.1.2"
    assert explainer.hypothesis.configuration == "unclean.leader.election.enable=true"
    concluded = [each for each in found if "must be set" in each.because]
    assert len(concluded) == 1


def test_95_of_100_mutated_records_are_found() -> None:
    logs = [
        mutant
        for seed, name in enumerate(NAMES)
        for mutant in islice(mutants(batches_of(name), seed), MUTANTS_EACH)
    ]
    missed = [(mutant.kind, mutant.offset) for mutant in logs if not unexplained(mutant.batches)]

    assert len(missed) / len(logs) <= 0.05, missed


def test_the_rules_of_another_release_do_not_explain_a_log() -> None:
    """4.1 notes the last leader where 3.9 does not, and fences a stopped broker twice."""
    assert unexplained(batches_of("4.1.2-2"), "3.9.2")


def test_a_leader_from_outside_is_told_with_isr_and_elr() -> None:
    log = Log(batches_of("3.9.2-1"), Random(0))
    place = log.of(wire.PartitionChangeRecord, lambda each: each.leader == NO_LEADER_CHANGE)[-1]
    change: Any = log.record(place)
    isr = change.isr or log.replicas(place, change)
    outsider = next(broker for broker in log.brokers if broker not in isr)
    mutant = log.with_record("leader", place, replace(change, leader=outsider))
    first = unexplained(mutant.batches)[0]

    assert first.messages == (mutant.after,)
    assert first.offset == mutant.offset


def test_what_is_wrong_in_the_outcome_of_a_fencing_is_told_alone() -> None:
    """The other partitions of the fenced broker are explained by the fencing."""
    log = Log(batches_of("4.1.2-1"), Random(0))
    fencings = [each for each in explained(log.batches) if each.rule is Rule.FENCING]
    fencing = max(fencings, key=lambda each: len(each.messages))
    place = next(place for place in log.places if log.offset(place) == fencing.offset)
    change: Any = log.record(place)
    mutant = log.with_record("isr", place, replace(change, isr=[9]))
    first = unexplained(mutant.batches)[0]

    assert len(fencing.messages) > 3
    assert first.offset == mutant.offset
    assert "the fencing of broker" in first.because
    rest = [each for each in explained(mutant.batches) if each.offset == mutant.offset + 1]
    assert [each.rule for each in rest] == [Rule.FENCING]


def test_fencing_a_broker_that_was_heard_of_is_not_explained() -> None:
    log = Log(batches_of("3.9.2-1"), Random(0))
    unfenced = log.of(wire.BrokerRegistrationChangeRecord, lambda each: each.fenced == UNFENCE)[-1]
    no_op = next(place for place in log.of(wire.NoOpRecord) if place > unfenced)
    unfencing: Any = log.record(unfenced)
    change = replace(unfencing, fenced=FENCE)
    mutant = log.with_record("fencing", no_op, change)

    assert [each.offset for each in unexplained(mutant.batches)][:1] == [mutant.offset]
