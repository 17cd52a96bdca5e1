"""How JSON is written into znodes."""

from emulator.zookeeper.data import compact


def test_fields_stay_in_their_order_without_spaces() -> None:
    assert (
        compact({"version": 1, "partitions": {"0": [1, 2]}})
        == '{"version":1,"partitions":{"0":[1,2]}}'
    )


def test_letters_outside_ascii_are_written_as_they_are() -> None:
    assert compact({"t": "größe"}) == '{"t":"größe"}'
