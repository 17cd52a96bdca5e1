"""Why something is so: the sentence and the chain of causes that the console shows, as text."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from console.model.why import Fold, chain
from console.model.workspace import Stage
from console.render.cause_chain import chain_lines, fold_text
from console.render.lines import text_of
from console.render.why_sentence import sentence
from console.styles.glyphs import ASCII
from emulator.events import Event
from sessions.grammar.words import BadWord, nearest
from sessions.model.event_text import in_words
from sessions.model.states import PartitionState
from sessions.text import number

WIDTH: Final = 160
"""Columns of a line of the chain."""
US_PER_MS: Final = 1_000


class Answer(Struct, frozen=True):
    """Why a partition is in its state, or an event happened.

    ``status`` and ``sentence`` are those of a partition; ``sentence`` is empty if there is nothing
    to say about it. ``links`` are the causes, the root first; the last one is what is explained.
    """

    subject: str
    links: Sequence[Event | Fold]
    status: str = ""
    sentence: str = ""

    @property
    def headline(self) -> str:
        """``orders-0 is at min isr: ISR lost 2: it lost its ZooKeeper session, ..``."""
        reason = f": {self.sentence}" if self.sentence else ""
        return f"{self.subject} is {self.status}{reason}"

    def lines(self) -> Iterator[str]:
        """Yield the answer as text, one cause a line."""
        if self.status:
            yield self.headline
        for line in chain_lines(self.links, WIDTH, ASCII):
            yield text_of(line)

    def plain(self) -> dict[str, Any]:
        """Return the answer as plain data: schema 1; keys may be added, none renamed."""
        return {
            "schema": 1,
            "subject": self.subject,
            "status": self.status,
            "why": self.sentence,
            "causes": [_plain(link) for link in self.links],
        }


def _plain(link: Event | Fold) -> dict[str, Any]:
    if isinstance(link, Fold):
        return {"events": len(link.events), "text": fold_text(link.events)}
    return {
        "event": link.seq,
        "time_ms": link.time_us / US_PER_MS,
        "type": type(link).__name__,
        "text": in_words(link)[1],
    }


def answer(stage: Stage, subject: str) -> Answer:
    """Explain a partition (``orders-0``) as it is at the cursor, or an event (``#345``).

    Raises:
        BadWord: there is no such partition or event.
    """
    digits = subject.removeprefix("#")
    if digits.isdecimal() and digits.isascii():
        return _of_event(stage, int(digits))
    state = stage.view.state
    partition = state.partitions.get(subject)
    if partition is None:
        raise BadWord(f"there is no partition '{subject}'{nearest(subject, state.partitions)}")
    return of_partition(stage, partition)


def of_partition(stage: Stage, partition: PartitionState) -> Answer:
    """Explain the state of a partition at the cursor."""
    links = chain(stage.reader, stage.explainer.seq(stage.view.state, partition))
    status = stage.view.status(partition).replace("_", " ")
    return Answer(partition.name, links, status, sentence(stage, partition, links))


def _of_event(stage: Stage, seq: int) -> Answer:
    if stage.reader.get(seq) is None:
        source = stage.source
        last, first = number(source.last_seq), number(source.first_seq)
        raise BadWord(f"there is no event {number(seq)} ({first} to {last})")
    return Answer(f"#{seq}", chain(stage.reader, seq))


def troubles(stage: Stage, maximum: int | None = None) -> list[Answer]:
    """Explain the partitions that are not healthy at the cursor, ``maximum`` of them at most."""
    partitions = stage.view.state.partitions.values()
    unhealthy = (partition for partition in partitions if stage.view.status(partition) != "healthy")
    return [of_partition(stage, partition) for partition in islice(unhealthy, maximum)]
