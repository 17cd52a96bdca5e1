"""When the collector looks, and that it is back as it was."""

import gc
from collections.abc import Iterator

import pytest

from sessions.garbage_collection import (
    DRAWN_OBJECTS,
    MANY_OBJECTS,
    YOUNG_OBJECTS,
    collect_no_more,
    collect_seldom,
    collect_while_drawing,
    collector_paused,
    collector_resting,
)


def test_the_collector_is_off_within_and_on_again_after() -> None:
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_is_on_again_after_an_error() -> None:
    with pytest.raises(KeyError), collector_paused():
        raise KeyError
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_it_looks_more_seldom_within_and_as_before_after() -> None:
    before = gc.get_threshold()
    with collector_resting():
        assert gc.get_threshold() == (MANY_OBJECTS, *before[1:])
        assert gc.isenabled()
    assert gc.get_threshold() == before


@pytest.fixture
def nothing_frozen() -> Iterator[None]:
    """What the tests froze as they began is frozen again afterwards."""
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.mark.usefixtures("nothing_frozen")
def test_while_lines_are_drawn_all_that_comes_is_looked_at_often() -> None:
    before = gc.get_threshold()
    try:
        collect_seldom()
        collect_while_drawing()
        assert gc.get_threshold()[0] == DRAWN_OBJECTS < YOUNG_OBJECTS
        assert gc.get_freeze_count() > 0
    finally:
        gc.set_threshold(*before)


@pytest.mark.usefixtures("nothing_frozen")
def test_a_process_that_is_about_to_end_looks_at_nothing_any_more() -> None:
    try:
        collect_no_more()
        assert not gc.isenabled()
        assert gc.get_freeze_count() > 0
    finally:
        gc.enable()


@pytest.mark.usefixtures("nothing_frozen")
def test_a_process_of_its_own_collects_seldom_from_then_on() -> None:
    before = gc.get_threshold()
    try:
        collect_seldom()
        assert gc.isenabled()
        assert gc.get_threshold()[0] == YOUNG_OBJECTS
        assert gc.get_freeze_count() > 0
    finally:
        gc.set_threshold(*before)
