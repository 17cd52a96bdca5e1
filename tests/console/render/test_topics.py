from console.model.workspace import Stage
from console.render.lines import text_of
from console.render.topics import Topics, signs
from console.styles.glyphs import ASCII
from tests.console.fakes import ListSource, failover


def shown(topics: Topics, rows: int = 9) -> list[str]:
    return [text_of(line).rstrip() for line in topics.lines(60, rows, ASCII)]


def test_a_topic_is_a_line_with_a_sign_for_each_partition() -> None:
    stage = Stage(ListSource(failover()))
    topics = Topics()
    topics.follow(stage, stage.follow())
    assert shown(topics) == [" orders                   6  =====x"]


def test_following_changes_gives_what_a_fresh_look_gives() -> None:
    source = ListSource(failover(), at=0)
    stage = Stage(source)
    topics = Topics()
    for place in (40, 126, 150, 169, 170, 130, 3, 170):
        source.seek_seq(place)
        topics.follow(stage, stage.follow())
        fresh, other = Topics(), Stage(source)
        fresh.follow(other, other.follow())
        assert topics.severities == fresh.severities


def test_the_worst_topics_come_first_and_the_rest_is_counted() -> None:
    topics = Topics()
    topics.severities = {"a": [9, 9], "b": [9, 0], "c": [5]}
    assert [row.split()[0] for row in shown(topics)] == ["b", "c", "a"]
    assert shown(topics, rows=2)[1] == " and 2 more topics"


def test_very_many_partitions_share_signs_and_the_worst_wins() -> None:
    severities = [9] * 1_000
    severities[503] = 0
    text = text_of(signs(severities, 100, ASCII))
    assert len(text) == 100
    assert text[50] == "x"
    assert text.count("x") == 1
