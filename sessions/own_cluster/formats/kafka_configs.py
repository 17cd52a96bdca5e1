"""What ``kafka-configs --describe`` prints, with and without ``--all``.

::

    Dynamic configs for topic orders are:
      min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2}
    Default configs for brokers in the cluster are:
    Configs for topic 'orders' are min.insync.replicas=2,retention.ms=1
    Quota configs for user-principal 'alice', the default client-id are producer_byte_rate=1024.0
    SCRAM credential configs for user-principal 'alice' are SCRAM-SHA-256=iterations=8192

The line of ``'orders'`` is that of tools up to 2.x that asked ZooKeeper; they print salts and keys
of users, which are left out. The first synonym says where a value comes from: only values that were
set for the topic, for the broker or for all brokers are taken,
and of brokers those in ``server.properties`` too. Source: ``ConfigCommand`` of 1.1 to 4.1.
"""

import re
from typing import Final

from msgspec import Struct, field

from emulator.cluster_image.image import Broker, ClientQuota, ClusterImage, Group, ScramUser, Topic
from sessions.own_cluster.access import entity_of, listeners_of, quota_values, scram_user, user_name
from sessions.own_cluster.content import Content
from sessions.own_cluster.reading import Authority, FormatError, Reading
from sessions.text import clean, plural

NAME: Final = "kafka-configs --describe"

_HEAD: Final = re.compile(
    r"(?:Dynamic |All |Default )?configs for (?:the )?(topic|broker|group|brokers|\S+)"
    r"(?: in the cluster| '?([^ ']+)'?)? are(?::| (.*))$",
    re.IGNORECASE,
)
_LINE: Final = re.compile(
    r"\s+([\w.-]+)=(.*?)(?: sensitive=(true|false))?(?: synonyms=\{(.*?)\}?)?$"
)
_OF_CLIENTS: Final = re.compile(
    r"(?:(?:SCRAM credential|Quota) )?configs for "
    r"((?:the |default )*(?:user-principal|client-id|ip)\b.*?) are (.*)$",
    re.IGNORECASE,
)
_ENTITY: Final = re.compile(r"(?:the |default )*(user-principal|client-id|ip)\b(?: '(.*)'$)?")
_NEXT_ENTITY: Final = re.compile(r", (?=(?:the |default )*(?:user-principal|client-id|ip)\b)")
_KINDS: Final = {"user-principal": "user"}
_CREDENTIAL: Final = re.compile(
    r"\b(SCRAM-SHA-\d+)=(?:salt=[^,-]*,stored_key=[^,-]*,server_key=[^,-]*,)?(iterations=\d+)"
)
_QUOTA: Final = re.compile(r"\b([a-z]+(?:_[a-z]+)+)=([\d.E+-]+)")
_STATIC: Final = "STATIC_BROKER_CONFIG"
_ALL_BROKERS: Final = "DYNAMIC_DEFAULT_BROKER_CONFIG"
_OWN: Final = {
    "topic": "DYNAMIC_TOPIC_CONFIG",
    "broker": "DYNAMIC_BROKER_CONFIG",
    "brokers": _ALL_BROKERS,
    "group": "DYNAMIC_GROUP_CONFIG",
}


class _Contents(Struct):
    topics: dict[str, dict[str, str]] = field(default_factory=dict)
    brokers: dict[int, dict[str, str]] = field(default_factory=dict)
    static: dict[int, dict[str, str]] = field(default_factory=dict)
    groups: dict[str, dict[str, str]] = field(default_factory=dict)
    users: list[ScramUser] = field(default_factory=list)
    quotas: list[ClientQuota] = field(default_factory=list)
    default: dict[str, str] | None = None
    hidden: int = 0


def recognizes(head: str) -> bool:
    """Whether a text has a heading of this tool."""
    return any(_HEAD.match(line) or _OF_CLIENTS.match(line) for line in head.splitlines())


def read(content: Content) -> Reading:
    """Return the configurations.

    Raises:
        FormatError: a line cannot be understood.
    """
    configs = _Contents()
    kind, owner = "", ""
    for number, line in enumerate(content.lines(), 1):
        head = _HEAD.match(line)
        if (of_clients := _OF_CLIENTS.match(line)) is not None:
            _take_client(configs, *of_clients.groups())
        elif head is not None:
            kind, owner = head[1].lower(), head[2] or ""
            values = _values_of(configs, kind, owner, number)
            for part in (head[3] or "").split(","):
                name, equals, value = part.partition("=")
                if equals:
                    values[name.strip()] = value
        elif line.strip() and kind:
            _take(configs, kind, owner, line, number)
    notes = (
        (f"{plural(configs.hidden, 'sensitive value')} without the value left out",)
        if configs.hidden
        else ()
    )
    return Reading(content.name, NAME, Authority.TOOL, _image(configs), notes)


def _values_of(configs: _Contents, kind: str, owner: str, number: int) -> dict[str, str]:
    match kind:
        case "topic":
            return configs.topics.setdefault(owner, {})
        case "group":
            return configs.groups.setdefault(owner, {})
        case "broker" if owner.isdecimal():
            return configs.brokers.setdefault(int(owner), {})
        case "broker" if owner and owner != "<default>":
            raise FormatError(f"line {number} names the broker {clean(owner)!r}, which is no id")
        case "brokers" | "broker":
            configs.default = configs.default if configs.default is not None else {}
            return configs.default
        case _:
            return {}  # metrics of clients, and other things that replication does not know


def _take_client(configs: _Contents, entity: str, values: str) -> None:
    """The credentials and quotas of a user, client id or address."""
    parts = map(_ENTITY.match, _NEXT_ENTITY.split(entity))
    names = entity_of((_KINDS.get(part[1], part[1]), part[2]) for part in parts if part)
    user = scram_user(user_name(names[0]), dict(_CREDENTIAL.findall(values)))
    quota = ClientQuota(*names, quota_values(dict(_QUOTA.findall(values))))
    configs.users += [user] if user.iterations else []
    configs.quotas += [quota] if quota.values else []


def _take(configs: _Contents, kind: str, owner: str, line: str, number: int) -> None:
    parts = _LINE.match(line)
    if parts is None:
        if line.startswith(" "):
            raise FormatError(f"line {number} is no configuration: {clean(line.strip()[:60])!r}")
        return
    name, value, sensitive, synonyms = parts.groups()
    if sensitive == "true":
        configs.hidden += value == "null"
        return
    source = (synonyms or "").partition(":")[0]
    if kind == "broker" and source == _STATIC:
        configs.static.setdefault(int(owner), {})[name] = value
    elif kind == "broker" and source == _ALL_BROKERS:
        configs.default = {**(configs.default or {}), name: value}
    elif not synonyms or source == _OWN.get(kind):
        _values_of(configs, kind, owner, number)[name] = value


def _image(configs: _Contents) -> ClusterImage:
    return ClusterImage(
        configs=configs.default,
        users=tuple(configs.users),
        quotas=tuple(configs.quotas),
        brokers=tuple(
            Broker(
                broker,
                listeners=listeners_of(configs.static.get(broker, {})),
                configs=values,
                static_configs=configs.static.get(broker),
            )
            for broker, values in configs.brokers.items()
        ),
        topics=tuple(Topic(name, configs=values) for name, values in configs.topics.items()),
        groups=tuple(Group(name, configs=values) for name, values in configs.groups.items()),
    )
