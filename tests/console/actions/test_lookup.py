import subprocess
import sys
from pathlib import Path

import pytest

from console.actions.bindings import bindings_for
from console.actions.lookup import (
    ACTIONS,
    ANYWHERE,
    FOOTER,
    PROMPT,
    SCREENS,
    Action,
    available,
    clashes,
    footer_actions,
    headings,
    in_context,
    keys_document,
    keys_page,
    refusal,
)
from console.actions.registry import GROUPS
from console.controllers.palette import ActionProvider
from console.model.workspace import Stage
from console.render.lines import text_of
from console.screens.page import help_lines
from tests.console.contexts import BESIDE, KEYS_TO, LIVE_ONLY, RAISED, WITH_LIBRARY
from tests.console.driving import console
from tests.console.fakes import ListSource, failover

KEYS_PAGE = Path(__file__).parents[3] / "docs" / "keys.md"


def test_no_two_actions_share_a_key_in_one_context() -> None:
    assert clashes() == []


def test_a_shared_key_would_be_found() -> None:
    twin = Action("twin", "twin", ("5",), ("partitions",), "help", "go")
    found = clashes([*ACTIONS.values(), twin])
    assert ("partitions", "5", ["go.events", "twin"]) in found


def test_every_screen_of_the_registry_can_be_reached() -> None:
    assert {*KEYS_TO, *RAISED, *LIVE_ONLY, *BESIDE, *WITH_LIBRARY} == set(SCREENS)


async def test_every_action_of_the_input_line_does_something() -> None:
    async with console(ListSource(failover(), "LIVE"), "2", "colon") as driven:
        missing = [a.id for a in in_context(PROMPT) if driven.app.action_method(a.name) is None]
    assert missing == []


@pytest.mark.parametrize("context", [*SCREENS, ANYWHERE, PROMPT])
def test_bindings_are_the_registrys(context: str) -> None:
    bound = {(binding.id, binding.action) for binding in bindings_for(context)}
    assert bound == {(a.id, a.name) for a in in_context(context)}


@pytest.mark.parametrize("context", SCREENS)
def test_help_lists_every_action_of_a_screen(context: str) -> None:
    stage = Stage(ListSource(failover()))
    rows = [text_of(row) for row in help_lines(stage, context)]
    missing = [a.id for a in available(context) if not any(a.help in row for row in rows)]
    assert missing == []


async def test_the_palette_offers_every_action_of_a_screen() -> None:
    async with console(None, "2") as driven:
        offered = ActionProvider(driven.app.screen).actions()
    assert offered == available("partitions")


def test_the_document_the_page_and_help_list_the_same_actions() -> None:
    ids = list(ACTIONS)
    assert [entry["id"] for entry in keys_document()] == ids
    assert [a.id for group in headings(ACTIONS.values()).values() for a in group] != []
    assert sorted(a.id for g in headings(ACTIONS.values()).values() for a in g) == sorted(ids)
    page = keys_page()
    assert [id for id in ids if f"| `{id}` |" not in page] == []


def test_the_document_has_the_promised_keys() -> None:
    entry = next(e for e in keys_document() if e["id"] == "partitions.sort.next")
    assert entry == {
        "id": "partitions.sort.next",
        "keys": ["shift+right"],
        "screens": ["partitions"],
        "help": "Sort by the column to the right",
    }


def test_the_page_in_the_docs_is_up_to_date() -> None:
    assert KEYS_PAGE.read_text(encoding="utf-8") == keys_page()


def test_every_action_stands_under_a_heading_of_help() -> None:
    assert {a.group for a in ACTIONS.values()} <= set(GROUPS)


def test_every_label_has_a_place_in_the_footer() -> None:
    labelled = {a.verb for a in ACTIONS.values() if a.label and PROMPT not in a.contexts}
    assert labelled == set(FOOTER)


def test_the_footer_begins_with_what_opens_things() -> None:
    assert [a.verb for a in footer_actions("partitions")][:3] == ["drill", "filter.open", "faults"]


def test_the_gate_refuses_to_write_to_a_recording() -> None:
    sentence = refusal(ACTIONS["act.command"], read_only=True)
    assert sentence is not None
    assert sentence.startswith("READ-ONLY")


def test_the_gate_lets_reading_pass() -> None:
    assert refusal(ACTIONS["time.pause"], read_only=True) is None
    assert refusal(ACTIONS["act.command"], read_only=False) is None


def test_listing_keys_does_not_start_textual() -> None:
    code = "import sys, console, console.actions.lookup; print('textual' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    assert done.stdout == "False\n"
