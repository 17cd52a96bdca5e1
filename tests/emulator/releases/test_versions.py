"""The names by which a release may be asked for."""

import pytest

from emulator.releases.versions import (
    NAMES,
    RELEASE_OF,
    RELEASES,
    has_no_zookeeper,
    is_in_line,
    is_since,
    is_until,
    nearest,
    numbers_of,
)


def test_releases_and_names_are_in_order() -> None:
    assert list(RELEASES) == sorted(RELEASES, key=numbers_of)
    places = [numbers_of(RELEASE_OF[name]) for name in NAMES]
    assert NAMES[0] == "seed"
    assert places == sorted(places)
    assert set(RELEASES) < set(NAMES)


@pytest.mark.parametrize(
    ("name", "release"),
    [
        ("seed", "documents"),
        ("0.8.1", "0.8.1"),
        ("0.8.2", "0.8.2.2"),
        ("0.9", "0.9.0.1"),
        ("0.10.1.1", "0.10.1.1"),
        ("0.10", "0.10.2.2"),
        ("1.0", "1.0.2"),
        ("2.0", "2.0.1"),
        ("2.0.0", "2.0.0"),
        ("2.3", "2.3.1"),
        ("3.6.1", "3.6.1"),
        ("3.7", "3.7.2"),
    ],
)
def test_a_name_stands_for_itself_or_for_the_latest_that_begins_so(name: str, release: str) -> None:
    assert RELEASE_OF[name] == release


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.9", "2.8.2"),
        ("3.10", "3.9.2"),
        ("3.99", "3.9.2"),
        ("2.4.2", "2.4.1"),
        ("1.2", "1.1.1"),
        ("0.8.0", "0.8.1"),
        ("0.7", "0.8.1"),
        ("0.11.0.4", "0.11.0.3"),
        ("3", "3.9.2"),
        ("sead", "seed"),
        ("v2.8", "2.8"),
    ],
)
def test_what_was_never_released_has_a_nearest(version: str, expected: str) -> None:
    assert version not in RELEASE_OF
    assert nearest(version) == expected


@pytest.mark.parametrize("version", ["4.0", "4.0.2", "4.1"])
def test_from_4_on_there_is_no_zookeeper(version: str) -> None:
    assert has_no_zookeeper(numbers_of(RELEASE_OF[version]))


@pytest.mark.parametrize("version", ["3.9", "3.9.2", "documents", "0.8.1"])
def test_up_to_3_9_there_is_zookeeper(version: str) -> None:
    assert not has_no_zookeeper(numbers_of(RELEASE_OF[version]))


def test_the_bounds_of_a_line_hold_its_patch_releases() -> None:
    first, patched, following = (numbers_of(each) for each in ("2.8.0", "2.8.2", "3.0.0"))
    assert is_since(first, "2.8")
    assert is_until(patched, "2.8")
    assert not is_until(patched, "2.8.1")
    assert not is_until(following, "2.8")
    assert is_since(following, "2.8.1")


def test_the_documents_are_older_than_every_release() -> None:
    seed = numbers_of("seed")
    assert is_since(seed, "seed")
    assert not is_since(seed, RELEASES[0])
    assert is_until(seed, "seed")
    assert not any(is_until(numbers_of(release), "seed") for release in RELEASES)


def test_a_line_begins_at_its_patch_release_and_ends_with_the_next_line() -> None:
    holds = [each for each in RELEASES if is_in_line(numbers_of(each), "3.0.1")]
    assert holds == ["3.0.1", "3.0.2"]
    assert is_in_line(numbers_of("seed"), "seed")
    assert not any(is_in_line(numbers_of(release), "seed") for release in RELEASES)
