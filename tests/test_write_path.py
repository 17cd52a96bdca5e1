"""The write path as events: each step in its order, each caused by the one before (row C1)."""

from pathlib import Path

import pytest

from commands.language.parser import parse_script
from emulator import events
from emulator.cluster import Cluster
from emulator.events import CLIENTS, Event
from emulator.inputs.statements import Statement
from emulator.scenario.runner import Runner

SCRIPT = Path(__file__).parent / "scenarios" / "C1-write-path.tide"
SOME = ("seed", "0.8.2", "0.10.2", "0.11", "2.1", "2.5", "2.8", "3.9")
LEADER = 1


class Story:
    """What happens in the scenario on a release, and what caused it."""

    def __init__(self, version: str) -> None:
        script = parse_script(
            SCRIPT.read_text(), str(SCRIPT), cluster_options=("--version", version)
        )
        self.events: list[Event] = []
        cluster = Cluster(script.spec, [self.events.append])
        runner = Runner(cluster)
        for step in script.steps:
            assert isinstance(step, Statement)
            runner.execute(step)

    def cause_of(self, event: Event) -> Event:
        return self.events[event.cause - 1]

    def first(self, kind: type[Event], after: Event | None = None, **fields: object) -> Event:
        """The first event of a kind with these values."""
        begin = 0 if after is None else after.seq
        return next(
            each
            for each in self.events[begin:]
            if type(each) is kind
            and all(getattr(each, name) == value for name, value in fields.items())
        )

    def roots(self, event: Event) -> list[Event]:
        """What caused an event, what caused that, and so on."""
        found: list[Event] = []
        while event.cause:
            event = self.cause_of(event)
            found.append(event)
        return found


@pytest.mark.parametrize("version", SOME)
def test_c1_seven_steps_from_the_statement_to_the_next_batch(version: str) -> None:
    story = Story(version)
    chosen = story.first(events.ProduceSent, values=["m-0"])
    sent = story.first(events.MessageSent, chosen, name="ProduceRequest", destination=LEADER)
    written = story.first(events.RecordsAppended, sent, broker=LEADER)
    pulled = {
        broker: story.first(events.RecordsAppended, written, broker=broker) for broker in (2, 3)
    }
    committed = story.first(events.HighWatermarkChanged, written, broker=LEADER)
    answered = story.first(events.MessageSent, committed, name="ProduceResponse", source=LEADER)
    verdict = story.first(events.ProduceAcknowledged, answered)
    following = story.first(events.ProduceSent, verdict, values=["m-1"])
    steps = [chosen, sent, written, *pulled.values(), committed, answered, verdict, following]
    assert [each.seq for each in steps[:3]] == sorted(each.seq for each in steps[:3])
    assert max(each.seq for each in pulled.values()) < committed.seq < answered.seq < verdict.seq
    assert story.cause_of(written) is sent
    assert story.cause_of(verdict) is answered
    assert story.cause_of(following) is answered


@pytest.mark.parametrize("version", SOME)
def test_c1_followers_pull_what_the_leader_wrote_and_their_next_fetch_commits_it(
    version: str,
) -> None:
    story = Story(version)
    sent = story.first(events.MessageSent, name="ProduceRequest")
    written = story.first(events.RecordsAppended, sent, broker=LEADER)
    copied = story.first(events.RecordsAppended, written, broker=2)
    response = story.cause_of(copied)
    assert isinstance(response, events.MessageSent)
    assert (response.name, response.source, response.destination) == ("FetchResponse", LEADER, 2)
    assert sent in story.roots(copied)
    committed = story.first(events.HighWatermarkChanged, written, broker=LEADER)
    fetch = story.cause_of(committed)
    assert isinstance(fetch, events.MessageSent)
    assert fetch.name == "FetchRequest"
    answered = story.first(events.MessageSent, committed, name="ProduceResponse")
    assert answered.cause == fetch.seq


@pytest.mark.parametrize("version", SOME)
def test_c1_the_other_verdict_is_followed_by_the_same_batch_again(version: str) -> None:
    story = Story(version)
    begun = story.first(events.ProduceSent, values=["x"])
    retried = story.first(events.ProduceRetried, begun, error="REQUEST_TIMED_OUT")
    response = story.cause_of(retried)
    assert isinstance(response, events.MessageSent)
    assert (response.name, response.destination) == ("ProduceResponse", CLIENTS)
    again = story.first(events.MessageSent, retried, name="ProduceRequest")
    assert isinstance(begun, events.ProduceSent)
    assert isinstance(again, events.MessageSent)
    assert again.detail[0][:2] == ["t-0", begun.first_record]
    assert retried in story.roots(again) or response in story.roots(again)
    statement = story.roots(again)[-1]
    assert isinstance(statement, events.InputReceived)
    assert "--value x" in statement.text
