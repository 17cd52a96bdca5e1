import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.gateway.frames import OTHER_REQUEST_BYTES_MAX, BadFrameError, FrameBuffer

LIMIT = 1_000


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4) + body


@given(
    st.lists(st.binary(min_size=8, max_size=50), max_size=8),
    st.lists(st.integers(1, 20), min_size=1),
)
def test_however_a_stream_is_cut_the_frames_are_the_same(
    bodies: list[bytes], sizes: list[int]
) -> None:
    stream = b"".join(map(framed, bodies))
    buffer, found, at = FrameBuffer(LIMIT), list[bytes](), 0
    while at < len(stream):
        size = sizes[at % len(sizes)]
        found += buffer.feed(stream[at : at + size])
        at += size
    assert found == bodies


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ((LIMIT + 1).to_bytes(4), "at most 1,000"),
        ((-1).to_bytes(4, signed=True), "8 at least"),
        ((7).to_bytes(4), "8 at least"),
        (b"GET ", "it begins with 'GET '"),
    ],
)
def test_a_length_that_no_request_has_is_refused_before_its_bytes_come(
    start: bytes, words: str
) -> None:
    with pytest.raises(BadFrameError, match=words):
        FrameBuffer(LIMIT).feed(start)


def test_only_a_produce_request_may_be_large() -> None:
    length = (OTHER_REQUEST_BYTES_MAX + 1).to_bytes(4)
    assert FrameBuffer(1 << 30).feed(length + b"\0\0") == []
    assert FrameBuffer(1 << 30).feed(length + b"\0") == []
    buffer = FrameBuffer(1 << 30)
    buffer.feed(length + b"\0")
    with pytest.raises(BadFrameError, match=f"at most {OTHER_REQUEST_BYTES_MAX:,}"):
        buffer.feed(b"\3")


@given(st.binary(max_size=200))
def test_whatever_comes_no_more_than_a_frame_is_kept(data: bytes) -> None:
    buffer = FrameBuffer(100)
    try:
        buffer.feed(data)
    except BadFrameError:
        return
    assert len(buffer._buffer) < 104


def test_a_client_that_speaks_tls_is_named() -> None:
    with pytest.raises(BadFrameError, match="TLS handshake"):
        FrameBuffer(100 << 20).feed(bytes.fromhex("160301020001"))
