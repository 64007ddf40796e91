import msgspec

from nacre.console.jobs.watch import past_charts, watch_charts
from nacre.console.logs.progress import ProgressPoint
from nacre.job.activity import RatePoint


def same(text: str) -> str:
    return text


def test_charts_of_no_points_are_empty():
    charts = watch_charts((), same)
    assert {chart.name for chart in charts} >= {"uris", "bytes", "busy", "queues", "replies"}
    for chart in charts:
        assert chart.rows == []
        assert chart.most == 0.0


def test_charts_show_rates_and_states():
    points = [
        RatePoint(
            100.0 + 10 * n, 20 * n, 1000 * n, 5, 3, 25, {"ready": n, "retired": 0},
            {"documents": 15 * n, "errors": 5 * n}, gap=250.0, worked=12.5 * n,
        )
        for n in range(30)
    ]  # fmt: skip
    charts = {chart.name: chart for chart in watch_charts(points, same)}
    uris = charts["uris"]
    assert set(uris.values[0]) == {2.0}
    assert len(uris.times) == 29
    assert msgspec.json.decode(uris.points)[0][0] == 110.0
    assert uris.now == [2.0]
    assert 12 <= len(uris.rows) <= 15
    assert uris.rows[0] == (390.0, [2.0])
    assert charts["queues"].series == ("ready",)
    assert charts["replies"].values[0][-1] == 1.5
    assert charts["delays"].now == [0.0, 0.25]
    assert charts["delays"].unit == "seconds"
    # At each look 3 were at work, and 1.25 on average between the looks.
    assert charts["busy"].now == [1.25, 25]


def test_a_chart_has_no_average_over_the_end_of_a_process():
    worked = (0.0, 20.0, 4.0)
    points = [RatePoint(10.0 * n, n, 0, 5, 0, 25, worked=worked[n]) for n in range(3)]
    charts = {chart.name: chart for chart in watch_charts(points, same)}
    assert charts["busy"].values[0] == (2.0, None)


def test_statuses_of_the_past_lie_on_one_another():
    points = [
        ProgressPoint(10.0, queued=5, statuses={"2xx": 2.0, "failed": 0.5}),
        ProgressPoint(20.0),
        ProgressPoint(30.0, queued=5, statuses={"4xx": 1.0}),
    ]
    charts = {chart.name: chart for chart in past_charts(points, same)}
    assert charts["statuses"].is_stacked
    assert charts["statuses"].series == ("2xx", "4xx", "failed")
    assert charts["statuses"].values == ((2.0, None, 0.0), (0.0, None, 1.0), (0.5, None, 0.0))
    assert "statuses" not in {chart.name for chart in past_charts(points[1:2], same)}
