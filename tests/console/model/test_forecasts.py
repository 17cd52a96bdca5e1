from console.model.forecasts import Foresight
from sessions.sources.live import LiveSource
from tests.console.fakes import ListSource, failover
from tests.console.libraries import failing_over


def test_a_recording_cannot_be_looked_ahead_from() -> None:
    assert not Foresight(ListSource(failover())).possible


def test_an_effect_is_worked_out_a_little_at_a_time_and_once() -> None:
    with failing_over() as source:
        _look_ahead(source)


def _look_ahead(source: LiveSource) -> None:
    foresight = Foresight(source)
    statement = "broker crash 2"
    assert foresight.possible
    assert (foresight.effect(statement), foresight.share(statement)) == (None, None)
    looks = 1
    while not foresight.go_on(statement, 0.0):
        looks += 1
        assert 0 <= (foresight.share(statement) or 0) < 1
    assert looks > 1
    said = foresight.effect(statement)
    assert said is not None
    assert said.moved > 0
    assert foresight.go_on(statement)
    assert foresight.time_us == source.last_time_us
