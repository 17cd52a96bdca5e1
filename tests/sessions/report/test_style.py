"""The page's colours: text and shapes stand out from what they are on, by WCAG 2.2's measure."""

import re
from pathlib import Path

import pytest

import sessions.report

CSS = (Path(sessions.report.__file__).parent / "report.css").read_text()
LIGHT, DARK, *_ = (
    dict(re.findall(r"--([\w-]+): #([0-9a-f]{6});", block))
    for block in re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
)
TEXT_MIN, SHAPE_MIN = 4.5, 3.0
TEXTS = ("ink", "dim", "accent")
GROUNDS = ("ground", "panel", "on-good", "on-warn", "on-bad")
SHAPES = ("good", "warn", "bad", "soft", "other", "accent", "edge")


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_is_read_on_every_ground(scheme: dict[str, str]) -> None:
    weak = {
        (text, ground): round(found, 2)
        for text in TEXTS
        for ground in GROUNDS
        if (found := contrast(scheme[text], scheme[ground])) < TEXT_MIN
    }
    assert weak == {}


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_shapes_are_seen_on_their_panel(scheme: dict[str, str]) -> None:
    weak = {
        shape: round(found, 2)
        for shape in SHAPES
        if (found := contrast(scheme[shape], scheme["panel"])) < SHAPE_MIN
    }
    assert weak == {}
