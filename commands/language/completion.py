"""Completion of a statement that is being typed.

Statement words and options come from the language itself; topics, partitions, brokers, znodes and
clients come from the read model. The kind of a word is identified by its metavar in the help
(``TP``, ``B``, ``seed|kafka``).
"""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

import click

from commands.language.grammar import find, program
from commands.language.values import CONTROLLERS, HOSTS, apis
from sessions.grammar.clauses import FIELDS
from sessions.grammar.conditions import OPERATORS
from sessions.grammar.words import BadWord
from sessions.model.cluster_view import ClusterView
from sessions.model.states import ViewState

CANDIDATES_MAX: Final = 100
"""Maximum number of candidates."""
WORDS_OF_FIELDS: Final = {
    "state": (
        *("online", "offline", "nonexistent"),
        *("running", "stopped", "crashed", "frozen", "controlled_shutdown"),
    ),
    "role": ("leader", "follower", "offline"),
    "exists": ("true", "false"),
    "under_replicated": ("true", "false"),
    "fenced": ("true", "false"),
    "in_controlled_shutdown": ("true", "false"),
}
"""Values that a condition's right side can have besides these fields."""
PLACES: Final = ("LEFT", "OP", "RIGHT", "and")
"""The kinds of a condition's words, in order."""
CONDITIONAL: Final = {"wait": "until", "expect": "error"}
"""Statements that take a condition, and the word that can come before it."""


def complete(text: str, cursor: int, view: ClusterView) -> list[str]:
    """Return the words that can go at ``cursor`` and start with the text there, best first.

    ``cursor`` is an index into ``text``; a candidate replaces the whole word before it. Free-form
    words (numbers, values) have no candidates, nor do statements that are already wrong.
    """
    head = text[:cursor]
    try:
        words = shlex.split(head)
    except ValueError:
        return []
    prefix = words.pop() if words and not head[-1].isspace() else ""
    try:
        candidates = _candidates(words, prefix, view.state)
        matching = (word for word in candidates if word.startswith(prefix) and word != prefix)
        return list(islice(dict.fromkeys(matching), CANDIDATES_MAX))
    except BadWord:
        return []


def complete_line(text: str, view: ClusterView) -> list[str]:
    """Complete a line at its end, and return whole lines."""
    typed = 0 if not text or text[-1].isspace() else len(text.rsplit(maxsplit=1)[-1])
    before = text[: len(text) - typed]
    return [f"{before}{word}" for word in complete(text, len(text), view)]


def _candidates(words: Sequence[str], prefix: str, state: ViewState) -> Iterable[str]:
    commands = program().commands
    if not words:
        return list(commands)
    if len(words) == 1 and isinstance(group := commands.get(words[0]), click.Group):
        return list(group.commands)
    command, name, rest = find(words)
    if name in CONDITIONAL:
        return _conditional(name, rest, prefix, state)
    return _in_command(command, rest, prefix, state)


def _in_command(
    command: click.Command, rest: Sequence[str], prefix: str, state: ViewState
) -> Iterable[str]:
    """Return options, an option's values, or candidates for the next positional argument."""
    options = {
        word: param
        for param in command.params
        if isinstance(param, click.Option)
        for word in param.opts
    }
    if rest and (param := options.get(rest[-1])) and not param.is_flag:
        return _of_kind(param.metavar or "", state)
    if prefix.startswith("-"):
        return [word for word, param in options.items() if param.multiple or word not in rest]
    arguments = [param for param in command.params if not isinstance(param, click.Option)]
    at = len(_placed(rest, options))
    if at < len(arguments):
        return _of_kind(arguments[at].metavar or "", state)
    if arguments and arguments[-1].nargs == -1:
        return _of_kind(arguments[-1].metavar or "", state)
    return options


def _placed(rest: Sequence[str], options: dict[str, click.Option]) -> list[str]:
    """Return the words that are neither options nor options' values."""
    placed = []
    words = iter(rest)
    for word in words:
        if word not in options:
            placed.append(word)
        elif not options[word].is_flag:
            next(words, None)
    return placed


def _conditional(name: str, rest: Sequence[str], prefix: str, state: ViewState) -> Iterable[str]:
    first = CONDITIONAL[name]
    if not rest:
        return [first] if name == "wait" else [first, *_subjects(prefix, state)]
    if rest[0] == "error":
        return _errors(state) if len(rest) == 1 else ()
    condition = rest[1:] if rest[0] == "until" else rest
    index = len(condition) % len(PLACES)
    if PLACES[index] == "LEFT":
        return _subjects(prefix, state)
    if PLACES[index] == "OP":
        return OPERATORS
    if PLACES[index] == "RIGHT":
        return _right(condition[-2], prefix, state)
    return ("and", "within") if name == "wait" else ("and",)


