"""The chain of causes that led to an event, as lines."""

from console.render.event_text import describe
from console.render.lines import Line, Span, cut, line
from console.styles.glyphs import Glyphs
from emulator.events import Event


def chain_lines(events: list[Event], width: int, glyphs: Glyphs) -> list[Line]:
    """One line a link, each one further in than what caused it."""
    rows = []
    for depth, event in enumerate(events):
        told = describe(event)
        arrow = f"{'  ' if depth else ''}{glyphs.because} " if depth else ""
        rows.append(
            cut(
                line(
                    Span(f" {event.seq:>7,} ", "muted"),
                    Span(arrow, "faint"),
                    Span(f"{told.word} ", told.role),
                    told.text,
                ),
                width,
                glyphs.more,
            )
        )
    return rows
