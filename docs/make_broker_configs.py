"""Writes the tables of configurations of brokers, of topics and of groups.

``python -m docs.make_broker_configs FOLDER``:
``FOLDER/RELEASE/libs`` has the jars of each release, which ``mvn dependency:copy-dependencies``
puts there for ``org.apache.kafka:kafka_2.13``. ``BrokerConfigs.java``, ``TopicConfigs.java`` and
``GroupConfigs.java`` ask Kafka's own classes for names, types, update modes and defaults; the
descriptions of Kafka's documentation are not copied.
"""

import subprocess
import sys
from pathlib import Path
from typing import Final

from emulator.releases.versions import numbers_of

PROGRAM: Final = Path(__file__).with_name("BrokerConfigs.java")
TABLE: Final = Path("emulator/releases/broker_configs_table.py")
HEAD: Final = '''"""Brokers' configurations by release, made by ``docs/make_broker_configs.py``.

Since and until which release, type, update mode (KIP-226), name, and the default after an equals
sign if there is one. Source: ``KafkaConfig.configDef`` and ``DynamicBrokerConfig`` of each release.
"""

from typing import Final

TABLE: Final = """\\
'''
TOPICS_PROGRAM: Final = Path(__file__).with_name("TopicConfigs.java")
TOPICS_TABLE: Final = Path("emulator/releases/topic_configs_table.py")
TOPICS_HEAD: Final = '''"""Topics' configurations by release, by ``docs/make_broker_configs.py``.

Since and until which release, type, the broker's configuration that has the default (a dash: none),
name, and the default after an equals sign. Source: ``LogConfig`` of each release.
"""

from typing import Final

TABLE: Final = """\\
'''
GROUPS_PROGRAM: Final = Path(__file__).with_name("GroupConfigs.java")
GROUPS_TABLE: Final = Path("emulator/releases/group_configs_table.py")
GROUPS_SINCE: Final = "4.0"
GROUPS_HEAD: Final = '''"""Groups' configurations by release, by ``docs/make_broker_configs.py``.

Since and until which release, type, the lowest value (a dash: none), name, and the default after an
equals sign. Names that brokers accept but do not describe end with an exclamation mark. Source:
``GroupConfig`` of each release.
"""

from typing import Final

TABLE: Final = """\\
'''
Row = tuple[str, str, str, str]


def asked(libs: Path, program: Path) -> set[Row]:
    """What a program prints of each configuration of a release.

    That is its name, type, a column of its own (the update mode, the broker's name or the lowest
    value), and the default.
    """
    command = ["java", "-cp", str(libs / "*"), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {(name, kind, mode, default) for name, kind, mode, default in rows}


def lines(found: dict[str, set[Row]]) -> list[str]:
    """A line for each span of releases in which nothing of a configuration changed."""
    releases = sorted(found, key=numbers_of)
    made = []
    for row in set().union(*found.values()):
        name, kind, mode, default = row
        held = [row in found[release] for release in releases]
        for at, here in enumerate(held):
            if here and not (at and held[at - 1]):
                end = next((i for i in range(at, len(held)) if not held[i]), len(held)) - 1
                until = "-" if end == len(held) - 1 else releases[end]
                place = name, numbers_of(releases[at])
                made.append((place, f"{releases[at]} {until} {kind} {mode} {name} {default}"))
    return [line.rstrip() for _, line in sorted(made)]


def main() -> None:
    """Ask each release below the folder named by the first argument, and write the tables."""
    found, of_topics, of_groups = {}, {}, {}
    for folder in Path(sys.argv[1]).iterdir():
        if (folder / "libs").is_dir() and numbers_of(folder.name) >= numbers_of("0.11"):
            line = ".".join(folder.name.split(".")[:2])
            found[line] = asked(folder / "libs", PROGRAM)
            of_topics[line] = asked(folder / "libs", TOPICS_PROGRAM)
            if numbers_of(folder.name) >= numbers_of(GROUPS_SINCE):
                of_groups[line] = asked(folder / "libs", GROUPS_PROGRAM)
    table = TOPICS_HEAD + "\n".join(lines(of_topics)) + '\n"""\n'
    TOPICS_TABLE.write_text(table, "utf-8")
    table = GROUPS_HEAD + "\n".join(lines(of_groups)) + '\n"""\n'
    GROUPS_TABLE.write_text(table, "utf-8")
    TABLE.write_text(HEAD + "\n".join(lines(found)) + '\n"""\n', "utf-8")


if __name__ == "__main__":
    main()
