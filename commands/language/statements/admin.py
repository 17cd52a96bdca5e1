"""Admin operations: election, reassign, config."""

from typing import Annotated

import click

from commands.language import values
from commands.language.declaration import argument, statement
from commands.language.statements.parameters import Broker, SettingWords, TopicPartition
from emulator.inputs.statements import (
    CancelReassignment,
    ConfigureBroker,
    ElectPreferred,
    ElectUnclean,
    Reassign,
)
from sessions.grammar.words import read

app = click.Group()
election_app = click.Group("election", help="Elect leaders.")
config_app = click.Group("config", help="Configure brokers.")


@statement(election_app, "preferred")
def preferred(
    partitions: Annotated[
        list[str] | None, argument("TP", values.topic_partition, "all if left out")
    ] = None,
) -> ElectPreferred:
    """Ask for preferred leaders, by writing /admin/preferred_replica_election."""
    return ElectPreferred(partitions=partitions or [])


@statement(election_app, "unclean")
def unclean(partition: TopicPartition) -> ElectUnclean:
    """Elect a leader outside the ISR for an offline partition."""
    return ElectUnclean(tp=partition)


@statement(app, "reassign")
def reassign(
    first: Annotated[str, argument("TP|cancel", text="a topic-partition")],
    second: Annotated[str, argument("1,2,3", text="its new replicas; after cancel: the TP")],
) -> Reassign | CancelReassignment:
    """Reassign a partition ('reassign TP 1,2,3'), or cancel that ('reassign cancel TP')."""
    if first == "cancel":
        return CancelReassignment(tp=read(values.topic_partition, second))
    tp = read(values.topic_partition, first)
    return Reassign(tp=tp, replicas=list(read(values.broker_ids, second)))


@statement(config_app, "broker")
def broker(broker: Broker, settings: SettingWords) -> ConfigureBroker:
    """Set configuration values of a running broker."""
    return ConfigureBroker(broker=broker, config=dict(settings))
