"""Two incidents that are known from the literature, as real clusters had them.

``recordings/incidents/`` has the metadata logs and text logs of all nodes. ``written.json`` says
what was written to which broker meanwhile, how it was answered, and what was left in the end.

- ``last-in-sync`` (3.9.2, unclean election allowed): the links from leader 1 to its followers were
  cut. It removed them from the ISR and acknowledged writes with acks=all alone. Then it was killed.
- ``zombie-leader`` (4.1.2): leader 1 was cut off from all other nodes, but not from its clients.
"""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from emulator import events
from emulator.events import Event
from emulator.quorum_controller.explanation.trace import Explainer
from sessions.format.file import SessionFile
from sessions.postmortem.impact import Truncation
from sessions.postmortem.incident import (
    Incident,
    examine,
    read_paths,
    read_sources,
    release_of,
)
from sessions.postmortem.markdown import markdown
from sessions.postmortem.processes import ConfiguredValue
from sessions.postmortem.report import report_of
from sessions.postmortem.session import record
from sessions.postmortem.timeline import ISR_SHRINK, UNANSWERED
from sessions.postmortem.what_if import Setting, WhatIf, image_before, setting_of, what_if

FOLDER = Path(__file__).parent / "recordings" / "incidents"
LAST = "last-in-sync"
ZOMBIE = "zombie-leader"
TP = "orders-0"
FORMER = 1


def examined(name: str) -> Incident:
    log, lines = read_sources([str(FOLDER / name)])
    return examine(log, lines=lines, rules=Explainer())


@pytest.fixture(scope="module")
def last_in_sync() -> Incident:
    return examined(LAST)


@pytest.fixture(scope="module")
def zombie_leader() -> Incident:
    return examined(ZOMBIE)


def gone(name: str) -> list[int]:
    """The offsets of records that leader 1 wrote, and that are not there in the end."""
    recorded: dict[str, Any] = json.loads((FOLDER / name / "written.json").read_text())
    (end,) = (each for each in recorded["end"] if each["partition"] == TP)
    offsets = []
    for write in recorded["writes"]:
        if (write["partition"], write["broker"]) == (TP, FORMER):
            first, last = map(int, re.findall(r"\d+", write["values"]))
            letter = write["values"][0]
            for number in range(first, last + 1):
                offset = write["offset"] + number - first
                if end["values"][offset : offset + 1] != [f"{letter}{number}"]:
                    offsets.append(offset)
    return offsets


def cut_by_former(incident: Incident) -> Truncation:
    (cut,) = incident.impact.truncations
    assert (cut.tp, cut.node) == (TP, FORMER)
    assert cut.end is not None
    return cut


@pytest.mark.parametrize("name", [LAST, ZOMBIE])
def test_what_the_former_leader_removed_is_what_was_lost(name: str) -> None:
    incident = examined(name)
    cut = cut_by_former(incident)
    assert cut.end is not None
    assert list(range(cut.offset, cut.end)) == gone(name)
    assert incident.unexplained == []


def test_the_last_in_sync_replica_dies(last_in_sync: Incident) -> None:
    impact = last_in_sync.impact
    (risk,) = impact.risks
    assert risk.is_unclean
    assert (risk.former, risk.leader, risk.isr) == (FORMER, 2, (FORMER,))
    (loss,) = impact.losses
    assert not loss.is_same_process
    assert loss.lived is None
    assert [(lag.leader, lag.follower) for lag in impact.lags] == [(1, 2), (1, 3)]
    assert {lag.end_us for lag in impact.lags} == {loss.begin_us}
    shrink = next(each for each in last_in_sync.timeline.entries if each.kind == ISR_SHRINK)
    assert shrink.what == "orders-0: [2,3] left the ISR, which is [1]"
    assert "(HW 20, the leader's end at 35; broker 2 was at 20" in shrink.because
    text = markdown(report_of(last_in_sync, [LAST]))
    assert "1 removed 15 records (offsets 20 to 34) later" in text


