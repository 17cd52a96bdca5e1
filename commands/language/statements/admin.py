"""Admin operations: election, reassign, config, describe, alterpartition."""

from typing import Annotated

import click

from commands.language import values
from commands.language.declaration import argument, option, statement
from commands.language.statements.parameters import (
    Broker,
    DeletedSettings,
    SettingWords,
    Topic,
    TopicPartition,
    changes,
)
from emulator.inputs.statements import (
    AlterPartition,
    CancelReassignment,
    ConfigureBroker,
    DescribeTopic,
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
        list[str] | None, argument("TP", values.topic_partition, "all by default")
    ] = None,
) -> ElectPreferred:
    """Elect preferred leaders (by writing /admin/preferred_replica_election, or ElectLeaders)."""
    return ElectPreferred(partitions=partitions or [])


@statement(election_app, "unclean")
def unclean(partition: TopicPartition) -> ElectUnclean:
    """Elect a leader outside the ISR for an offline partition."""
    return ElectUnclean(tp=partition)


@statement(app, "reassign")
def reassign(
    first: Annotated[str, argument("TP|cancel", text="a topic-partition")],
    second: Annotated[str, argument("1,2,3", text="the new replicas; after cancel, the TP")],
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


@statement(app, "describe")
def describe(topic: Topic) -> DescribeTopic:
    """Print a topic's eligible leader replicas, as a broker reports them (KRaft)."""
    return DescribeTopic(topic=topic)


@statement(app, "alterpartition")
def alter_partition(
    partition: TopicPartition,
    broker: Broker,
    isr: Annotated[values.BrokerIds, argument("1,2,3", values.broker_ids, "the ISR")],
    leader_epoch: Annotated[
        int,
        option(
            "--leader-epoch",
            metavar="D",
            parse=values.difference,
            text="difference from the true one",
        ),
    ] = 0,
    partition_epoch: Annotated[
        int,
        option(
            "--partition-epoch",
            metavar="D",
            parse=values.difference,
            text="difference from the true one",
        ),
    ] = 0,
    broker_epoch: Annotated[
        int,
        option(
            "--broker-epoch",
            metavar="D",
            parse=values.difference,
            text="difference from the true one",
        ),
    ] = 0,
    isr_epochs: Annotated[
        list[tuple[int, int]] | None,
        option(
            "--isr-epoch",
            metavar="B:D",
            parse=values.broker_difference,
            text="name member B's broker epoch, with D added; may be repeated",
        ),
    ] = None,
) -> AlterPartition:
    """Send the active controller an AlterPartitionRequest on behalf of a broker (KRaft)."""
    return AlterPartition(
        tp=partition,
        broker=broker,
        isr=list(isr),
        leader_epoch=leader_epoch,
        partition_epoch=partition_epoch,
        broker_epoch=broker_epoch,
        isr_epochs=dict(isr_epochs or []),
    )
