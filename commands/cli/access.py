"""The options of commands that serve a cluster: how programs reach it, and who may."""

from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Struct

from commands.cli.options import option
from commands.exits import CommandError, ExitCode
from commands.language import values
from commands.language.places import memory
from commands.output import streams
from sessions.gateway.endpoints import LOOPBACK, PLAINTEXT, SSL, Endpoint

if TYPE_CHECKING:
    from commands.runs.access import Access

PORT: Final = 9092
CLIENT_AUTH: Final = "ssl.client.auth"


def _is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address: 127.0.0.2 is loopback, too."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def warn_of_strangers(host: str) -> None:
    """Warn if the server is reachable from other machines."""
    if not _is_loopback(host):
        streams.narrate(
            f"anyone who can reach {host} can use this cluster: there is no authentication"
        )


class AccessOptions(Struct, frozen=True, kw_only=True):
    """How programs reach a cluster that is served, and how much of their records is in memory."""

    port: Annotated[
        int | None,
        option(
            "--port",
            kind="port",
            text="port of the first broker, followed by those of the others; 0: any free ports",
            default=str(PORT),
        ),
    ] = None
    host: Annotated[
        str | None, option("--host", metavar="HOST", text="address to listen on", default=LOOPBACK)
    ] = None
    advertise: Annotated[
        values.HostAndPort | None,
        option(
            "--advertise",
            metavar="HOST[:PORT]",
            parse=values.advertised,
            text="the host that clients are told to connect to, and the first broker's port there",
            default="where brokers listen, or the script's --hosts",
        ),
    ] = None
    listeners: Annotated[
        list[Endpoint] | None,
        option(
            "--listener",
            metavar="NAME=HOST:PORT",
            parse=values.listener,
            text="a further listener of each broker, whose clients are told addresses of its own: "
            "NAME=HOST:PORT,advertise=HOST:PORT; may be repeated",
        ),
    ] = None
    protocol: Annotated[
        str | None,
        option(
            "--protocol",
            metavar="PROTOCOL",
            parse=values.security_protocol,
            text="the security protocol: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL",
            default="PLAINTEXT",
        ),
    ] = None
    users: Annotated[
        list[values.Setting] | None,
        option(
            "--user",
            metavar="NAME:PASSWORD",
            parse=values.user,
            text="a user of SASL PLAIN and SCRAM; may be repeated",
        ),
    ] = None
    certificate: Annotated[
        str | None,
        option(
            "--certificate",
            metavar="FILE",
            text="the brokers' TLS certificate, a PEM file",
            default="one is made",
        ),
    ] = None
    key: Annotated[
        str | None, option("--key", metavar="FILE", text="its private key, a PEM file")
    ] = None
    client_authority: Annotated[
        str | None,
        option(
            "--tls-client-ca",
            metavar="FILE",
            text="ask the clients of SSL for certificates of the authorities in this PEM file; "
            "with --config ssl.client.auth=requested they may have none",
        ),
    ] = None
    control: Annotated[
        int | None,
        option(
            "--control",
            kind="port",
            text="open a control channel of JSON lines on this port; 0: any free port",
        ),
    ] = None
    control_folder: Annotated[
        str | None,
        option(
            "--control-folder",
            metavar="FOLDER",
            text="where the control channel may read scripts and write recordings",
            default="the current folder",
        ),
    ] = None
    keep_memory: Annotated[
        int | None,
        option(
            "--keep-memory",
            metavar="SIZE",
            parse=memory,
            text="how much of what clients write is kept in memory; older records are in temporary "
            "files (TMPDIR)",
            default="256MB",
        ),
    ] = None

    def given(self) -> list[str]:
        """Return the names of the options that are given."""
        # Typer keeps the name of an annotated option where its default would be.
        return [
            str(annotation.__metadata__[0].default)
            for field, annotation in AccessOptions.__annotations__.items()
            if getattr(self, field) is not None
        ]

    def access(self, config: Sequence[values.Setting] | None) -> "Access":
        """Return how clients reach the cluster; warn of listeners that strangers can use.

        Raises:
            CommandError: two listeners have one name, or an option lacks another one.
        """
        from commands.runs.access import Access

        host, port = self.advertise or (None, 0)
        first = Endpoint(
            name=self.protocol or PLAINTEXT,
            protocol=self.protocol or PLAINTEXT,
            host=self.host or LOOPBACK,
            port=PORT if self.port is None else self.port,
            advertised_host=host,
            advertised_port=port,
        )
        endpoints = [first, *(self.listeners or ())]
        names = [endpoint.name for endpoint in endpoints]
        for name in names:
            if names.count(name) > 1:
                raise CommandError(ExitCode.USAGE, f"there are two listeners with the name {name}")
        if (self.certificate is None) != (self.key is None):
            raise CommandError(ExitCode.USAGE, "--certificate and --key need each other")
        client_auth = next(
            (setting.value for setting in config or () if setting.name == CLIENT_AUTH), None
        )
        if client_auth in ("required", "requested") and self.client_authority is None:
            raise CommandError(ExitCode.USAGE, f"{CLIENT_AUTH}={client_auth} needs --tls-client-ca")
        if self.client_authority is not None and all(
            endpoint.protocol != SSL for endpoint in endpoints
        ):
            raise CommandError(ExitCode.USAGE, "--tls-client-ca needs a listener: --protocol SSL")
        if self.users and not any(endpoint.is_authenticated for endpoint in endpoints):
            message = (
                "--user needs a listener whose clients authenticate: --protocol SASL_PLAINTEXT"
            )
            raise CommandError(ExitCode.USAGE, message)
        for endpoint in endpoints:
            if not endpoint.is_authenticated:
                warn_of_strangers(endpoint.host)
        return Access(
            endpoints=endpoints,
            users={user.name: user.value for user in self.users or ()},
            certificate=None if self.certificate is None else Path(self.certificate),
            key=None if self.key is None else Path(self.key),
            client_authority=None if self.client_authority is None else Path(self.client_authority),
            client_auth=client_auth or "required",
        )

    def config(self, config: list[values.Setting] | None) -> list[values.Setting] | None:
        """Return the configuration of the cluster, which says that clients need certificates."""
        names = [setting.name for setting in config or ()]
        if self.client_authority is None or CLIENT_AUTH in names:
            return config
        return [*(config or ()), values.Setting(CLIENT_AUTH, "required")]

    def folder(self) -> Path:
        """Return the folder of the control channel, or the current one.

        Raises:
            CommandError: there is no such folder.
        """
        folder = Path(self.control_folder or "").absolute()
        if not folder.is_dir():
            raise CommandError(ExitCode.UNREACHABLE, f"there is no folder '{self.control_folder}'")
        return folder


NO_ACCESS: Final = AccessOptions()
