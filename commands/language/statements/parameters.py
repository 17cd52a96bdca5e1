"""Parameters that several statements take.

Completion identifies the kind of a word by its ``metavar``, the name shown in help, so a kind has
the same one everywhere.
"""

from typing import Annotated

from commands.language.declaration import argument, flag, option
from commands.language.values import Replica, Setting
from sessions.grammar.words import BadWord

Topic = Annotated[str, argument("T", text="the topic")]
TopicPartition = Annotated[str, argument("TP", text="a partition: orders-0")]
ReplicaName = Annotated[Replica, argument("TP@B", text="a replica: orders-0@2")]
NoWait = Annotated[bool, flag("--no-wait", text="continue without waiting until it is up")]
Settings = Annotated[
    list[Setting] | None,
    option(
        "--config",
        kind="K=V",
        text="set a property; may be repeated",
    ),
]
SettingWords = Annotated[
    list[Setting] | None,
    argument("K=V", text="values to set; with ZooKeeper an empty V deletes one"),
]
DeletedSettings = Annotated[
    list[str] | None,
    option("--delete", metavar="K", text="delete a value, so that the default holds again"),
]
Path = Annotated[str, argument("PATH", text="a znode: /brokers/ids")]


def changes(settings: list[Setting] | None, deleted: list[str] | None) -> dict[str, str | None]:
    """Return the new values by name; None: delete it."""
    values: dict[str, str | None] = dict(settings or ())
    values |= dict.fromkeys(deleted or ())
    if not values:
        raise BadWord("needs a value to set (K=V) or to delete (--delete K)")
    return values
