from nacre.cli.meter import Meter, Rates
from nacre.job.operator.overview import Overview


def sample(elapsed: float, finished: int, received: int) -> Overview:
    return Overview("RUNNING", elapsed=elapsed, finished=finished, bytes=received)


def test_rates_now_and_on_average():
    meter = Meter()
    assert meter.rates(sample(10.0, 100, 0)) == Rates(0.0, 0.0, 0.0, 0.0)
    for second in range(11, 20):
        meter.rates(sample(second, 100, 0))
    rates = meter.rates(sample(20.0, 200, 50_000))
    assert rates == Rates(20.0, 10.0, 10.0, 5.0)


def test_no_time_no_rate():
    meter = Meter()
    meter.rates(sample(5.0, 10, 10))
    assert meter.rates(sample(5.0, 20, 20)) == Rates()
