import ssl
import warnings
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from nacre.console.routes import API
from nacre.console.server import OpenedConsole
from nacre.errors import ConfigError
from nacre.fleet.checks import certificate_problems, certificate_warnings
from nacre.fleet.reach import ConsoleReach
from nacre.web.middleware import forwarded_for
from tests.cli.site import nacre
from tests.console.reached import NAME, WORD, GivenCertificate, while_served, with_user
from tools.nginx import Server, free_port, program, serving

EXAMPLES = Path(__file__).parents[2] / "examples" / "operations"


@dataclass(frozen=True)
class ExampleServers(Server):
    """The servers of the example, on a port of the loopback.

    Attributes:
        console: Port of the console.
    """

    console: int = 0

    def block(self) -> str:
        """The `server` blocks."""
        text = (EXAMPLES / "nacre-console.nginx.conf").read_text()
        assert self.certificate is not None
        for old, new in (
            ("listen 443", f"listen 127.0.0.1:{self.port}"),
            ("/etc/ssl/console.example.org.crt", str(self.certificate[0])),
            ("/etc/ssl/private/console.example.org.key", str(self.certificate[1])),
            ("127.0.0.1:8410", f"127.0.0.1:{self.console}"),
        ):
            assert old in text
            text = text.replace(old, new)
        return text


def test_asvs_12_1_others_reach_it_by_tls_with_a_password(tmp_path: Path):
    with_user(tmp_path / "state")
    certificate = GivenCertificate(tmp_path)
    reach = ConsoleReach("127.0.0.1", certificate.files, hosts=(NAME,))
    trusted = ssl.create_default_context(cafile=certificate.authority)

    async def scene(console: OpenedConsole) -> None:
        port = urlsplit(console.url).port
        assert console.url == f"https://localhost:{port}/"
        base = f"https://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=base, verify=trusted, trust_env=False) as client:
            named = {"host": f"{NAME}:{port}", "sec-fetch-site": "same-origin"}
            page = await client.get("/", headers=named)
            assert (page.status_code, "password" in page.text) == (401, True)
            assert page.headers["strict-transport-security"].startswith("max-age=31536000")
            local = await client.get("/health")
            assert "strict-transport-security" not in local.headers
            other = await client.get("/health", headers={"host": "other.example"})
            assert other.status_code == 421
            taken = await client.post(
                "/login", data={"name": "anna", "password": WORD}, headers=named
            )
            assert taken.status_code == 303
            cookie = {"cookie": taken.headers["set-cookie"].partition(";")[0]}
            who = await client.get(f"{API}/session", headers={**named, **cookie})
            assert who.json()["name"] == "anna"
        old = ssl.create_default_context(cafile=certificate.authority)
        old.set_ciphers("DEFAULT:@SECLEVEL=0")
        with warnings.catch_warnings(action="ignore"):
            old.minimum_version = ssl.TLSVersion.TLSv1
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        async with httpx.AsyncClient(base_url=base, verify=old, trust_env=False) as client:
            with pytest.raises(httpx.ConnectError):
                await client.get("/health")

    while_served(tmp_path, reach, scene)


class Front:
    """nginx, as a browser asks it under the name of the console.

    Attributes:
        port: Its port.
    """

    def __init__(self, client: httpx.AsyncClient, port: int) -> None:
        self._client = client
        self.port = port

    async def ask(
        self, verb: str, path: str, fields: dict[str, str], data: dict[str, str] | None = None
    ) -> httpx.Response:
        """Ask for a path."""
        return await self._client.request(
            verb, f"https://127.0.0.1:{self.port}{path}", data=data,
            headers={"host": f"{NAME}:{self.port}", **fields},
            extensions={"sni_hostname": NAME},
        )  # fmt: skip


async def log_in_and_out(front: Front, console: OpenedConsole) -> None:
    """As a user whose browser tells no Sec-Fetch-Site, but an Origin."""
    assert (await front.ask("GET", "/health", {})).json()["status"] == "ok"
    assert (await front.ask("GET", "/metrics", {})).status_code == 404
    ours = {"origin": f"https://{NAME}:{front.port}"}
    forged = {"x-forwarded-for": "192.0.2.66", "forwarded": "for=192.0.2.66"}
    login = {"name": "anna", "password": WORD}
    taken = await front.ask("POST", "/login", {**ours, **forged}, login)
    assert (taken.status_code, taken.headers["location"]) == (303, "/")
    cookie = taken.headers["set-cookie"].partition(";")[0]
    session = console.parts.access.sessions.find(cookie.partition("=")[2])
    assert session is not None
    fields = {**ours, "cookie": cookie, "x-nacre-token": session.token}
    out = await front.ask("DELETE", f"{API}/session", fields)
    assert out.status_code == 204, out.text
    assert "strict-transport-security" in out.headers


