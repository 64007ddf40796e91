import re
from pathlib import Path

import pytest

from nacre.console.jobs.new_jobs import reaches, samples
from nacre.console.routes import API
from nacre.errors import ConfigError
from nacre.fleet.places import check_name
from nacre.ops.operation import Role
from tests.console.given import GivenConsole, play

SEED = "http://127.0.0.1:9/中国国家图书馆/馆藏目录/新书通报.html"
HOSTILE = "http://h.test/<script>alert(1)</script>/"


def test_each_scope_says_what_it_lets_in():
    found = {one.kind: one.what for one in reaches("https://docs.example.co.uk/a/b.html?x=/y")}
    assert found == {
        "page": "https://docs.example.co.uk/a/b.html?x=/y",
        "prefix": "https://docs.example.co.uk/a/",
        "host": "https://docs.example.co.uk/",
        "domain": "docs.example.co.uk",
        "site": "example.co.uk",
        "any": "",
    }
    assert all(one.what == "" for one in reaches(""))
    assert len(samples("https://docs.example.co.uk/a/b.html")) == 5
    assert samples("") == ()
    assert len(samples("http://127.0.0.1:9/")) == 4


@pytest.mark.parametrize("name", ["", "a/b", "..", "-x", "a~b", "a\u202eb", " a", "x" * 101])
def test_a_name_that_is_none_is_refused(name: str):
    with pytest.raises(ConfigError):
        check_name(name)
    assert check_name("图书馆 2026") == "图书馆 2026"


