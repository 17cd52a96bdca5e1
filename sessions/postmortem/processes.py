"""What processes say of themselves in their text logs: the release they run, their configuration.

A metadata log knows neither a release's patch number nor what stands in ``server.properties``.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from emulator.releases.config import ConfigError, resolve
from emulator.releases.versions import RELEASE_OF, numbers_of
from sessions.postmortem.text_logs.facts import Configured, KafkaVersion
from sessions.postmortem.text_logs.log_line import LogLine
from sessions.postmortem.text_logs.merging import TextLogs
from sessions.text import natural_list

Node = int | None


SESSION_TIMEOUT: Final = "zookeeper.session.timeout.ms"


class ConfiguredValue(NamedTuple):
    """A value of a configuration, and the nodes whose logs say so.

    ``is_negotiated``: it is that of sessions in ZooKeeper's transaction log.
    """

    text: str
    nodes: tuple[int, ...]
    is_negotiated: bool = False

    @property
    def source(self) -> str:
        """Whose logs: ``the log of node 1``."""
        if self.is_negotiated:
            return "ZooKeeper's transaction log"
        if not self.nodes:
            return "a text log"
        if len(self.nodes) == 1:
            return f"the log of node {self.nodes[0]}"
        return f"the logs of nodes {natural_list(self.nodes)}"


class Processes:
    """The last that each node said; nodes are None where nothing tells whose a line is."""

    def __init__(self) -> None:
        self.releases: dict[Node, str] = {}
        self.settings: dict[Node, dict[str, str]] = {}
        self.session_timeouts: dict[int, str] = {}

    @staticmethod
    def at_the_beginning(lines: TextLogs | None) -> "Processes":
        """Return what the beginnings of text logs say, before any is read."""
        processes = Processes()
        for file in () if lines is None else lines.files:
            if file.release in RELEASE_OF:
                processes.releases[file.node] = file.release
        return processes

    def note_session(self, broker: int, timeout_ms: int) -> None:
        """Take the timeout that a broker's session has: ZooKeeper may have changed what it asked.

        Source: ``ZooKeeperServer.processConnectRequest``.
        """
        self.session_timeouts[broker] = str(timeout_ms)

    def note(self, line: LogLine) -> None:
        """Take a line of a text log."""
        if isinstance(line.fact, KafkaVersion) and line.fact.version in RELEASE_OF:
            self.releases[line.node] = line.fact.version
        elif isinstance(line.fact, Configured):
            self.settings[line.node] = dict(line.fact.settings)

    def release(self, by_records: str, *, is_exact: bool) -> str:
        """Return the newest release that a node runs, if it is one that the records allow.

        ``by_records`` is the release without its patch number (``is_exact``), or the oldest that it
        can be.
        """
        oldest = numbers_of(by_records)
        allowed = [
            release
            for release in self.releases.values()
            if (numbers := numbers_of(release)[: len(oldest)]) == oldest
            or (numbers > oldest and not is_exact)
        ]
        return max(allowed, key=numbers_of, default=by_records)

    def remarks(self) -> Iterator[str]:
        """Yield that nodes run different releases, if they do."""
        nodes: dict[str, list[int]] = {}
        for node, release in self.releases.items():
            if node is not None:
                nodes.setdefault(release, []).append(node)
        if len(nodes) > 1:
            groups = [
                f"{'node' if len(ids) == 1 else 'nodes'} {natural_list(sorted(ids))} on {release}"
                for release, ids in sorted(nodes.items(), key=lambda pair: numbers_of(pair[0]))
            ]
            yield f"not all nodes run the same release: {', '.join(groups)}"

    def value(self, name: str, asked_first: Collection[int] = ()) -> ConfiguredValue | None:
        """Return a configuration's value, by most nodes; None if no log says it.

        If nodes of ``asked_first`` say it, the others are not asked.
        """
        if name == SESSION_TIMEOUT and self.session_timeouts:
            (text, _), *_ = Counter(self.session_timeouts.values()).most_common(1)
            return ConfiguredValue(text, (), is_negotiated=True)
        texts = {
            node: settings[name] for node, settings in self.settings.items() if name in settings
        }
        texts = {node: text for node, text in texts.items() if node in asked_first} or texts
        if not texts:
            return None
        (text, _), *_ = Counter(texts.values()).most_common(1)
        nodes = sorted(
            node for node, node_text in texts.items() if node_text == text and node is not None
        )
        return ConfiguredValue(text, tuple(nodes))

    def configured(
        self, release: str, asked_first: Collection[int] = ()
    ) -> dict[str, ConfiguredValue]:
        """Return what was configured and is not the release's default, by name."""
        default = resolve(release, {})
        values = {}
        names = {name for settings in self.settings.values() for name in settings}
        for name in sorted(names | ({SESSION_TIMEOUT} if self.session_timeouts else set())):
            value = self.value(name, asked_first)
            assert value is not None
            try:
                if resolve(release, {name: value.text}) != default:
                    values[name] = value
            except ConfigError:
                continue  # the release that runs has it, and the emulator's does not
        return values
