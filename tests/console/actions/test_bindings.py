from console.actions.bindings import bindings_for


def test_every_key_of_an_action_is_bound_under_its_id() -> None:
    keys = {binding.key for binding in bindings_for("anywhere") if binding.id == "move.down"}
    assert keys == {"down", "j"}


def test_a_comma_is_a_key_and_not_a_list() -> None:
    (back,) = [binding for binding in bindings_for("anywhere") if binding.id == "time.back"]
    assert back.key == "comma"
