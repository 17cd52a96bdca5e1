import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.render.event_text import describe
from emulator import events
from emulator.events import CHANGE, FAULT, TRAFFIC, Event
from sessions.model.event_text import SENTENCES, fields_of, filled
from tests.console.fakes import failover


def test_every_class_of_events_has_a_label_that_fits_into_its_column() -> None:
    assert all(0 < len(kind.label) <= 6 for kind in events.TYPES.values())


def test_every_class_of_events_has_a_sentence() -> None:
    assert SENTENCES.keys() == set(events.TYPES.values())


def test_a_template_that_names_no_field_is_refused() -> None:
    with pytest.raises(TypeError, match="LogCreated has no leo, which its sentence names"):
        filled(events.LogCreated, "{tp} {leo}")


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (events.BrokerStateChanged(1, 0, 0, 2, "crashed"), "broker 2 crashed"),
        (events.RecordsAppended(1, 0, 0, "t-0", 1, 5, 3, 2, 9), "t-0@1 +3 at 5, LEO 8, epoch 2"),
        (events.RecordsAppended(1, 0, 0, "t-0", 1, 5, 3, -1, 9), "t-0@1 +3 at 5, LEO 8"),
        (
            events.RequestRefused(1, 0, 0, 2, 0, 7, "t-0", "STALE_CONTROLLER_EPOCH", 1, 1),
            "broker 2 skipped t-0 of the request of broker 0: it has leader epoch 1 already, and "
            "was sent 1 (STALE_CONTROLLER_EPOCH)",
        ),
        (
            events.RequestRefused(1, 0, 0, 2, 0, 7, "", "STALE_CONTROLLER_EPOCH", 1, 3),
            "broker 2 refused the request of broker 0: STALE_CONTROLLER_EPOCH "
            "(controller epoch 1, it has 3)",
        ),
        (
            events.RequestRefused(1, 0, 0, 2, 0, 7, "", "STALE_BROKER_EPOCH", 25, 40),
            "broker 2 refused the request of broker 0: STALE_BROKER_EPOCH "
            "(broker epoch 25, it has 40)",
        ),
        (
            events.RequestRefused(1, 0, 0, 2, 0, 7, "t-0", "FENCED_LEADER_EPOCH", 1, 2),
            "broker 2 refused t-0 of the request of broker 0: FENCED_LEADER_EPOCH "
            "(leader epoch 1, it has 2)",
        ),
        (
            events.RequestRefused(1, 0, 0, 2, 0, 7, "t-0", "INVALID_UPDATE_VERSION", 1, 2),
            "broker 2 refused t-0 of the request of broker 0: INVALID_UPDATE_VERSION "
            "(partition epoch 1, it has 2)",
        ),
        (
            events.RequestRefused(1, 0, 0, 2, 0, 7, "t-0", "INELIGIBLE_REPLICA", 3, -1),
            "broker 2 refused t-0 of the request of broker 0: INELIGIBLE_REPLICA (replica 3)",
        ),
        (
            events.RequestRefused(1, 0, 0, 2, 0, 7, "t-0", "UNKNOWN_TOPIC_ID", -1, -1),
            "broker 2 refused t-0 of the request of broker 0: UNKNOWN_TOPIC_ID",
        ),
        (
            events.LogTruncated(1, 0, 0, "t-0", 1, 5, 8, "hw"),
            "t-0@1 truncated 3 records (offsets 5 to 7): LEO 8 > 5 (hw)",
        ),
        (
            events.PartitionStateChanged(1, 0, 0, "t-0", -1, 3, [2], 1, 7),
            "t-0 leader none, epoch 3, ISR [2], v7",
        ),
        (
            events.RemoteLogEndOffsetChanged(1, 0, 0, "t-0", 1, 2, -1),
            "t-0@1 remembers 2 at LEO unknown",
        ),
        (events.LinkChanged(1, 0, 0, -1, 2, True, 0, 0.0, []), "link zk > 2 cut"),
        (events.LinkChanged(1, 0, 0, -2, 2, False, 0, 0.0, []), "link clients > 2 whole"),
        (
            events.AuditChanged(1, 0, 0, "t-0", [(1, 2)], [], [(3, 4), (5, 6)], []),
            "t-0 1 lost, 2 diverged",
        ),
        (events.AuditChanged(1, 0, 0, "t-0", [], [], [], []), "t-0 clean again"),
        (events.ExpectationChecked(1, 0, 0, "hw == 2", 4, False, "1"), "hw == 2: FAILED, was 1"),
        (
            events.MessageSent(1, 0, 0, "FetchRequest", 2, 1, 0, [["t-0", 5]] * 6),
            "2 > 1 FetchRequest t-0 offset=5 t-0 offset=5 t-0 offset=5 t-0 offset=5 and 2 more",
        ),
    ],
)
def test_events_are_told_in_words(event: Event, text: str) -> None:
    assert describe(event).text == text


@given(st.text())
def test_what_people_wrote_is_safe_to_print(text: str) -> None:
    event = events.InputReceived(1, 0, 0, text, 0, 0)
    assert describe(event).text.isprintable()
    assert all(value.isprintable() for _, value in fields_of(event))


@pytest.mark.parametrize(
    ("event", "level"),
    [
        (events.BrokerStateChanged(1, 0, 0, 2, "running"), CHANGE),
        (events.BrokerStateChanged(1, 0, 0, 2, "crashed"), FAULT),
        (events.SessionEnded(1, 0, 0, 5, 2, "closed", 9), CHANGE),
        (events.SessionEnded(1, 0, 0, 5, 2, "expired", 9), FAULT),
        (events.LinkChanged(1, 0, 0, 1, 2, False, 0, 0.0, []), CHANGE),
        (events.LinkChanged(1, 0, 0, 1, 2, True, 0, 0.0, []), FAULT),
        (events.ReplicaFetchPaused(1, 0, 0, "t-0", 2, False), CHANGE),
        (events.ReplicaFetchPaused(1, 0, 0, "t-0", 2, True), FAULT),
        (events.LeaderElected(1, 0, 0, "t-0", 1, 2, 3, [2], "Offline"), CHANGE),
        (events.LeaderElected(1, 0, 0, "t-0", 1, 2, 3, [2], "Unclean"), FAULT),
        (events.PartitionStateChanged(1, 0, 0, "t-0", -1, 3, [2], 1, 7), FAULT),
        (events.AuditChanged(1, 0, 0, "t-0", [], [], [], []), CHANGE),
        (events.InputFinished(1, 0, 0, "x", 1, "NONE"), TRAFFIC),
        (events.InputFinished(1, 0, 0, "x", 1, "REQUEST_TIMED_OUT"), CHANGE),
        (events.MessageSent(1, 0, 0, "FetchRequest", 2, 1, 0, []), TRAFFIC),
    ],
)
def test_good_and_bad_news_of_one_class_differ(event: Event, level: int) -> None:
    assert event.level == describe(event).level == level


def test_every_event_of_a_failover_is_told_on_one_line() -> None:
    texts = [describe(event).text for event in failover()]
    assert all(text and "\n" not in text for text in texts)
