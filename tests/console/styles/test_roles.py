import re
from pathlib import Path

from console.styles.roles import ROLES, SHADES, component

STYLES = (Path(__file__).parents[3] / "console" / "styles" / "console.tcss").read_text(
    encoding="utf-8"
)


def test_the_style_sheet_knows_every_role_and_no_other() -> None:
    styled = set(re.findall(r"\.(role--[\w-]+)", STYLES))
    assert styled == {component(role) for role in (*ROLES, *SHADES)}


def test_the_style_sheet_mixes_the_themes_colours_and_names_none() -> None:
    assert re.findall(r"#[0-9a-fA-F]{6}\b|rgb\(", STYLES) == []
