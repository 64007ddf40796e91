import pytest

from nacre.rights.reply_signals import reply_signals
from nacre.rights.vocabulary import MOST_STATED


def found(headers=(), metas=()) -> list[tuple[str, str]]:
    signals = reply_signals(headers, metas, "nacre")
    return [(s.source, ", ".join(each.text for each in s.preferences)) for s in signals]


@pytest.mark.parametrize(
    ("name", "value", "stated"),
    [
        (b"X-Robots-Tag", b"noarchive, NOINDEX", "noarchive, noindex"),
        (b"x-robots-tag", b"nacre: noarchive", "noarchive"),
        (b"x-robots-tag", b"otherbot: noarchive", None),
        (b"x-robots-tag", b"unavailable_after: 25 Jun 2030", "unavailable_after=25 jun 2030"),
        (b"Content-Usage", b"train-ai=n", "train-ai=n"),
        (b"Content-Usage", b"train-ai", None),
        (b"Content-Signal", b"ai-train=yes, search=yes, ai-input=no",
         "train-ai=y, search=y, ai-input=n"),
        (b"TDM-Reservation", b" 1 ", "tdm=n"),
        (b"tdm-reservation", b"0", "tdm=y"),
        (b"tdm-reservation", b"2", None),
        (b"TDM-Policy", b"https://h.test/p.json", "tdm-policy=https://h.test/p.json"),
        (b"Link", b'<https://h.test/l.xml>; rel="license"; type="application/rsl+xml"',
         "license=https://h.test/l.xml"),
        (b"Link", b"</style.css>; rel=stylesheet", None),
        (b"Link", b"</l>; rel=license-of", None),
        (b"Link", b'</n>; rel=next, </l>; title="a, b"; REL="copyright License"', "license=/l"),
        (b"Link", b"</a>;rel=license,</b>;rel=license", "license=/a, license=/b"),
        (b"Link", b"</l>; rel=next; rel=license", None),
        (b"Server", b"noarchive", None),
    ],
)  # fmt: skip
def test_headers(name, value, stated):
    assert found([(name, value)]) == ([("header", stated)] if stated else [])


def test_a_field_on_two_lines_is_one_dictionary():
    headers = [(b"Content-Usage", b"train-ai=y"), (b"content-usage", b"train-ai=n, search=y")]
    assert found(headers) == [("header", "train-ai=n, search=y")]


@pytest.mark.parametrize(
    ("name", "content", "stated"),
    [
        ("robots", "noai, noimageai", "noai, train-ai=n, noimageai"),
        ("nacre", "noarchive", "noarchive"),
        ("noai", "1", "noai, train-ai=n"),
        ("tdm-reservation", "1", "tdm=n"),
        ("tdm-policy", "/policy", "tdm-policy=/policy"),
        ("link", "https://h.test/by", "license=https://h.test/by"),
        ("link-rsl", "https://h.test/rsl", "license=https://h.test/rsl"),
    ],
)
def test_elements(name, content, stated):
    assert found(metas=[(name, content)]) == [("html", stated)]


def test_lines_hold_no_control_characters():
    (signal,) = reply_signals([(b"X-Robots-Tag", b"noarchive\x1b[2J")], (), "nacre")
    assert signal.line.isprintable()


HEAD = 300_000
"""Bytes of the longest head that is read."""


@pytest.mark.parametrize(
    "value",
    [
        b"<" * HEAD,
        b"<a>" * (HEAD // 3),
        b'<a>; rel="x' + b" license" * (HEAD // 8),
        b"<a>; rel  = " * (HEAD // 12),
        b"<a>;" + b' ;rel="a' * (HEAD // 8),
        b"<a>" + b" ;" * (HEAD // 2),
    ],
)
def test_a_link_as_long_as_a_head_is_read_in_linear_time(value):
    # In quadratic time each of these takes minutes.
    assert found([(b"Link", value)]) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"X-Robots-Tag", b",".join(b"a%d" % number for number in range(50_000))),
        (b"Link", b"<a>; rel=license," * 20_000),
    ],
)
def test_a_header_states_a_bounded_number_of_preferences(name, value):
    (signal,) = reply_signals([(name, value)], (), "nacre")
    assert len(signal.preferences) == MOST_STATED
