"""Topics: create, alter, config, list, describe."""

from typing import Annotated, Final

import click

from commands.language import values
from commands.language.declaration import argument, option, statement
from commands.language.statements.parameters import (
    DeletedSettings,
    Settings,
    SettingWords,
    Topic,
    changes,
)
from commands.language.statements.show import Show
from emulator.inputs.statements import AddPartitions, ConfigureTopic, CreateTopic
from sessions.grammar.words import BadWord

app = click.Group("topic", help="Create, change, delete and look at topics.")

PARTITIONS: Final = option(
    "--partitions", metavar="P", parse=values.partitions, text="number of partitions"
)


@statement(app, "create")
def create(
    topic: Topic,
    partitions: Annotated[int | None, PARTITIONS] = None,
    replication_factor: Annotated[
        int | None,
        option(
            "--replication-factor", metavar="R", parse=values.count, text="replicas per partition"
        ),
    ] = None,
    assignment: Annotated[
        values.Assignment | None,
        option(
            "--replica-assignment",
            kind="0:1:2,1:2:0",
            text="the brokers of each partition, instead of the two counts",
        ),
    ] = None,
    policy: Annotated[
        str,
        option(
            "--assignment-policy",
            metavar="seed|kafka",
            parse=values.choice("seed", "kafka"),
            text="how replicas are assigned",
            default="seed",
        ),
    ] = "seed",
    config: Settings = None,
) -> CreateTopic:
    """Create a topic; ends when its znodes, or in KRaft mode its records, are written."""
    numbers = (partitions, replication_factor)
    if assignment and numbers != (None, None):
        raise BadWord("takes --replica-assignment or the two numbers, not both")
    if not assignment and None in numbers:
        needed = "--partitions and --replication-factor, or --replica-assignment"
        raise BadWord(f"needs {needed}")
    return CreateTopic(
        topic=topic,
        partitions=partitions or len(assignment or []),
        replication_factor=replication_factor or len((assignment or [[]])[0]),
        assignment=list(assignment or []),
        policy="kafka" if policy == "kafka" else "seed",
        config=dict(config or []),
    )


@statement(app, "alter")
def alter(
    topic: Topic,
    partitions: Annotated[int, PARTITIONS],
    assignment: Annotated[
        values.Assignment | None,
        option(
            "--replica-assignment",
            kind="0:1:2,1:2:0",
            text="KRaft: the brokers of each new partition",
        ),
    ] = None,
) -> AddPartitions:
    """Increase the number of a topic's partitions to P."""
    return AddPartitions(topic=topic, partitions=partitions, assignment=list(assignment or []))


@statement(app, "config")
def config(
    topic: Topic, settings: SettingWords = None, deleted: DeletedSettings = None
) -> ConfigureTopic:
    """Set or delete configuration values of a topic."""
    return ConfigureTopic(topic=topic, config=changes(settings, deleted))


@statement(app, "list")
def list_topics() -> Show:
    """Print the topics."""
    return Show(what="topics")


@statement(app, "describe")
def describe(topic: Annotated[str, argument("T", text="all by default")] = "") -> Show:
    """Print the partitions of one topic, or of all."""
    return Show(what="partitions", target=topic)
