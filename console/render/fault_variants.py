"""A fault under other conditions, side by side: a column for each, a line for each consequence."""

from typing import Final

from console.model.fault_variants import FaultVariants
from console.render.effects import CONSEQUENCES, effect_words
from console.render.lines import BLANK, Line, Span, fit, line, wrap
from sessions.sources.forecast import Effect

LABEL_WIDTH: Final = 8
COLUMN_MIN: Final = 8
COLUMN_MAX: Final = 14


def variant_lines(compared: FaultVariants, width: int, more: str) -> list[Line]:
    """The table, then each variant in words."""
    variants = compared.variants
    column = max(COLUMN_MIN, min(COLUMN_MAX, (width - LABEL_WIDTH) // len(variants) - 1))
    heads = [_two_lines(variant.title, column) for variant in variants]
    blank = " " * LABEL_WIDTH
    rows = [
        line(Span(blank + "".join(f" {head[n]:>{column}}" for head in heads), "title"))
        for n in (0, 1)
    ]
    known = [compared.effects.get(variant.title) for variant in variants]
    base = known[0]
    for consequence in CONSEQUENCES:
        spans = [Span(fit(consequence.title, LABEL_WIDTH), "muted")]
        usual = None if base is None else consequence.shown(base)
        for effect in known:
            text = "?" if effect is None else consequence.shown(effect) or "."
            role = "faint" if text in (".", "?") else "warning"
            if effect is not None and usual is not None and consequence.shown(effect) != usual:
                role = "accent"
            spans.append(Span(f" {fit(text, column, right=True, more=more)}", role))
        rows.append(line(*spans))
    rows.append(BLANK)
    for variant, effect in zip(variants, known, strict=True):
        words = _in_words(compared, variant.title, effect)
        if effect is not None and base is not None:
            words += _unlike(effect, base)
        head, *rest = wrap(words, max(20, width - COLUMN_MAX - 1))
        rows.append(line(Span(fit(variant.title, COLUMN_MAX), "strong"), " ", head))
        rows += [line(" " * (COLUMN_MAX + 1), row) for row in rest]
    return rows


def _in_words(compared: FaultVariants, title: str, effect: Effect | None) -> str:
    if effect is not None:
        return effect_words(effect)
    if title in compared.failures:
        return f"not possible: {compared.failures[title]}"
    here = compared.next
    return "predicting on a copy" if here is not None and here.title == title else "not yet"


def _unlike(effect: Effect, base: Effect) -> str:
    """Name the columns that differ from the first one: ``(OFFLINE none, not +4)``."""
    parts = [
        f"{consequence.title} {consequence.shown(effect) or 'none'}, not {usual or 'none'}"
        for consequence in CONSEQUENCES
        if consequence.shown(effect) != (usual := consequence.shown(base))
    ]
    return f" ({'; '.join(parts)})" if parts else ""


def _two_lines(title: str, width: int) -> tuple[str, str]:
    """A title above a column: its last word on the second line where it does not fit on one."""
    if len(title) <= width:
        return "", title
    first, _, last = title.rpartition(" ")
    return fit(first, width).rstrip(), last
