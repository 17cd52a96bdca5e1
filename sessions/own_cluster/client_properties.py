"""Kafka's own ``client.properties``, as ``--command-config`` of its tools takes them.

Connections are made by kafka-python; its configuration is derived from Kafka's names. Certificates
and keys are PEM: Python cannot read Java's key stores.
"""

import re
import ssl
from pathlib import Path
from typing import Any, Final

from sessions.file_system import read_regular
from sessions.own_cluster.reading import SourceError
from sessions.text import clean

PROPERTIES_BYTES_MAX: Final = 1 << 20
PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
"""Security protocols, in the order of their numbers on the wire (``SecurityProtocol``)."""
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_LINE: Final = re.compile(r"\s*((?:\\.|[^\s:=\\])+)\s*[:=\s]?\s*(.*)")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_JAAS: Final = re.compile(r"""(\w+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'([^']*)'|([^\s;]+))""")
_PEM: Final = "PEM"


def read_properties(path: Path) -> dict[str, str]:
    """Return the properties of a file.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        text = read_regular(path, PROPERTIES_BYTES_MAX).decode("utf-8", "replace")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"{clean(str(path))} cannot be read: {reason}") from error
    return parse(text)


def parse(text: str) -> dict[str, str]:
    r"""Parse Java's properties: ``name=value``, comments with # or !, lines continued with \."""
    properties: dict[str, str] = {}
    joined = re.sub(r"\\\r?\n[ \t]*", "", text)
    for line in joined.splitlines():
        if not line.strip() or line.lstrip().startswith(("#", "!")):
            continue
        match = _LINE.match(line)
        if match is not None:
            properties[_unescaped(match[1])] = _unescaped(match[2].rstrip())
    return properties


def client_settings(properties: dict[str, str]) -> dict[str, Any]:
    """Return kafka-python's configuration for Kafka's properties.

    Raises:
        SourceError: a value is unknown, or a file of certificates cannot be used.
    """
    protocol = properties.get("security.protocol", PROTOCOLS[0]).upper()
    _require("security.protocol", protocol, PROTOCOLS)
    settings: dict[str, Any] = {"security_protocol": protocol}
    if protocol.startswith("SASL"):
        settings |= _sasl(properties)
    if protocol.endswith("SSL"):
        settings["ssl_context"] = _ssl_context(properties)
        settings["ssl_check_hostname"] = settings["ssl_context"].check_hostname
    for name in ("request.timeout.ms", "connections.max.idle.ms", "retry.backoff.ms"):
        text = properties.get(name)
        if text is not None:
            if not text.isdecimal():
                raise SourceError(f"{name} is {clean(text)!r}, and must be a number")
            settings[name.replace(".", "_")] = int(text)
    return settings


def _sasl(properties: dict[str, str]) -> dict[str, str]:
    mechanism = properties.get("sasl.mechanism", "GSSAPI")
    _require("sasl.mechanism", mechanism, MECHANISMS)
    module = properties.get("sasl.jaas.config", "")
    options = {
        match[1]: _unescaped(next(value for value in match.groups()[1:] if value is not None))
        for match in _JAAS.finditer(module)
    }
    if not {"username", "password"} <= options.keys():
        raise SourceError("sasl.jaas.config must have a username and a password")
    return {
        "sasl_mechanism": mechanism,
        "sasl_plain_username": options["username"],
        "sasl_plain_password": options["password"],
    }


def _ssl_context(properties: dict[str, str]) -> ssl.SSLContext:
    trusted = _store(properties, "ssl.truststore")
    authorities = properties.get("ssl.truststore.certificates")
    own = _store(properties, "ssl.keystore")
    try:
        context = ssl.create_default_context(cafile=trusted, cadata=authorities)
        if own is not None:
            context.load_cert_chain(own, password=properties.get("ssl.key.password"))
    except (OSError, ValueError) as error:  # SSLError is an OSError
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise SourceError(f"the certificates cannot be used: {clean(str(reason))}") from error
    if properties.get("ssl.endpoint.identification.algorithm", "https") == "":
        context.check_hostname = False
    return context


def _store(properties: dict[str, str], name: str) -> str | None:
    location = properties.get(f"{name}.location")
    kind = properties.get(f"{name}.type", "JKS").upper()
    if location is None or kind == _PEM:
        return location
    raise SourceError(
        f"{name}.type is {clean(kind)}, and only PEM can be read: 'openssl pkcs12 -in STORE -out "
        f"STORE.pem' converts a PKCS12 store"
    )


def _require(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise SourceError(f"{name} is {clean(value)!r}, and may be {', '.join(allowed)}")


def _unescaped(text: str) -> str:
    def replaced(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) > 1:
            return chr(int(code[1:], 16))
        return {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}.get(code, code)

    return _ESCAPE.sub(replaced, text)
