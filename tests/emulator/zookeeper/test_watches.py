"""Who watches what."""

from emulator.zookeeper.watches import Watches


def test_a_host_watches_a_path_once_and_in_its_turn() -> None:
    watches = Watches()
    for host in (2, 1, 2):
        watches.watch_data(host, "/a")
    watches.watch_children(1, "/a")
    assert watches.of_path("/a") == ((2, 1), (1,))
    assert watches.of_path("/b") == ((), ())


def test_a_host_can_be_forgotten() -> None:
    watches = Watches()
    for host in (2, 1):
        watches.watch_data(host, "/a")
    watches.watch_data(2, "/b")
    watches.watch_children(2, "/")
    watches.forget(2)
    assert (watches.data, watches.children) == ({"/a": (1,)}, {})
