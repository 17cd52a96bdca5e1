from typing import Any, get_args, get_origin, get_type_hints

import pytest

from emulator.events import ClientAuthenticated, Event
from sessions.model.event_text import first_few, host, in_words, records, replica


def sample(hint: Any) -> Any:  # noqa: ANN401
    if get_origin(hint) is list:
        return [sample(get_args(hint)[0])]
    if get_origin(hint) is dict:
        return {"k": sample(get_args(hint)[1])}
    if get_origin(hint) is tuple:
        return tuple(sample(part) for part in get_args(hint))
    return {str: "text", int: 3, bool: True, float: 1.5}.get(hint, "x")


@pytest.mark.parametrize("kind", Event.__subclasses__(), ids=lambda kind: kind.__name__)
def test_every_class_is_told_from_any_values(kind: type[Event]) -> None:
    hints = get_type_hints(kind)
    event = kind(*(sample(hints[field]) for field in kind.__struct_fields__))
    assert in_words(event)[1]


def test_hosts_have_the_command_languages_names() -> None:
    assert [host(number) for number in (-1, -2, 3)] == ["zk", "clients", "3"]


def test_long_lists_are_counted() -> None:
    assert first_few(["a", "b"]) == "a b"
    assert first_few(list("abcdef")) == "a b c d and 2 more"


def test_replicas_and_records_read_as_the_language_writes_them() -> None:
    assert (replica("t-0", 2), records(1), records(1_200)) == ("t-0@2", "1 record", "1,200 records")


@pytest.mark.parametrize(
    ("principal", "error", "words"),
    [
        ("User:a", "NONE", "client 5 authenticates as User:a by PLAIN"),
        ("", "SASL_AUTHENTICATION_FAILED", "client 5 fails to authenticate by PLAIN: SASL_"),
    ],
)
def test_who_fails_to_authenticate_has_no_name(principal: str, error: str, words: str) -> None:
    assert in_words(ClientAuthenticated(1, 0, 0, 5, principal, "PLAIN", error))[1].startswith(words)
