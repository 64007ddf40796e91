import pytest

from nacre.console.streams.follow import event


@pytest.mark.parametrize(
    ("data", "name", "position", "text"),
    [
        ("a", "", "", "data: a\n\n"),
        ("", "beat", "", "event: beat\ndata: \n\n"),
        ("a\nb\r\nc\rd", "", "", "data: a\ndata: b\ndata: c\ndata: d\n\n"),
        ("书", "log", "7-12", "event: log\nid: 7-12\ndata: 书\n\n"),
        ("\ud800", "", "", "data: \\ud800\n\n"),
    ],
)
def test_an_event_is_fields_and_an_empty_line(data: str, name: str, position: str, text: str):
    assert event(data, name, position) == text.encode()
