"""The page on KRaft quotes real metadata logs."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.golden_kraft.recorded import RECORDINGS, load

PAGE = Path(__file__).parents[2] / "docs" / "kraft.md"
QUOTATION = re.compile(r"```\n# (\S+) (\S+): (\S+)\n(.*?)```", re.DOTALL)
LEFT_OUT = ("topicId", "partitionId", "brokerId")


def test_every_quotation_is_what_was_recorded() -> None:
    quotations = QUOTATION.findall(PAGE.read_text())
    assert len(quotations) == PAGE.read_text().count("```\n#") > 10
    for release, script, mark, text in quotations:
        (path,) = (each for each in RECORDINGS if each.match(f"{release}/{script}.json"))
        recording = load(path)
        recorded = list(lines(recording["marks"][mark]["metadata_log"]))
        assert text.splitlines() == recorded, f"{release} {script}: {mark}"


def lines(log: list[dict[str, Any]]) -> Iterator[str]:
    """Records as the page shows them, those of the controllers themselves left out."""
    for entry in log:
        if entry["type"] in ("LeaderChange", "RegisterController"):
            continue
        values = (
            f"{name}={plain(value)}"
            for name, value in entry["data"].items()
            if name not in LEFT_OUT
        )
        yield " ".join([f"{entry['batch']}:", entry["type"], subject(entry), *values])


def subject(entry: dict[str, Any]) -> str:
    data = entry["data"]
    if "partitionId" in data:
        return f"{data['topicId']}-{data['partitionId']}"
    if "brokerId" in data:
        return f"broker {data['brokerId']}"
    if entry["type"] == "Config":
        return f"config {data['resourceType']} {data['resourceName']}"
    return f"topic {data['name']}" if entry["type"] == "Topic" else str(entry["type"])


def plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value).replace(" ", "")
