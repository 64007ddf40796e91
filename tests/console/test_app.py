import json
import re
from pathlib import Path

import jsonschema
import pytest

from nacre.console.openapi import describe
from nacre.console.routes import API, ROUTES, AnyRow
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.sessions import COOKIE
from nacre.ops.operation import Role
from nacre.web.gate import HEADERS
from tests.cli.site import nacre
from tests.console.given import GivenConsole, play

HOSTILE = "<img src=x onerror=alert(1)>"


def add_job(folder: Path, name: str) -> None:
    assert nacre("new", folder / "crawls" / name, "http://127.0.0.1:9/").code == 0


def path_of(row: AnyRow) -> str:
    """A path of a row, for a job that there is not."""
    return re.sub(r"\{[^}]+\}", "none", row.path)


def test_asvs_8_2_each_route_is_for_its_role_and_those_above(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        keys = {role: console.as_key(role) for role in Role if role}
        console.parts.common.hub.close()  # streams end after their first state
        for row in ROUTES:
            for role in Role:
                answer = await console.client.request(
                    row.verb, path_of(row), headers=keys.get(role, {})
                )
                refused = answer.status_code in {401, 403}
                allowed = role >= row.role and (row.verb, row.path) != ("POST", "/login")
                assert not (allowed and refused), (row.verb, row.path, role, answer.text)
                assert allowed or refused, (row.verb, row.path, role)

    play(tmp_path, scene)


def test_asvs_3_4_3_each_answer_has_the_fields_that_protect_it(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        for path in ("/", "/health", f"{API}/jobs", "/nothing", f"{API}/nothing"):
            for fields in ({}, console.as_session()):
                answer = await console.client.get(path, headers=fields)
                for name, value in HEADERS.items():
                    assert answer.headers[name] == value, path
                assert "server" not in answer.headers

    play(tmp_path, scene)


def test_asvs_3_4_another_host_is_refused(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        for host in ("evil.example", "localhost.evil.example:8410", ""):
            answer = await console.client.get("/health", headers={"host": host})
            assert answer.status_code == 421
            assert "content-security-policy" in answer.headers

    play(tmp_path, scene)


def test_asvs_7_2_4_a_link_works_once_and_becomes_a_session(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        ours = {"sec-fetch-site": "same-origin"}
        key = console.parts.access.keys.new_link()
        theirs = {"sec-fetch-site": "cross-site"}
        refused = await console.client.post("/login", data={"key": key}, headers=theirs)
        assert refused.status_code == 403
        taken = await console.client.post("/login", data={"key": key}, headers=ours)
        assert (taken.status_code, taken.headers["location"]) == (303, "/")
        field = taken.headers["set-cookie"]
        assert field.startswith("__Host-nacre=")
        assert field.endswith("; Path=/; Secure; HttpOnly; SameSite=Strict")
        cookie = {"cookie": field.partition(";")[0]}
        assert (await console.client.get("/", headers=cookie)).status_code == 200
        again = await console.client.post("/login", data={"key": key}, headers=ours)
        assert again.status_code == 401
        wrong = await console.client.post("/login", content=b"\xff=\xff", headers=ours)
        assert wrong.status_code == 401

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("missing", "code"), [("sec-fetch-site", "other-origin"), ("x-nacre-token", "no-token")]
)
def test_asvs_3_5_a_session_changes_something_from_its_pages_only(
    tmp_path: Path, missing: str, code: str
):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_session()
        forged = {name: value for name, value in fields.items() if name != missing}
        refused = await console.client.delete(f"{API}/session", headers=forged)
        assert (refused.status_code, refused.json()["code"]) == (403, code)
        assert (await console.client.get(f"{API}/session", headers=fields)).status_code == 200
        done = await console.client.delete(f"{API}/session", headers=fields)
        assert done.status_code == 204
        assert "Max-Age=0" in done.headers["set-cookie"]
        assert (await console.client.get(f"{API}/session", headers=fields)).status_code == 401

    play(tmp_path, scene)


def test_a_language_is_chosen_by_the_browser_or_in_the_session(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields = {**console.as_session(), "accept-language": "zh-Hans-CN, en;q=0.5"}
        assert (await facts(console, fields))["language"] == "zh_CN"
        chosen = await console.client.patch(
            f"{API}/session", json={"language": "en"}, headers=fields
        )
        assert chosen.json()["language"] == "en"
        assert (await facts(console, fields))["language"] == "en"
        for body, status in (({"language": "tlh"}, 422), ({"language": 3}, 422), ([], 422)):
            wrong = await console.client.patch(f"{API}/session", json=body, headers=fields)
            assert wrong.status_code == status, body
        text = await console.client.patch(f"{API}/session", content="x", headers=fields)
        assert text.status_code == 415
        by_key = await console.client.patch(
            f"{API}/session", json={"language": "en"}, headers=console.as_key()
        )
        assert by_key.status_code == 409

    play(tmp_path, scene)


@pytest.mark.parametrize("how", ["link", "password"])
def test_a_page_is_opened_in_a_language_and_a_look_keeps_nothing(tmp_path: Path, how: str):
    async def scene(console: GivenConsole) -> None:
        fields = {**console.as_session(), "accept-language": "en"}
        if how == "password":
            console.parts.access.users.add("berta", "no hash", Role.ADMIN)
            secret = console.parts.access.sessions.begin("berta", Role.ADMIN, how="password")
            fields["cookie"] = f"{COOKIE}={secret}"

        async def page(query: str, **more: str) -> str:
            answer = await console.client.get(f"/{query}", headers={**fields, **more})
            assert answer.status_code == 200
            found = re.search(r'<html lang="([^"]+)"', answer.text)
            return found[1] if found else ""

        assert await page("") == "en"
        assert await page("?lang=en-XA") == "en-XA"
        assert await page("") == "en"
        assert await page("?lang=zh") == "zh-CN"
        assert await page("") == "en"
        chosen = await console.client.patch(
            f"{API}/session", json={"language": "zh_CN"}, headers=token_of(console, fields)
        )
        assert chosen.status_code == 200, chosen.text
        assert await page("") == "zh-CN"
        assert await page("?lang=tlh") == "zh-CN"
        assert await page("?lang=en") == "en"
        assert (await facts(console, fields))["language"] == "zh_CN"
        lines = (tmp_path / "console" / "audit.log").read_text().splitlines()
        assert [json.loads(line)["action"] for line in lines] == [f"PATCH {API}/session"]
        by_key = {**console.as_key(), "accept-language": "zh"}
        answer = await console.client.get(f"{API}/jobs/none?lang=en", headers=by_key)
        assert answer.json()["detail"] == "there is no job none"
        answer = await console.client.get(f"{API}/jobs/none", headers=by_key)
        assert (answer.json()["detail"], answer.json()["code"]) == ("没有任务 none", "not-found")

    play(tmp_path, scene)


def token_of(console: GivenConsole, fields: dict[str, str]) -> dict[str, str]:
    """The fields of a session, with the token that its pages have."""
    session = console.parts.access.sessions.find(fields["cookie"].partition("=")[2])
    assert session is not None
    return {**fields, "x-nacre-token": session.token}


async def facts(console: GivenConsole, fields: dict[str, str]) -> dict[str, str]:
    answer = await console.client.get(f"{API}/session", headers=fields)
    found: dict[str, str] = answer.json()
    return found


def test_jobs_are_listed_page_by_page(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    for name in ("a", "b", "图书馆"):
        add_job(tmp_path, name)

    async def scene(console: GivenConsole) -> None:
        fields = console.as_key()

        async def asked(query: str) -> dict[str, object]:
            answer = await console.client.get(f"{API}/jobs?{query}", headers=fields)
            assert answer.status_code == 200, answer.text
            found: dict[str, object] = answer.json()
            return found

        for job in console.parts.common.fleet.jobs:
            await console.parts.common.poller.look(job)
        first = await asked("limit=2&fields=id,state")
        assert first["items"] == [
            {"id": "crawls~a", "state": "NASCENT"},
            {"id": "crawls~b", "state": "NASCENT"},
        ]
        rest = await asked(f"limit=2&fields=id&after={first['next']}")
        assert (rest["items"], rest["next"]) == ([{"id": "crawls~图书馆"}], None)
        assert (first["previous"], first["total"]) == (None, 3)
        again = await asked(f"limit=2&fields=id&before={rest['previous']}")
        assert again["items"] == [{"id": "crawls~a"}, {"id": "crawls~b"}]
        jumped = await asked("fields=id&key=crawls~aa")
        assert jumped["items"] == [{"id": "crawls~b"}, {"id": "crawls~图书馆"}]
        assert (await asked("state=RUNNING"))["items"] == []
        assert len((await asked("name=图"))["items"]) == 1  # type: ignore[arg-type]
        wrong = await console.client.get(f"{API}/jobs?limit=many", headers=fields)
        assert (wrong.status_code, wrong.json()["code"]) == (422, "bad-query")

    play(tmp_path, scene)


def test_the_page_of_jobs_is_searched_by_name_and_state(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    for name in ("alpha", "beta"):
        add_job(tmp_path, name)

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session()
        for job in console.parts.common.fleet.jobs:
            await console.parts.common.poller.look(job)
        found = (await console.client.get("/?name=alp", headers=fields)).text
        assert 'data-job="crawls~alpha"' in found
        assert 'data-job="crawls~beta"' not in found
        assert 'data-live="/live/jobs?name=alp"' in found
        none = (await console.client.get("/?state=RUNNING", headers=fields)).text
        assert "No job matches the filters." in none
        assert "data-job" not in none

    play(tmp_path, scene)


def test_the_header_leads_to_what_the_role_may_see(tmp_path: Path):
    expected = {
        Role.VIEWER: ["/", "/calendar", "/profiles"],
        Role.OPERATOR: ["/", "/new", "/calendar", "/profiles"],
        Role.ADMIN: ["/", "/new", "/calendar", "/profiles", "/admin"],
    }

    async def scene(console: GivenConsole) -> None:
        for role, paths in expected.items():
            page = (await console.client.get("/alerts", headers=console.as_session(role))).text
            header = page[page.index("<nav") : page.index("</nav>")]
            assert re.findall('href="([^"]+)"', header) == paths
            assert '<label class="visually-hidden" for="find-jobs">' in page
            assert page.count('href="/alerts"') == 1
            keys = re.findall('data-key="([^"]+)"', page)
            assert len(keys) == len(set(keys))
        nobody = await console.client.get("/alerts")
        assert "find-jobs" not in nobody.text
        assert 'href="/alerts"' not in nobody.text

    play(tmp_path, scene)


def test_a_job_has_its_sentence_and_its_actions(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        fields = console.as_key()
        answer = await console.client.get(f"{API}/jobs/crawls~demo", headers=fields)
        found = answer.json()
        assert found["item"]["sentence"] == {
            "code": "ready", "params": {}, "lever": ["start"], "text": "ready to start",
            "also": [],
        }  # fmt: skip
        allowed = [action["name"] for action in found["actions"] if action["allowed"]]
        assert allowed == ["start", "start-paused", "edit"]
        page = await console.client.get("/j/crawls~demo", headers=console.as_session())
        assert "ready to start" in page.text
        assert '<a href="/j/crawls~demo#first-actions">Start</a>' in page.text
        assert f"nacre run {tmp_path}/crawls/demo" in page.text
        section = page.text.partition('<section aria-labelledby="actions">')[2]
        section = section.partition("</section>")[0]
        assert 'href="/j/crawls~demo/settings/form">Edit all settings</a>' in section
        assert 'data-action="start"' not in section
        assert section.count("<dd>it never ran</dd>") == 1

    play(tmp_path, scene)


def test_asvs_1_2_names_from_outside_never_become_markup(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    add_job(tmp_path, f"{HOSTILE}\u202e")

    async def scene(console: GivenConsole) -> None:
        (job,) = console.parts.common.fleet.jobs
        for path in ("/", f"/j/{job.id}", f"/j/{HOSTILE}"):
            page = await console.client.get(path, headers=console.as_session())
            assert "<img" not in page.text
            assert "&lt;img" in page.text
            assert "\u202e" not in page.text

    play(tmp_path, scene)


def test_asvs_4_1_4_what_is_not_there_says_so_in_its_form(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_key()
        for path in (f"{API}/jobs/none", f"{API}/nothing"):
            answer = await console.client.get(path, headers=fields)
            assert answer.headers["content-type"] == "application/problem+json"
            assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
        page = await console.client.get("/nothing", headers=fields)
        assert (page.status_code, page.headers["content-type"]) == (
            404, "text/html; charset=utf-8",
        )  # fmt: skip
        verb = await console.client.put(f"{API}/jobs", headers=fields)
        assert (verb.status_code, verb.headers["allow"]) == (405, "GET, HEAD, POST")
        verb = await console.client.put(f"{API}/jobs/x/sheets/at", headers=fields)
        assert (verb.status_code, verb.headers["allow"]) == (405, "GET, HEAD")
        long = await console.client.get("/health", headers={"content-length": "99999999999"})
        assert long.status_code == 413

    play(tmp_path, scene)


def test_a_slash_behind_a_path_leads_to_the_page(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_key()
        for path, place in (
            ("/j/w~c1/", "/j/w~c1"),
            ("/j/%E4%B9%A6/?a=1&b=%2F", "/j/%E4%B9%A6?a=1&b=%2F"),
            ("/jobs/?q=x", ""),
            ("/nothing/", ""),
            ("//evil.test/", ""),
            ("//j/x/", ""),
            ("/j/x%2F", ""),
            ("/j/x//", ""),
        ):
            base = str(console.client.base_url).rstrip("/")
            answer = await console.client.get(f"{base}{path}", headers=fields)
            assert answer.headers.get("location", "") == place, path
            assert answer.status_code == (307 if place else 404), path
        assert (await console.client.put("/j/w~c1/", headers=fields)).status_code == 404

    play(tmp_path, scene)


def test_the_files_of_pages_are_kept_for_ever(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        page = (await console.client.get("/")).text
        url = page.partition('<link rel="stylesheet" href="')[2].partition('"')[0]
        file = await console.client.get(url)
        assert file.status_code == 200
        assert "immutable" in file.headers["cache-control"]
        for other in ("/static/0/console.css", f"{url}/../../app.py", f"{url}x"):
            assert (await console.client.get(other)).status_code == 404

    play(tmp_path, scene)


def test_pages_and_json_are_compressed_and_plain_text_is_not(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        page = await console.client.get("/", headers=console.as_session())
        described = await console.client.get("/api/v1/openapi.json")
        (style,) = re.findall(r'href="(/static/[^"]+\.css)"', page.text)
        file = await console.client.get(style)
        for answer in (page, described, file):
            assert answer.headers["content-encoding"] == "gzip"
            assert answer.headers["vary"] == "Accept-Encoding"
        for wish in ("gzip;q=0", "br, gzip; q=0.0, *", "*;q=0", "deflate", "gzip;q=x"):
            for path in (style, f"{API}/openapi.json"):
                unpacked = await console.client.get(path, headers={"accept-encoding": wish})
                assert "content-encoding" not in unpacked.headers, wish
        for wish in ("gzip;q=0.5", "GZIP", "*", "identity;q=0, x-gzip"):
            packed = await console.client.get(style, headers={"accept-encoding": wish})
            assert packed.headers["content-encoding"] == "gzip", wish
        plain = await console.client.get(style, headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert (plain.content, plain.headers["vary"]) == (file.content, "Accept-Encoding")
        told = await console.client.get("/metrics", headers=console.as_key(Role.ADMIN))
        assert "content-encoding" not in told.headers

    play(tmp_path, scene)


def test_no_page_shows_the_token_of_its_session_as_it_is(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        ours = console.as_session()
        token, shown = ours.pop("x-nacre-token"), list[str]()
        for _ in range(2):
            page = await console.client.get("/", headers=ours)
            assert token not in page.text
            shown += re.findall(r'name="nacre-token" content="([^"]+)"', page.text)
        first, second = shown
        assert first != second
        for one in shown:
            sent = await console.client.patch(
                f"{API}/session", headers={**ours, "x-nacre-token": one}, json={"language": "en"}
            )
            assert sent.status_code == 200

    play(tmp_path, scene)


def test_answers_are_as_they_are_described(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    add_job(tmp_path, "demo")
    document = json.loads(json.dumps(describe(ROUTES)))

    def check(answer: object, verb: str, path: str) -> None:
        schema = document["paths"][path][verb]["responses"]["200"]["content"]["application/json"]
        jsonschema.validate(answer, {**schema["schema"], "components": document["components"]})

    async def scene(console: GivenConsole) -> None:
        published = await console.client.get(f"{API}/openapi.json")
        assert published.json() == document
        for row in ROUTES:
            if row.answer is not None and row.verb == "GET":
                path = row.path.replace("{job}", "crawls~demo")
                path = path.replace("{number}", "1").replace("{path}", "name")
                path = path.replace("{profile}", "site").replace("{clip}", "mediawiki")
                path += "?u=http://127.0.0.1:9/" if path.endswith("/sheets/at") else ""
                answer = await console.client.get(path, headers=console.as_key(Role.ADMIN))
                if answer.status_code in {404, 409}:  # the job never ran, and has no such part
                    assert answer.headers["content-type"] == "application/problem+json"
                    continue
                if answer.status_code == 202:  # it takes longer: a task, which has its own row
                    continue
                assert answer.status_code == 200, answer.text
                check(answer.json(), "get", row.path)

    play(tmp_path, scene)


def test_nothing_of_the_table_is_there_twice():
    both = [(row.verb, row.path) for row in ROUTES]
    assert len(set(both)) == len(both)
    assert all(row.summary.endswith(".") for row in ROUTES)


def test_what_may_be_otherwise_the_next_time_can_be_tried_again(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.VIEWER)
        gone = await console.client.get("/j/none?x=1", headers=fields)
        assert gone.status_code == 404
        assert "Try again" not in gone.text

        async def busy(*_: object, **__: object) -> None:
            raise RefusedRequestError(503, "busy", "the readers are busy")

        console.parts.common.readers.work = busy  # type: ignore[method-assign]
        answer = await console.client.get("/j/crawls~demo/reports?a=1", headers=fields)
        assert answer.status_code == 503
        assert '<a class="button primary" href="/j/crawls~demo/reports?a=1">' in answer.text

    play(tmp_path, scene)
