"""Captures of a job as a file, written by the console."""

import asyncio
import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from nacre.engine.rights_book import RightsRows, own_key
from nacre.machine.layout import Layout
from nacre.ops.operation import Role
from nacre.rights.ledger import SignalVersion
from nacre.rights.signals import PreferenceSignal
from nacre.rights.vocabulary import Preference
from nacre.store.store import Store
from tests.console.given import GivenConsole, play
from tests.packing.jobs import make_job

J = "/j/crawls~demo"
API = "/api/v1/jobs/crawls~demo"


async def result_of(console: GivenConsole, reply: Any) -> dict[str, Any]:
    """The result of a request that may be a task."""
    if reply.status_code == 200:
        return dict(reply.json())
    place = reply.headers["location"].replace(f"{J}/tasks", "/api/v1/tasks")
    for _ in range(2000):
        task = (await console.client.get(place, headers=console.as_key(Role.OPERATOR))).json()
        if task["state"] != "running":
            assert task["state"] == "done", task
            return dict(task["result"])
        await asyncio.sleep(0.05)
    raise AssertionError("it does not end")


@pytest.mark.parametrize(
    ("what", "select", "captures"),
    [
        ("wacz", {}, 8),
        ("wacz", {"q": "http://example.test/zh/"}, 1),
        ("warc", {"mime": "revisit"}, 2),
        ("cdxj", {"status": "200"}, 6),
        ("cdx11", {}, 8),
        ("urls", {}, 7),
    ],
)
def test_each_kind_of_file(tmp_path: Path, what: str, select: dict[str, str], captures: int):
    root = make_job(tmp_path / "crawls" / "demo")

    async def scene(console: GivenConsole) -> None:
        fields = console.as_key(Role.OPERATOR)
        body = {"what": what, "select": select}
        reply = await console.client.post(f"{API}/exports", headers=fields, json=body)
        assert reply.status_code in {200, 202}, reply.text
        result = await result_of(console, reply)
        assert result["captures"] == captures
        files = await console.client.get(f"{API}/files", headers=console.as_key())
        assert result["path"] in {each["path"] for each in files.json()["items"]}
        file = await console.client.get(f"{API}/files/{result['path']}", headers=console.as_key())
        assert file.status_code == 200
        path = root / result["path"]
        assert file.content == path.read_bytes()
        if what == "wacz":
            with zipfile.ZipFile(path) as wacz:
                lines = gzip.decompress(wacz.read("indexes/index.cdx.gz")).splitlines()
            assert len(lines) == captures
        elif what == "cdx11":
            assert path.read_text().startswith(" CDX N b a m s k r M S V g\ntest,example)/ ")
        elif what == "cdxj":
            assert path.read_bytes() == b"".join(sorted(path.read_bytes().splitlines(True)))

    play(tmp_path, scene)


def put_preferences(root: Path) -> None:
    """Store that a page disallows training, since before its captures."""
    with Store.open(str(Layout(root).store)) as store:
        rows = RightsRows(store)
        stated = PreferenceSignal("header", "content-usage", "", (Preference("train-ai", "n"),))
        url = "http://example.test/zh/"
        rows.put(own_key(url), SignalVersion(1, url, "", (stated,)))
        store.commit()


@pytest.mark.parametrize(
    ("what", "unknown", "captures", "withheld"),
    [("wacz", "keep", 7, 1), ("urls", "keep", 6, 1), ("cdxj", "keep", 7, 1),
     ("cdx11", "keep", 7, 1), ("urls", "drop", 0, 1)],
)  # fmt: skip
def test_captures_are_left_out_by_preferences(
    tmp_path: Path, what: str, unknown: str, captures: int, withheld: int
):
    root = make_job(tmp_path / "crawls" / "demo")
    put_preferences(root)

    async def scene(console: GivenConsole) -> None:
        fields = console.as_key(Role.OPERATOR)
        body = {"what": what, "without": ["train-ai=n"], "unknown": unknown}
        reply = await console.client.post(f"{API}/exports", headers=fields, json=body)
        result = await result_of(console, reply)
        assert (result["captures"], result["withheld"]) == (captures, withheld)
        assert result["unknown"] > 0
        if what != "wacz":
            assert "/zh/" not in (root / result["path"]).read_text()
        wrong = {"what": what, "without": ["train ai"]}
        refused = await console.client.post(f"{API}/exports", headers=fields, json=wrong)
        assert refused.status_code == 422
        assert "is no preference" in refused.text

    play(tmp_path, scene)


def test_the_form_takes_several_preferences(tmp_path: Path):
    put_preferences(make_job(tmp_path / "crawls" / "demo"))

    async def scene(console: GivenConsole) -> None:
        form = {"what": "urls", "without": "noarchive, train-ai=n", "unknown": "keep"}
        session = console.as_session(Role.OPERATOR)
        sent = await console.client.post(f"{J}/exports", headers=session, data=form)
        result = await result_of(console, sent)
        assert (result["captures"], result["withheld"]) == (6, 1)

    play(tmp_path, scene)


def test_the_form_of_the_page_and_its_task(tmp_path: Path):
    make_job(tmp_path / "crawls" / "demo")

    async def scene(console: GivenConsole) -> None:
        session = console.as_session(Role.OPERATOR)
        page = await console.client.get(f"{J}/captures?mime=page", headers=session)
        assert '<input type="hidden" name="mime" value="page">' in page.text
        sent = await console.client.post(
            f"{J}/exports", headers=session, data={"what": "warc", "mime": "page"}
        )
        assert sent.status_code == 303
        result = await result_of(console, sent)
        assert result["captures"] == 3
        task = sent.headers["location"]
        shown = (await console.client.get(task, headers=session)).text
        assert f'/files/{result["path"]}" download' in shown.replace("%2F", "/")
        viewer = await console.client.get(f"{J}/captures", headers=console.as_session(Role.VIEWER))
        assert 'name="what"' not in viewer.text

    play(tmp_path, scene)


def test_who_may_and_what_is_refused(tmp_path: Path):
    make_job(tmp_path / "crawls" / "demo")

    async def scene(console: GivenConsole) -> None:
        body = {"what": "wacz"}
        viewer = await console.client.post(
            f"{API}/exports", headers=console.as_key(Role.VIEWER), json=body
        )
        assert viewer.status_code == 403
        fields = console.as_key(Role.OPERATOR)
        wrong = await console.client.post(f"{API}/exports", headers=fields, json={"what": "tar"})
        assert wrong.status_code in {400, 422}
        none = {"what": "warc", "select": {"q": "http://nowhere.test/"}}
        refused = await console.client.post(f"{API}/exports", headers=fields, json=none)
        assert "no captures" in json.dumps(refused.json())
        hidden = await console.client.get(
            f"{API}/files/exports/.demo.wacz.part", headers=console.as_key()
        )
        assert hidden.status_code == 404

    play(tmp_path, scene)