def test_a_leader_that_is_cut_off_does_not_know_of_its_successor(zombie_leader: Incident) -> None:
    (risk,) = zombie_leader.impact.risks
    assert not risk.is_unclean
    (loss,) = zombie_leader.impact.losses
    assert loss.is_same_process
    assert loss.lived is not None
    assert loss.lived.endswith("node1/server.log.gz:871")
    (refused,) = (entry for entry in zombie_leader.timeline.entries if entry.because == UNANSWERED)
    assert refused.source == loss.lived
    assert "the leader shrank the ISR of orders-0 from [1,2,3] to [1]" in refused.what
    (back,) = (
        entry
        for entry in zombie_leader.timeline.entries
        if entry.what == "broker 1 is unfenced" and "its process is the same" in entry.because
    )
    assert back.time_us == loss.unfenced_us
    times = [entry.time_us for entry in zombie_leader.timeline.entries]
    assert times == sorted(times)
    text = markdown(report_of(zombie_leader, [ZOMBIE]))
    assert "had not fetched, also afterwards, until 1 heard of 2: 1 removed 11 records" in text


def test_text_logs_say_the_release_and_the_configuration(
    last_in_sync: Incident, zombie_leader: Incident
) -> None:
    assert (last_in_sync.release, zombie_leader.release) == ("3.9.2", "4.1.2")
    assert examine(read_paths([str(FOLDER / ZOMBIE)])).release == "4.1"
    value = zombie_leader.processes.value("broker.session.timeout.ms", zombie_leader.controllers)
    assert value == ConfiguredValue("4000", (100, 101, 102))
    text = markdown(report_of(zombie_leader, [ZOMBIE]))
    assert "broker.session.timeout.ms (4 s, by the logs of nodes 100, 101 and 102)" in text
    assert "Kafka 4.1.2 in KRaft mode" in text
    silent = examine(read_paths([str(FOLDER / ZOMBIE)]))
    text = markdown(report_of(silent, [ZOMBIE]))
    assert "broker.session.timeout.ms (9 s unless it was configured)" in text


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (LAST, ["broker 1 was fenced"]),
        (ZOMBIE, ["a heartbeat to the controller failed", "broker 1 was fenced"]),
    ],
)
def test_the_cause_of_a_new_leader_goes_back_to_the_line_that_explains_it(
    name: str, lines: list[str]
) -> None:
    told: list[Event] = []
    log, texts = read_sources([str(FOLDER / name)])
    examine(log, [told.append], lines=texts)
    by_seq = {event.seq: event for event in told}
    event: Event = next(
        event
        for event in told
        if isinstance(event, events.PartitionStateChanged) and (event.tp, event.leader) == (TP, 2)
    )
    chain = []
    while event.cause:
        event = by_seq[event.cause]
        chain.append(event)
    record, fenced, *explained = chain
    assert isinstance(record, events.MetadataRecordCommitted)
    assert record.kind == "PartitionChange"
    assert isinstance(fenced, events.BrokerStateChanged)
    assert (fenced.broker, fenced.state) == (FORMER, "fenced")
    for line, text in zip(reversed(explained), lines, strict=True):
        assert isinstance(line, events.LineLogged)
        assert text in line.text
        assert re.search(r"/node\d+/\w+\.log\.gz:\d+$", line.source)


def test_a_session_has_the_release_with_its_patch_number(tmp_path: Path) -> None:
    log, lines = read_sources([str(FOLDER / ZOMBIE)])
    assert release_of(log) == "4.1"
    path = tmp_path / "zombie.tide.db"
    record(log, path, [ZOMBIE], lines=lines)
    with SessionFile(path) as session:
        created = next(session.all_events())
        assert isinstance(created, events.ClusterCreated)
        assert (session.origin.version, created.version) == ("4.1.2", "4.1.2")


def run(name: str, incident: Incident, setting: str) -> WhatIf:
    history = partial(image_before, read_paths([str(FOLDER / name)]))
    (found,) = what_if(history, incident, setting_of(setting))
    return found


def test_the_incident_is_run_with_the_configuration_that_it_had(last_in_sync: Incident) -> None:
    found = run(LAST, last_in_sync, "min.insync.replicas=2")
    assert [fault.what for fault in found.faults] == [
        "broker 2 no longer reaches 1",
        "broker 3 no longer reaches 1",
        "broker 1 dies",
        "broker 2 reaches 1 again",
        "broker 3 reaches 1 again",
        "broker 1 starts",
    ]
    lag_us, dies_us, heals_us = (found.faults[index].after_us for index in (0, 2, 3))
    assert lag_us == 0
    assert heals_us - dies_us == 4_000_000
    timeout = Setting("broker.session.timeout.ms", "4000")
    assert dict(found.configured)[timeout] == "the logs of nodes 1, 2 and 3"
    assert found.is_timeout_known
    assert found.without.unclean == [TP]
    assert found.without.lost > 0
    assert found.changed.lost == 0
    assert TP in found.changed.unwritable
