"""Statements about scripts themselves: cluster, run."""

from typing import Annotated

import click
from msgspec import Struct
from msgspec.structs import replace

from commands.language import values
from commands.language.declaration import argument, statement
from commands.language.server_properties import effective
from emulator.cluster_image.assumptions import complete
from emulator.cluster_image.image import ClusterImage
from emulator.inputs.statements import CreateCluster
from emulator.releases.config import ConfigError
from sessions.grammar.words import BadWord

app = click.Group()


class Include(Struct, frozen=True):
    """Includes another script's statements, without its ``cluster`` line."""

    path: str


def cluster(wanted: CreateCluster) -> CreateCluster:
    """Reject racks or hosts that are not as many as the brokers; take what files say."""
    if wanted.properties:
        config = effective(wanted.properties, wanted.version) | wanted.config
        wanted = replace(wanted, config=config, properties={})
    if wanted.image is not None:
        return _of_image(wanted, wanted.image)
    if wanted.racks and len(wanted.racks) != wanted.brokers:
        raise BadWord(f"--racks names {len(wanted.racks)} racks for {wanted.brokers} brokers")
    if wanted.hosts and len(wanted.hosts) != wanted.brokers:
        raise BadWord(f"--hosts names {len(wanted.hosts)} hosts for {wanted.brokers} brokers")
    return wanted


def _of_image(wanted: CreateCluster, image: ClusterImage) -> CreateCluster:
    """The cluster of an image, in its release and mode unless the statement names others.

    Numbers of brokers and controllers, ids, racks, hosts and features are the image's, whatever the
    statement says: so any script can be run on the cluster of an image.
    """
    plain = CreateCluster()
    named = wanted.version if wanted.version != plain.version else image.release
    asked = replace(image, release=named, mode=wanted.mode or image.mode)
    try:
        made = complete(asked).image
    except ConfigError as error:
        raise BadWord(str(error).removesuffix(".")) from None
    return replace(
        wanted,
        version=made.release or plain.version,
        mode=made.mode or "",
        brokers=len(made.brokers),
        first_id=plain.first_id,
        racks=[],
        hosts=[],
        controllers=plain.controllers,
        features={},
    )


@statement(app, "run")
def run(path: Annotated[str, argument("FILE", str, "a script")]) -> Include:
    """Run the statements of another script here, without its cluster line."""
    return Include(path=values.file_name(path))
