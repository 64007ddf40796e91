"""The captures of a job in the console: search, facets, exports, and one capture."""

import asyncio
import csv
import gzip
import io
import json
import re
from collections.abc import Awaitable, Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from nacre.archive.index import rebuild_index, sort_index
from nacre.archive.page_records import RecordedPage, page_records
from nacre.archive.warc_writer import pack
from nacre.console.app import ConsoleApp
from nacre.console.captures import listing
from nacre.core.processor import PageUnit, RefusedRequest
from nacre.errors import StorageError
from nacre.ops.operation import Role
from tests.catalogue.given_job import RUN, add_index, line, real_job
from tests.console.given import GivenConsole, play, with_common
from tests.engine.page_making import JPEG, PNG, rendered

J = "/j/crawls~demo"
API = "/api/v1/jobs/crawls~demo"
EVIL = "<script>alert(1)</script>"


def listed_job(root: Path, number: int = 5) -> None:
    """A job with captures that were never made."""
    lines = [
        line(f"http://h.test/{n}{EVIL}", f"2026112{n % 8}100000", n, status=404 if n % 2 else 200,
             mime="warc/revisit" if n == 4 else f"text/{EVIL}")
        for n in range(number)
    ]  # fmt: skip
    add_index(root, lines)


def scene_of(
    folder: Path, make: Callable[[Path], None], scene: Callable[[GivenConsole], Awaitable[None]]
) -> None:
    (folder / "crawls" / "demo").mkdir(parents=True)
    make(folder / "crawls" / "demo")

    async def played(console: GivenConsole) -> None:
        console.client.headers.update(console.as_session(Role.VIEWER))
        await scene(console)

    play(folder, played)


