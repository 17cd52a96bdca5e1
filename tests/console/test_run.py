import pytest

import console
from console.app import TidegaugeApp
from tests.console.fakes import ListSource, failover


def test_run_shows_the_source_until_the_user_quits(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[TidegaugeApp] = []

    def run(app: TidegaugeApp, *, mouse: bool) -> None:
        assert mouse
        shown.append(app)

    monkeypatch.setattr(TidegaugeApp, "run", run)
    monkeypatch.setattr("console.model.workspace.collect_while_drawing", lambda: None)
    source = ListSource(failover())
    assert console.run(source, paused=True) == 0
    (app,) = shown
    assert app.stage.source is source
    assert app.stage.pacer.paused
    assert app.stage.index.keys
