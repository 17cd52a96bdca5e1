"""Tables: show. Nothing is asked of the cluster; what is printed comes from the read model."""

import typer
from msgspec import Struct

from commands.language.statements.parameters import ReplicaName, TopicPartition

app = typer.Typer(name="show", help="Print a table (with --json: plain data in outputs).")


class Show(Struct, frozen=True):
    """What is to be shown, and of which partition or replica or topic."""

    what: str
    target: str = ""


def _plain(name: str, text: str) -> None:
    def show() -> Show:
        return Show(what=name)

    show.__doc__ = text
    app.command(name)(show)


_plain("cluster", "Brokers, controller and counts in a few lines.")
_plain("partitions", "Every partition: state, leader, epoch, ISR, HW, LEO.")
_plain("brokers", "Every broker: state, session, leaders, replicas.")
_plain("producers", "Every producer: acknowledged, failed, retries.")
_plain("audit", "Acknowledged, lost, duplicated, diverged records.")


@app.command("epochs")
def epochs(partition: TopicPartition) -> Show:
    """The leader-epoch caches of a partition's replicas."""
    return Show(what="epochs", target=partition)


@app.command("log")
def log(replica: ReplicaName) -> Show:
    """The records of one replica."""
    return Show(what="log", target=f"{replica.tp}@{replica.broker}")


@app.command("truths")
def truths(partition: TopicPartition) -> Show:
    """What the znode, the controller, each broker and the clients believe of a partition."""
    return Show(what="truths", target=partition)
