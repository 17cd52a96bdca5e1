"""What is not in a metadata log and decides what is permitted: release and static configuration.

The log names levels of features, from which the line of releases follows, but neither its patch
release nor ``server.properties``. Each combination that makes a difference is a hypothesis. One is
held until a record contradicts it and another explains the record.
"""

from collections.abc import Iterable

from msgspec import Struct

from emulator.metadata_log.metadata_version import LEVELS, name_of
from emulator.quorum_controller.settings import ControllerSettings, ReleaseRules
from emulator.releases.versions import RELEASES, numbers_of


class Hypothesis(Struct, frozen=True):
    """The release of the active controller, and its static configuration."""

    release: str
    rules: ReleaseRules
    settings: ControllerSettings = ControllerSettings()

    @property
    def is_default(self) -> bool:
        """Whether the static configuration is Kafka's default."""
        return self.settings == ControllerSettings()

    @property
    def configuration(self) -> str:
        """The static configuration that differs from the default, as it is written."""
        settings, parts = self.settings, []
        if settings.unclean_leader_election_enable:
            parts.append("unclean.leader.election.enable=true")
        if settings.zookeeper_metadata_migration_enable:
            parts.append("zookeeper.metadata.migration.enable=true")
        return ", ".join(parts)


def hypotheses(releases: Iterable[str], *, is_migrating: bool = False) -> list[Hypothesis]:
    """Return the hypotheses for these releases, the most probable first."""
    rules: dict[ReleaseRules, str] = {}
    for release in releases:
        rules.setdefault(ReleaseRules.of(numbers_of(release)), release)
    settings = [
        ControllerSettings(
            unclean_leader_election_enable=unclean, zookeeper_metadata_migration_enable=migration
        )
        for migration in ((True, False) if is_migrating else (False,))
        for unclean in (False, True)
    ]
    return [
        Hypothesis(release, rule, setting)
        for setting in settings
        for rule, release in rules.items()
        if rule.kraft_unclean_election_by_config or not setting.unclean_leader_election_enable
    ]


def releases_of_level(level: int) -> list[str]:
    """Return the releases whose newest metadata version has this level, the newest first.

    For a level above all that are known, that is the newest release.
    """
    line = name_of(min(level, len(LEVELS))).split("-")[0]
    return [release for release in reversed(RELEASES) if release.startswith(f"{line}.")]


def releases_since_level(level: int) -> list[str]:
    """Return the releases of KRaft that know a metadata version, the newest first."""
    lines = dict.fromkeys(name.split("-")[0] for name in LEVELS[max(0, level - 1) :])
    return [
        release
        for line in reversed(lines)
        for release in reversed(RELEASES)
        if release.startswith(f"{line}.") and numbers_of(release) >= (3, 3)
    ]
