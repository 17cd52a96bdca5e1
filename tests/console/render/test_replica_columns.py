from console.model.workspace import Stage
from console.render.replica_columns import ReplicaRows
from tests.console.fakes import ListSource, failover


def rows(broker: int) -> ReplicaRows:
    stage = Stage(ListSource(failover()))
    stage.follow()
    return ReplicaRows(stage, broker)


def test_a_brokers_rows_are_the_partitions_that_it_holds() -> None:
    assert rows(1).keys() == [f"orders-{n}" for n in range(6)]
    assert rows(2).keys() == [f"orders-{n}" for n in range(5)]
    assert len(rows(2).rows()) == len(rows(2).texts()) == 5


def test_a_row_says_what_the_broker_is_to_the_partition() -> None:
    assert {rows(1).place(row) for row in rows(1).rows()} == {"down"}
    here = rows(2)
    places = {row.name: here.place(row) for row in here.rows()}
    assert places["orders-0"] == "leader"
    assert "down" in rows(1).text("orders-0")


def test_columns_show_the_brokers_own_figures() -> None:
    table = rows(3)
    shown = {column.id: column.cell(table.row("orders-1"))[0].strip() for column in table.columns}
    assert shown["name"] == "orders-1"
    assert shown["leo"].isdigit()
    value_of = table.value_of(table.columns[0])
    assert table.values(table.columns[0]) == list(map(value_of, table.keys()))


def test_fields_of_the_replica_can_be_asked_for() -> None:
    table = rows(3)
    assert table.fields["place"].compared(table.row("orders-0")) == "isr"
    assert table.fields["behind"].compared(table.row("orders-0")) == 0
