"""The leader-epoch cache against worked examples and recorded answers of real leaders."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.releases.profiles import PROFILES, VERSIONS, Profile
from emulator.replication.leader_epoch_cache import UNDEFINED, LeaderEpochCache
from tests.support.releases import profile_of

RECORDED: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "golden" / "epoch-end-offsets.json").read_text("utf-8")
)
NOW, KIP_279, KIP_101 = PROFILES["3.9"], PROFILES["2.0.0"], PROFILES["1.1"]
WITH_EPOCHS = [PROFILES[version] for version in VERSIONS[VERSIONS.index("0.11") :]]
THREE_EPOCHS = [(2, 6), (3, 8), (4, 11)]


@pytest.mark.parametrize("recorded", RECORDED, ids=[each["kafka"] for each in RECORDED])
def test_real_leaders_gave_the_same_responses(recorded: dict[str, Any]) -> None:
    cache = LeaderEpochCache([(epoch, start) for epoch, start in recorded["leader_cache"]])
    profile = profile_of(recorded["kafka"])
    for response in recorded["answers"]:
        epoch, end = cache.end_offset_for(
            response["requested"], recorded["leader_log_end_offset"], profile
        )
        assert end == response["end_offset"]
        if response["leader_epoch"] is not None:
            assert epoch == response["leader_epoch"]


@pytest.mark.parametrize(
    ("requested", "response"),
    [
        (4, (4, 14)),
        (3, (3, 11)),
        (2, (2, 8)),
        (1, (1, 6)),
        (5, (UNDEFINED, UNDEFINED)),
        (UNDEFINED, (UNDEFINED, UNDEFINED)),
    ],
)
def test_v33_an_epoch_ends_where_the_next_begins(requested: int, response: tuple[int, int]) -> None:
    assert LeaderEpochCache(list(THREE_EPOCHS)).end_offset_for(requested, 14, NOW) == response


def test_v33_up_to_2_0_0_an_epoch_below_the_first_is_unknown() -> None:
    cache = LeaderEpochCache(list(THREE_EPOCHS))
    assert cache.end_offset_for(1, 14, KIP_279) == (UNDEFINED, UNDEFINED)
    assert cache.end_offset_for(1, 14, KIP_101) == (UNDEFINED, UNDEFINED)


def test_v33_a_gap_is_answered_with_the_largest_smaller_epoch() -> None:
    cache = LeaderEpochCache([(2, 6), (5, 8)])
    assert cache.end_offset_for(3, 14, KIP_279) == (2, 8)
    assert cache.end_offset_for(3, 14, KIP_101) == (UNDEFINED, 8)


def test_an_empty_cache_knows_nothing() -> None:
    assert LeaderEpochCache().end_offset_for(0, 3, NOW) == (UNDEFINED, UNDEFINED)
    assert LeaderEpochCache().latest == UNDEFINED


def test_v33_truncating_the_end_drops_epochs_that_start_there_or_later() -> None:
    cache = LeaderEpochCache(list(THREE_EPOCHS))
    assert cache.truncate_from_end(11)
    assert cache.entries == [(2, 6), (3, 8)]
    assert not cache.truncate_from_end(9)
    assert cache.truncate_from_end(7)
    assert cache.entries == [(2, 6)]


def test_v33_truncating_the_start_leaves_one_entry_for_what_is_gone() -> None:
    cache = LeaderEpochCache(list(THREE_EPOCHS))
    assert cache.truncate_from_start(9)
    assert cache.entries == [(3, 9), (4, 11)]
    assert not cache.truncate_from_start(9)
    assert cache.truncate_from_start(11)
    assert cache.entries == [(4, 11)]


def test_v33_a_new_entry_replaces_what_contradicts_it() -> None:
    cache = LeaderEpochCache([(2, 6), (4, 8)])
    assert cache.assign(3, 9, repair=True)
    assert cache.entries == [(2, 6), (3, 9)]
    assert cache.assign(2, 8, repair=True)
    assert cache.entries == [(2, 8)]


def test_v33_up_to_2_0_0_a_contradicting_entry_is_ignored() -> None:
    cache = LeaderEpochCache([(2, 6), (4, 8)])
    assert not cache.assign(3, 9, repair=False)
    assert not cache.assign(5, 7, repair=False)
    assert cache.assign(5, 8, repair=False)
    assert cache.assign(6, 9, repair=False)
    assert cache.entries == [(2, 6), (4, 8), (5, 8), (6, 9)]


def test_an_epoch_without_records_gives_way_to_the_next_at_the_same_offset() -> None:
    cache = LeaderEpochCache([(0, 0), (1, 5)])
    assert cache.assign(2, 5, repair=True)
    assert cache.entries == [(0, 0), (2, 5)]


def test_the_latest_epoch_is_not_moved_forward() -> None:
    cache = LeaderEpochCache([(0, 0), (1, 5)])
    assert not cache.assign(1, 7, repair=True)
    assert not cache.assign(1, 5, repair=True)
    assert cache.assign(1, 4, repair=True)
    assert cache.entries == [(0, 0), (1, 4)]


def test_a_wiped_log_has_no_epochs() -> None:
    cache = LeaderEpochCache([(0, 0)])
    assert cache.clear()
    assert not cache.clear()


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["assign", "truncate_from_end", "truncate_from_start"]),
        st.integers(0, 9),
        st.integers(0, 30),
    ),
    max_size=40,
)


@given(changes=CHANGES, repair=st.booleans())
def test_epochs_and_starts_increase_whatever_happens(
    changes: list[tuple[str, int, int]], repair: bool
) -> None:
    cache = LeaderEpochCache()
    for change, epoch, offset in changes:
        before = list(cache.entries)
        if change == "assign":
            changed = cache.assign(epoch, offset, repair=repair)
        else:
            changed = getattr(cache, change)(offset)
        assert changed == (cache.entries != before)
        epochs = [entry[0] for entry in cache.entries]
        starts = [entry[1] for entry in cache.entries]
        assert epochs == sorted(set(epochs))
        assert starts == sorted(starts)
        if repair:
            assert len(set(starts)) == len(starts)


@given(
    entries=st.dictionaries(st.integers(0, 9), st.integers(1, 9), max_size=6),
    requested=st.integers(0, 10),
    profile=st.sampled_from(WITH_EPOCHS),
)
def test_a_response_never_names_a_larger_epoch_and_ends_within_the_log(
    entries: dict[int, int], requested: int, profile: Profile
) -> None:
    cache, end = LeaderEpochCache(), 0
    for epoch in sorted(entries):
        cache.assign(epoch, end, repair=True)
        end += entries[epoch]
    epoch, offset = cache.end_offset_for(requested, end, profile)
    assert epoch <= requested
    assert UNDEFINED <= offset <= end
    assert (offset == UNDEFINED) == (
        requested > cache.latest or not _answers(cache, requested, profile)
    )


def _answers(cache: LeaderEpochCache, requested: int, profile: Profile) -> bool:
    below_first = bool(cache.entries) and requested < cache.entries[0][0]
    return bool(cache.entries) and (
        not below_first or profile.has("epoch_end_offset_below_first_epoch")
    )
