import msgspec

from nacre.console.live.snapshot import RatePoint
from nacre.console.pages.job_watch import watch_charts


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
            {"documents": 15 * n, "errors": 5 * n}, gap=250.0,
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
