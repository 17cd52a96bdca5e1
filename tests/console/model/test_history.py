from console.model.history import History, sparkline
from tests.console.fakes import ListSource, failover

HISTORY = failover()


def test_a_count_is_known_in_every_second_since_the_beginning() -> None:
    source = ListSource(HISTORY)
    values = History(source).values("offline", source.time_us, 9)
    assert values == [None, None, 0, 0, 0, 0, 0, 0, 1]


def test_the_past_is_the_same_from_wherever_one_looks() -> None:
    early = History(ListSource(HISTORY, at=0)).values("brokers_up", 5_000_000, 4, min)
    late = History(ListSource(HISTORY)).values("brokers_up", 5_000_000, 4, min)
    assert early == late == [2, 2, 2, 2]


def test_the_worst_of_a_second_is_shown() -> None:
    source = ListSource(HISTORY)
    up = History(source)
    assert up.values("brokers_up", 500_000, 1, max) == [3]
    assert up.values("brokers_up", 500_000, 1, min) == [0]


def test_since_when_is_the_beginning_of_the_unbroken_stretch() -> None:
    source = ListSource(HISTORY)
    offline_since = History(source).since(source.time_us, lambda counts: counts.offline > 0)
    assert offline_since == next(e.time_us for e in HISTORY if e.seq == 170)
    assert History(source).since(source.time_us, lambda counts: counts.offline == 0) is None


def test_bars_scale_to_the_highest() -> None:
    assert sparkline([None, 0, 1, 4, 8], "_.,-~=+#") == " _.~#"
    assert sparkline([3, 2], "_.,-~=+#", top=3) == "#="


def test_a_small_count_is_never_drawn_as_none() -> None:
    assert sparkline([1, 1000], "_.,-~=+#") == ".#"
