"""Admin operations: reassign, config."""

from typing import Annotated

import click

from commands.language import values
from commands.language.declaration import argument, statement
from commands.language.statements.parameters import DeletedSettings, SettingWords, changes
from emulator.inputs.statements import CancelReassignment, ConfigureBroker, ConfigureGroup, Reassign
from sessions.grammar.words import read

app = click.Group()
config_app = click.Group("config", help="Configure brokers and groups.")


@statement(app, "reassign")
def reassign(
    first: Annotated[str, argument("TP|cancel", text="a topic-partition")],
    second: Annotated[str, argument("1,2,3", str, "the new replicas; after cancel, the TP")],
) -> Reassign | CancelReassignment:
    """Reassign a partition ('reassign TP 1,2,3'), or cancel that ('reassign cancel TP')."""
    if first == "cancel":
        return CancelReassignment(tp=read(values.topic_partition, second))
    tp = read(values.topic_partition, first)
    return Reassign(tp=tp, replicas=list(read(values.broker_ids, second)))


@statement(config_app, "broker")
def broker(
    broker: Annotated[
        int | None, argument("B|default", values.broker_or_default, "a broker id, or all of them")
    ],
    settings: SettingWords = None,
    deleted: DeletedSettings = None,
) -> ConfigureBroker:
    """Set or delete configuration values of a running broker, or (1.1+) of all brokers.

    In KRaft mode the running broker with the lowest id is asked, as on the recorded clusters. It
    refuses the values of other brokers (INVALID_REQUEST).
    """
    return ConfigureBroker(broker=broker, config=changes(settings, deleted))


@statement(config_app, "group")
def group(
    group: Annotated[str, argument("G", str, "the group's name; it need not exist yet")],
    settings: SettingWords = None,
    deleted: DeletedSettings = None,
) -> ConfigureGroup:
    """Set or delete configuration values of a group (4.0 and newer), as 'share.auto.offset.reset'.

    They are those of GROUP resources; the controller checks them, and every broker applies them.
    """
    return ConfigureGroup(group=group, config=changes(settings, deleted))
