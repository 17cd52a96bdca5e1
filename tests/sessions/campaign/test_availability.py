"""The time without a leader at work, held against a look at every microsecond."""

from hypothesis import given
from hypothesis import strategies as st

from sessions.campaign.availability import Reign, unavailable_us

END = 12
TPS = ("a-0", "b-0")


@st.composite
def timelines(draw: st.DrawFn, values: tuple[int | None, ...]) -> list[int | None]:
    """For each microsecond what holds then."""
    return draw(st.lists(st.sampled_from(values), min_size=END, max_size=END))


def stretches(line: list[int | None]) -> list[tuple[int, int, int]]:
    """What holds, from when until when; some are cut in two, as rows are."""
    found: list[tuple[int, int, int]] = []
    for at, value in enumerate(line):
        if value is None:
            continue
        if found and found[-1][0] == value and found[-1][2] == at and at % 5:
            found[-1] = (value, found[-1][1], at + 1)
        else:
            found.append((value, at, at + 1))
    return found


@given(st.data())
def test_it_is_what_a_look_at_every_microsecond_finds(data: st.DataObject) -> None:
    named, leading, exists, expected = [], [], [], 0
    for tp in TPS:
        leader = data.draw(timelines((None, 1, 2)))
        there = data.draw(timelines((None, 0)))
        acts = {broker: data.draw(timelines((None, broker))) for broker in (1, 2)}
        leader = [who if there[at] == 0 else None for at, who in enumerate(leader)]
        named += [Reign(tp, *each) for each in stretches(leader)]
        leading += [Reign(tp, *each) for line in acts.values() for each in stretches(line)]
        exists += [(tp, begin, end) for _, begin, end in stretches(there)]
        at_work = [who is not None and acts[who][at] == who for at, who in enumerate(leader)]
        first = at_work.index(True) if any(at_work) else END
        expected += sum(there[at] == 0 and not at_work[at] for at in range(first, END))
    assert unavailable_us(named, leading, exists) == expected