def test_a_job_is_made_by_the_interface(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_key(Role.OPERATOR)
        wish = {
            "seeds": ["http://127.0.0.1:9/书/"], "name": "图书馆", "scope": "host", "depth": 3,
            "exclude": ["/calendar/"], "settings": {"limits": {"documents": 10}},
        }  # fmt: skip
        made = await console.client.post(f"{API}/jobs", json=wish, headers=fields)
        assert made.status_code == 201, made.text
        assert made.json()["id"] == "crawls~图书馆"
        text = (tmp_path / "crawls" / "图书馆" / "crawl.yaml").read_text()
        assert "documents: 10" in text
        assert "/calendar/" in text
        again = await console.client.post(f"{API}/jobs", json=wish, headers=fields)
        assert again.status_code == 422
        assert "is a job already" in again.json()["detail"]
        wrong = {**wish, "name": "b", "scope": "all", "settings": {"limit": {}}}
        for one, path in (
            (wrong, "scope"),
            ({**wrong, "scope": "host"}, "limit"),
            ({"seeds": []}, "seeds"),
            ({"seeds": ["x"], "name": "../x"}, "name"),
        ):
            refused = await console.client.post(f"{API}/jobs", json=one, headers=fields)
            assert (refused.status_code, refused.json()["problems"][0]["path"]) == (422, path)
        assert not (tmp_path / "crawls" / "b").exists()
        dry = {"job": {**wish, "name": ""}, "urls": ["http://127.0.0.1:9/x", "http://else.test/"]}
        looked = await console.client.post(f"{API}/jobs/dry-run", json=dry, headers=fields)
        assert [one["decision"] for one in looked.json()["urls"]] == ["ACCEPT", "REJECT"]
        refused = await console.client.post(f"{API}/jobs", json=wish, headers=console.as_key())
        assert refused.status_code == 403

    play(tmp_path, scene)


def test_a_secret_is_refused_for_a_new_job_as_it_is_for_one_that_is_there(tmp_path: Path):
    plain = {"alerts": {"webhook": {"secret": "s3cret"}}}
    wish = {"seeds": ["http://127.0.0.1:9/"], "name": "a", "scope": "host"}

    async def scene(console: GivenConsole) -> None:
        fields, post = console.as_key(Role.ADMIN), console.client.post
        refused = await post(f"{API}/jobs", json={**wish, "settings": plain}, headers=fields)
        assert (refused.status_code, refused.json()["code"]) == (422, "bad-settings")
        new = refused.json()["problems"][0]
        assert new["path"] == "alerts.webhook.secret"
        assert "s3cret" not in refused.text
        dry = {"job": {**wish, "settings": plain}, "urls": []}
        looked = await post(f"{API}/jobs/dry-run", json=dry, headers=fields)
        assert looked.json()["problems"][0]["message"] == new["message"]
        assert not (tmp_path / "crawls" / "a").exists()
        by_name = {"alerts": {"webhook": {"url": "https://a.test/", "secret": {"env": "PATH"}}}}
        made = await post(f"{API}/jobs", json={**wish, "settings": by_name}, headers=fields)
        assert made.status_code == 201, made.text
        put = await console.client.put(
            f"{API}/jobs/crawls~a/config",
            headers={**fields, "if-match": "*", "content-type": "text/yaml"},
            content="seeds: seeds.txt\nalerts: {webhook: {secret: s3cret}}\n",
        )
        there = put.json()["problems"][0]
        assert {name: new[name] for name in ("message", "expected", "sample")} == {
            name: there[name] for name in ("message", "expected", "sample")
        }

    play(tmp_path, scene)


def test_a_checked_form_stays_open_and_a_root_url_has_no_folder(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_session()
        token = fields.pop("x-nacre-token")
        form = {"x-nacre-token": token, "seeds": "http://127.0.0.1:9/", "do": "check"}
        page = (await console.client.post("/new", data=form, headers=fields)).text
        assert "<details><summary>More</summary>" in page
        assert "the URL has no folder: the same as This host" in page
        assert "every page of http://127.0.0.1:9/, in whatever folder" in page
        folder = {**form, "seeds": "http://127.0.0.1:9/a/", "tags": "press"}
        page = (await console.client.post("/new", data=folder, headers=fields)).text
        assert "<details open><summary>More</summary>" in page
        assert "everything under http://127.0.0.1:9/a/" in page

    play(tmp_path, scene)


def test_a_secret_is_refused_by_the_page_of_a_new_job(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_session()
        form = {
            "seeds": "http://127.0.0.1:9/", "scope": "host", "do": "create", "name": "a",
            "x-nacre-token": fields.pop("x-nacre-token"), "v:alerts.webhook.secret": "s3cret",
            "o:alerts.webhook.secret": "",
        }  # fmt: skip
        refused = await console.client.post("/new", data=form, headers=fields)
        assert refused.status_code == 422
        assert "a secret in plain text" in refused.text
        assert not (tmp_path / "crawls" / "a").exists()

    play(tmp_path, scene)


def test_the_first_page_is_the_form_and_it_makes_a_job(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.OPERATOR)
        token = fields.pop("x-nacre-token")
        first = await console.client.get("/", headers=fields)
        assert "<h1>New crawl</h1>" in first.text
        assert first.text.count("autofocus") == 1
        form = {"x-nacre-token": token, "seeds": "http://127.0.0.1:9/a/", "scope": "prefix"}
        looked = await console.client.post("/new/look", data=form, headers=fields)
        assert "everything under http://127.0.0.1:9/a/" in looked.text
        assert "<html" not in looked.text
        chinese = {**form, "seeds": "http://127.0.0.1:9/书/目录.html"}
        looked = await console.client.post("/new/look", data=chinese, headers=fields)
        assert "everything under http://127.0.0.1:9/书/" in looked.text
        checked = await console.client.post("/new", data={**form, "do": "check"}, headers=fields)
        assert "Nothing keeps this crawl from starting" in checked.text
        bad = {**form, "do": "create", "bytes": "many", "seeds": HOSTILE}
        wrong = await console.client.post("/new", data=bad, headers=fields)
        assert wrong.status_code == 422
        assert "limits.bytes" in wrong.text
        assert "<script>alert" not in wrong.text
        deep = {**form, "do": "create", "depth": "three", "q": "limits", "name": "deep"}
        wrong = await console.client.post("/new", data=deep, headers=fields)
        assert wrong.status_code == 422
        assert "is no number of links" in wrong.text
        assert not (tmp_path / "crawls" / "deep").exists()
        chosen = await console.client.get("/new?profile=site", headers=fields)
        assert '<option value="site" selected>' in chosen.text
        file = {"file": ("seeds.txt", f"{SEED}\n".encode("gb18030"))}
        sent = {**form, "do": "create", "name": "图书馆"}
        made = await console.client.post("/new", data=sent, files=file, headers=fields)
        assert (made.status_code, made.headers["location"]) == (
            303, "/j/crawls~%E5%9B%BE%E4%B9%A6%E9%A6%86",
        )  # fmt: skip
        seeds = (tmp_path / "crawls" / "图书馆" / "seeds.txt").read_text()
        assert seeds == f"http://127.0.0.1:9/a/\n{SEED}\n"
        page = await console.client.get(made.headers["location"], headers=fields)
        assert "图书馆 is created" in page.text
        assert "<h1>Jobs</h1>" in (await console.client.get("/", headers=fields)).text
        viewer = await console.client.get("/new", headers=console.as_session(Role.VIEWER))
        assert viewer.status_code == 403

    play(tmp_path, scene)


_UNFIT = [
    ({"seeds": ""}, "there is no URL to start from"),
    ({"seeds": " \r\n\r\n"}, "there is no URL to start from"),
    ({"seeds": "# only a comment\r\n"}, "there is no seed"),
    ({"seeds": "ftp:// nothing here\r\n??? \r\n"}, "seeds"),
    ({"seeds": "http://127.0.0.1:9/\r\nhttp://[::1\r\n"}, "http://[::1"),
    ({"seeds": "http://127.0.0.1:9/\r\nhttp://a.test:99999/\r\n"}, "99999"),
    ({"seeds": "https://example.org/"}, "fetch.contact"),
    ({"seeds": "https://图书馆.中国/\r\n"}, "fetch.contact"),
    ({"bytes": "many"}, "limits.bytes"),
    ({"depth": "three"}, "is no number of links"),
    ({"name": "a/b"}, "name"),
    ({"name": "taken"}, "is a job already"),
    ({"tags": "x" * 300}, "tag"),
    ({"exclude": "(["}, "regular expression"),
    ({"v:alerts.webhook.secret": "s3cret", "o:alerts.webhook.secret": ""}, "plain text"),
    ({"v:robots.policy": "none", "o:robots.policy": "obey"}, "robots.policy"),
]


def test_check_finds_what_create_refuses(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        good = {
            "x-nacre-token": fields.pop("x-nacre-token"), "seeds": "http://127.0.0.1:9/a/",
            "scope": "host",
        }  # fmt: skip
        taken = {**good, "name": "taken", "do": "create"}
        assert (await client.post("/new", data=taken, headers=fields)).status_code == 303
        before = sorted((tmp_path / "crawls").iterdir())
        for unfit, says in _UNFIT:
            form = {**good, **unfit}
            checked = await client.post("/new", data={**form, "do": "check"}, headers=fields)
            made = await client.post("/new", data={**form, "do": "create"}, headers=fields)
            assert made.status_code >= 400, (unfit, made.text)
            assert "Nothing keeps this crawl from starting" not in checked.text, unfit
            summary = re.search(r'class="error-summary".*?</div>', checked.text, re.DOTALL)
            assert summary is not None, (unfit, checked.text)
            assert says in summary[0], (unfit, summary[0])
            assert summary[0] in made.text, unfit
        checked = await client.post("/new", data={**good, "do": "check"}, headers=fields)
        assert "Nothing keeps this crawl from starting" in checked.text
        assert sorted((tmp_path / "crawls").iterdir()) == before, "a check writes nothing"

    play(tmp_path, scene)


def test_check_shows_the_warnings_of_create(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        form = {
            "x-nacre-token": fields.pop("x-nacre-token"), "do": "check", "scope": "host",
            "seeds": "http://127.0.0.1:9/", "v:extract.extract_html": "false",
            "o:extract.extract_html": "true",
        }  # fmt: skip
        checked = await client.post("/new", data=form, headers=fields)
        assert "Nothing keeps this crawl from starting" in checked.text
        assert "no links are taken from web pages" in checked.text

    play(tmp_path, scene)


def test_the_dry_run_of_a_new_job_has_the_problems_of_create(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_key(Role.OPERATOR)
        job = {"seeds": ["https://example.org/"], "scope": "host"}
        asked = {"job": job, "urls": ["https://example.org/x"]}
        found = await console.client.post(f"{API}/jobs/dry-run", json=asked, headers=fields)
        assert found.status_code == 200, found.text
        assert [one["path"] for one in found.json()["problems"]] == ["fetch.contact"]
        assert [one["decision"] for one in found.json()["urls"]] == ["ACCEPT"]

    play(tmp_path, scene)


def test_the_form_of_a_new_job_has_all_settings(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        token = {"x-nacre-token": fields.pop("x-nacre-token")}
        asked = {**token, "seeds": "", "documents": "7", "q": "limits.documents"}
        found = await client.post("/new/fields", data=asked, headers=fields)
        assert "<html" not in found.text
        # What was typed above is the value that the setting has.
        assert re.search(r'name="v:limits.documents"[^>]*value="7"', found.text), found.text
        section = {**token, "section": "politeness", "do": "fields", "seeds": SEED}
        shown = await client.post("/new", data=section, headers=fields)
        assert 'name="v:politeness.min_delay"' in shown.text
        assert "图书馆" in shown.text
        form = {
            **token, "seeds": "http://127.0.0.1:9/", "name": "all", "documents": "7", "do": "check",
            "v:politeness.min_delay": "-9", "o:politeness.min_delay": "3",
            "v:politeness.max_delay": "60", "o:politeness.max_delay": "60",
        }  # fmt: skip
        wrong = await client.post("/new", data={**form, "do": "create"}, headers=fields)
        assert wrong.status_code == 422
        assert "must be at least 0" in wrong.text
        assert 'value="-9"' in wrong.text
        good = {**form, "v:politeness.min_delay": "9", "section": "archive", "do": "create"}
        kept = await client.post("/new", data={**good, "do": "check"}, headers=fields)
        assert re.search(r'name="v:politeness.min_delay"[^>]*value="9"', kept.text)
        made = await client.post("/new", data=good, headers=fields)
        assert made.status_code == 303
        text = (tmp_path / "crawls" / "all" / "crawl.yaml").read_text()
        assert "min_delay: 9" in text
        assert "documents: 7" in text
        assert "max_delay: 60" not in text.partition("#")[0]
        none = {**good, "name": "none", "v:polite": "1", "o:polite": ""}
        refused = await client.post("/new", data=none, headers=fields)
        assert refused.status_code == 422
        assert "no such setting" in refused.text

    play(tmp_path, scene)


def test_expressions_are_lines_as_browsers_send_them(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        form = {
            "x-nacre-token": fields.pop("x-nacre-token"), "do": "create", "name": "lines",
            "seeds": "http://127.0.0.1:9/", "scope": "host",
            "include": "/news/\r\n\r\n /books/ \r\n", "exclude": "/old/$\r\n\r\n[?]page=9$",
        }  # fmt: skip
        made = await client.post("/new", data=form, headers=fields)
        assert made.status_code == 303, made.text
        job = console.parts.common.fleet.job("crawls~lines")
        urls = ["news/", "books/", "news/old/", "news/?page=9", "else/"]
        asked = {"urls": [f"http://127.0.0.1:9/{url}" for url in urls]}
        dry = await client.post(
            f"{API}/jobs/{job.id}/dry-run", json=asked, headers=console.as_key(Role.OPERATOR)
        )
        found = [one["now"]["decision"] for one in dry.json()["items"]]
        assert found == ["ACCEPT", "ACCEPT", "REJECT", "REJECT", "REJECT"], dry.text

    play(tmp_path, scene)


def test_a_job_is_made_from_another_one_with_tags(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        token = {"x-nacre-token": fields.pop("x-nacre-token")}
        first = {
            **token, "do": "create", "seeds": "http://127.0.0.1:9/书/", "name": "eins",
            "scope": "page", "documents": "7", "exclude": "/calendar/", "tags": "图书馆, weekly",
            "browser": "auto",
        }  # fmt: skip
        made = await client.post("/new", data=first, headers=fields)
        assert made.status_code == 303, made.text
        page = (await client.get("/new?template=crawls~eins", headers=fields)).text
        assert '<option value="crawls~eins" selected>eins (crawls~eins)</option>' in page
        assert 'value="weekly, 图书馆"' in page or 'value="图书馆, weekly"' in page
        second = {
            **token, "do": "more", "seeds": "http://127.0.0.1:9/news/", "name": "zwei",
            "template": "crawls~eins", "bytes": "5MB",
        }  # fmt: skip
        made = await client.post("/new", data=second, headers=fields)
        assert made.headers["location"] == "/j/crawls~zwei/settings/form", made.text
        one, two = ((tmp_path / "crawls" / name / "crawl.yaml").read_text()
                    for name in ("eins", "zwei"))  # fmt: skip
        assert "documents: 7" in one
        assert "use: auto" in one
        assert "documents: 7" in two
        assert "bytes: 5" in two
        assert "/calendar/" in two
        assert "news" in (tmp_path / "crawls" / "zwei" / "seeds.txt").read_text()
        assert console.parts.books.labels.of(console.parts.common.fleet.job("crawls~eins")).tags
        both = {**second, "name": "drei", "profile": "site"}
        refused = await client.post("/new", data=both, headers=fields)
        assert refused.status_code == 422
        assert "it cannot be combined with a profile" in refused.text
        gone = await client.get("/new?template=crawls~none", headers=fields)
        assert gone.status_code == 404

    play(tmp_path, scene)


@pytest.mark.slow
def test_a_batch_crawl_is_made_with_its_seeds_in_the_table(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_key(Role.OPERATOR)
        wish = {
            "seeds": ["http://127.0.0.1:9/书/"],
            "name": "轮",
            "scope": "host",
            "kind": "rounds",
        }
        made = await console.client.post(f"{API}/jobs", json=wish, headers=fields)
        assert made.status_code == 201, made.text
        job = console.parts.common.fleet.job(made.json()["id"])
        assert job.layout.in_rounds
        seen = await console.parts.common.poller.fresh(job)
        assert seen.state == "ROUNDS"
        assert seen.rounds is not None
        assert seen.rounds["version"] == 1

    play(tmp_path, scene)
