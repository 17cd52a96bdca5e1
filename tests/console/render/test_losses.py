from commands.runs.console_library import ConsoleLibrary
from console.model.workspace import Stage
from console.render.lines import text_of, width_of
from console.render.losses import loss_rows


def test_a_lost_record_says_who_truncated_it_after_it_is_gone_everywhere() -> None:
    opened = ConsoleLibrary().open_scenario("V7-stale-hw-restart", "0.10.2")
    try:
        stage = Stage(opened.source)
        opened.source.to_tail()
        stage.follow()
        stage.timeline.read_on(60_000)
        losses = stage.timeline.losses.up_to(stage.source.seq)
        for width in (60, 120):
            heading, row, *_ = loss_rows(stage, losses, width)
            assert width_of(row.line) <= width
            assert text_of(heading.line).startswith("PARTITION")
        assert row.link is not None
        assert row.link.kind == "record"
        assert "truncated on " in text_of(row.line)
        assert stage.view.value(losses[-1].record) in text_of(row.line)
    finally:
        opened.close()


def test_nothing_lost_is_no_line() -> None:
    assert loss_rows(Stage.__new__(Stage), [], 80) == []
