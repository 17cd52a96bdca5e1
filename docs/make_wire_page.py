"""Writes the tables of ``wire.md``: ``python -m docs.make_wire_page``.

They hold the APIs that are understood, and which versions each release advertises.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from emulator.releases.versions import RELEASES
from emulator.wire.apis import APIS
from emulator.wire.types import Api
from emulator.wire.versions import versions_of

PAGE: Final = Path(__file__).with_name("wire.md")
BEGIN: Final = "<!-- made by docs/make_wire_page.py: begin -->\n"
END: Final = "<!-- made by docs/make_wire_page.py: end -->\n"
WITHOUT_ZOOKEEPER: Final = ("4.0", "4.1", "4.2")


def page() -> str:
    """The whole page, with the tables as they have to be."""
    text = PAGE.read_text("utf-8")
    return text[: text.index(BEGIN) + len(BEGIN)] + tables() + text[text.index(END) :]


def tables() -> str:
    """The APIs, each with the releases that brought its versions."""
    lines = [
        "",
        "| API | key | versions | flexible | last version in each release |",
        "|--|--:|--:|--:|--|",
        *(row(api) for api in APIS.values()),
        "",
        "",
    ]
    return "\n".join(lines)


def row(api: Api) -> str:
    """An API, the versions that are understood, and which release had which at most."""
    flexible = api.flexible_since if api.flexible_since in api.versions else ""
    last = ", ".join(f"{version} in {release}" for release, version in history(api))
    return f"| {api.name} | {api.key} | 0 to {api.last_version} | {flexible} | {last} |"


def history(api: Api) -> Iterator[tuple[str, int]]:
    """The lines of releases that brought a newer version, each with that."""
    before = None
    for release in lines_of_releases():
        versions = versions_of(release).get(api.key) or versions_of(
            release, without_zookeeper=True
        ).get(api.key)
        if versions and versions[-1] != before:
            before = versions[-1]
            yield release, before


def lines_of_releases() -> list[str]:
    """Each release without its last number, oldest first: 0.8.1, .., 3.9, and those with KRaft."""
    lines = [release.rpartition(".")[0] for release in RELEASES if release != "0.8.1"]
    return list(dict.fromkeys([*lines, *WITHOUT_ZOOKEEPER]))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
