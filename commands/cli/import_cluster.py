"""``tidegauge import``: the image of a cluster from what its operator has at hand."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from commands.cli.examples import examples
from commands.cli.options import (
    AsJson,
    Mode,
    Racks,
    ResourceSettings,
    argument,
    flag,
    option,
    place_at,
)
from commands.exits import CommandError, ExitCode
from commands.language import values
from commands.output import streams

if TYPE_CHECKING:
    from sessions.own_cluster.importing import Imported
    from sessions.own_cluster.places import Place

app = typer.Typer()

STDOUT: Final = "-"
SHOWN_MAX: Final = 20
"""How many contradictions, or differences, are printed one by one; JSON has all."""


@app.command(
    "import",
    epilog=examples(
        "kafka-topics --bootstrap-server kafka:9092 --describe > topics.txt",
        "tidegauge import topics.txt --out prod.cluster.json",
        "tidegauge import topics.txt kcat.json --rack 1=a --rack 2=b --out prod.cluster.json",
        "tidegauge import /var/lib/kafka/__cluster_metadata-0 --out prod.cluster.json.zst",
        "tidegauge import topics.txt --version 3.6 --mode kraft --set min.insync.replicas=2",
        "tidegauge import kafka://broker:9093 --command-config client.properties --out -",
        "tidegauge import __cluster_metadata-0 --at 2026-11-23T19:05:07Z --out before.cluster.json",
        "tidegauge import --diff yesterday.cluster.json today.cluster.json",
    ),
)
def import_cluster(
    sources: Annotated[
        list[str],
        argument(
            "SOURCE..", text="files, folders, kafka://HOST:PORT[,..], or - for standard input"
        ),
    ],
    out: Annotated[
        str | None,
        option(
            "--out",
            kind="FILE",
            text="the image to write, *.cluster.json (compressed: *.cluster.json.zst), or - for "
            "standard output",
        ),
    ] = None,
    replace: Annotated[bool, flag("--replace", text="replace an existing image")] = False,
    racks: Racks = None,
    settings: ResourceSettings = None,
    command_config: Annotated[
        str | None,
        option(
            "--command-config",
            metavar="FILE",
            text="a client.properties for kafka://.. with Kafka's own names (security.protocol, "
            "sasl.jaas.config, ssl.truststore.location ..)",
        ),
    ] = None,
    version: Annotated[
        str | None,
        option(
            "--version",
            kind="VERSION",
            text="the Kafka release that the cluster runs",
        ),
    ] = None,
    mode: Mode = None,
    at: Annotated[
        str | None,
        option(
            "--at",
            metavar="OFFSET|TIME",
            text="the cluster as it was there, by a history: 88, or 2026-11-23T19:05:07.079Z",
            default="the end",
        ),
    ] = None,
    diff: Annotated[
        bool, flag("--diff", text="compare two sources, such as images, and print what changed")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Read a cluster that you run into an image, from which emulated clusters can start.

    A source is recognized by its content: what kafka-topics --describe, kafka-configs --describe,
    kafka-log-dirs --describe, kafka-consumer-groups --describe, kafka-metadata-quorum describe,
    kafka-features describe or kcat -L -J prints; a reassignment; the folder __cluster_metadata-0,
    a *.log or *.checkpoint of it; a JSON dump or a snapshot file of ZooKeeper; resources of
    Strimzi; kafka_cluster_state or partition_load of Cruise Control; a JSON list of brokers with
    id and rack; an image; kafka://HOST:PORT, a running cluster, to which only requests that read
    are sent. Several sources are merged. Standard error says what was read, where the sources
    contradict each other and which of them wins, and what is assumed because none of them says it.
    With --at, metadata logs and ZooKeeper's transaction logs are read up to
    that place: the cluster just before an incident. With --diff the exit status is 1 if there are
    differences.
    """
    if diff:
        of_images = {
            "--out": out,
            "--replace": replace,
            "--rack": racks,
            "--set": settings,
            "--version": version,
            "--mode": mode,
            "--at": at,
        }
        if given := [name for name, value in of_images.items() if value]:
            message = f"{given[0]} is for one image, and --diff compares two sources"
            raise CommandError(ExitCode.USAGE, message)
        return _compared(sources, command_config, as_json=as_json)
    if out == STDOUT and as_json:
        raise CommandError(ExitCode.USAGE, "--json and --out - both print to standard output")
    if out not in (None, STDOUT):
        _require_free(out, replace=replace)
    by_hand = (racks or [], settings or [], version, mode)
    imported = imported_of(sources, *by_hand, command_config, place_at(at))
    if not as_json:
        _narrate(imported)
    if out is not None:
        _write(imported, out)
    if as_json:
        from commands.output.own_cluster import as_plain

        streams.emit_json(as_plain(imported))
    return ExitCode.OK


