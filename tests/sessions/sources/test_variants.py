"""The same fault under other conditions, each told by running it there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.runs.live import live_source
from console.model.fault_variants import FaultVariants
from sessions.sources.live import LiveSource
from sessions.sources.variants import Variant, input_under, variants_of

SCRIPT = """\
cluster --brokers 3 --version {version} --config zookeeper.session.timeout.ms=6000
topic create t --replica-assignment 1:2 --config min.insync.replicas=1
wait until t-0.isr == [1,2]
wait 1s
replica pause t-0@2
produce t --count 2 --acks 1 --retries 0 --async
wait 60s
"""


@pytest.fixture(params=["2.4", "3.9"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LiveSource]:
    path = tmp_path / "script.tide"
    path.write_text(SCRIPT.format(version=request.param))
    found, recorder = live_source(path, None, {}, ())
    yield found
    found.close()
    recorder.close()


def test_a_fault_is_compared_under_every_variant(source: LiveSource) -> None:
    before = source.runner.state_hash
    compared = FaultVariants(source, "broker crash 1")
    while compared.next is not None:
        compared.go_on(0.5)
    assert not compared.failures
    lost = {title: effect.lost for title, effect in compared.effects.items()}
    writes = {title: effect.changes[0].writes_us for title, effect in compared.effects.items()}
    assert (lost["unclean on"], lost["unclean off"], lost["as it is"]) == (2, 0, 0)
    assert writes["unclean on"] is not None
    assert writes["unclean off"] is None, "nobody else may lead"
    assert list(compared.effects) == [each.title for each in compared.variants]
    assert source.runner.state_hash == before


def test_the_newest_release_is_compared_with_an_older_one() -> None:
    assert [each.title for each in variants_of("2.4", kraft=False)][-1] == "3.9"
    assert [each.title for each in variants_of("3.9", kraft=False)][-1] == "0.10.2"
    assert [each.title for each in variants_of("4.1", kraft=True)][-1] == "3.9"


def test_only_what_a_variant_concerns_is_told_otherwise(source: LiveSource) -> None:
    past = [given.input for _, given in source.past()]
    others = [input_under(Variant("acks all", acks=-1), given) for given in past]
    assert [given != other for given, other in zip(past, others, strict=True)].count(True) == 1
    assert all(input_under(Variant("as it is"), given) == given for given in past)
