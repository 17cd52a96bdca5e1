"""What scenarios show that no condition can say: steps in their order, as events."""

from pathlib import Path

import pytest

from commands.language.parser import parse_script
from emulator import events
from emulator.events import Event
from tests.support.script_events import events_in

FOLDER = Path(__file__).parent / "scenarios"
SOME = ("seed", "0.9", "0.10.2", "0.11", "2.1", "2.5", "3.5", "3.9")


def _events(name: str, version: str, changed: tuple[str, str] = ("", "")) -> list[Event]:
    """All that happens in a scenario on a release, if wanted with another text in one place."""
    path = FOLDER / f"{name}.tide"
    text = path.read_text().replace(*changed) if changed[0] else path.read_text()
    return events_in(parse_script(text, str(path), cluster_options=("--version", version)))


@pytest.mark.parametrize("version", SOME)
def test_d4_a_leader_moves_its_high_watermark_on_four_occasions(version: str) -> None:
    moved = [
        (each.broker, each.occasion, each.previous, each.high_watermark)
        for each in _events("D4-four-occasions", version)
        if isinstance(each, events.HighWatermarkChanged) and each.occasion != "response"
    ]
    assert moved == [
        (1, "fetch", 0, 1),
        (1, "isr", 1, 2),
        (1, "append", 2, 3),
        (2, "make-leader", 3, 4),
    ]


@pytest.mark.parametrize("version", SOME)
def test_c6_a_hanging_follower_is_waited_for_dropped_and_then_all_is_acknowledged(
    version: str,
) -> None:
    seen = _events("C6-follower-hangs", version)
    hangs = next(each for each in seen if isinstance(each, events.ReplicaFetchPaused))
    steps = [step for each in seen[hangs.seq :] if (step := _step(each))]
    assert steps[:5] == [
        "leader 1 writes",
        "follower 2 writes",
        "leader 1 wants the ISR [1, 2]",
        "HW 2 (isr)",
        "acknowledged",
    ]
    shrink = next(each for each in seen if isinstance(each, events.IsrChangeStarted))
    assert shrink.time_us - hangs.time_us > 2_000_000


def _step(event: Event) -> str | None:
    """One of the five steps in a few words; None if it is something else."""
    if isinstance(event, events.RecordsAppended):
        return f"{'leader' if event.broker == 1 else 'follower'} {event.broker} writes"
    if isinstance(event, events.IsrChangeStarted):
        return f"leader {event.broker} wants the ISR {event.isr}"
    if isinstance(event, events.HighWatermarkChanged) and event.broker == 1:
        return f"HW {event.high_watermark} ({event.occasion})"
    return "acknowledged" if isinstance(event, events.ProduceAcknowledged) else None


@pytest.mark.parametrize("version", ["2.1", "2.5", "2.7", "2.8", "3.5", "3.9"])
def test_v14_an_old_epoch_is_fenced(version: str) -> None:
    """What a fetch of an earlier epoch is answered."""
    responses = [
        str(each.detail)
        for each in _events("V14-fenced", version)
        if isinstance(each, events.MessageSent) and each.name == "FetchResponse"
    ]
    assert any("FENCED_LEADER_EPOCH" in response for response in responses)


@pytest.mark.parametrize("version", ["2.1", "2.5", "2.7", "2.8", "3.5", "3.9"])
def test_v12_an_epoch_that_is_not_known_yet_is_said_to_be_so(version: str) -> None:
    name = "OffsetsForLeaderEpochResponse" if version < "2.8" else "FetchResponse"
    responses = [
        str(each.detail)
        for each in _events("V12-unknown-leader-epoch", version)
        if isinstance(each, events.MessageSent) and each.name == name
    ]
    assert any("UNKNOWN_LEADER_EPOCH" in response for response in responses)


def test_a_record_that_is_acknowledged_after_it_was_truncated_counts_as_lost() -> None:
    slow = ("broker thaw 1", "network delay 1 clients 20ms\nbroker thaw 1")
    seen = _events("V38-session-expires", "3.9", slow)
    cut = next(at for at, each in enumerate(seen) if isinstance(each, events.LogTruncated))
    told = [at for at, each in enumerate(seen) if isinstance(each, events.ProduceAcknowledged)]
    audits = [each.lost for each in seen if isinstance(each, events.AuditChanged)]
    assert told[-1] > cut
    assert len(audits[-1]) == 1


@pytest.mark.parametrize("version", SOME)
def test_e10_every_step_of_taking_office_is_an_event(version: str) -> None:
    """The order of each release stands in the controller's own tests."""
    seen = _events("E10-on-controller-failover", version)
    second = [each for each in seen if isinstance(each, events.ControllerElected)][1]
    steps = [
        each.name
        for each in seen
        if isinstance(each, events.ControllerStep)
        and each.procedure == "onControllerFailover"
        and each.seq > second.seq
    ]
    context = steps.index("initializeControllerContext")
    machines = [steps.index(f"{each}StateMachine.startup") for each in ("replica", "partition")]
    metadata = steps.index("sendUpdateMetadataRequest")
    assert context < machines[0] == machines[1] - 1
    assert (context < metadata < machines[0]) == (version not in ("seed", "0.9"))
    assert all("egister" in name or name.startswith("delete") for name in steps[:context])
