import re
import tomllib
from pathlib import Path

import httpx

from nacre.console.admin import pages
from nacre.console.routes import API
from nacre.fleet.sessions import COOKIE
from nacre.ops.operation import Role
from tests.console.given import GivenConsole, play

HOSTILE = "<img src=x onerror=alert(1)>\u202e"
VIEWS = ("", "/keys", "/places", "/quotas", "/audit", "/about")


async def _view(console: GivenConsole, name: str) -> str:
    """A view of the administration, as an admin sees it; its pill is the chosen one."""
    page = await console.client.get(f"/admin{name}", headers=console.as_session())
    assert page.status_code == 200, page.text
    assert re.search(f'<a href="/admin{name}" data-parts="[a-z ]+" aria-current="page">', page.text)
    return page.text


def test_admins_see_who_may_do_what_and_who_did(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        admin = console.as_session()
        body = {"name": HOSTILE, "role": "operator"}
        await console.client.post(f"{API}/keys", json=body, headers=admin)
        views = {name: await _view(console, name) for name in VIEWS}
        assert [name for name, page in views.items() if "<img" in page or "\u202e" in page] == []
        line = f'it is shown once. <code class="small">POST {API}/keys</code>'
        assert line in views["/audit"]
        assert "crawls" in views["/places"]
        for name, version in pages.versions():
            assert f"<dt>{name}</dt><dd>{version}</dd>" in views["/about"]
        moved = await console.client.get("/admin?who=berta&after=x", headers=admin)
        assert moved.headers["location"] == "/admin/audit?who=berta&after=x"
        none = await console.client.get(moved.headers["location"], headers=admin)
        assert line not in none.text
        assert "No lines match" in none.text
        chinese = {**admin, "accept-language": "zh-CN"}
        assert "审计日志" in (await console.client.get("/admin", headers=chinese)).text
        viewer = console.as_session(Role.VIEWER)
        for path in VIEWS:
            asked = await console.client.get(f"/admin{path}", headers=viewer)
            assert asked.status_code == 403
        assert (await console.client.get("/account", headers=viewer)).status_code == 200

    play(tmp_path, scene)


def test_packages_have_their_licences():
    root = Path(__file__).parents[3]
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["console"]]
    names = {re.split(r"[^\w.-]", one)[0] for one in asked}
    assert set(pages.PACKAGES) == names
    found = {one.name: one for one in pages.packages()}
    assert set(found) == names
    assert found["msgspec"].licence
    assert "htmx" in pages.page_licences()


