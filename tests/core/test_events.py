from nacre.core.events import Alert, Events


def test_listeners_hear_in_the_order_in_which_they_came_until_they_leave():
    events, heard = Events(), []
    leave = events.subscribe(lambda event: heard.append(("first", event)))
    events.subscribe(lambda event: heard.append(("second", event)))
    one, two = Alert("one"), Alert("two")
    events.emit(one)
    leave()
    events.emit(two)
    assert heard == [("first", one), ("second", one), ("second", two)]


def test_captures_are_sent_where_one_wants_them():
    events = Events()
    events.subscribe(print)
    assert not events.wants_captures
    events.subscribe(print, captures=True)
    assert events.wants_captures