def test_asvs_4_1_3_behind_nginx_only_what_it_says_counts(tmp_path: Path):
    program("nginx")
    with_user(tmp_path / "state")
    certificate = GivenCertificate(tmp_path)
    reach = ConsoleReach(proxy="127.0.0.1", hosts=(NAME,))
    trusted = ssl.create_default_context(cafile=certificate.authority)

    async def scene(console: OpenedConsole) -> None:
        assert console.url == f"https://{NAME}/"
        port = free_port()
        example = ExampleServers(
            "127.0.0.1", port, tmp_path, certificate=certificate.files, console=console.port
        )
        async with httpx.AsyncClient(verify=trusted, trust_env=False) as client:
            with serving([example], tmp_path / "nginx"):
                await log_in_and_out(Front(client, port), console)
                async with httpx.AsyncClient(verify=trusted, trust_env=False) as other:
                    with pytest.raises(httpx.ConnectError):
                        await other.get(
                            f"https://127.0.0.1:{port}/", extensions={"sni_hostname": "x.test"}
                        )
            log = console.parts.audit.path.read_text()
            assert "192.0.2.66" not in log
            assert '"address":"127.0.0.1"' in log
            plain = f"http://127.0.0.1:{console.port}/health"
            spoofed = {"x-forwarded-for": "192.0.2.66", "x-forwarded-proto": "http"}
            refused = await client.get(plain, headers={**spoofed, "host": NAME})
            assert (refused.status_code, "HTTPS" in refused.text) == (403, True)
            assert (await client.get(plain)).json()["status"] == "ok"

    while_served(tmp_path, reach, scene)


@pytest.mark.parametrize(
    ("field", "address"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("203.0.113.9, 192.0.2.1", "192.0.2.1"),
        ("192.0.2.1, <script>", "10.0.0.1"),
        ("", "10.0.0.1"),
    ],
)
def test_the_address_is_what_the_proxy_itself_added(field: str, address: str):
    assert forwarded_for(field, "10.0.0.1") == address


def test_a_certificate_that_cannot_be_used_is_said(tmp_path: Path):
    given = GivenCertificate(tmp_path)
    certificate, key = given.files
    assert certificate_problems(certificate, key, 0.0) == []
    far = 9.5e10
    (expired,) = certificate_problems(certificate, key, far)
    assert "was good until" in expired
    (missing,) = certificate_problems(tmp_path / "none", key, 0.0)
    assert "cannot be read" in missing
    (wrong,) = certificate_problems(given.authority, key, 0.0)
    assert "no certificate and its key" in wrong
    key.chmod(0o644)
    assert any("chmod 600" in one for one in certificate_warnings(certificate, key, 0.0))


def test_a_console_for_others_is_not_opened_without_users(tmp_path: Path):
    async def scene(_: OpenedConsole) -> None:
        raise AssertionError

    with pytest.raises(ExceptionGroup) as raised:
        while_served(tmp_path, ConsoleReach("192.0.2.5"), scene)
    (error,) = raised.value.exceptions
    assert isinstance(error, ConfigError)
    assert "no users" in str(error)


def test_check_says_who_could_reach_it(tmp_path: Path):
    given = GivenCertificate(tmp_path)
    state = ("--state", tmp_path / "state")
    tls = ("--tls", *given.files, "--bind", "127.0.0.1")
    fine = nacre("console", "check", tmp_path, *tls, *state)
    assert fine.code == 0, fine.err
    assert "this machine alone" in fine.out
    port = nacre("console", "check", tmp_path, *state, "--heritrix", "8443", "--max-running", "3")
    assert "3 run at a time" in port.out
    assert "https://localhost:8443/engine" in port.out
    assert "console heritrix-key NAME` makes a key" in port.out
    remote = ("--behind-proxy", "192.0.2.9", "--host", NAME)
    refused = nacre("console", "check", tmp_path, *remote, *state)
    assert refused.code == 1
    assert "no users" in refused.out
    with_user(tmp_path / "state")
    good = nacre("console", "check", tmp_path, *remote, *state)
    assert good.code == 0
    assert "1 user (1 admin)" in good.out
    assert f"https://{NAME}/" in good.out
    unit = (EXAMPLES / "nacre-console.service").read_text()
    (line,) = (one for one in unit.splitlines() if one.startswith("ExecStartPre="))
    words = line.split()[1:]
    at = {"/srv/nacre/crawls": tmp_path, "/var/lib/nacre-console": tmp_path / "state"}
    assert nacre(*(at.get(word, word) for word in words)).code == 0
    assert line.removeprefix("ExecStartPre=").replace(" check", "") in unit
