"""Each guarantee, judged by histories that keep to it and that do not."""

import pytest
from msgspec import structs

from commands.conformance.guarantees import ALIKE_MAX, GUARANTEES, judge
from commands.conformance.history import History, Received, Sent, Settled, Surprise, Transaction
from commands.conformance.scenarios import SCENARIOS


def sent(value: str, *, acknowledged: bool = True, offset: int = -1, transaction: int = 0) -> Sent:
    return Sent(
        client="p",
        topic="orders",
        partition=0,
        value=value,
        offset=offset,
        transaction=transaction,
        is_acknowledged=acknowledged,
        error="" if acknowledged else "TimeoutError",
    )


def read(value: str, offset: int, *, topic: str = "orders", client: str = "c") -> Received:
    return Received(
        client=client, group="", topic=topic, partition=0, offset=offset, value=value, at_us=offset
    )


def log(*values: str) -> dict[str, list[tuple[int, str]]]:
    return {"orders-0": list(enumerate(values))}


READER = {"c": "orders"}
SHARED = {"g": "orders"}


def given(value: str, offset: int) -> Received:
    return structs.replace(read(value, offset), group="g")


def done(value: str, received: int | None) -> Settled:
    return Settled(group="g", value=value, received=received)


ONE = Transaction(client="p", number=1, outcome="aborted")
TWO = Transaction(client="p", number=2, outcome="committed")
MAYBE = Transaction(client="p", number=3, outcome="unknown")


@pytest.mark.parametrize(
    ("name", "history", "text"),
    [
        ("acknowledged", History(sent=[sent("a")]), ""),
        ("acknowledged", History(sent=[sent("a", acknowledged=False)]), "a was refused: Timeout"),
        (
            "acknowledged",
            History(sent=[sent("a", acknowledged=False, transaction=1)], transactions=[ONE]),
            "",
        ),
        ("refused", History(sent=[sent("a", acknowledged=False)]), ""),
        ("refused", History(sent=[sent("a")]), "a was acknowledged"),
        ("nothing lost", History(sent=[sent("a", offset=0)], logs=log("a")), ""),
        ("nothing lost", History(sent=[sent("a")], logs=log("b")), "is not in orders-0"),
        (
            "nothing lost",
            History(sent=[sent("b", offset=0)], logs=log("a", "b")),
            "b was acknowledged at 0 of orders-0 and is at 1",
        ),
        ("nothing lost", History(sent=[sent("a", acknowledged=False)], logs=log("b")), ""),
        ("in order", History(sent=[sent("a"), sent("b")], logs=log("a", "b", "a")), ""),
        (
            "in order",
            History(sent=[sent("a"), sent("b")], logs=log("b", "a")),
            "b is at offset 0, before what was sent before it",
        ),
        ("written once", History(sent=[sent("a")], logs=log("a", "b")), ""),
        ("written once", History(sent=[sent("a")], logs=log("a", "a")), "at offsets 0 and 1"),
        (
            "read all",
            History(sent=[sent("a")], logs=log("a"), readers=READER, received=[read("a", 0)]),
            "",
        ),
        (
            "read all",
            History(sent=[sent("a")], logs=log("a"), readers=READER),
            "c has not read 1 of 1 records, as a",
        ),
        (
            "settled all",
            History(
                sent=[sent("a"), sent("b")],
                logs=log("a", "b"),
                readers=SHARED,
                received=[given("a", 0), given("b", 1)],
                settled=[done("a", 2)],
            ),
            "1 of 2 records were never settled, as b",
        ),
        (
            "settled all",
            History(
                sent=[sent("a")],
                logs=log("a"),
                readers=SHARED,
                received=[given("a", 0)],
                settled=[done("a", None)],
            ),
            "",
        ),
        (
            "settled once",
            History(
                readers=SHARED,
                received=[given("a", 0), given("b", 1), given("a", 0)],
                settled=[done("a", 1), done("b", 2)],
            ),
            "c was given a, which was settled before",
        ),
        (
            "settled once",
            History(
                readers=SHARED,
                received=[given("a", 0), given("a", 0)],
                settled=[done("a", None), done("a", 2)],
            ),
            "",
        ),
        ("read once", History(readers=READER, received=[read("a", 0), read("b", 1)]), ""),
        (
            "read once",
            History(readers=READER, received=[read("a", 0), read("a", 1)]),
            "c has read a twice",
        ),
        ("read in order", History(received=[read("a", 0), read("b", 5)]), ""),
        (
            "read in order",
            History(received=[read("a", 5), read("b", 4)]),
            "c has read offset 4 after 5 of orders-0",
        ),
        (
            "committed only",
            History(
                sent=[sent("a", transaction=2), sent("b", transaction=3)],
                transactions=[TWO, MAYBE],
                logs=log("a", "b"),
                readers=READER,
                received=[read("a", 0), read("b", 1)],
            ),
            "",
        ),
        (
            "committed only",
            History(
                sent=[sent("a", transaction=1)],
                transactions=[ONE],
                logs=log("a"),
                readers=READER,
                received=[read("a", 0)],
            ),
            "c has read a, whose transaction is not committed",
        ),
        (
            "atomic",
            History(
                sent=[sent("a", transaction=3), sent("b", transaction=3)],
                transactions=[MAYBE],
                readers=READER,
                received=[read("a", 0)],
            ),
            "c has read 1 of 2 records of one transaction",
        ),
        (
            "copied once",
            History(
                sent=[sent("a")],
                logs=log("a"),
                received=[read("a", 0), read("a", 0, topic="copies", client="r")],
            ),
            "",
        ),
        (
            "copied once",
            History(sent=[sent("a")], logs=log("a"), received=[read("a", 0)]),
            "the copy of a was read 0 times",
        ),
    ],
)
def test_a_guarantee_is_judged_by_the_history(name: str, history: History, text: str) -> None:
    told = [violation.text for violation in GUARANTEES[name].violations(history)]
    assert len(told) == (1 if text else 0)
    assert text in "".join(told)


def test_violations_come_in_the_order_of_time_and_many_alike_are_counted() -> None:
    count = ALIKE_MAX + 3
    received = [read("a", offset) for offset in range(count + 1)]
    surprise = Surprise(text="c answered 'poll' with an error", at_us=3)
    history = History(readers=READER, received=received, surprises=[surprise])
    told = judge(history, ("read once",))
    assert [violation.at_us for violation in told] == sorted(v.at_us for v in told)
    assert told[2].text == surprise.text
    assert told[-1].text == "read once: 3 more like these"
    assert len(told) == ALIKE_MAX + 2


def test_scenarios_have_names_of_their_own_and_ask_guarantees_that_there_are() -> None:
    names = [scenario.name for scenario in SCENARIOS]
    assert len(names) == len(set(names)) >= 30
    assert {name for scenario in SCENARIOS for name in scenario.asks} == GUARANTEES.keys()
