from console.model.severity import HEALTHY, RANKS
from console.render.state_words import STATE_WORDS, glyph_of
from console.styles.glyphs import ASCII, UNICODE
from console.styles.roles import ROLES
from sessions.model.cluster_view import STATUSES


def test_the_words_are_the_read_models_states_in_its_order() -> None:
    assert tuple(word.status for word in STATE_WORDS) == STATUSES


def test_only_the_last_state_is_healthy() -> None:
    assert RANKS["healthy"] == HEALTHY == len(STATE_WORDS) - 1


def test_every_state_can_be_told_without_colour() -> None:
    for glyphs in (UNICODE, ASCII):
        shown = [(glyph_of(word, glyphs), word.word) for word in STATE_WORDS]
        assert len(set(shown)) == len(shown)
        assert len({glyph for glyph, _ in shown}) == len(shown)


def test_every_role_has_a_style() -> None:
    assert {word.role for word in STATE_WORDS} <= set(ROLES)
