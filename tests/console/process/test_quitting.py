from console.process.quitting import Quitting


def test_the_key_that_quits_ends_at_once() -> None:
    assert Quitting(("f10",), ("ctrl+c",)).ends("f10")


def test_ctrl_c_ends_only_when_it_is_soon_pressed_again() -> None:
    now = [100.0]
    quitting = Quitting(("ctrl+q",), ("ctrl+c",), lambda: now[0])
    assert not quitting.ends("ctrl+c")
    now[0] += 5.0
    assert not quitting.ends("ctrl+c")
    now[0] += 0.5
    assert not quitting.ends("x")
    assert quitting.ends("ctrl+c")
