"""The command palette: actions, and everything that has a name, found by typing."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from console.actions.lookup import Action, available
from console.model.library import Card
from console.model.links import Link
from console.model.workspace import Stage
from console.render.bars import key_name
from console.screens.base import ConsoleScreen
from console.screens.messages import (
    ActionRequested,
    CopyRequested,
    OpenRequested,
    Request,
    SourceRequested,
)
from emulator.releases.config_names import SETTINGS
from emulator.releases.versions import is_since, is_until, numbers_of
from sessions.model.states import ViewState

SHOWN_MAX: Final = 8
"""The most objects of one kind that the palette lists."""


class ActionProvider(Provider):
    """Offers the actions of the screen that the palette was opened on."""

    def actions(self) -> list[Action]:
        """The actions that can be chosen, in the registry's order."""
        return available(getattr(self.screen, "context", "anywhere"))

    @property
    def kraft(self) -> bool:
        """Whether the cluster on the screen has no ZooKeeper."""
        screen = self.screen
        return isinstance(screen, ConsoleScreen) and screen.stage.is_kraft

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for action in self.actions():
            shown = Content(title(action, kraft=self.kraft))
            yield DiscoveryHit(shown, self._run(action), help=action.id)

    async def search(self, query: str) -> Hits:
        """Those that match what is typed."""
        matcher = self.matcher(query)
        for action in self.actions():
            score = matcher.match(f"{action.help_in(kraft=self.kraft)} {action.id}")
            if score > 0:
                shown = Content(title(action, kraft=self.kraft))
                yield Hit(score, shown, self._run(action), help=action.id)

    def _run(self, action: Action) -> Callable[[], None]:
        """Run an action, with the same checks as for its key."""
        return partial(self._dispatch, action.id)

    def _dispatch(self, id: str) -> None:
        self.app.post_message(ActionRequested(id))


class ObjectProvider(Provider):
    """Offers objects by name, and opens them.

    These are topics, partitions, brokers, znodes or controllers, the cluster's settings, bookmarks,
    scenarios, and by their numbers events (``#100``) and records (``record 72004``).
    """

    async def search(self, query: str) -> Hits:
        """The names that contain what is typed, the shortest first."""
        screen = self.screen
        if not isinstance(screen, ConsoleScreen) or not query.strip():
            return
        words = query.strip().lower()
        for score, named in enumerate(reversed(objects(screen.stage, words)), start=1):
            weight = score / (SHOWN_MAX * 10)
            run = partial(self.app.post_message, named.message)
            yield Hit(weight, Content(f"{named.kind} {named.name}"), run, help=named.help)


class NamedObject(NamedTuple):
    """An object that matches, and the request that opens it."""

    kind: str
    name: str
    message: Request
    help: str


def objects(stage: Stage, words: str) -> list[NamedObject]:
    """The objects whose names contain ``words`` (lower case), the best few of each kind."""
    named = [*_numbered(stage, words)]
    for kind, names, opens, explanation in _named(stage):
        hits = sorted((name for name in names if words in name.lower()), key=len)[:SHOWN_MAX]
        named += [NamedObject(kind, name, opens(name), explanation) for name in hits]
    return named


def _numbered(stage: Stage, words: str) -> Iterator[NamedObject]:
    """An event or a record by its number."""
    number = words.removeprefix("record").lstrip("# ").replace(",", "")
    if not number.isdecimal():
        return
    if not words.startswith("record") and 0 < int(number) <= stage.source.last_seq:
        yield NamedObject("event", f"#{number}", _open("event")(number), "opens with its causes")
    if not words.startswith("#") and stage.view.batch(int(number)) is not None:
        yield NamedObject(
            "record", number, _open("record")(number), "where its copies are and were"
        )


def _named(stage: Stage) -> Iterator[tuple[str, Iterable[str], Callable[[str], Request], str]]:
    state = stage.view.state
    topics = dict.fromkeys(partition.topic for partition in state.partitions.values())
    yield "topic", topics, lambda t: OpenRequested(Link("partitions", f"topic={t}")), "partitions"
    yield "partition", stage.index.keys, _open("partition"), "its tapes, replicas and events"
    brokers = [f"broker {broker}" for broker in state.brokers]
    yield "", brokers, lambda b: _open("broker")(b.removeprefix("broker ")), "replicas, session"
    if state.quorum is None:
        yield "znode", state.znodes, _open("znode"), "its versions and watchers"
    else:
        controllers = map(str, state.quorum.controllers)
        yield "controller", controllers, _open("broker"), "its role, and how far it has the log"
    settings = settings_of(state)
    yield "setting", settings, CopyRequested, "copies it"
    marks = {mark.name: mark.seq for mark in stage.source.bookmarks()}
    yield "bookmark", marks, lambda m: _open("moment")(str(marks[m])), "goes there"
    cards = [] if stage.library is None else stage.library.cards()
    names = {f"{card.name} {card.title}": card for card in cards}
    yield "scenario", names, lambda n: _scenario(names[n]), "opens it"


def settings_of(state: ViewState) -> list[str]:
    """Kafka's settings and those that were set, as ``name=value``: the cluster's, then the others'.

    The cluster's are those of its release where nothing was set; in KRaft without ZooKeeper's.
    """
    usual = {} if not state.version else _defaults(state.version)
    if state.quorum is not None:
        usual = {name: usual[name] for name in usual if not name.startswith("zookeeper.")}
    rows = [f"{name}={value}" for name, value in sorted({**usual, **state.config}.items())]
    for topic, values in state.topic_configs.items():
        rows += [f"{topic}: {name}={value}" for name, value in values.items()]
    for broker, values in state.broker_configs.items():
        rows += [f"broker {broker}: {name}={value}" for name, value in values.items()]
    return rows


def _defaults(version: str) -> dict[str, str]:
    """Every setting of a release at its default."""
    numbers = numbers_of(version)
    known = (setting for setting in SETTINGS if is_since(numbers, setting.since))
    kept = (
        setting for setting in known if setting.until is None or is_until(numbers, setting.until)
    )
    return {setting.name: _spelled(setting.default(numbers)) for setting in kept}


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _open(kind: str) -> Callable[[str], Request]:
    return lambda name: OpenRequested(Link(kind, name))


def _scenario(card: Card) -> Request:
    return SourceRequested(
        lambda library: library.open_scenario(card.name, card.version), "partitions"
    )


def title(action: Action, *, kraft: bool = False) -> str:
    """How an action is listed: what it does, and its keys."""
    return f"{action.help_in(kraft=kraft)}  ({' '.join(key_name(key) for key in action.keys)})"
