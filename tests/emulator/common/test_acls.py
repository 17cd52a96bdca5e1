"""Decisions about access, against those of Kafka's ``StandardAuthorizer``.

The recording has random entries, and what the class of 4.1.2 decided by them about random clients.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from emulator.common.acls import (
    ALLOW,
    ANY,
    DENY,
    LITERAL,
    MATCH,
    PREFIXED,
    READ,
    TOPIC,
    Acl,
    is_allowed,
    is_allowed_on_any,
)

RECORDING = Path(__file__).parent / "recordings" / "standard-authorizer-4.1.2.json"
CASES: list[dict[str, Any]] = json.loads(RECORDING.read_text("utf-8"))


def decided(case: dict[str, Any], kind: str, principal: str, *asked: Any) -> bool:
    acls = [Acl(*row) for row in case["acls"]]
    if case["super"] and principal == case["super"]:
        return True
    decide = is_allowed if kind == "one" else is_allowed_on_any
    return decide(acls, principal, *asked, otherwise=case["otherwise"])


def test_each_decision_is_that_of_the_standard_authorizer() -> None:
    wrong = [
        (case["acls"], asked)
        for case in CASES
        for *asked, answer in case["asks"]
        if decided(case, *asked) != answer
    ]
    assert wrong == []
    assert sum(len(case["asks"]) for case in CASES) == 1_500


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        (LITERAL, "test", False),
        (LITERAL, "te", False),
        (PREFIXED, "te", True),
        (PREFIXED, "test", False),
        (MATCH, "test", True),
        (MATCH, "other", False),
        (ANY, "te", True),
        (ANY, None, True),
    ],
)
def test_a_filter_matches_patterns(pattern: int, name: str | None, *, matches: bool) -> None:
    acl = Acl(TOPIC, "te", PREFIXED, "User:x", "*", READ, ALLOW)
    assert acl.matches(Acl(TOPIC, name, pattern, None, None, ANY, ANY)) == matches


def test_a_filter_names_hosts_and_permissions() -> None:
    acl = Acl(TOPIC, "te", PREFIXED, "User:x", "*", READ, ALLOW)
    assert not acl.matches(Acl(ANY, None, ANY, None, "10.0.0.1", ANY, ANY))
    assert not acl.matches(Acl(ANY, None, ANY, None, None, ANY, DENY))
    assert not acl.matches(Acl(ANY, None, ANY, "User:y", None, ANY, ANY))
