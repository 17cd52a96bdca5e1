from collections.abc import Iterator

import pytest

from console.model.workspace import Stage
from console.render.comparison import pair_line, state_lines, titles_line
from console.render.lines import text_of, width_of
from console.styles.glyphs import ASCII, UNICODE
from sessions.sources.twin import TwinSource
from tests.console.libraries import side_by_side


@pytest.fixture(scope="module")
def twin() -> Iterator[TwinSource]:
    with side_by_side() as twin:
        yield twin


def test_states_say_who_leads_and_what_each_replica_holds(twin: TwinSource) -> None:
    twin.go_to(len(twin.pairing.pairs) - 1)
    rows = [text_of(row) for row in state_lines(twin.view, twin.behind.view, UNICODE, 120)]
    assert "t-0 leader 2 epoch 4 ISR [2,1]" in rows[1]
    assert any("t-0@1 follower LEO 2 HW 2  m1 m2" in row for row in rows)
    assert any("1 lost, 1 diverged" in row for row in rows)


def test_what_the_other_run_does_not_say_is_set_off(twin: TwinSource) -> None:
    twin.go_to(len(twin.pairing.pairs) - 1)
    rows = state_lines(twin.view, twin.behind.view, ASCII, 120)
    marked = [text_of(row)[1:].split()[0] for row in rows if text_of(row).startswith("!")]
    assert marked == ["t-0@1", "t-0@2", "t-0:"]
    same = state_lines(twin.view, twin.view, ASCII, 120)
    assert not any(text_of(row).startswith("!") for row in same)


@pytest.mark.parametrize("width", [80, 120])
def test_pairs_stand_under_their_titles(twin: TwinSource, width: int) -> None:
    stage = Stage(twin)
    first = twin.pairing.first_difference
    assert first is not None
    row = pair_line(stage, twin, first, width)
    assert width_of(row) <= width
    assert "≠≠≠" in text_of(row)
    assert "truncated 1 record" in text_of(row)
    titles = text_of(titles_line(twin, width))
    assert titles.index("V7-stale-hw-restart 0.11"[:20], 40) == text_of(row).index("≠≠≠") + 3


def test_what_is_the_same_has_no_sign(twin: TwinSource) -> None:
    row = text_of(pair_line(Stage(twin), twin, 3, 120))
    assert "≠" not in row
    assert row.count("controller 0 elected") == 2
