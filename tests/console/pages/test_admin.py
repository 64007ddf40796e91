import re
import tomllib
from pathlib import Path

from nacre.console.access.roles import Role
from nacre.console.pages import about
from nacre.console.routes import API
from tests.console.given import GivenConsole, play

HOSTILE = "<img src=x onerror=alert(1)>\u202e"


def test_admins_see_who_may_do_what_and_who_did(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        admin = console.as_session()
        body = {"name": HOSTILE, "role": "operator"}
        await console.client.post(f"{API}/keys", json=body, headers=admin)
        page = await console.client.get("/admin", headers=admin)
        assert page.status_code == 200
        assert "<img" not in page.text
        assert "\u202e" not in page.text
        line = f'<td class="url">POST {API}/keys</td>'
        assert line in page.text
        assert "crawls" in page.text
        for name, version in about.versions():
            assert f"<dt>{name}</dt><dd>{version}</dd>" in page.text
        none = await console.client.get("/admin?who=berta&after=x", headers=admin)
        assert line not in none.text
        assert "No lines fit" in none.text
        chinese = {**admin, "accept-language": "zh-CN"}
        assert "审计日志" in (await console.client.get("/admin", headers=chinese)).text
        for path in ("/admin", "/account"):
            viewer = console.as_session(Role.VIEWER)
            status = (await console.client.get(path, headers=viewer)).status_code
            assert status == (403 if path == "/admin" else 200)

    play(tmp_path, scene)


def test_packages_have_their_licences():
    root = Path(__file__).parents[3]
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["console"]]
    names = {re.split(r"[^\w.-]", one)[0] for one in asked}
    assert set(about.PACKAGES) == names
    found = {one.name: one for one in about.packages()}
    assert set(found) == names
    assert found["msgspec"].licence
    assert "htmx" in about.page_licences()