def imported_of(
    sources: list[str],
    racks: list[values.Setting],
    settings: list[values.Setting],
    version: str | None,
    mode: str | None,
    command_config: str | None = None,
    until: "Place | None" = None,
) -> "Imported":
    """Read and merge sources and what is given by hand.

    ``command_config`` is a file of Kafka's client properties, for running clusters. Histories are
    read ``until`` a place, or to their end.

    Raises:
        CommandError: a source cannot be read, or there is no such setting.
    """
    from msgspec import convert

    from emulator.cluster_image.image import Mode as ImageMode
    from emulator.releases.config import ConfigError
    from sessions.own_cluster.by_hand import image_of
    from sessions.own_cluster.client_properties import read_properties
    from sessions.own_cluster.importing import import_sources
    from sessions.own_cluster.places import END
    from sessions.own_cluster.reading import SourceError

    by_hand = image_of(
        racks={int(rack.name): rack.value for rack in racks},
        settings=settings,
        release=version,
        mode=convert(mode, ImageMode | None),
    )
    try:
        properties = None if command_config is None else read_properties(Path(command_config))
        return import_sources(sources, by_hand, properties, streams.progress, until or END)
    except SourceError as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
    except ConfigError as error:
        message = f"--set: {str(error).removesuffix('.')}"
        raise CommandError(ExitCode.USAGE, message) from None
    finally:
        streams.progress("")


def _narrate(imported: "Imported") -> None:
    from commands.output.own_cluster import lines

    for line in lines(imported, SHOWN_MAX):
        streams.narrate(line)


def _require_free(out: str, *, replace: bool) -> None:
    """Check, before any work, that the image can be written there."""
    from sessions.own_cluster.image_files import COMPRESSED, SUFFIX

    path = Path(out)
    if not path.name.removesuffix(COMPRESSED).endswith(SUFFIX):
        message = f"--out: '{out}' must end in {SUFFIX} or {SUFFIX}{COMPRESSED}"
        raise CommandError(ExitCode.USAGE, message)
    if path.exists() and not replace:
        message = f"'{out}' already exists; --replace replaces it"
        raise CommandError(ExitCode.UNREACHABLE, message)


def _write(imported: "Imported", out: str) -> None:
    from emulator.cluster_image.document import encode
    from sessions.own_cluster.image_files import write_image

    if out == STDOUT:
        streams.emit(encode(imported.image).decode())
        return
    write_image(imported.image, Path(out))
    streams.narrate(f"wrote {out}")


def _compared(sources: list[str], command_config: str | None, *, as_json: bool) -> int:
    from sessions.own_cluster.client_properties import read_properties
    from sessions.own_cluster.comparison import compare
    from sessions.own_cluster.importing import read_source
    from sessions.own_cluster.reading import SourceError

    if len(sources) != 2:  # noqa: PLR2004 - one before, one after
        message = f"--diff compares two sources, not {len(sources)}"
        raise CommandError(ExitCode.USAGE, message)
    try:
        properties = None if command_config is None else read_properties(Path(command_config))
        before, after = (read_source(source, properties).image for source in sources)
    except SourceError as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
    differences = compare(before, after)
    if as_json:
        streams.emit_json({"schema": 1, "same": not differences, "differences": differences})
    else:
        streams.emit("".join(f"{line}\n" for line in differences or ["no difference"]))
    return ExitCode.FAILED if differences else ExitCode.OK
