"""Admin operations: election, reassign, config."""

from typing import Annotated

import typer

from commands.language import values
from commands.language.statements.parameters import Broker, SettingWords, TopicPartition, argument
from emulator.inputs.statements import (
    CancelReassignment,
    ConfigureBroker,
    ElectPreferred,
    ElectUnclean,
    Reassign,
)

app = typer.Typer()
election_app = typer.Typer(name="election", help="Elect leaders.")
config_app = typer.Typer(name="config", help="Configure brokers.")


@election_app.command("preferred")
def preferred(
    partitions: Annotated[
        list[str] | None, argument("TP", values.topic_partition, "all if left out")
    ] = None,
) -> ElectPreferred:
    """Write /admin/preferred_replica_election and go on."""
    return ElectPreferred(partitions=partitions or [])


@election_app.command("unclean")
def unclean(partition: TopicPartition) -> ElectUnclean:
    """Elect a leader outside the ISR for an offline partition."""
    return ElectUnclean(tp=partition)


@app.command("reassign")
def reassign(
    first: Annotated[str, argument("TP|cancel", text="a topic-partition")],
    second: Annotated[str, argument("1,2,3", text="its new replicas; after cancel: the TP")],
) -> Reassign | CancelReassignment:
    """Move a partition ('reassign TP 1,2,3'), or take that back ('reassign cancel TP')."""
    try:
        if first == "cancel":
            return CancelReassignment(tp=values.topic_partition(second))
        tp = values.topic_partition(first)
        return Reassign(tp=tp, replicas=list(values.broker_ids(second)))
    except values.BadWord as error:
        raise typer.BadParameter(str(error)) from None


@config_app.command("broker")
def broker(broker: Broker, settings: SettingWords) -> ConfigureBroker:
    """Set configuration values of a running broker."""
    return ConfigureBroker(broker=broker, config=dict(settings))
