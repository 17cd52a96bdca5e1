"""Requests that real brokers understood, and how they answered.

``brokers/RELEASE.json`` holds frames as they went over a socket to one broker of that release: each
version of each API that it advertised, written by this codec. A broker that does not understand a
request closes the connection, so a response with the right fields says that the request was right.
"""

import json
from pathlib import Path

import pytest

from emulator.wire.apis import API_NAMED
from emulator.wire.codec import decode_request, decode_response, encode_request, encode_response
from emulator.wire.messages.cluster import ApiVersion, ApiVersionsResponse
from emulator.wire.versions import versions_of

HERE = Path(__file__).with_name("brokers")
RELEASES = sorted(path.stem for path in HERE.glob("*.json"))
UNSUPPORTED_VERSION = 35

every_release = pytest.mark.parametrize("release", RELEASES)


def exchanges(release: str) -> list[tuple[str, int, bytes, bytes]]:
    found = json.loads((HERE / f"{release}.json").read_text("utf-8"))
    return [
        (
            each["api"],
            each["version"],
            bytes.fromhex(each["request"]),
            bytes.fromhex(each["response"]),
        )
        for each in found
    ]


def api_versions(release: str, version: int) -> bytes:
    (frame,) = (
        frame
        for name, asked, _, frame in exchanges(release)
        if (name, asked) == ("ApiVersions", version)
    )
    return frame


@every_release
def test_answers_of_brokers_are_read_and_written_the_same(release: str) -> None:
    for name, version, asked, frame in exchanges(release):
        header, request = decode_request(asked)
        key = API_NAMED[name].key
        assert (header.api_key, header.api_version) == (key, version)
        assert encode_request(header, request) == asked
        if version not in versions_of(release)[key]:
            continue
        correlation_id, response = decode_response(key, version, frame)
        assert correlation_id == header.correlation_id
        assert encode_response(key, version, correlation_id, response) == frame, (name, version)


@every_release
def test_brokers_advertise_what_is_said_of_their_release(release: str) -> None:
    _, response = decode_response(18, 0, api_versions(release, 0))
    assert isinstance(response, ApiVersionsResponse)
    told = {
        each.api_key: range(each.min_version, each.max_version + 1) for each in response.api_keys
    }
    known = {api.key for api in API_NAMED.values()}
    assert {key: versions for key, versions in told.items() if key in known} == versions_of(release)


@pytest.mark.parametrize(
    ("release", "listed"),
    [("0.10.2.2", []), ("2.0.1", []), ("2.8.2", [ApiVersion(18, 0, 3)])],
)
def test_an_unknown_version_of_api_versions_is_answered_in_version_0(
    release: str, listed: list[ApiVersion]
) -> None:
    """Since 2.4 with the versions of ApiVersions itself (KIP-511), before that with none."""
    _, response = decode_response(18, 0, api_versions(release, 4))
    assert response == ApiVersionsResponse(UNSUPPORTED_VERSION, listed)


@every_release
def test_versions_that_each_release_advertises_were_asked_for(release: str) -> None:
    asked = {(name, version) for name, version, _, _ in exchanges(release)}
    wanted = {
        (name, version)
        for name in ("Produce", "Fetch", "Metadata", "ListOffsets", "OffsetCommit", "OffsetFetch")
        for version in versions_of(release)[API_NAMED[name].key]
    }
    assert wanted <= asked
