"""Fetches a Kafka release with Maven, so that it runs under today's Java.

``python -m tests.golden.real.fetch RELEASE FOLDER`` fills ``FOLDER/libs``. An unpacked release of
Apache's own will do as well; those before 2.4 then need Java 8, as their ZooKeeper client (3.4.13)
cannot connect under Java 14 and later, and as they lack what Java 11 dropped.
"""

import re
import subprocess
import sys
from pathlib import Path

SCALA = {
    "0.8.1": "2.10",
    **dict.fromkeys(("0.8.2", "0.9", "0.10"), "2.11"),
    **dict.fromkeys(("0.11", "1.0", "1.1", "2.0", "2.1", "2.2", "2.3", "2.4"), "2.12"),
}
NEWEST_SCALA = "2.13"
ALWAYS = (
    ("javax.xml.bind", "jaxb-api", "2.3.1"),
    ("log4j", "log4j", "1.2.17"),
    ("org.slf4j", "slf4j-log4j12", "1.7.25"),
)
OLD_ZOOKEEPER = ("org.apache.zookeeper", "zookeeper", "3.4.10")
"""For those with 3.4.13, whose client does not connect under Java 14 and later."""


def project(release: str) -> str:
    """A Maven project that depends on the release."""
    scala = next((SCALA[line] for line in SCALA if release.startswith(f"{line}.")), NEWEST_SCALA)
    wanted = [("org.apache.kafka", f"kafka_{scala}", release), *ALWAYS]
    if re.match(r"2\.[0-3]\.", release):
        wanted.append(OLD_ZOOKEEPER)
    listed = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version></dependency>"
        for group, artifact, version in wanted
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>recorder</groupId><artifactId>recorder</artifactId><version>1</version>"
        f"<dependencies>{listed}</dependencies></project>"
    )


def fetch(release: str, folder: Path) -> None:
    """Put the release's jars and what they need into ``folder/libs``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pom.xml").write_text(project(release), "utf-8")
    copy = ("mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=libs")
    subprocess.run(copy, cwd=folder, check=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    fetch(sys.argv[1], Path(sys.argv[2]))
