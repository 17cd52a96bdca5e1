import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.gateway.frames import BadFrameError, FrameBuffer

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


@given(st.binary(max_size=200))
def test_whatever_comes_no_more_than_a_frame_is_kept(data: bytes) -> None:
    buffer = FrameBuffer(100)
    try:
        buffer.feed(data)
    except BadFrameError:
        return
    assert len(buffer._buffer) < 104
