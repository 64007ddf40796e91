"""The rows of OWASP ASVS 5.0 that have no better place; others are named in the tests beside."""

import base64
import re
from pathlib import Path

import msgspec
import pytest

from nacre.console.app import ConsoleApp
from nacre.console.call import Call
from nacre.console.route_row import API, RouteRow
from nacre.console.routes import ROUTES
from nacre.fleet.keys import hash_of, new_secret
from nacre.fleet.sessions import cookie_field
from nacre.ops.operation import Role
from tests.console.given import GivenConsole, play
from tests.console.test_app import path_of

CHAPTERS = {
    1: "encoding and injection", 2: "validation and anti-automation", 3: "web front end",
    4: "API", 5: "files", 6: "authentication", 7: "sessions", 8: "authorisation",
    11: "randomness and hashing", 12: "TLS", 13: "configuration", 14: "data", 16: "logging",
}  # fmt: skip
"""The chapters that hold here; the others are about what the console does not have."""


def test_each_chapter_has_a_test():
    found = {
        int(number)
        for face in ("console", "fleet", "web")
        for path in (Path(__file__).parents[1] / face).rglob("*.py")
        for number in re.findall(r"def test_asvs_(\d+)_", path.read_text("utf-8"))
    }
    assert not set(CHAPTERS) - found


class Passed(msgspec.Struct):
    """A body with one field."""

    name: str


async def broken(_: Call) -> Passed:
    """A handler with a bug."""
    raise ValueError("geheim: /home/anna/console.db")


def test_asvs_16_5_1_an_error_tells_nothing_of_the_inside(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        rows = tuple(
            RouteRow(verb, path, Role.NOBODY, broken, "Broken.")
            for verb, path in (
                ("GET", "/page"),
                ("GET", f"{API}/broken"),
                ("POST", f"{API}/broken"),
            )
        )
        app = ConsoleApp(console.parts, routes=rows)
        async with console.of(app) as client:
            for row in rows:
                fields = {"sec-fetch-site": "same-origin"}
                answer = await client.request(row.verb, row.path, headers=fields)
                assert answer.status_code == 500
                assert "geheim" not in answer.text
                assert "Traceback" not in answer.text
                assert "content-security-policy" in answer.headers
        assert '"outcome":"bug"' in console.parts.audit.path.read_text()

    play(tmp_path, scene)


def test_asvs_13_4_nothing_is_there_that_was_not_meant_to_be(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        for path in (
            "/static/", "/static", "/docs", "/redoc", "/openapi.json", "/.git/config", "/.env",
            "/console.db", "/debug", "/server-status", "/static/../console.db",
        ):  # fmt: skip
            answer = await console.client.get(path, headers=console.as_session())
            assert answer.status_code == 404, path
        assert console.parts.access.users.is_empty
        for name, password in (("admin", "admin"), ("anna", ""), ("", "")):
            refused = await console.client.post(
                "/login", data={"name": name, "password": password},
                headers={"sec-fetch-site": "same-origin"},
            )  # fmt: skip
            assert refused.status_code in {401, 429}
        traced = await console.client.request("TRACE", "/", headers=console.as_session())
        assert traced.status_code == 405

    play(tmp_path, scene)


def test_asvs_14_3_2_no_answer_for_somebody_is_kept_by_a_cache(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        for row in ROUTES:
            if row.verb == "GET" and "stream" not in row.path and "/live/" not in row.path:
                answer = await console.client.get(path_of(row), headers=console.as_session())
                assert answer.headers["cache-control"] == "no-store", row.path

    play(tmp_path, scene)


def test_asvs_14_2_1_no_secret_is_taken_from_a_url(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        key = console.as_key(Role.ADMIN)["authorization"].removeprefix("Bearer ")
        link = console.parts.access.keys.new_link()
        for query in (f"key={key}", f"access_token={key}", f"token={key}", f"k={link}"):
            answer = await console.client.get(f"{API}/jobs?{query}")
            assert answer.status_code == 401

    play(tmp_path, scene)


def test_asvs_11_5_1_secrets_are_256_random_bits():
    made = {new_secret() for _ in range(1000)}
    assert len(made) == 1000
    assert all(len(base64.urlsafe_b64decode(f"{one}=")) == 32 for one in made)
    assert re.fullmatch("[0-9a-f]{64}", hash_of(made.pop()))


def test_asvs_3_3_the_cookie_is_for_this_host_and_no_script():
    field = cookie_field("secret")
    for part in ("__Host-nacre=secret", "Path=/", "Secure", "HttpOnly", "SameSite=Strict"):
        assert part in field.split("; ")
    assert "Domain" not in field


@pytest.mark.parametrize("verb", ["GET", "HEAD", "OPTIONS"])
def test_asvs_3_5_3_safe_verbs_change_nothing(tmp_path: Path, verb: str):
    async def scene(console: GivenConsole) -> None:
        log = console.parts.audit.path
        for row in ROUTES:
            if row.verb not in {"GET", "HEAD"} and "stream" not in row.path:
                await console.client.request(verb, path_of(row), headers=console.as_session())
        assert not log.exists()

    play(tmp_path, scene)


def test_asvs_2_4_1_a_key_is_found_by_no_guessing(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        for scheme in ("Bearer ", "bearer x", "Basic YTpi", "Digest x", "Bearer " + "x" * 5000):
            answer = await console.client.get(f"{API}/session", headers={"authorization": scheme})
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"

    play(tmp_path, scene)


def test_the_documentation_lists_each_of_these_tests():
    text = Path("docs/console-asvs.md").read_text("utf-8")
    for path in sorted(Path("tests").rglob("test_*.py")):
        for number, words in re.findall(
            r"^def test_asvs_((?:\d+_)+)(\w+)", path.read_text("utf-8"), re.MULTILINE
        ):
            row = number.strip("_").replace("_", ".")
            assert f"| {row} | {words.replace('_', ' ')} | `{path}` |" in text, path
