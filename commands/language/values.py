"""Parsers for single words: topic-partitions, replicas, hosts, numbers, settings.

Each takes a word and returns its value, or raises
:class:`~sessions.grammar.words.BadWord` with one sentence that says what is wrong and names the
nearest valid word, if there is one.
"""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from emulator.common.limits import BROKERS_MAX, CONTROLLERS_MAX, PARTITIONS_MAX
from sessions.gateway.endpoints import (
    META_ADDRESSES,
    PLAINTEXT,
    PROTOCOLS,
    Endpoint,
    UnreachableError,
)
from sessions.grammar.words import BadWord, duration, nearest
from sessions.text import clean

if TYPE_CHECKING:
    from emulator.zookeeper.zkcli import Zone

LISTED_MAX: Final = 20
"""Maximum number of known words that an error lists."""
BROKER_ID_MAX: Final = 999_999_999
PERCENT_MAX: Final = 100
PORT_MAX: Final = 65_535
SPEED_MIN: Final = 0.001
SPEED_MAX: Final = 1_000_000
VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
"""Pattern for the name in ``${NAME}``."""
HOSTS: Final = {"zk": -1, "clients": -2}
"""The hosts that are not brokers, with their numbers in events."""

_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)
_TOPIC_PARTITION = re.compile(r"[A-Za-z0-9._-]+-(?:0|[1-9]\d{0,9})", re.ASCII)
_REPLICA = re.compile(rf"({_TOPIC_PARTITION.pattern})@(\d{{1,9}})", re.ASCII)
_HEXADECIMAL = re.compile(r"0x[0-7]?[0-9a-fA-F]{1,15}", re.ASCII)
_ADDRESS = re.compile(
    r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]{1,253}))(?::(\d{1,18}))?|([0-9A-Fa-f.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f.]*)",
    re.ASCII,
)
_LISTENER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}", re.ASCII)
_DIGITS = re.compile(r"\d{1,9}", re.ASCII)
_ZNODE_PATH = re.compile(r"/.*", re.DOTALL)


class Replica(NamedTuple):
    """One replica: a topic-partition and the broker that hosts it."""

    tp: str
    broker: int


class BrokerIds(list[int]):
    """Broker ids, in the order in which they were written."""


class Assignment(list[list[int]]):
    """The replica list of each partition."""


class Names(list[str]):
    """Names, in the order in which they were written."""


class HostAndPort(NamedTuple):
    """Where to connect; port 0: none is named."""

    host: str
    port: int


class Setting(NamedTuple):
    """``K=V``: a configuration name and its value; an empty value removes it."""

    name: str
    value: str


def one_of(word: str, allowed: Sequence[str], noun: str) -> str:
    """Return the word if it is one of ``allowed``; ``noun`` describes it in the error."""
    if word in allowed:
        return word
    listed = f" ({', '.join(allowed)})" if len(allowed) <= LISTED_MAX else ""
    raise BadWord(f"'{word}' is not {article(noun)}{nearest(word, allowed) or listed}")


def article(noun: str) -> str:
    """Return the noun with an article: ``a count``, ``an offset``; ``acks`` is plural."""
    if noun.endswith("s") and not noun.startswith("number "):
        return f"a value of {noun}"
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def integer(word: str, minimum: int, noun: str, maximum: int | None = None) -> int:
    """Parse an integer from ``minimum`` to ``maximum``, which is None for up to 18 digits."""
    if _INTEGER.fullmatch(word):
        value = int(word)
        if value >= minimum and (maximum is None or value <= maximum):
            return value
    elif maximum is None and word.isdecimal():
        raise BadWord(f"'{word}' is too large a {noun} (up to 18 digits)")
    limits = f", {minimum} or more" if maximum is None else f" from {minimum:,} to {maximum:,}"
    raise BadWord(f"'{word}' is not {article(noun)} (a whole number{limits})")


Value = TypeVar("Value")


def whole(minimum: int, noun: str, maximum: int | None = None) -> Callable[[str], int]:
    """Return a parser of integers, as :func:`integer` parses them."""
    return lambda word: integer(word, minimum, noun, maximum)


def written(
    pattern: re.Pattern[str], value_of: Callable[[str], Value], noun: str
) -> Callable[[str], Value]:
    """Return a parser of words that match a pattern; ``noun`` says in the error what is wanted."""

    def parse(word: str) -> Value:
        if pattern.fullmatch(word):
            return value_of(word)
        raise BadWord(f"'{word}' is not {noun}")

    return parse


