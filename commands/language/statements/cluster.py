"""Statements about scripts themselves: cluster, run."""

from typing import Annotated

import click
from msgspec import Struct

from commands.language import values
from commands.language.declaration import argument, statement
from emulator.inputs.statements import CreateCluster
from sessions.grammar.words import BadWord

app = click.Group()


class Include(Struct, frozen=True):
    """Includes another script's statements, without its ``cluster`` line."""

    path: str


def cluster(wanted: CreateCluster) -> CreateCluster:
    """Reject racks or hosts that are not as many as the brokers."""
    if wanted.racks and len(wanted.racks) != wanted.brokers:
        raise BadWord(f"--racks names {len(wanted.racks)} racks for {wanted.brokers} brokers")
    if wanted.hosts and len(wanted.hosts) != wanted.brokers:
        raise BadWord(f"--hosts names {len(wanted.hosts)} hosts for {wanted.brokers} brokers")
    return wanted


@statement(app, "run")
def run(path: Annotated[str, argument("FILE", text="a script")]) -> Include:
    """Run the statements of another script here, without its cluster line."""
    return Include(path=values.file_name(path))
