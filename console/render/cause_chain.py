"""The chain of causes that led to an event, as lines."""

from collections.abc import Sequence

from console.model.why import Fold
from console.render.event_text import describe
from console.render.lines import Line, Span, cut, line
from console.styles.glyphs import Glyphs
from emulator.events import Event, MessageSent
from sessions.model.event_text import host
from sessions.text import age, natural_list, number, plural


def fold_text(hidden: Sequence[Event]) -> str:
    """``24 messages between 2 and 3, 6.0s: FetchRequest, FetchResponse``."""
    lasted = age(hidden[-1].time_us - hidden[0].time_us)
    sent = [event for event in hidden if isinstance(event, MessageSent)]
    if len(sent) < len(hidden):
        return f"{number(len(hidden))} events, {lasted}"
    ends = sorted({host(end) for event in sent for end in (event.source, event.destination)})
    names = ", ".join(dict.fromkeys(event.name for event in sent))
    return f"{plural(len(sent), 'message')} between {natural_list(ends)}, {lasted}: {names}"


def chain_lines(links: Sequence[Event | Fold], width: int, glyphs: Glyphs) -> list[Line]:
    """A line for each link, indented below its cause."""
    rows = []
    for depth, event in enumerate(links):
        if isinstance(event, Fold):
            folded = Span(f"{glyphs.more} {fold_text(event.events)}", "muted")
            rows.append(cut(line(" " * 11, folded), width, glyphs.more))
            continue
        description = describe(event)
        arrow = f"{'  ' if depth else ''}{glyphs.because} " if depth else ""
        rows.append(
            cut(
                line(
                    Span(f" {event.seq:>7,} ", "muted"),
                    Span(arrow, "faint"),
                    Span(f"{description.word} ", description.role),
                    description.text,
                ),
                width,
                glyphs.more,
            )
        )
    return rows