def test_captures_are_searched_counted_and_paged(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        async def get(path: str, **query: str) -> Any:
            answer = await console.client.get(API + path, params=query)
            assert answer.status_code == 200, answer.text
            return answer.json()

        found = await get("/captures", host="h.test", status="404")
        assert [item["id"] for item in found["items"]] == ["a.warc.gz:1", "a.warc.gz:3"]
        assert found["complete"]
        assert found["next"] is None
        first = await get("/captures", limit="3")
        rest = await get("/captures", limit="3", after=first["next"])
        assert len({item["id"] for item in first["items"] + rest["items"]}) == 5
        facets = await get("/facets", status="4xx")
        assert facets["total"] == 2
        assert facets["facets"]["status"] == [{"value": "404", "number": 2}]
        one = await get("/captures", id="a.warc.gz:2")
        assert [item["offset"] for item in one["items"]] == [2]
        two = await get("/captures", verdict="unchanged", order="newest")
        assert [item["offset"] for item in two["items"]] == [4]
        for query in ({"status": "x"}, {"after": "kwE"}, {"start": "x"}, {"id": "x"}):
            wrong = await console.client.get(f"{API}/captures", params=query)
            assert wrong.status_code == 422, query

    scene_of(tmp_path, listed_job, scene)


def test_the_page_of_captures_shows_no_markup_of_captures(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        for path, query in (
            ("/captures", {}), ("/captures", {"q": "h.test", "status": "404"}),
            ("/captures", {"q": EVIL}), ("/captures", {"mime": f"text/{EVIL}", "run": EVIL}),
            ("/captures", {"status": EVIL}), ("/captures/a.warc.gz:0", {}),
        ):  # fmt: skip
            answer = await console.client.get(J + path, params=query)
            assert answer.status_code == 200, (path, query, answer.text)
            assert EVIL not in answer.text
        page = (await console.client.get(f"{J}/captures", params={"status": "404"})).text
        assert page.count('name="id"') == 2
        assert 'aria-current="page"' in page
        assert "captures/a.warc.gz%3A1" in page
        nothing = (await console.client.get(f"{J}/captures", params={"q": "x.test"})).text
        assert "No capture is like this." in nothing
        wrong = (await console.client.get(f"{J}/captures", params={"status": "4x"})).text
        assert "is no status; name some as 404,5xx" in wrong
        words = (await console.client.get(f"{J}/captures", params={"q": "some words"})).text
        assert "has no index of words" in words
        chinese = await console.client.get(f"{J}/captures", headers={"accept-language": "zh-CN"})
        assert "捕获" in chinese.text

    scene_of(tmp_path, listed_job, scene)


def test_the_page_names_warcs_that_are_left_out(tmp_path: Path):
    def make(root: Path) -> None:
        listed_job(root)
        (root / "runs" / RUN / "archive" / "b.warc.gz").write_bytes(b"")

    async def scene(console: GivenConsole) -> None:
        remedy = f"nacre archive {tmp_path}/crawls/demo index"
        page = (await console.client.get(f"{J}/captures")).text
        assert f"1 WARC of {tmp_path}/crawls/demo has no index" in page
        assert f"`{remedy}` makes it" in unescape(page)
        chinese = await console.client.get(f"{J}/captures", headers={"accept-language": "zh-CN"})
        assert f"{tmp_path}/crawls/demo 中有 1 个 WARC 没有索引" in chinese.text
        listed = (await console.client.get(f"{API}/captures")).json()
        assert [remedy in warning for warning in listed["warnings"]] == [True]
        (tmp_path / "crawls" / "demo" / "runs" / RUN / "archive" / "b.warc.gz").unlink()
        assert (await console.client.get(f"{API}/captures")).json()["warnings"] == []
        assert "has no index" not in (await console.client.get(f"{J}/captures")).text

    scene_of(tmp_path, make, scene)


def test_captures_are_exported_as_files(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        async def export(**query: str | list[str]) -> str:
            answer = await console.client.get(f"{API}/captures/export", params=query)
            assert answer.status_code == 200, answer.text
            assert answer.headers["content-disposition"].startswith("attachment")
            return answer.text

        rows = list(csv.DictReader(io.StringIO(await export(form="csv", q="h.test"))))
        assert len(rows) == 5
        chosen = json.loads(await export(form="json", id=["a.warc.gz:1", "a.warc.gz:3"]))
        assert [row["offset"] for row in chosen] == [3, 1]
        lines = (await export(form="cdxj", status="404")).splitlines()
        assert len(lines) == 2
        wrong = await console.client.get(f"{API}/captures/export", params={"status": "x"})
        assert wrong.status_code == 422

    scene_of(tmp_path, listed_job, scene)


def test_a_capture_has_its_headers_its_record_and_its_body(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        found = (await console.client.get(f"{API}/captures", params={"q": "http://h.test/"})).json()
        newest = found["items"][0]
        details = (await console.client.get(f"{API}/captures/{newest['id']}")).json()
        assert (details["status"], details["reason"]) == (200, "OK")
        assert {"name": "X-Evil", "value": "<b>"} in details["headers"]
        assert details["problem"] == ""
        assert len(details["captures"]) == 2
        headers = (await console.client.get(f"{API}/captures/{newest['id']}/headers")).json()
        assert headers["headers"] == details["headers"]
        body = await console.client.get(f"{API}/captures/{newest['id']}/body")
        assert body.content == b"<p>two"
        assert body.headers["content-type"] == "application/octet-stream"
        assert body.headers["content-disposition"] == "attachment; filename*=UTF-8''h.test"
        assert "sandbox" in body.headers["content-security-policy"]
        record_file = await console.client.get(f"{API}/captures/{newest['id']}/record")
        assert b"WARC-Date: 2026-11-21T10:00:00Z" in gzip.decompress(record_file.content)
        page = (await console.client.get(f"{J}/captures/{newest['id']}")).text
        assert "&lt;b&gt;" in page
        assert "<b>" not in page
        assert 'rel="prev"' in page

    scene_of(tmp_path, real_job, scene)


def job_with_a_page(root: Path) -> None:
    """A job with a page that was run in a browser at the time of its second capture."""
    real_job(root)
    page = RecordedPage(
        "http://h.test/", 1_795_255_200_000_000, 200, "text/html",
        PageUnit("id", "mount", rendered("http://h.test/", title=f"Shop {EVIL}"),
                 refused=[RefusedRequest(f"http://h.test/{EVIL}", "fetch", "robots", EVIL)]),
        text="x",
    )  # fmt: skip
    numbers = iter(range(1, 100))
    records = page_records(page, lambda: next(numbers).to_bytes(16, "big"))
    warc = root / "runs" / RUN / "archive" / "p.warc.gz"
    warc.write_bytes(b"".join(pack(record, 1) for record in records))
    warc.with_name("p.cdxj").write_bytes(sort_index(rebuild_index(warc)))


def test_a_page_in_a_browser_has_its_pictures_and_its_end(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        found = (await console.client.get(f"{API}/captures", params={"q": "http://h.test/"})).json()
        newest = next(i for i in found["items"] if i["time"].startswith("2026-11-21"))
        details = (await console.client.get(f"{API}/captures/{newest['id']}")).json()
        assert (details["page"]["sign"], details["page"]["ended"]) == ("mount", "settled")
        assert [picture["kind"] for picture in details["pictures"]] == ["view", "thumbnail"]
        for picture, data in zip(details["pictures"], (PNG, JPEG), strict=True):
            answer = await console.client.get(f"{API}/captures/{picture['capture']}/picture")
            assert (answer.status_code, answer.content) == (200, data)
            assert answer.headers["content-type"] == picture["mime"]
            assert "sandbox" in answer.headers["content-security-policy"]
        none = await console.client.get(f"{API}/captures/{newest['id']}/picture")
        assert none.status_code == 404
        page = (await console.client.get(f"{J}/captures/{newest['id']}")).text
        assert "<img src=" in page
        assert "robots.txt forbids it" in page
        assert EVIL not in page
        # The page of a picture shows it, too.
        own = (await console.client.get(f"{J}/captures/{details['pictures'][0]['capture']}")).text
        assert "<img src=" in own
        earlier = next(i for i in found["items"] if i["time"].startswith("2026-11-20"))
        assert (await console.client.get(f"{API}/captures/{earlier['id']}")).json()["page"] is None

    scene_of(tmp_path, job_with_a_page, scene)


@pytest.mark.parametrize("name", ["a.warc.gz:7777", "../x:1", "x", "a.warc.gz:-1", "b.warc.gz:0"])
def test_a_capture_that_is_not_there_is_not_found(tmp_path: Path, name: str):
    async def scene(console: GivenConsole) -> None:
        for end in ("", "/headers", "/body", "/record", "/picture"):
            answer = await console.client.get(f"{API}/captures/{name.replace('/', '%2F')}{end}")
            assert answer.status_code == 404, (end, answer.text)

    scene_of(tmp_path, real_job, scene)


def test_a_damaged_record_is_named_and_its_page_is_shown(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        page = await console.client.get(f"{J}/captures/a.warc.gz:0")
        assert page.status_code == 200
        assert "notice-error" in page.text
        body = await console.client.get(f"{API}/captures/a.warc.gz:0/body")
        assert body.status_code == 409

    scene_of(tmp_path, listed_job, scene)


def test_a_job_without_captures_says_so(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        page = await console.client.get(f"{J}/captures")
        assert "There are no captures yet." in page.text

    def empty(root: Path) -> None:
        (root / "crawl.yaml").write_text("seeds: [http://h.test/]\n")

    scene_of(tmp_path, empty, scene)


def test_nobody_sees_captures(tmp_path: Path):
    (tmp_path / "crawls" / "demo").mkdir(parents=True)
    listed_job(tmp_path / "crawls" / "demo")

    async def scene(console: GivenConsole) -> None:
        for path in ("/captures", "/facets", "/captures/export", "/captures/a.warc.gz:0/body"):
            assert (await console.client.get(API + path)).status_code == 401

    play(tmp_path, scene)


def test_captures_lead_to_replay_if_it_is_served(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        for path in ("/captures", "/captures/a.warc.gz:0"):
            assert "/replay?" not in (await console.client.get(J + path)).text
        served = with_common(console.parts, replay=lambda *_: "http://replay.localhost/")
        client = console.of(ConsoleApp(served))
        for path in ("/captures", "/captures/a.warc.gz:0"):
            page = await client.get(J + path, headers=console.as_session(Role.VIEWER))
            link = re.search(rf'href="({J}/replay\?u=[^"]+t=20261120100000)"', page.text)
            assert link, page.text
            answer = await client.get(
                unescape(link[1]), headers=console.as_session(Role.VIEWER), follow_redirects=False
            )
            assert answer.headers["location"] == "http://replay.localhost/"

    scene_of(tmp_path, listed_job, scene)


def test_captures_are_found_while_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object, **__: object) -> None:
        raise StorageError("no space")

    async def scene(console: GivenConsole) -> None:
        assert len((await console.client.get(f"{API}/captures")).json()["items"]) == 5
        monkeypatch.setattr("nacre.ops.captures.update_catalogue", fail)
        found = (await console.client.get(f"{API}/captures")).json()
        assert (len(found["items"]), found["complete"]) == (5, False)
        (tmp_path / "crawls" / "demo" / "state" / "catalogue.db").unlink()
        assert (await console.client.get(f"{API}/captures")).status_code == 503

    scene_of(tmp_path, listed_job, scene)


def test_the_form_of_an_export_leads_to_its_files(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        page = await console.client.get(f"{J}/captures", headers=console.as_session(Role.OPERATOR))
        form = page.text.partition(f'action="{J}/exports"')[2]
        assert f'href="{J}/files"' in form.partition("</form>")[0]

    scene_of(tmp_path, listed_job, scene)


def test_few_processes_write_downloads_at_a_time(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        turns = asyncio.Semaphore(1)
        client = console.of(ConsoleApp(with_common(console.parts, exports=turns)))
        client.headers.update(console.as_session(Role.VIEWER))
        async with turns:
            refused = await client.get(f"{API}/captures/export", params={"form": "csv"})
        assert (refused.status_code, refused.json()["code"]) == (429, "too-many-exports")
        assert refused.headers["retry-after"]
        again = await client.get(f"{API}/captures/export", params={"form": "csv"})
        assert again.text.count("\n") == 6
        assert not turns.locked()

    scene_of(tmp_path, listed_job, scene)


def test_an_export_that_fails_is_not_taken_for_a_whole_file(tmp_path: Path):
    async def read(*words: str) -> bytes:
        return b"".join([data async for data in listing.command_output(*words)])

    with pytest.raises(StorageError, match="nacre captures"):
        asyncio.run(read("captures", str(tmp_path / "gone")))
    assert b"nacre captures" in asyncio.run(read("captures", "--help"))
