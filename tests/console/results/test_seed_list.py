"""The file of seeds: shown, edited before the first run, and by nobody while the job runs."""

import gzip
import html
from pathlib import Path
from shlex import quote

import pytest

from nacre.ops.operation import Role
from nacre.ops.seed_list import LONGEST
from tests.cli.site import nacre, site
from tests.console.given import GivenConsole, play
from tests.console.stories.running import new_job, running_job

API = "/api/v1/jobs/crawls~demo/seed-list"
PAGE = "/j/crawls~demo/seeds"


def add_job(folder: Path) -> Path:
    (folder / "crawls").mkdir(exist_ok=True)
    job = folder / "crawls" / "demo"
    assert nacre("new", job, "http://127.0.0.1:9/eins").code == 0
    return job


def test_the_seeds_of_a_job_that_never_ran_are_edited(tmp_path: Path):
    job = add_job(tmp_path)
    job.joinpath("seeds.txt").chmod(0o600)

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.OPERATOR)
        page = (await console.client.get(PAGE, headers=fields)).text
        assert "http://127.0.0.1:9/eins" in page
        assert "Save the list" in page
        tag = page.partition('name="etag" value="')[2].partition('"')[0]
        form = {"text": "http://127.0.0.1:9/图书\r\n# 以后\r\n-http://127.0.0.1:9/x/", "etag": tag}
        saved = await console.client.post(f"{PAGE}/list", data=form, headers=fields)
        assert (saved.status_code, saved.headers["location"]) == (303, f"{PAGE}/list")
        text = "http://127.0.0.1:9/图书\n# 以后\n-http://127.0.0.1:9/x/\n"
        assert (job / "seeds.txt").read_text("utf-8") == text
        assert (job / "seeds.txt").stat().st_mode & 0o777 == 0o600
        page = (await console.client.get(PAGE, headers=fields)).text
        assert "The list is saved: 1 seed." in page
        late = await console.client.post(f"{PAGE}/list", data=form, headers=fields)
        assert late.status_code == 412
        assert "The list was changed meanwhile" in late.text
        wrong = {"text": "http://127.0.0.1:9/\nhttp://[/\nhttp://a:b@h.test/", "etag": "*"}
        refused = await console.client.post(f"{PAGE}/list", data=wrong, headers=fields)
        assert refused.status_code == 422
        for said in ("Line 2", "Line 3", "a password cannot be entered here"):
            assert said in html.unescape(refused.text)
        assert "a:b@" in refused.text  # the text of who typed it stays for them
        assert (job / "seeds.txt").read_text("utf-8") == text
        line = console.parts.audit.path.read_text("utf-8").splitlines()[0]
        assert "+http://127.0.0.1:9/图书" in line

    play(tmp_path, scene)


