from pathlib import Path

from nacre.console.routes import API
from nacre.fleet.schedule_book import ScheduleWish
from nacre.machine.layout import Layout
from nacre.ops.operation import Role
from tests.cli.site import nacre, site
from tests.console.given import GivenConsole
from tests.console.jobs.test_actions import add_job, play

JOB = f"{API}/jobs/crawls~图书馆"


async def with_place(console: GivenConsole, folder: Path, *names: str) -> None:
    """Add folders as places."""
    for name in names:
        (folder / name).mkdir()
        sent = await console.client.post(
            f"{API}/places", json={"directory": str(folder / name)},
            headers=console.as_key(Role.ADMIN),
        )  # fmt: skip
        assert sent.status_code == 201, sent.text


def test_a_job_that_names_a_file_beside_it_is_moved_by_who_may_name_files(tmp_path: Path):
    root = add_job(tmp_path, "图书馆", "http://127.0.0.1:9/")
    login = "{origin: 'http://a.test', username: a, password: {file: ../word}}"
    config = root / "crawl.yaml"
    config.write_text(config.read_text("utf-8") + f"fetch: {{credentials: [{login}]}}\n", "utf-8")
    (root.parent / "word").write_text("swordfish")

    async def scene(console: GivenConsole) -> None:
        await with_place(console, tmp_path, "旧藏")
        places = ("crawls", "旧藏")
        key = console.parts.access.keys.add("both", Role.OPERATOR, places)
        fields = {"authorization": f"Bearer {key}"}
        moved = await console.client.patch(JOB, json={"place": "旧藏"}, headers=fields)
        assert (moved.status_code, moved.json()["code"]) == (403, "names-files"), moved.text
        assert root.is_dir()

    play(tmp_path, scene)


def test_a_job_goes_to_another_place_with_all_that_is_kept_of_it(tmp_path: Path):
    with site({"/": "馆"}) as url:
        root = add_job(tmp_path, "图书馆", url)
        assert nacre("run", root).code == 0

    async def scene(console: GivenConsole) -> None:
        await with_place(console, tmp_path, "旧藏")
        parts, key = console.parts, console.as_key(Role.OPERATOR)
        wish = ScheduleWish("crawls~图书馆", "@daily")
        parts.books.schedules.add(wish, str(root), "anna")
        parts.books.quotas.set(str(root), 1 << 30)
        labels = {"name": "国图", "tags": ["gbk"]}
        assert (await console.client.patch(JOB, json=labels, headers=key)).status_code == 200
        moved = await console.client.patch(JOB, json={"place": "旧藏"}, headers=key)
        assert moved.status_code == 200, moved.text
        answer = moved.json()
        assert (answer["id"], answer["place"], answer["name"], answer["tags"], answer["state"]) == (
            "旧藏~图书馆", "旧藏", "国图", ["gbk"], "FINISHED",
        )  # fmt: skip
        target = tmp_path / "旧藏" / "图书馆"
        assert Layout(target).config.is_file()
        assert not root.exists()
        (schedule,) = parts.books.schedules.all()
        assert (schedule.path, schedule.wish.job) == (str(target), "旧藏~图书馆")
        assert {path: one.limit for path, one in parts.books.quotas.all().items()} == {
            str(target): 1 << 30
        }
        assert (await console.client.get(JOB, headers=key)).status_code == 404
        line = parts.audit.path.read_text().splitlines()[-1]
        assert '"place":"crawls"' in line
        same = await console.client.patch(
            f"{API}/jobs/旧藏~图书馆", json={"place": "旧藏"}, headers=key
        )
        assert (same.status_code, same.json()["id"]) == (200, "旧藏~图书馆")

    play(tmp_path, scene)
    with site({"/": "馆"}):
        assert nacre("status", tmp_path / "旧藏" / "图书馆").code == 0


def test_a_move_that_is_refused_changes_nothing(tmp_path: Path):
    root = add_job(tmp_path, "图书馆", "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        await with_place(console, tmp_path, "b", "c")
        key = console.as_key(Role.OPERATOR)
        (tmp_path / "b" / "图书馆").mkdir()
        for body, status, code in (
            ({"place": "b", "name": "x"}, 409, "exists"),
            ({"place": "nowhere"}, 422, "place"),
            ({"place": ""}, 422, "place"),
            ({"place": "c", "tags": ["a,b"]}, 422, "labels"),
        ):
            answer = await console.client.patch(JOB, json=body, headers=key)
            assert (answer.status_code, answer.json()["code"]) == (status, code), body
        (tmp_path / "c").rmdir()
        gone = await console.client.patch(JOB, json={"place": "c"}, headers=key)
        assert (gone.status_code, "nothing was moved" in gone.text) == (422, True)
        job = console.parts.common.fleet.job("crawls~图书馆")
        assert console.parts.books.labels.of(job).name == ""
        assert root.is_dir()

    play(tmp_path, scene)


def test_a_job_that_runs_stays(tmp_path: Path):
    root = add_job(tmp_path, "图书馆", "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        await with_place(console, tmp_path, "b")
        job = console.parts.common.fleet.job("crawls~图书馆")
        console.parts.launcher.most = 0  # the start waits
        await console.parts.launcher.order(job, ["run", str(root)])
        key = console.as_key(Role.OPERATOR)
        answer = await console.client.patch(JOB, json={"place": "b"}, headers=key)
        assert (answer.status_code, answer.json()["code"]) == (409, "queued")
        assert root.is_dir()

    play(tmp_path, scene)


def test_the_form_moves_a_job(tmp_path: Path):
    add_job(tmp_path, "图书馆", "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        session = console.as_session()
        at = "/j/crawls~图书馆"
        assert 'id="job-place"' not in (await console.client.get(at, headers=session)).text
        await with_place(console, tmp_path, "b")
        page = (await console.client.get(at, headers=session)).text
        assert "<option selected>crawls</option><option>b</option>" in page
        sent = await console.client.post(
            f"{at}/labels", data={"name": "国图", "tags": "", "place": "b"}, headers=session
        )
        assert (sent.status_code, sent.headers["location"]) == (
            303,
            "/j/b~%E5%9B%BE%E4%B9%A6%E9%A6%86",
        )
        assert (tmp_path / "b" / "图书馆" / "crawl.yaml").is_file()

    play(tmp_path, scene)