def _right(left: str, prefix: str, state: ViewState) -> Iterator[str]:
    field = left.rpartition(".")[2]
    if field in ("leader", "broker"):
        yield from _controllers(state) if left.startswith("quorum.") else _brokers(state)
        yield "-1"
    yield from WORDS_OF_FIELDS.get(field, ())
    if prefix:
        yield from _subjects(prefix, state)


def _subjects(prefix: str, state: ViewState) -> Iterator[str]:
    """Return the names of values; the last part only once the rest is typed, for brevity."""
    yield from FIELDS["cluster"]
    for base, kind in _bases(prefix, state):
        if prefix.startswith(f"{base}."):
            yield from (f"{base}.{field}" for field in FIELDS[kind])
        else:
            yield f"{base}."


def _bases(prefix: str, state: ViewState) -> Iterator[tuple[str, str]]:
    yield from (("controller", "controller"), ("audit", "audit"))
    if state.quorum is not None:
        yield "quorum", "quorum"
        yield from ((f"quorum.{host}", "member") for host in _controllers(state))
    yield from ((f"broker.{broker}", "broker") for broker in _brokers(state))
    yield from ((f"producer.{name}", "producer") for name in sorted(state.producers))
    yield from ((f"consumer.{name}", "consumer") for name in sorted(state.consumers))
    yield from ((f"fault.{name}", "fault") for name in state.faults)
    yield from ((tp, "partition") for tp in state.partitions)
    if "@" in prefix:
        yield from ((replica, "replica") for replica in _replicas(state))
    if state.quorum is not None:
        return
    if prefix.startswith("zk."):
        yield from ((f"zk.{path}", "zk") for path in sorted(state.znodes))
    else:
        yield "zk./", "zk"


def _of_kind(kind: str, state: ViewState) -> Iterator[str]:
    """Return the words of a kind; ``a|b`` lists kinds or literal words."""
    for part in kind.split("|"):
        if part in KINDS:
            yield from KINDS[part](state)
        elif "|" in kind:
            yield part


def _topics(state: ViewState) -> Iterable[str]:
    return sorted({partition.topic for partition in state.partitions.values()})


def _brokers(state: ViewState) -> list[str]:
    return [str(broker) for broker in sorted(state.brokers)]


def _controllers(state: ViewState) -> list[str]:
    quorum = state.quorum
    return [] if quorum is None else [str(number) for number in sorted(quorum.controllers)]


def _hosts(state: ViewState) -> list[str]:
    """Return the ids of brokers and controllers, and the names of the other ends of links."""
    others = [host for host in HOSTS if host != "zk" or state.quorum is None]
    return [*_brokers(state), *_controllers(state), *others]


def _metadata_paths(state: ViewState) -> Iterable[str]:
    """Return the paths of the metadata image, from the root down."""
    from sessions.model.metadata_image import MetadataReader
    from sessions.text import natural_key

    metadata = MetadataReader().at(state)
    return () if metadata is None else sorted(metadata.paths(), key=natural_key)


def _replicas(state: ViewState) -> Iterator[str]:
    for tp, partition in state.partitions.items():
        yield from (f"{tp}@{broker}" for broker in partition.replicas)


def _versions(_state: ViewState) -> Iterable[str]:
    """Return the recommended releases, then all other release names."""
    from emulator.releases.profiles import PROFILES, VERSIONS

    return [*VERSIONS, *PROFILES]


def _settings(state: ViewState) -> Iterable[str]:
    """Return the release's configuration names, those of topics first."""
    from emulator.releases.config_names import SETTINGS
    from emulator.releases.profiles import DEFAULT_VERSION
    from emulator.releases.versions import is_since, is_until, numbers_of

    numbers = numbers_of(state.version or DEFAULT_VERSION)
    brokers = [
        setting
        for setting in SETTINGS
        if is_since(numbers, setting.since)
        and (setting.until is None or is_until(numbers, setting.until))
    ]
    of_topics = sorted(setting.topic_name for setting in brokers if setting.topic_name)
    return [f"{name}=" for name in (*of_topics, *sorted(setting.name for setting in brokers))]


def _errors(_state: ViewState) -> Iterable[str]:
    from emulator.common.errors import ERRORS

    return ERRORS


KINDS: Final[dict[str, Callable[[ViewState], Iterable[str]]]] = {
    "T": _topics,
    "TP": lambda state: state.partitions,
    "TP@B": _replicas,
    "B": _brokers,
    "C": lambda state: [*_controllers(state), *CONTROLLERS],
    "HOST": _hosts,
    "PATH": lambda state: sorted(state.znodes),
    "NODE": _metadata_paths,
    "PRODUCER": lambda state: sorted(state.producers),
    "CONSUMER": lambda state: sorted(state.consumers),
    "FAULT": lambda state: state.faults,
    "VERSION": _versions,
    "API": lambda _state: apis(),
    "K=V": _settings,
}
"""The candidates for each kind of word, from the read model."""
