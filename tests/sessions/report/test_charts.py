"""A chart is a figure with its data, which the page's script draws."""

import json

from sessions.report.charts import Chart, Series, chart, json_text

DRAWN = Chart(
    "time", [0, 10], 30, "partitions",
    [Series("offline", "offline", [0, None], "no leader")], ["</script><b>"], [None, 7],
)  # fmt: skip


def test_a_figure_holds_its_title_its_summary_its_legend_and_its_data() -> None:
    made = chart(DRAWN, "title", "summary", "s", "t-0")
    assert (made.get("data-session"), made.get("data-tp")) == ("s", "t-0")
    assert [each.text for each in made[0]] == ["title", "summary"]
    assert "".join(made[1].itertext()) == "offlineno leader"
    assert [each.get("data-kind") for each in made[1]] == ["offline"]
    (script,) = made.iter("script")
    assert json.loads(script.text or "") == {
        "axis": "time",
        "begins": [0, 10],
        "end": 30,
        "yTitle": "partitions",
        "series": [
            {"kind": "offline", "name": "offline", "values": [0, None], "meaning": "no leader"}
        ],
        "sessions": ["</script><b>"],
        "events": [None, 7],
    }


def test_no_name_ends_the_script_that_it_stands_in() -> None:
    assert "<" not in json_text({"</script>": "<!--"})
