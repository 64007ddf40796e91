from nacre.cli.eta import Eta


def told(samples: list[tuple[float, int]], slowest: float = 0.0) -> float | None:
    eta = Eta()
    for elapsed, queued in samples:
        eta.note(elapsed, queued)
    return eta.seconds(slowest)


def test_a_queue_that_shrinks_steadily():
    seconds = told([(float(t), 1000 - 10 * t) for t in range(0, 50, 2)])
    assert seconds is not None
    assert 50 <= seconds <= 54


def test_the_slowest_queue_is_waited_for():
    assert told([(float(t), 1000 - 10 * t) for t in range(0, 50, 2)], 900.0) == 900.0


def test_nothing_is_said_too_early():
    assert told([(float(t), 1000 - 10 * t) for t in range(0, 12, 2)]) is None
    assert told([]) is None


def test_nothing_is_said_while_the_queue_grows_or_wavers():
    assert told([(float(t), 1000 + 10 * t) for t in range(0, 60, 2)]) is None
    assert told([(float(t), 1000 - 10 * t + (t // 8 % 2) * 200) for t in range(0, 60, 2)]) is None


def test_what_is_long_ago_counts_no_more():
    grew = [(float(t), 10 * t) for t in range(0, 100, 2)]
    shrank = [(float(t), 1000 - 5 * (t - 100)) for t in range(100, 190, 2)]
    assert told(grew + shrank) is not None
