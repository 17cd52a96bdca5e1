"""Both sources offer the same."""

from sessions.sources.live import LiveSource
from sessions.sources.replay import ReplaySource
from sessions.sources.source import Source


def test_both_sources_have_everything_that_a_source_has() -> None:
    wanted = {name for name in vars(Source) if not name.startswith("_")}
    for source in (LiveSource, ReplaySource):
        assert wanted <= {name for name in dir(source) if not name.startswith("_")}
        assert {"kind", "read_only"} <= set(dir(source))
