"""The jars of Kafka's Java client and command-line tools, from Maven Central.

``python -m tests.wire.kafka_jars FOLDER`` downloads what ``kafka-4.1.2.sha256`` lists, with the
checksum of each: the classes that the tests need, which are a third of what Kafka ships.
"""

import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final
from urllib.request import urlopen

LISTED: Final = Path(__file__).with_name("kafka-4.1.2.sha256")
REPOSITORY: Final = "https://repo1.maven.org/maven2"
AT_ONCE: Final = 8
TIMEOUT_S: Final = 60


def download(checksum: str, jar: str, folder: Path) -> None:
    """Put a jar into the folder unless it is there already.

    Raises:
        ValueError: What the repository sent has another checksum.
        OSError: The repository cannot be reached, or the folder cannot be written.
    """
    path = folder / Path(jar).name
    if path.exists():
        return
    with urlopen(f"{REPOSITORY}/{jar}", timeout=TIMEOUT_S) as response:
        content: bytes = response.read()
    if hashlib.sha256(content).hexdigest() != checksum:
        raise ValueError(f"{jar} from {REPOSITORY} does not have the checksum in {LISTED.name}")
    partial = path.with_suffix(".part")
    partial.write_bytes(content)
    partial.rename(path)


def main() -> None:
    """Download every jar that is listed into the folder named by the first argument."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    listed = [line.split() for line in LISTED.read_text("utf-8").splitlines()]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda row: download(row[0], row[1], folder), listed))


if __name__ == "__main__":
    main()
