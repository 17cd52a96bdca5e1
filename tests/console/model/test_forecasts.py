from console.model.forecasts import Foresight, effect_words
from sessions.model.health import Counts
from sessions.sources.forecast import Effect
from sessions.sources.live import LiveSource
from tests.console.benches import failing_over
from tests.console.fakes import ListSource, failover

NOW = Counts(brokers_up=3, brokers=3, partitions=9)


def effect(**changes: object) -> Effect:
    fields: dict[str, object] = {"now": NOW, "after": NOW, "worst": NOW, "seconds": 60, **changes}
    return Effect(**fields)  # type: ignore[arg-type]


def test_what_matters_most_is_always_said() -> None:
    assert effect_words(effect()) == "0 partitions lose min ISR, 0 offline"


def test_the_worst_counts_and_one_is_no_plural() -> None:
    worst = Counts(brokers_up=2, brokers=3, partitions=9, under_min_isr=1, offline=2)
    assert effect_words(effect(worst=worst)).startswith("1 partition loses min ISR, 2 offline")


def test_what_was_so_before_is_no_effect() -> None:
    bad = Counts(brokers_up=3, brokers=3, partitions=9, under_min_isr=4, offline=1)
    assert effect_words(effect(now=bad, after=bad, worst=bad)) == effect_words(effect())


def test_everything_else_is_said_if_it_happens() -> None:
    said = effect_words(
        effect(
            worst=Counts(under_replicated=3),
            unserved=2,
            unserved_us=13_400_000,
            moved=2,
            lost=1,
            duplicated=2,
            diverged=3,
            controller=1,
        )
    )
    assert said == (
        "0 partitions lose min ISR, 0 offline; 3 under-replicated; 2 change leader; "
        "2 unserved for 13.4 s; controller moves to 1; 1 record lost; 2 records twice; "
        "3 records diverged"
    )


def test_what_is_over_at_once_is_not_worth_a_word() -> None:
    assert "unserved" not in effect_words(effect(unserved=2, unserved_us=400))
    assert "unserved to the end" in effect_words(effect(unserved=2, unserved_us=None))


def test_what_mends_says_so() -> None:
    bad = Counts(brokers_up=2, brokers=3, partitions=9, under_min_isr=4)
    assert "4 mended" in effect_words(effect(now=bad, worst=bad))


def test_a_refusal_is_told_with_its_reason() -> None:
    assert effect_words(effect(refused="it is down")) == "the cluster would refuse it: it is down"


def test_a_recording_cannot_be_looked_ahead_from() -> None:
    assert not Foresight(ListSource(failover())).possible


def test_an_effect_is_worked_out_a_little_at_a_time_and_once() -> None:
    with failing_over() as source:
        _look_ahead(source)


def _look_ahead(source: LiveSource) -> None:
    foresight = Foresight(source)
    statement = "broker crash 2"
    assert foresight.possible
    assert (foresight.known(statement), foresight.share(statement)) == (None, None)
    looks = 1
    while not foresight.go_on(statement, 0.0):
        looks += 1
        assert 0 <= (foresight.share(statement) or 0) < 1
    assert looks > 1
    said = foresight.known(statement)
    assert said is not None
    assert "change leader" in said
    assert foresight.go_on(statement)
    assert foresight.time_us == source.last_time_us
