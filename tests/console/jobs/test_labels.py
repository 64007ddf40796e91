from pathlib import Path

from nacre.console.routes import API
from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, play

JOB = f"{API}/jobs/crawls~demo"


def given_jobs(folder: Path) -> None:
    for name in ("demo", "other"):
        assert nacre("new", folder / "crawls" / name, "http://127.0.0.1:9/").code == 0


def test_a_name_and_tags_are_given_and_filter_the_jobs(tmp_path: Path):
    given_jobs(tmp_path)

    async def scene(console: GivenConsole) -> None:
        client, steer = console.client, console.as_key(Role.OPERATOR)
        for job in console.parts.common.fleet.jobs:
            await console.parts.common.poller.look(job)
        wish = {"name": "Library <b>", "tags": ["书", "news"]}
        refused = await client.patch(JOB, json=wish, headers=console.as_key())
        assert refused.status_code == 403
        done = (await client.patch(JOB, json=wish, headers=steer)).json()
        assert (done["name"], done["tags"]) == ("Library <b>", ["news", "书"])
        kept = (await client.patch(JOB, json={"tags": ["书"]}, headers=steer)).json()
        assert (kept["name"], kept["tags"]) == ("Library <b>", ["书"])
        wrong = await client.patch(JOB, json={"tags": ["a,b"]}, headers=steer)
        assert (wrong.status_code, wrong.json()["code"]) == (422, "labels")
        assert (await client.patch(JOB, json={"tag": "x"}, headers=steer)).status_code == 422
        for query in ("tag=书", "name=Libr", "tag=书&name=demo"):
            found = (await client.get(f"{API}/jobs?{query}", headers=steer)).json()
            assert [item["id"] for item in found["items"]] == ["crawls~demo"], query
        page = (await client.get("/?tag=书", headers=console.as_session())).text
        assert 'data-job="crawls~demo"' in page
        assert 'data-job="crawls~other"' not in page
        assert "Library &lt;b&gt;" in page
        assert "<option selected>书</option>" in page

    play(tmp_path, scene)


def test_the_form_of_a_job_keeps_them(tmp_path: Path):
    given_jobs(tmp_path)

    async def scene(console: GivenConsole) -> None:
        client, fields = console.client, console.as_session(Role.OPERATOR)

        async def sent(**form: str) -> str:
            answer = await client.post("/j/crawls~demo/labels", data=form, headers=fields)
            assert (answer.status_code, answer.headers["location"]) == (303, "/j/crawls~demo")
            return (await client.get("/j/crawls~demo", headers=fields)).text

        page = await sent(name="Mine", tags="b, a\N{FULLWIDTH COMMA}c")
        assert "The name and the tags are saved." in page
        assert 'value="a, b, c"' in page
        assert 'href="/?tag=a"' in page
        page = await sent(name="x" * 101, tags="")
        assert "100 are the most" in page
        assert 'value="a, b, c"' in page
        looked = await client.get("/j/crawls~demo", headers=console.as_session(Role.VIEWER))
        assert 'action="/j/crawls~demo/labels"' not in looked.text
        assert "#a</a>" in looked.text

    play(tmp_path, scene)
