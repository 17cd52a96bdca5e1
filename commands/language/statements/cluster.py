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


def cluster(spec: CreateCluster) -> CreateCluster:
    """Reject racks or hosts that are not as many as the brokers; take what files say."""
    if spec.properties:
        config = effective(spec.properties, spec.version) | spec.config
        spec = replace(spec, config=config, properties={})
    if spec.image is not None:
        return _of_image(spec, spec.image)
    if spec.racks and len(spec.racks) != spec.brokers:
        raise BadWord(f"--racks names {len(spec.racks)} racks for {spec.brokers} brokers")
    if spec.hosts and len(spec.hosts) != spec.brokers:
        raise BadWord(f"--hosts names {len(spec.hosts)} hosts for {spec.brokers} brokers")
    return spec


def _of_image(spec: CreateCluster, image: ClusterImage) -> CreateCluster:
    """The cluster of an image, in its release and mode unless the statement names others.

    Numbers of brokers and controllers, ids, racks, hosts and features are the image's, whatever the
    statement says: so any script can be run on the cluster of an image.
    """
    plain = CreateCluster()
    release = spec.version if spec.version != plain.version else image.release
    described = replace(image, release=release, mode=spec.mode or image.mode)
    try:
        completed = complete(described).image
    except ConfigError as error:
        raise BadWord(str(error).removesuffix(".")) from None
    return replace(
        spec,
        version=completed.release or plain.version,
        mode=completed.mode or "",
        brokers=len(completed.brokers),
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