natural: Final = whole(0, "number")
count: Final = whole(1, "count")
port: Final = whole(1024, "port", PORT_MAX)
"""An unprivileged TCP port."""
brokers: Final = whole(1, "count", BROKERS_MAX)
controllers: Final = whole(1, "count", CONTROLLERS_MAX)
first_broker: Final = whole(0, "broker id", BROKER_ID_MAX - BROKERS_MAX)
"""The first broker's id, low enough to leave ids for all others."""
partitions: Final = whole(1, "count", PARTITIONS_MAX)
znode_version: Final = whole(-1, "version")
"""A znode's dataVersion; -1 matches any version."""
seed: Final = written(_INTEGER, int, "a seed (a whole number of up to 18 digits)")
broker: Final = written(_DIGITS, int, "a broker id (a number such as 0)")
difference: Final = written(_INTEGER, int, "a difference (a whole number such as -1)")
"""An integer to add to an actual value."""
topic_partition: Final = written(_TOPIC_PARTITION, str, "a topic-partition (written orders-0)")
znode_path: Final = written(_ZNODE_PATH, str, "a znode path (written /brokers/ids)")
java_long: Final = written(
    _HEXADECIMAL,
    lambda word: int(word, 16),
    "an id of ZooKeeper (written 0x300000000, up to 16 digits)",
)
"""A zxid or session id as ZooKeeper prints it, such as ``0x300000535``."""


def port_or_any(word: str) -> int:
    """Parse like :func:`port`, or 0: the system chooses one."""
    try:
        return 0 if word == "0" else port(word)
    except BadWord as error:
        raise BadWord(f"{str(error).removesuffix(')')}, or 0 for any free one)") from None


def address(word: str) -> HostAndPort:
    """Parse ``HOST`` or ``HOST:PORT``."""
    match = _ADDRESS.fullmatch(word)
    if match is None:
        raise BadWord(f"'{clean(word)}' is not an address (written HOST, HOST:PORT or [::1]:PORT)")
    in_brackets, name, port_number, in_version_6 = match.groups()
    host = in_brackets or name or in_version_6
    port_or_none = integer(port_number, 1, "port", PORT_MAX) if port_number else 0
    return HostAndPort(host, port_or_none)


def advertised(word: str) -> HostAndPort:
    """Parse an address that clients are told; it must not be a meta-address."""
    host_and_port = address(word)
    if host_and_port.host in META_ADDRESSES:
        raise BadWord(str(UnreachableError(host_and_port.host)))
    return host_and_port


def listener(word: str) -> Endpoint:
    """Parse ``NAME=HOST:PORT``, with ``advertise=HOST:PORT`` after a comma if it differs."""
    name, equals, rest = word.partition("=")
    first, *others = rest.split(",")
    if not equals or not _LISTENER.fullmatch(name):
        message = "written EXTERNAL=0.0.0.0:19092,advertise=192.168.1.5"
        raise BadWord(f"'{clean(word)}' is not a listener ({message})")
    host, number = address(first)
    public: tuple[str | None, int] = (None, 0)
    protocol = name.upper() if name.upper() in PROTOCOLS else PLAINTEXT
    for option in others:
        key, _, value = option.partition("=")
        if key == "advertise":
            public = advertised(value)
        elif key == "protocol":
            protocol = security_protocol(value)
        else:
            message = "written advertise=HOST or protocol=SASL_SSL"
            raise BadWord(f"'{clean(option)}' is no option of a listener ({message})")
    return Endpoint(
        name=name.upper(),
        protocol=protocol,
        host=host,
        port=number,
        advertised_host=public[0],
        advertised_port=public[1],
    )


def security_protocol(word: str) -> str:
    """Parse a security protocol: ``SASL_SSL``."""
    return one_of(word.upper(), PROTOCOLS, "security protocol")


def user(word: str) -> Setting:
    """Parse ``NAME:PASSWORD``."""
    name, colon, password = word.partition(":")
    if name and colon and password and is_text(word) and "," not in name:
        return Setting(name, password)
    raise BadWord("this is no user (written NAME:PASSWORD, such as alice:secret)")


def cluster_address(word: str) -> str:
    """Check the address of a running cluster, ``kafka://HOST:PORT[,HOST:PORT..]``."""
    if not word.startswith("kafka://"):
        raise BadWord(f"'{clean(word)}' is no address of a cluster (written kafka://HOST:PORT)")
    return word


def positive_duration(word: str) -> int:
    """Parse a duration of at least a millisecond, into microseconds."""
    if value := duration(word):
        return value
    raise BadWord(f"'{word}' is too short a time (1ms or more)")


def replica(word: str) -> Replica:
    """Parse a replica such as ``orders-0@2``."""
    match = _REPLICA.fullmatch(word)
    if not match:
        raise BadWord(f"'{word}' is not a replica (written orders-0@2: partition, then broker)")
    return Replica(match[1], int(match[2]))