@pytest.mark.slow
def test_a_list_that_could_not_be_opened_again_is_not_saved(tmp_path: Path):
    job = add_job(tmp_path)
    before = (job / "seeds.txt").read_text()

    async def scene(console: GivenConsole) -> None:
        key = console.as_key(Role.OPERATOR)
        # In characters it is short enough, in bytes it is not.
        line = "http://127.0.0.1:9/" + "图" * 200
        long = "\n".join([line] * (LONGEST // 600))
        assert len(long) < LONGEST < len(long.encode())
        refused = await console.client.put(API, json={"text": long}, headers=key)
        assert (refused.status_code, refused.json()["code"]) == (422, "bad-seeds")
        assert "the list has more than 4 MiB" in refused.json()["detail"]
        assert (job / "seeds.txt").read_text() == before
        fits = "\n".join([line] * (LONGEST // 650))
        assert (await console.client.put(API, json={"text": fits}, headers=key)).is_success
        assert (await console.client.get(API, headers=key)).json()["why"] == ""

    play(tmp_path, scene)


def test_the_command_beside_the_editor_names_the_file_of_the_settings(tmp_path: Path):
    job = add_job(tmp_path)
    (job / "seeds.txt").rename(job / "列表.txt")
    assert nacre("set", job, "seeds=列表.txt").code == 0

    async def scene(console: GivenConsole) -> None:
        page = await console.client.get(f"{PAGE}/list", headers=console.as_session(Role.OPERATOR))
        shown = html.unescape(page.text)
        assert f"$EDITOR {quote(str(job))}/'列表.txt' && nacre check" in shown
        assert "seeds.txt" not in shown

    play(tmp_path, scene)


def test_programs_edit_the_list_with_its_etag(tmp_path: Path):
    job = add_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        found = await client.get(API, headers=key)
        assert (found.status_code, found.json()["file"]) == (200, "seeds.txt")
        text = found.json()["text"] + "http://127.0.0.1:9/zwei\n"
        match = {**key, "if-match": found.headers["etag"]}
        saved = await client.put(API, json={"text": text}, headers=match)
        assert saved.json() == {"seeds": 2, "changed": True}
        assert saved.headers["etag"] != found.headers["etag"]
        assert (job / "seeds.txt").read_text() == text
        assert (await client.put(API, json={"text": text}, headers=match)).status_code == 412
        same = await client.put(API, json={"text": text}, headers=key)
        assert same.json() == {"seeds": 2, "changed": False}
        for none in ("", "# nothing\n", "no url at all"):
            refused = await client.put(API, json={"text": none}, headers=key)
            assert (refused.status_code, refused.json()["code"]) == (422, "bad-seeds")
        chinese = {**key, "accept-language": "zh-CN"}
        refused = await client.put(API, json={"text": ""}, headers=chinese)
        assert "没有" in refused.json()["detail"]
        viewer = console.as_key(Role.VIEWER)
        assert (await client.get(API, headers=viewer)).status_code == 200
        assert (await client.put(API, json={"text": text}, headers=viewer)).status_code == 403

    play(tmp_path, scene)


@pytest.mark.parametrize("why", ["settings", "elsewhere", "packed", "login", "coding", "long"])
def test_a_list_that_no_page_can_edit_says_why(tmp_path: Path, why: str):
    job = add_job(tmp_path)
    seeds = job / "seeds.txt"
    match why:
        case "settings":
            assert nacre("set", job, "seeds=[http://127.0.0.1:9/]").code == 0
        case "elsewhere":
            seeds.rename(tmp_path / "seeds.txt")
            seeds.symlink_to(tmp_path / "seeds.txt")
        case "packed":
            (job / "seeds.gz").write_bytes(gzip.compress(b"http://127.0.0.1:9/\n"))
            assert nacre("set", job, "seeds=seeds.gz").code == 0
        case "login":
            seeds.write_text("http://anna:geheim@127.0.0.1:9/\n")
        case "coding":
            seeds.write_bytes(b"http://127.0.0.1:9/\n" + b"\xff\xfe\xff http://h.test/ \x81\n" * 9)
        case _:
            seeds.write_text("http://127.0.0.1:9/\n" * 300_000)

    async def scene(console: GivenConsole) -> None:
        key = console.as_key(Role.OPERATOR)
        answer = await console.client.get(API, headers=key)
        assert answer.json()["why"] == why
        assert answer.json()["text"] == ""
        page = (await console.client.get(f"{PAGE}/list", headers=key)).text
        assert "Save the list" not in page
        assert "geheim" not in page
        refused = await console.client.put(API, json={"text": "http://h.test/"}, headers=key)
        assert (refused.status_code, refused.json()["code"]) == (409, why)

    play(tmp_path, scene)


def test_the_list_of_a_job_that_runs_is_shown_and_stays(tmp_path: Path):
    with site() as url:
        job = tmp_path / "crawls" / "demo"
        job.parent.mkdir()
        new_job(job, url, "politeness.delay=600s")
        before = (job / "seeds.txt").read_text()
        with running_job(job):

            async def scene(console: GivenConsole) -> None:
                key = console.as_key(Role.OPERATOR)
                page = (await console.client.get(f"{PAGE}/list", headers=key)).text
                assert url in page
                assert "Save the list" not in page
                refused = await console.client.put(API, json={"text": url}, headers=key)
                assert (refused.status_code, refused.json()["code"]) == (409, "running")
                assert (job / "seeds.txt").read_text() == before

            play(tmp_path, scene)
