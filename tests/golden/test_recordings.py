"""Scripts that ran on real Kafka brokers of sixteen releases, run on the emulator of each.

``recordings/NAME.json`` holds what was seen (see :mod:`tests.golden.facts`), releases that agreed
together. A pair that is known to differ stands in ``KNOWN``, and must go on differing until it is
taken out there.
"""

import json

import pytest

from docs.make_recordings_table import FAULTS, PAGE, faults, page, scripts
from tests.golden.comparing import HERE, RECORDINGS, emulated, recordings
from tests.golden.facts import differences
from tests.golden.real.sessions import password
from tests.golden.record import added, as_text

SCRIPTS = sorted(path.stem for path in HERE.glob("scripts/*.tide"))

KNOWN: dict[tuple[str, str], str] = {}
"""Script and release to what the emulator does not do (yet) as that release did."""


PAIRS = [
    pytest.param(
        script,
        release,
        id=f"{script}-{release}",
        marks=[pytest.mark.xfail(reason=why, strict=True)]
        if (why := KNOWN.get((script, release)))
        else [],
    )
    for script in SCRIPTS
    for release in recordings(script)
]


@pytest.mark.parametrize(("script", "release"), PAIRS)
def test_the_emulator_does_what_the_release_did(script: str, release: str) -> None:
    path = HERE / "scripts" / f"{script}.tide"
    assert differences(recordings(script)[release], emulated(path, release)) == []


def test_the_first_25_scripts_were_recorded_on_sixteen_releases_the_others_on_several() -> None:
    counts = [len(recordings(script)) for script in SCRIPTS]
    assert min(counts[:25]) >= 16
    assert len(counts[25:]) >= 10
    assert min(counts[25:]) >= 1


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_recording_is_as_the_recorder_writes_it(script: str) -> None:
    text = (RECORDINGS / f"{script}.json").read_text("utf-8")
    groups = json.loads(text)
    assert as_text(groups) == text
    release = groups[-1]["releases"][0]
    assert added(groups, release, recordings(script)[release]) == groups


def test_a_sessions_password_is_what_java_makes_of_its_id() -> None:
    assert password(0x1000001D2B40000).hex() == "eedd3965e38304df7ce5ae1a6466972a"
    assert password(-1234567).hex() == "12388dcfe94dde0559afc62512b4f53b"


def test_every_known_difference_is_of_a_recording() -> None:
    assert {script for script, _ in KNOWN} <= set(SCRIPTS)
    assert all(release in recordings(script) for script, release in KNOWN)


def test_the_page_counts_what_was_recorded() -> None:
    assert PAGE.read_text("utf-8") == page()
    assert {kind for script in scripts() for kind in faults(script)} == set(FAULTS)