def test_the_forms_work_without_script(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        (tmp_path / "more").mkdir()
        admin = console.as_session()

        async def send(view: str = "/admin", **fields: str) -> str:
            sent = await console.client.post("/admin", data=fields, headers=admin)
            assert (sent.status_code, sent.headers["location"]) == (303, view)
            return (await console.client.get(view, headers=admin)).text

        user = {"name": "cara", "password": " four words of one ", "role": "admin", "places": ""}
        page = await send(do="add-user", **user)
        assert 'data-user="cara"' in page
        assert "It is done." in page
        assert (
            await console.parts.access.logins.check("cara", user["password"], "")
        ).name == "cara"
        assert "places" in await send(do="add-user", **{**user, "name": "bea", "places": "nowhere"})
        await send(
            do="add-user", **{**user, "name": "bea", "role": "viewer", "places": "crawls\r\n"}
        )
        assert [one.places for one in console.parts.access.users.all()] == [("crawls",), ()]
        await send(do="change-user", name="bea", role="operator")
        bea = console.parts.access.users.all()[0]
        assert (bea.role, bea.places) == ("operator", ("crawls",))
        assert 'data-user="bea"' not in await send(do="remove-user", name="bea")
        assert "user bea" in await send(do="remove-user", name="bea")
        made = await console.client.post(
            "/admin", data={"do": "add-key", "name": "scripts", "role": "viewer"}, headers=admin
        )
        (key,) = re.findall(r'<output data-answer="key" class="url">([^<]+)</output>', made.text)
        asked = await console.client.get(f"{API}/jobs", headers={"authorization": f"Bearer {key}"})
        assert asked.status_code == 200
        assert key not in console.parts.audit.path.read_text()
        await send("/admin/keys", do="remove-key", name="scripts")
        asked = await console.client.get(f"{API}/jobs", headers={"authorization": f"Bearer {key}"})
        assert asked.status_code == 401
        page = await send("/admin/places", do="add-place", directory=str(tmp_path / "more"))
        assert str(tmp_path / "more") in page
        await send("/admin/places", do="remove-place", name="more")
        assert {place.label for place in console.parts.common.fleet.places} == {"crawls"}
        assert "there is no action" in await send(do="x")
        bare = {name: value for name, value in admin.items() if name != "x-nacre-token"}
        refused = await console.client.post("/admin", data={"do": "x"}, headers=bare)
        assert refused.status_code == 403

    play(tmp_path, scene)


def test_an_admin_sets_a_password_and_places_without_script(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        admin = console.as_session()
        users, logins = console.parts.access.users, console.parts.access.logins
        users.add("ada", logins.checker.hash("five words of an admin"), Role.ADMIN)
        users.add("bea", logins.checker.hash("four words of one"), Role.OPERATOR, ("crawls",))

        async def send(**fields: str) -> str:
            form = {"do": "change-user", "name": "bea", **fields}
            sent = await console.client.post("/admin", data=form, headers=admin)
            assert sent.status_code == 303
            return (await console.client.get("/admin", headers=admin)).text

        await send(password="", places="")
        bea = next(one for one in users.all() if one.name == "bea")
        assert (bea.role, bea.places) == ("operator", ())
        assert (await logins.check("bea", "four words of one", "")).name == "bea"
        page = await send(password="another four words", places="crawls")
        assert [one.places for one in users.all() if one.name == "bea"] == [("crawls",)]
        assert "another four words" not in page
        assert (await logins.check("bea", "another four words", "")).name == "bea"
        assert "12" in await send(password="short")

    play(tmp_path, scene)


def test_ones_own_password_and_sessions_are_changed_without_script(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        words = "four words of one"
        users, logins = console.parts.access.users, console.parts.access.logins
        anna = users.add("anna", await logins.checker.hash_beside(words), Role.ADMIN, ())
        secret, other = (logins.begin(anna, "::1", name) for name in ("a", "b"))
        fields = {"cookie": f"{COOKIE}={secret}", "sec-fetch-site": "same-origin"}
        client = console.client

        async def send(**form: str) -> httpx.Response:
            session = console.parts.access.sessions.find(fields["cookie"].partition("=")[2])
            assert session is not None
            sent = {"x-nacre-token": session.token, **form}
            return await client.post("/account", data=sent, headers=fields)

        page = await client.get("/account", headers=fields)
        (name,) = re.findall(r'value="end-session"><input type="hidden" name="name" value="(\w+)"',
                             page.text)  # fmt: skip
        assert (await send(do="end-session", name=name)).status_code == 303
        assert console.parts.access.sessions.find(other) is None
        done = await send(do="change-password", old=words, password="other words of one")
        assert "The password is changed." in done.text
        (fresh,) = re.findall(rf"{COOKIE}=([^;]+)", done.headers["set-cookie"])
        fields["cookie"] = f"{COOKIE}={fresh}"
        wrong = await send(do="change-password", old="x" * 12, password="other words of one")
        assert wrong.headers["location"] == "/account"
        gone = await send(do="log-out")
        assert (gone.status_code, gone.headers["location"]) == (303, "/login")
        assert console.parts.access.sessions.find(fresh) is None

    play(tmp_path, scene)


def test_the_form_of_the_first_user_says_that_it_has_to_be_an_admin(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.ADMIN)
        said = "The first user has to be an admin"
        page = (await console.client.get("/admin", headers=fields)).text
        form = page.partition('value="add-user"')[2].partition("</form>")[0]
        assert said in form
        assert 'value="viewer"' not in form
        console.parts.access.users.add("bea", "hash", Role.ADMIN)
        page = (await console.client.get("/admin", headers=fields)).text
        form = page.partition('value="add-user"')[2].partition("</form>")[0]
        assert said not in form
        assert '<option value="viewer" selected>' in form

    play(tmp_path, scene)
