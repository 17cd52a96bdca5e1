"""Links between hosts: cut, heal, delay, drop, isolate, hold, release."""

from typing import Annotated

import click

from commands.language import values
from commands.language.declaration import argument, flag, option, statement
from commands.language.statements.parameters import Broker, Host, OneWay
from emulator.inputs.statements import (
    CutLink,
    DelayLink,
    DropOnLink,
    HealLinks,
    HoldMessages,
    IsolateBroker,
    ReleaseMessages,
)
from sessions.grammar.words import BadWord, duration

app = click.Group("network", help="Cut, slow down and hold up the links between hosts.")


def two_hosts(source: int | None, destination: int | None) -> None:
    """Reject a link from a host to itself, and a link with only one end."""
    if (source is None) != (destination is None):
        raise BadWord("takes two hosts, or none")
    if source is not None and source == destination:
        raise BadWord("takes two different hosts")


@statement(app, "cut")
def cut(source: Host, destination: Host, one_way: OneWay = False) -> CutLink:
    """Cut a link: messages wait and are resent after heal, unless one end has given up."""
    two_hosts(source, destination)
    return CutLink(source=source, destination=destination, one_way=one_way)


@statement(app, "heal")
def heal(
    source: Annotated[int | None, argument("HOST", values.host, "a host")] = None,
    destination: Annotated[int | None, argument("HOST", values.host, "another")] = None,
    one_way: OneWay = False,
) -> HealLinks:
    """Restore one link, or all links."""
    two_hosts(source, destination)
    return HealLinks(source=source, destination=destination, one_way=one_way)


@statement(app, "delay")
def delay(
    source: Host,
    destination: Host,
    added: Annotated[int, argument("D", duration, "the delay of each message")],
    one_way: OneWay = False,
) -> DelayLink:
    """Add a delay to each message between two hosts."""
    two_hosts(source, destination)
    return DelayLink(source=source, destination=destination, delay_us=added, one_way=one_way)


@statement(app, "drop")
def drop(
    source: Host,
    destination: Host,
    percent: Annotated[
        float,
        option(
            "--percent",
            metavar="PERCENT",
            parse=values.percent,
            text="share of the messages to lose",
        ),
    ],
    one_way: OneWay = False,
) -> DropOnLink:
    """Lose messages between two hosts at random, as if the connection broke."""
    two_hosts(source, destination)
    return DropOnLink(source=source, destination=destination, percent=percent, one_way=one_way)


@statement(app, "isolate")
def isolate(broker: Broker) -> IsolateBroker:
    """Cut a broker off from every other broker and from ZooKeeper; clients still reach it."""
    return IsolateBroker(broker=broker)


@statement(app, "hold")
def hold(
    source: Host,
    destination: Host,
    api: Annotated[
        str | None,
        option(
            "--only",
            metavar="API",
            parse=values.api,
            text="only this request or response: LeaderAndIsr, FetchResponse",
        ),
    ] = None,
) -> HoldMessages:
    """Hold messages from the first host to the second, in order, until they are released."""
    two_hosts(source, destination)
    return HoldMessages(source=source, destination=destination, api=api)


@statement(app, "release")
def release(
    source: Host,
    destination: Host,
    count: Annotated[
        int | None,
        option("--count", metavar="N", parse=values.count, text="the first N", default="all"),
    ] = None,
    lose: Annotated[bool, flag("--lose", text="lose them instead")] = False,
    api: Annotated[
        str | None,
        option("--only", metavar="API", parse=values.api, text="only this request or response"),
    ] = None,
) -> ReleaseMessages:
    """Deliver held messages, or drop them; without --count, the hold ends as well."""
    two_hosts(source, destination)
    return ReleaseMessages(source=source, destination=destination, count=count, lose=lose, api=api)
