from console.model.forecasts import Forecasts
from sessions.sources.live import LiveSource
from tests.console.fakes import ListSource, failover
from tests.console.libraries import failing_over


def test_a_recording_cannot_be_looked_ahead_from() -> None:
    assert not Forecasts(ListSource(failover())).possible


def test_an_effect_is_worked_out_a_little_at_a_time_and_once() -> None:
    with failing_over() as source:
        _look_ahead(source)


def _look_ahead(source: LiveSource) -> None:
    forecasts = Forecasts(source)
    statement = "broker crash 2"
    assert forecasts.possible
    assert (forecasts.effect(statement), forecasts.share(statement)) == (None, None)
    looks = 1
    while not forecasts.go_on(statement, 0.0):
        looks += 1
        assert 0 <= (forecasts.share(statement) or 0) < 1
    assert looks > 1
    effect = forecasts.effect(statement)
    assert effect is not None
    assert effect.moved > 0
    assert forecasts.go_on(statement)
    assert forecasts.time_us == source.last_time_us
