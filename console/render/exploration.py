"""The progress of a search, its findings, and its results by release, as lines."""

from collections.abc import Sequence

from console.model.exploration import Counterexample, Explored, Setting, Watch
from console.render.lines import BLANK, Line, Span, data, fit, line, wrap
from console.render.rows import Pick

NAME_WIDTH = 20
VALUE_WIDTH = 24
RELEASE_WIDTH = 11


def setting_picks(settings: Sequence[Setting]) -> list[Pick]:
    """What can be chosen: its name, what it is, and what that means."""
    return [
        Pick(
            setting.name,
            line(
                Span(fit(setting.name, NAME_WIDTH), "muted"),
                Span(fit(setting.value, VALUE_WIDTH), "strong"),
                Span(setting.meaning, "faint"),
            ),
            f"{setting.name} {setting.value} {setting.meaning}",
        )
        for setting in settings
    ]


def counterexample_picks(counterexamples: Sequence[Counterexample]) -> list[Pick]:
    """A counterexample a line."""
    return [
        Pick(
            str(number),
            line(
                Span(fit(counterexample.version, RELEASE_WIDTH), "key"),
                Span(fit(counterexample.property, VALUE_WIDTH), "error"),
                counterexample.length,
            ),
            f"{counterexample.version} {counterexample.property} {counterexample.length}",
        )
        for number, counterexample in enumerate(counterexamples)
    ]


def progress_text(watch: Watch) -> str:
    """How far a search has come."""
    progress, seconds = watch.progress, watch.seconds
    limit = f" of {watch.limit_seconds} s" if watch.limit_seconds else ""
    if progress is None:
        return f"{watch.version}: {seconds:.0f} s{limit}"
    return (
        f"{watch.version}: {progress.states:,} states, depth {progress.depth}, "
        f"{progress.faults} faults, {progress.states / max(seconds, 0.001):,.0f} states/s, "
        f"{seconds:.0f} s{limit}"
    )


def found_lines(
    explored: Sequence[Explored], shown: Counterexample | None, width: int
) -> list[Line]:
    """What came of it, and the counterexample under the cursor step by step."""
    rows: list[Line] = []
    if len(explored) > 1:
        rows += _matrix(explored, width)
    for release in explored if len(explored) == 1 else ():
        rows += [line(data(text)) for text in wrap(release.summary, width)]
    if shown is not None:
        title = f"{shown.property} is violated in {shown.version}: {shown.length}"
        rows += [BLANK, line(Span(title, "title"))]
        rows += [line(data(text)) for text in shown.steps]
    return rows


def _matrix(explored: Sequence[Explored], width: int) -> list[Line]:
    """A row a release, a column a property."""
    names = list(dict.fromkeys(name for release in explored for name in release.cells))
    column = max(9, (width - RELEASE_WIDTH) // max(1, len(names)))
    head = line(
        Span(fit("RELEASE", RELEASE_WIDTH), "muted"),
        *(Span(fit(name, column), "muted") for name in names),
    )
    return [
        head,
        *(
            line(
                Span(fit(release.version, RELEASE_WIDTH), "key"),
                *(_cell(release, name, column) for name in names),
            )
            for release in explored
        ),
    ]


def _cell(explored: Explored, name: str, width: int) -> Span:
    is_violated = any(
        counterexample.property == name for counterexample in explored.counterexamples
    )
    return Span(fit(explored.cells.get(name, ""), width), "error" if is_violated else "")