CONTROLLERS: Final = ("active", "standby", "any", "last")
"""Words that select a controller without naming its id."""


def controller(word: str) -> str:
    """Parse a controller's id, or a word that selects one."""
    if _DIGITS.fullmatch(word):
        return word
    return one_of(word, CONTROLLERS, "controller id (such as 100) or a word for one")


def controller_or_all(word: str) -> str:
    """Parse a controller's id, a word that selects one, or ``all``."""
    return word if word == "all" else controller(word)


def broker_or_default(word: str) -> int | None:
    """Parse a broker id; ``default`` gives None."""
    return None if word == "default" else broker(word)


def broker_difference(word: str) -> tuple[int, int]:
    """Parse a broker and a difference: ``2:-1``."""
    number, colon, added = word.partition(":")
    if not colon:
        raise BadWord(f"'{word}' is not a broker and a difference (written 2:-1)")
    return broker(number), difference(added)


def host(word: str) -> int:
    """Parse a broker id, ``zk`` or ``clients``; the last two become host numbers as in events."""
    if word in HOSTS:
        return HOSTS[word]
    if _DIGITS.fullmatch(word):
        return int(word)
    raise BadWord(f"'{word}' is not a host (an id, zk or clients){nearest(word, HOSTS)}")


def broker_ids(word: str, separator: str = ",") -> BrokerIds:
    """Parse broker ids such as ``1,2,3``."""
    parts = word.split(separator)
    if all(_DIGITS.fullmatch(part) for part in parts):
        return BrokerIds(int(part) for part in parts)
    raise BadWord(f"'{word}' is not a list of broker ids (written 1{separator}2{separator}3)")


def assignment(word: str) -> Assignment:
    """Parse replica lists such as ``0:1:2,1:2:0``: one per partition, preferred leader first."""
    try:
        return Assignment(list(broker_ids(part, ":")) for part in word.split(","))
    except BadWord:
        message = "is not an assignment (written 0:1:2,1:2:0: brokers of partition 0, then of 1)"
        raise BadWord(f"'{word}' {message}") from None


def setting(word: str) -> Setting:
    """Parse ``K=V``; an empty V removes the value."""
    name, equals, value = word.partition("=")
    if name and equals:
        return Setting(name, value)
    raise BadWord(f"'{word}' is not a setting (written min.insync.replicas=2)")


def level(word: str) -> tuple[str, int]:
    """Parse a feature's level: ``group.version=1``."""
    name, value = setting(word)
    return name, natural(value)


def broker_rack(word: str) -> Setting:
    """Parse ``1=rack-a``; an empty rack says that the broker has none."""
    broker, equals, rack = word.partition("=")
    if equals and _DIGITS.fullmatch(broker) and is_text(rack):
        return Setting(broker, rack)
    raise BadWord(f"'{clean(word)}' is no rack of a broker (written 1=rack-a)")


class Losses(list[tuple[str, str]]):
    """Processes that are lost together: pairs of a kind (broker, controller, rack) and a name."""


def losses(word: str) -> Losses:
    """Parse ``broker=1,broker=4``, ``controller=100`` or ``rack=a``; a number alone is a broker."""
    losses = Losses()
    for part in word.split(","):
        kind, equals, name = part.partition("=")
        if not equals and _DIGITS.fullmatch(kind):
            kind, name = "broker", kind
        is_known = kind == "rack" or (
            kind in ("broker", "controller") and bool(_DIGITS.fullmatch(name))
        )
        if not is_known or not name or not is_text(name):
            message = f"'{clean(part)}' names nothing to lose (written broker=1, rack=a)"
            raise BadWord(message)
        losses.append((kind, name))
    return losses


def resource_setting(word: str) -> Setting:
    """Parse ``K=V``, ``broker:3:K=V`` or ``topic:orders:K=V``."""
    name, equals, value = word.partition("=")
    resource, _, rest = name.partition(":")
    owner, _, key = rest.partition(":")
    is_right = {
        "topic": bool(owner and key),
        "broker": bool(_DIGITS.fullmatch(owner) and key),
    }.get(resource, ":" not in name)
    if name and equals and is_right and is_text(word):
        return Setting(name, value)
    message = "written K=V, broker:3:K=V or topic:orders:K=V"
    raise BadWord(f"'{clean(word)}' is no configuration of a resource ({message})")


def variable(word: str) -> Setting:
    """Parse ``NAME=VALUE``: the value of ``${NAME}``, which may be empty."""
    name, equals, value = word.partition("=")
    if equals and VARIABLE_NAME.fullmatch(name) and is_text(value):
        return Setting(name, value)
    raise BadWord(f"'{clean(word)}' is not a variable (written NAME=VALUE, such as ACKS=all)")


