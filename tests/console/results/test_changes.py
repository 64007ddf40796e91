"""The change feed in the console: a page, a REST path and feeds, with validators."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.console.given import GivenConsole, play
from tests.console.results.given import job_with_changes

API = "/api/v1/jobs/crawls~demo/changes"
PAGE = "/j/crawls~demo/changes"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with that job."""
    job_with_changes(tmp_path)
    return tmp_path


def test_the_rest_path_and_the_page_have_the_changes(folder: Path):
    async def scene(console: GivenConsole) -> None:
        answer = await console.client.get(API, headers=console.as_key())
        assert [entry["kind"] for entry in answer.json()["entries"]] == ["gone", "changed"]
        page = (await console.client.get(PAGE, headers=console.as_session())).text
        assert "周一至周<del>五</del><ins>&lt;六&gt;</ins>" in page
        assert "the page was not found (status 404)" in page
        assert f'href="{API}/atom"' in page
        some = await console.client.get(f"{PAGE}?kind=gone", headers=console.as_session())
        assert "新闻" not in some.text
        assert f'href="{API}/atom?kind=gone"' in some.text

    play(folder, scene)


@pytest.mark.parametrize("path", ["", "/atom", "/json-feed"])
def test_a_feed_is_sent_once(folder: Path, path: str):
    async def scene(console: GivenConsole) -> None:
        key = console.as_key()
        first = await console.client.get(API + path, headers=key)
        assert first.status_code == 200, first.text
        for name, field in (("if-none-match", "etag"), ("if-modified-since", "last-modified")):
            known = {**key, name: first.headers[field]}
            again = await console.client.get(API + path, headers=known)
            assert (again.status_code, again.content) == (304, b"")
        other = {**key, "if-none-match": '"other"'}
        assert (await console.client.get(API + path, headers=other)).status_code == 200

    play(folder, scene)


def test_feeds_have_their_media_types_and_addresses(folder: Path):
    async def scene(console: GivenConsole) -> None:
        key = console.as_key()
        atom = await console.client.get(f"{API}/atom", headers=key)
        assert atom.headers["content-type"].startswith("application/atom+xml")
        root = ElementTree.fromstring(atom.content)
        links = [link.get("href") or "" for link in root.findall("{*}link")]
        assert links[0].endswith(f"{API}/atom")
        assert links[1].endswith(PAGE)
        feed = await console.client.get(f"{API}/json-feed?kind=changed", headers=key)
        assert feed.headers["content-type"].startswith("application/feed+json")
        (item,) = feed.json()["items"]
        assert item["title"] == "changed: 新闻"
        chinese = {**key, "accept-language": "zh-CN"}
        (item,) = (await console.client.get(f"{API}/json-feed?kind=gone", headers=chinese)).json()[
            "items"
        ]
        assert item["title"].startswith("已消失")

    play(folder, scene)


@pytest.mark.parametrize("query", ["kind=lost", "since=soon", "most=0", "match=("])
def test_a_query_without_meaning_is_refused(folder: Path, query: str):
    async def scene(console: GivenConsole) -> None:
        answer = await console.client.get(f"{API}?{query}", headers=console.as_key())
        assert 400 <= answer.status_code < 500

    play(folder, scene)


def test_strangers_see_no_changes(folder: Path):
    async def scene(console: GivenConsole) -> None:
        for path in ("", "/atom", "/json-feed"):
            assert (await console.client.get(API + path)).status_code == 401

    play(folder, scene)
