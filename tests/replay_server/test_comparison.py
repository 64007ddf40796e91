"""Captures compared and cited in the viewer: dates, parts, languages, hostile queries."""

from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from nacre.replay_server.sites import ReplaySite
from tests.ops.test_compare import DAYS, page
from tests.replay.archives import URL, Archive
from tests.replay_server.site import Server


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Server:
    root = tmp_path_factory.mktemp("compared") / "news"
    archive = Archive(root)
    archive.add(
        page("<a href=/a>A</a> 旧版本", DAYS[0]),
        page("<a href=/b>A</a> 新版本 &lt;script>alert(1)&lt;/script>\u202e", DAYS[1]),
    )
    return Server({"news": root})


def view(server: Server, path: str, language: str = "en", **query: str) -> tuple[int, str]:
    target = f"/view/{server.labels['news']}/{path}?{urlencode(query)}"
    answer = server.view(target, {**server.cookie("anna", "news"), "accept-language": language})
    return answer.status_code, answer.text


def test_two_captures_are_compared(compared: Server):
    status, text = view(compared, "compare", u=URL)
    assert status == 200
    for part in ("Text</h2>", "Source</h2>", "Headers</h2>", "Links</h2>", "<del>", "<ins>"):
        assert part in text
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert f"<option selected>{DAYS[1]}" in text
    status, text = view(compared, "compare", u=URL, a=DAYS[0], b=DAYS[1], section="links")
    assert (status, "Source</h2>" in text, "http://h.test/b" in text) == (200, False, True)
    assert "链接</h2>" in view(compared, "compare", "zh-CN", u=URL)[1]


def test_a_capture_is_cited(compared: Server):
    status, text = view(compared, "cite", u=URL, t="20261120100000")
    assert status == 200
    assert f"urn:pwid:news:{DAYS[0]}:page:{URL}" in text
    assert "@misc{" in text
    assert "Available at" not in text  # only this machine reaches it


def test_a_public_viewer_is_named_in_citations(compared: Server, tmp_path: Path):
    archive = Archive(tmp_path / "news")
    archive.add(page("One.", DAYS[0]))
    server = Server({"news": archive.root}, ReplaySite("replay.example.org", 0, "https"))
    path = f"/view/{server.labels['news']}/cite?u={quote(URL)}&t=20261120100000"
    answer = server.ask("replay.example.org", path, server.cookie("anna", "news"))
    assert (
        f"Available at https://replay.example.org/view/{server.labels['news']}/2026" in answer.text
    )


@pytest.mark.parametrize("path", ["compare", "cite"])
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"u": "http://none.test/<b>"},
        {"u": "\x00\x1b[2J"},
        {"u": "http://[::1"},
        {"u": URL, "a": "soon", "t": "soon"},
        {"u": URL, "a": "9" * 20_000, "t": "9" * 20_000},
        {"u": "http://" + "x" * 9_000},
    ],
)
def test_what_is_not_there_is_a_page(compared: Server, path: str, query: dict[str, str]):
    status, text = view(compared, path, **query)
    assert status == 404
    assert "<b>" not in text
    assert "\x1b" not in text


@pytest.mark.parametrize("path", ["compare", "cite"])
def test_without_a_ticket_nothing_is_shown(compared: Server, path: str):
    target = f"/view/{compared.labels['news']}/{path}?u={URL}"
    assert compared.view(target).status_code == 401


@pytest.mark.parametrize("place", [0, 1])
def test_the_toolbar_compares_the_older_capture_with_the_newer(compared: Server, place: int):
    days = ["".join(filter(str.isdigit, day)) for day in DAYS[:2]]
    _status, text = view(compared, f"{days[place]}/{URL}")
    query = urlencode({"u": URL, "a": days[0], "b": days[1]})
    assert f"compare?{query.replace('&', '&amp;')}" in text