def file_name(word: str) -> str:
    """Parse the name of a file or folder to create."""
    if word and is_text(word) and "\0" not in word:
        return word
    raise BadWord(f"'{clean(word)}' is not a name for a file")


def is_text(text: str) -> bool:
    """Return whether the text encodes in UTF-8: undecodable shell bytes become lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def names(word: str) -> Names:
    """Parse names such as ``a,b,c``."""
    parts = word.split(",")
    if all(parts):
        return Names(parts)
    raise BadWord(f"'{word}' is not a list of names (written a,b,c)")


def acks(word: str) -> int:
    """Parse ``0``, ``1`` or ``all`` (also written -1) into the number that Kafka sends."""
    numbers = {"0": 0, "1": 1, "all": -1, "-1": -1}
    return numbers[one_of(word, tuple(numbers), "acks")]


def percent(word: str) -> float:
    """Parse a number from 0 to 100."""
    try:
        value = float(word)
    except ValueError:
        value = -1.0
    if 0 <= value <= PERCENT_MAX:
        return value
    raise BadWord(f"'{word}' is not a percentage (0 to 100)")


def speed(word: str) -> float | None:
    """Parse virtual seconds per second; None for ``max``: as fast as the machine can."""
    if word == "max":
        return None
    try:
        value = float(word)
    except ValueError:
        value = 0.0
    if SPEED_MIN <= value <= SPEED_MAX:
        return value
    raise BadWord(f"'{word}' is not a speed (a number such as 0.5 or 16, or max)")


def time_zone(word: str) -> "Zone":
    """Parse a time zone such as ``Asia/Shanghai``, as its clocks stand when a cluster starts."""
    from datetime import datetime
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

    from emulator.simulation.kernel import STARTED_MS
    from emulator.zookeeper.zkcli import Zone

    try:
        date = datetime.fromtimestamp(STARTED_MS / 1000, ZoneInfo(word))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        hint = nearest(word, available_timezones())
        raise BadWord(f"'{word}' is not a time zone{hint or ' (written Asia/Shanghai)'}") from None
    offset = date.utcoffset()
    return Zone(date.tzname() or word, 0 if offset is None else int(offset.total_seconds()))


def time_zone_name(word: str) -> str:
    """Return the name of a time zone if it is one."""
    time_zone(word)
    return word


def metadata_path(word: str) -> str:
    """Parse the path of a node of KRaft's metadata image, such as ``/topics/orders``."""
    if word.startswith("/"):
        return word if word == "/" else word.rstrip("/")
    raise BadWord(f"'{word}' is not a path in the metadata image (written /topics/orders)")


def version(word: str) -> str:
    """Parse a release: ``3.6.1``, ``3.6`` (its latest patch release), or ``seed``."""
    from emulator.releases import versions

    if word in versions.RELEASE_OF:
        return word
    raise BadWord(f"'{word}' is not a version; did you mean '{versions.nearest(word)}'?")


def api(word: str) -> str:
    """Parse the name of a request or response: ``LeaderAndIsr`` (a request), ``FetchResponse``."""
    return one_of(word, apis(), "request or response")


def apis() -> tuple[str, ...]:
    """Return the names of all requests and responses; without a suffix, a name means the request.

    AlterPartition was called AlterIsr in 2.7.
    """
    from emulator.protocol import KINDS

    kinds = [kind.__name__ for kind in KINDS]
    names = [name.removesuffix("Request") for name in kinds if name.endswith("Request")]
    all_names = [*names, *kinds, *(f"{name}Response" for name in names)]
    earlier = [name.replace("AlterPartition", "AlterIsr") for name in all_names]
    return tuple(dict.fromkeys([*all_names, *earlier]))


def choice(*allowed: str) -> Callable[[str], str]:
    """Return a parser that accepts one of the known words."""

    def chosen(word: str) -> str:
        """Return the word if it is known."""
        return one_of(word, allowed, "choice here")

    return chosen


def kafka_error(word: str) -> str:
    """Parse the name of a Kafka error."""
    from emulator.common.errors import ERRORS

    return one_of(word, [name for name in ERRORS if name != "NONE"], "error")


def served_api(word: str) -> str:
    """Parse the name of an API that brokers serve, with or without ``Request``."""
    from emulator.wire.apis import API_NAMED

    return one_of(word.removesuffix("Request"), [*API_NAMED], "request that brokers serve")


def error_name(word: str) -> str:
    """Parse the name of a Kafka or ZooKeeper error, or NONE."""
    from emulator.common.errors import ERRORS
    from emulator.zookeeper.errors import ZooKeeperError

    kazoo_names = [error.__name__ for error in ZooKeeperError.__subclasses__()]
    return one_of(word, [*ERRORS, *kazoo_names], "error")
