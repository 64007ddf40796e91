import pytest

from nacre.replay_server.sites import (
    CONTENT,
    PROGRAMS,
    VIEWER,
    HostPart,
    ReplaySite,
    content_path,
    viewer_path,
)

LABEL = "0123456789ab"


@pytest.mark.parametrize(
    ("host", "part"),
    [
        ("replay.localhost:8411", HostPart(VIEWER)),
        ("replay.localhost", HostPart(VIEWER)),
        ("REPLAY.localhost:8411", HostPart(VIEWER)),
        (f"j{LABEL}.replay.localhost:8411", HostPart(CONTENT, LABEL)),
        (f"J{LABEL.upper()}.replay.localhost", HostPart(CONTENT, LABEL)),
        ("localhost:8411", HostPart(PROGRAMS)),
        ("127.0.0.1:8411", HostPart(PROGRAMS)),
        ("[::1]:8411", HostPart(PROGRAMS)),
        ("[::1]", HostPart(PROGRAMS)),
        ("", None),
        ("evil.test", None),
        ("evil.test:8411", None),
        ("replay.localhost.evil.test", None),
        ("xreplay.localhost", None),
        ("j0123.replay.localhost", None),
        (f"x{LABEL}.replay.localhost", None),
        (f"j{LABEL}.replay.localhost.evil.test", None),
        (f"a.j{LABEL}.replay.localhost", None),
        (f"j{LABEL}replay.localhost", None),
        ("replay.localhost:", HostPart(VIEWER)),
        ("replay.localhost:8411:1", None),
    ],
)
def test_a_host_names_a_part_of_the_site_or_nothing(host: str, part: HostPart | None):
    assert ReplaySite(port=8411).part_of(host) == part


def test_origins_of_a_site():
    site = ReplaySite(port=8411)
    assert site.viewer == "http://replay.localhost:8411"
    assert site.content(LABEL) == f"http://j{LABEL}.replay.localhost:8411"
    proxied = ReplaySite("replay.example.org", 443, "https")
    assert proxied.viewer == "https://replay.example.org"
    assert proxied.content(LABEL) == f"https://j{LABEL}.replay.example.org"
    assert proxied.part_of(f"j{LABEL}.replay.example.org") == HostPart(CONTENT, LABEL)


def test_a_site_without_names_for_jobs_has_one_origin():
    site = ReplaySite("replay.example.org", 443, "https", is_single=True)
    assert site.content(LABEL) == site.viewer
    assert site.part_of(f"j{LABEL}.replay.example.org") is None


def test_characters_that_end_a_path_or_a_header_are_escaped():
    url = 'http://h.test/a b"<>#\r\n\u4e66?x=1'
    for path in (viewer_path(LABEL, "*", url), content_path("2026", url)):
        assert path.isascii()
        assert not set(' "<>#\r\n') & set(path)
    assert content_path("2026", "http://h.test/%20?a=[1]&b") == "/2026mp_/http://h.test/%20?a=[1]&b"
