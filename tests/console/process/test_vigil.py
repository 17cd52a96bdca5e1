"""When a console is overdue, in virtual seconds."""

from console.process.vigil import END_WITHIN_S, HUNG_AFTER_S, WORK_MAX_S, Verdict, Vigil

TICK = 0.2


def first_verdict(vigil: Vigil, begin: float, seconds: float) -> tuple[Verdict, float]:
    """The first verdict that is not to wait, and how long it took; or to wait."""
    now = begin
    while now < begin + seconds:
        now += TICK
        if (verdict := vigil.look(now)) is not Verdict.WAIT:
            return verdict, now - begin
    return Verdict.WAIT, seconds


def test_who_answers_is_left_alone() -> None:
    vigil, now = Vigil(0.0), 0.0
    for _ in range(100):
        now += TICK
        vigil.answered(now)
        assert vigil.look(now) is Verdict.WAIT


def test_who_does_not_answer_is_interrupted_and_then_killed() -> None:
    vigil = Vigil(0.0)
    verdict, after = first_verdict(vigil, 0.0, 60.0)
    assert verdict is Verdict.INTERRUPT
    assert HUNG_AFTER_S < after < HUNG_AFTER_S + 2 * TICK
    assert vigil.is_hung
    verdict, more = first_verdict(vigil, after, 60.0)
    assert verdict is Verdict.KILL
    assert more < 1.0


def test_who_was_asked_to_end_has_two_seconds_in_all() -> None:
    vigil = Vigil(0.0)
    vigil.look(TICK)
    vigil.ask(143, TICK)
    vigil.ask(0, 2 * TICK)
    vigil.answered(2 * TICK)
    verdict, after = first_verdict(vigil, TICK, 10.0)
    assert verdict is Verdict.INTERRUPT
    assert after > END_WITHIN_S
    killed, more = first_verdict(vigil, TICK + after, 10.0)
    assert killed is Verdict.KILL
    assert after + more < 2.0 + TICK
    assert vigil.status == 143
    assert not vigil.is_hung


def test_what_a_user_asked_for_may_take_long() -> None:
    vigil = Vigil(0.0)
    vigil.begin_work()
    assert first_verdict(vigil, 0.0, WORK_MAX_S - 1)[0] is Verdict.WAIT
    vigil.end_work(WORK_MAX_S - 1)
    verdict, after = first_verdict(vigil, WORK_MAX_S - 1, 60.0)
    assert verdict is Verdict.INTERRUPT
    assert after > HUNG_AFTER_S


def test_a_slow_terminal_is_no_hang() -> None:
    vigil = Vigil(0.0)
    vigil.begin_write()
    assert first_verdict(vigil, 0.0, 600.0)[0] is Verdict.WAIT
    vigil.end_write(600.0)
    assert first_verdict(vigil, 600.0, 1.0)[0] is Verdict.WAIT
    assert first_verdict(vigil, 601.0, 60.0)[0] is Verdict.INTERRUPT


def test_a_process_that_was_stopped_meanwhile_is_no_hang() -> None:
    vigil = Vigil(0.0)
    vigil.look(TICK)
    assert vigil.look(3_600.0) is Verdict.WAIT
    assert vigil.look(3_600.0 + TICK) is Verdict.WAIT


def test_a_process_that_gets_little_time_is_waited_for() -> None:
    vigil, now, cpu_s = Vigil(0.0), 0.0, 0.0
    while now < 20.0:
        now += TICK
        cpu_s += TICK / 20
        assert vigil.look(now, cpu_s) is Verdict.WAIT, now
    vigil.answered(now)
    begin = now
    while vigil.look(now, cpu_s) is Verdict.WAIT:
        now += TICK
        cpu_s += TICK
    assert HUNG_AFTER_S < now - begin < HUNG_AFTER_S + 2 * TICK


def test_who_slept_right_after_some_work_is_stuck_and_who_gets_little_time_is_not() -> None:
    slept, starved, now = Vigil(0.0), Vigil(0.0), 0.0
    while slept.look(now, cpu_s=0.5) is Verdict.WAIT:
        now += TICK
        assert starved.look(now, cpu_s=0.02 * now) is Verdict.WAIT
        assert now < HUNG_AFTER_S + 2 * TICK
    assert now > HUNG_AFTER_S
