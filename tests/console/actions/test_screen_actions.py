from collections import Counter

from console.actions.registry import ACTIONS, SCREENS
from console.actions.screen_actions import COPY, DRILL, LOG, READ, TABLE, TABLES, TAPES

OWN = [*TABLE, *DRILL, *TAPES, *LOG, *COPY]


def test_each_is_in_the_registry_under_its_screen() -> None:
    for action in OWN:
        assert ACTIONS[action.id] == action
        assert action.contexts[0] in SCREENS
        assert action.id == f"{action.contexts[0]}.{action.verb}"


def test_no_screen_has_two_of_one_verb() -> None:
    twice = [pair for pair, n in Counter((a.contexts[0], a.verb) for a in OWN).items() if n > 1]
    assert twice == []


def test_one_can_copy_from_every_screen_with_something_to_copy() -> None:
    copying = {action.contexts[0] for action in OWN if action.verb == "copy.row"}
    assert {*TABLES, *READ} <= copying
