"""What processes say of themselves: releases, and configurations in every layout of a log."""

from pathlib import Path

import pytest

from sessions.own_cluster.content import open_content
from sessions.postmortem.processes import ConfiguredValue, Processes
from sessions.postmortem.text_logs import blocks
from sessions.postmortem.text_logs.facts import Configured, Fact, KafkaVersion
from sessions.postmortem.text_logs.log_line import LogLine
from sessions.postmortem.text_logs.merging import find_text_logs

SETTINGS = "\tbroker.id = 1\n\tmin.insync.replicas = 2\n\tbroker.session.timeout.ms = 6000\n"
NEXT = "[2026-11-26 03:40:12,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
KEPT = (("broker.session.timeout.ms", "6000"), ("min.insync.replicas", "2"))


def entry(node: int, fact: Fact) -> LogLine:
    return LogLine(1, node, "server.log", 1, "INFO", fact, None)


def said(*facts: tuple[int, Fact]) -> Processes:
    processes = Processes()
    for node, fact in facts:
        processes.note(entry(node, fact))
    return processes


@pytest.mark.parametrize(
    "text",
    [
        f"[2026-11-26 03:40:10,502] INFO KafkaConfig values: \n{SETTINGS}"
        f" (kafka.server.KafkaConfig)\n{NEXT}",
        f"[2026-11-26 03:40:10,502] INFO KafkaConfig values: \n{SETTINGS}"
        f" (org.apache.kafka.common.config.AbstractConfig)\n{NEXT}",
        f"2026-11-26 03:40:10.502 INFO kafka.server.KafkaConfig - KafkaConfig values: \n{SETTINGS}"
        "2026-11-26 03:40:12.000 INFO kafka.server.KafkaServer - [KafkaServer id=1] started\n",
        f"[2026-11-26 03:40:10,502] INFO KafkaConfig values: \n{SETTINGS}\n"
        "[2026-11-26 03:40:12,000] INFO [KafkaServer id=1] started\n",
    ],
)
def test_a_configuration_is_found_where_its_logger_stands(tmp_path: Path, text: str) -> None:
    (tmp_path / "server.log").write_text(text)
    found = [
        each for each in find_text_logs([tmp_path]).entries() if isinstance(each.fact, Configured)
    ]
    assert [(each.node, each.line, each.fact) for each in found] == [
        (1, 1, Configured(settings=KEPT))
    ]


@pytest.mark.parametrize("size", range(40, 240, 7))
def test_a_configuration_is_found_whatever_is_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
    text = f"{NEXT}[2026-11-26 03:40:13,502] INFO KafkaConfig values: \n{SETTINGS}"
    text += f" (kafka.server.KafkaConfig)\n{NEXT}"
    (tmp_path / "server.log").write_text(text)
    (found,) = (
        entry
        for entry in find_text_logs([tmp_path]).entries()
        if isinstance(entry.fact, Configured)
    )
    assert (found.line, found.fact) == (2, Configured(settings=KEPT))


def test_entries_are_held_back_only_up_to_a_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of any size have the same lines, and no line without an end is waited for."""
    text = NEXT + "\tat a.B.c(B.java)\n" * 5_000 + NEXT
    path = tmp_path / "server.log"
    path.write_text(text)
    for size in (100, 1 << 20):
        monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
        with open_content(path, "server.log") as content:
            taken = list(blocks.blocks_of_entries(content))
        assert [line for _, lines in taken for line in lines] == text.encode().splitlines()
        assert sum(count for count, _ in taken) == len(text)
    assert len(taken) == 2


def test_the_values_of_another_configuration_are_not_taken(tmp_path: Path) -> None:
    other = NEXT + SETTINGS + " (org.apache.kafka.common.config.AbstractConfig)\n"
    (tmp_path / "server.log").write_text(other)
    assert Configured not in {type(each.fact) for each in find_text_logs([tmp_path]).entries()}


def test_the_release_is_the_newest_that_fits_what_the_records_say() -> None:
    processes = said((1, KafkaVersion(version="4.1.1")), (2, KafkaVersion(version="4.1.2")))
    assert processes.release("4.1", is_exact=True) == "4.1.2"
    assert processes.release("4.0", is_exact=True) == "4.0"
    assert processes.release("4.2", is_exact=False) == "4.2"
    assert processes.release("3.9", is_exact=False) == "4.1.2"
    assert list(processes.remarks()) == [
        "not all nodes run the same release: node 1 on 4.1.1, node 2 on 4.1.2"
    ]
    assert said((1, KafkaVersion(version="9.9.9"))).release("4.1", is_exact=True) == "4.1"


def test_a_value_is_that_of_the_nodes_whose_it_is() -> None:
    def of(value: str) -> Configured:
        return Configured(settings=(("broker.session.timeout.ms", value),))

    processes = said((1, of("9000")), (2, of("9000")), (100, of("4000")))
    assert processes.value("broker.session.timeout.ms") == ConfiguredValue("9000", (1, 2))
    value = processes.value("broker.session.timeout.ms", [100])
    assert value is not None
    assert value.text == "4000"
    assert value.source == "the log of node 100"
    assert processes.value("min.insync.replicas") is None
    assert list(processes.configured("4.1.2")) == []
    assert list(processes.configured("4.1.2", [100])) == ["broker.session.timeout.ms"]
